// SPDX-License-Identifier: MIT
#include "mcp/server/call_request.hpp"

#include "mcp/json/json_members.hpp"
#include "mcp/server/server_core.hpp"

namespace paddock::mcp {

void call_request::read(json_view from) {
  params = from;
  arguments = method != nullptr ? params : given(params, "arguments");
  const json_view meta = params["_meta"];
  progress_token = request_id::from(meta["progressToken"]);
  traceparent = meta["traceparent"].string().value_or("");
  if (revision != mcp::revision::r2026_07_28) return;
  const json_view info = meta[meta_client_info];
  client_capabilities = meta[meta_client_capabilities];
  log_from = log_level_of(meta[meta_log_level].string().value_or(""));
  client_name = info["name"].string().value_or("");
  client_version = info["version"].string().value_or("");
}

} // namespace paddock::mcp
