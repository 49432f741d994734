// SPDX-License-Identifier: MIT
// Stands in for the HTTP transports where the library is built without them.
#include "mcp/client_transport.hpp"

namespace paddock::mcp {

result<std::unique_ptr<client_transport>>
open_http(const http_endpoint&, http_kind, const client_options&, incoming&, std::string* why) {
  if (why != nullptr)
    *why = "this build can't reach servers over HTTP; configure it with -Dhttp=enabled";
  return error{error_code::unsupported, 0, "open_http"};
}

} // namespace paddock::mcp
