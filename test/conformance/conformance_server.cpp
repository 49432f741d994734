// SPDX-License-Identifier: MIT
// A server with what the conformance suite calls by name, over HTTP on a free port of this machine.
// Prints its address, then serves until it is told to end.
#include "fixtures.hpp"

#include <paddock/mcp/http_server.hpp>
#include <paddock/mcp/server.hpp>

#include <cstdio>
#include <iterator>
#include <utility>

int main() {
  using namespace paddock;
  std::vector<mcp::tool> tools = conformance::fixture_tools();
  std::vector<mcp::tool> asking = conformance::asking_tools();
  std::move(asking.begin(), asking.end(), std::back_inserter(tools));
  const mcp::server server(
      {.name = "conformance-server", .version = "1", .logging = mcp::client_logging::offered},
      std::move(tools), {conformance::fixture_methods()});
  auto http = mcp::http_server::make(server);
  if (!http) {
    std::fprintf(stderr, "cannot listen: %s\n", http.error().operation);
    return 1;
  }
  std::puts(http->address().c_str());
  std::fflush(stdout);
  const auto served = http->run_until_terminated();
  return served && !served->failure ? 0 : 1;
}
