// SPDX-License-Identifier: MIT

// Each line of the input is a message to one server. Whatever arrives, every line sent must be JSON
// without a line break, and the server must still answer a ping at the end.

#include "support/mcp_fixture.hpp"

#include <paddock/mcp/server.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

void require(bool good) {
  if (!good) std::abort();
}

/// The fixture's tools without those that wait.
std::vector<paddock::mcp::tool> quick_tools() {
  std::vector<paddock::mcp::tool> tools = paddock::test::fixture_tools(paddock::test::gate{});
  std::erase_if(tools, [](const paddock::mcp::tool& t) {
    return t.name == "block" || t.name == "hang" || t.name == "deaf" || t.name == "big";
  });
  return tools;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  paddock::mcp::server server(paddock::test::fixture_options(), quick_tools());
  paddock::mcp::json_document document;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    for (const std::string& sent : server.handle_line(line)) {
      require(sent.find('\n') == std::string::npos);
      require(document.parse(sent).has_value());
    }
  }
  const auto pong =
      server.handle_line(R"({"jsonrpc":"2.0","id":"a ping of our own","method":"ping"})");
  require(pong.size() == 1 &&
          pong[0] == R"({"jsonrpc":"2.0","id":"a ping of our own","result":{}})");
  return 0;
}
