// SPDX-License-Identifier: MIT

// Instead of the HTTP transport, in a library that is built without it.

#include "mcp/client/client_transport.hpp"

namespace paddock::mcp {

result<std::unique_ptr<client_transport>>
open_http(const http_endpoint&, http_kind, const client_options&, incoming&, std::string* why) {
  if (why != nullptr) *why = "this build speaks no HTTP; enable the option http and build it again";
  return error{error_code::unsupported, 0, "http"};
}

} // namespace paddock::mcp
