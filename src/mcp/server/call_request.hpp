// SPDX-License-Identifier: MIT
#pragma once

// What a call asks for, as its message says it.

#include "mcp/protocol/revision.hpp"

#include <paddock/mcp/extension.hpp>
#include <paddock/mcp/json_rpc.hpp>
#include <paddock/mcp/tool.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

struct client_info {
  std::string name;
  std::string version;
};

class call_host;

/// One tools/call, or one call of an extension's method. Views refer to the parsed message.
struct call_request {
  request_id id;
  const paddock::mcp::tool* tool = nullptr; ///< this,
  const extension_method* method = nullptr; ///< or this
  json_view arguments;
  json_view params; ///< all of the request
  paddock::mcp::revision revision = newest_legacy;
  std::optional<request_id> progress_token;
  std::optional<log_level> log_from; ///< nothing: the client hears no log
  json_view client_capabilities;     ///< of a modern client
  std::string_view traceparent;
  std::string_view client_name;
  std::string_view client_version;
  call_host* tasks = nullptr;                ///< the call may become one of these
  std::optional<std::int64_t> task_kept_ms;  ///< what the client wants
  std::string task_id;                       ///< of the task that the call is
  std::shared_ptr<const client_info> client; ///< keeps the two views above alive in the legacy era

  /// Takes from the params, and their _meta, what calls of all kinds have there. After `revision`
  /// and `method` are known.
  void read(json_view from);
  [[nodiscard]] const std::string& name() const noexcept {
    return method != nullptr ? method->name : tool->name;
  }
};

} // namespace paddock::mcp
