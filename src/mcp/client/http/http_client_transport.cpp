// SPDX-License-Identifier: MIT
#include "mcp/client/client_transport.hpp"
#include "mcp/client/http/http_message.hpp"

#include <utility>

namespace paddock::mcp {

result<std::unique_ptr<client_transport>> open_http(const http_endpoint& to, http_kind kind,
                                                    const client_options& options, incoming& sink,
                                                    std::string* why) {
  const std::int64_t timeout_ms = options.connect_timeout_ms;
  PADDOCK_TRY(http_origin server, origin_of(to, timeout_ms, system_resolver(timeout_ms), why));
  if (kind == http_kind::sse)
    return open_http_with_sse(std::move(server), to.headers, options, sink, why);
  return open_streamable_http(std::move(server), to.headers, options, sink);
}

} // namespace paddock::mcp
