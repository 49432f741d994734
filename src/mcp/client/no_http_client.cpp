// SPDX-License-Identifier: MIT

// Instead of the HTTP transport, in a library that is built without it.

#include "mcp/client/client_transport.hpp"

namespace paddock::mcp {

opened_transport open_http(const http_endpoint&, http_kind, const client_options&, incoming&) {
  return detailed_error({error_code::unsupported, 0, "http"},
                        "this build speaks no HTTP; enable the option http and build it again");
}

} // namespace paddock::mcp
