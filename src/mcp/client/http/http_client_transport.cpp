// SPDX-License-Identifier: MIT
#include "mcp/client/client_transport.hpp"
#include "mcp/client/http/http_message.hpp"

#include <utility>

namespace paddock::mcp {

opened_transport open_http(const http_endpoint& to, http_kind kind, const client_options& options,
                           incoming& sink) {
  const std::int64_t timeout_ms = options.connect_timeout_ms;
  PADDOCK_TRY(http_origin server, origin_of(to, timeout_ms, system_resolver(timeout_ms)));
  if (kind == http_kind::sse)
    return open_http_with_sse(std::move(server), to.headers, options, sink);
  return open_streamable_http(std::move(server), to.headers, options, sink);
}

} // namespace paddock::mcp
