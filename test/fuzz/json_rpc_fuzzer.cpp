// SPDX-License-Identifier: MIT

// Each line of the input is a message to two servers: one that speaks the revision without sessions
// until the input itself opens one, and one whose client has opened a session of the older kind.
// Whatever arrives, every line sent must be JSON without a line break, and the server must still
// answer a ping at the end. The lines are cut out of the stream as a naive reader would, whatever
// pieces it arrives in.

#include "mcp/stdio/line_reader.hpp"
#include "support/mcp/mcp_fixture.hpp"

#include <paddock/mcp/server.hpp>

#include <algorithm>
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

constexpr std::size_t line_bytes_max = 4096;

/// "too long", or the line behind a mark.
std::vector<std::string> naive_lines(std::string_view input) {
  std::vector<std::string> lines;
  while (!input.empty()) {
    const auto end = input.find('\n');
    std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line.size() > line_bytes_max ? "too long" : "=" + std::string(line));
  }
  return lines;
}

std::vector<std::string> read_lines(std::string_view input, std::size_t piece) {
  paddock::mcp::line_reader reader(line_bytes_max);
  std::vector<std::string> lines;
  const auto keep = [&](const paddock::mcp::line_reader::item& item) {
    lines.push_back(item.too_long ? "too long" : "=" + std::string(item.line));
  };
  while (!input.empty()) {
    const auto room = reader.space();
    const std::size_t size = std::min({piece, room.size(), input.size()});
    input.copy(room.data(), size);
    reader.added(size);
    input.remove_prefix(size);
    while (const auto item = reader.take())
      keep(*item);
  }
  if (const auto item = reader.take_rest()) keep(*item);
  return lines;
}

void expect_alive(paddock::mcp::server& server) {
  const auto pong =
      server.handle_line(R"({"jsonrpc":"2.0","id":"a ping of our own","method":"ping"})");
  require(pong.size() == 1 &&
          pong[0] == R"({"jsonrpc":"2.0","id":"a ping of our own","result":{}})");
}

enum class era { modern, legacy };

void talk(const std::vector<std::string>& lines, era how) {
  paddock::mcp::server server(paddock::test::fixture_options(), quick_tools());
  paddock::mcp::json_document document;
  if (how == era::legacy) {
    const auto hello = server.handle_line(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
    require(hello.size() == 1 && hello[0].find("2025-11-25") != std::string::npos);
    require(
        server.handle_line(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").empty());
  }
  for (const std::string& line : lines) {
    if (!line.starts_with('=')) continue;
    for (const std::string& sent : server.handle_line(std::string_view(line).substr(1))) {
      require(sent.find('\n') == std::string::npos);
      require(document.parse(sent).has_value());
    }
  }
  expect_alive(server);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = naive_lines(input);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{5000}})
    require(read_lines(input, piece) == lines);
  talk(lines, era::modern);
  talk(lines, era::legacy);
  return 0;
}
