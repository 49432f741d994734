// SPDX-License-Identifier: MIT

// Whole conversations: test/golden/<case>/in.jsonl is fed line by line to a server with the fixture
// tools, and the lines it sends must be those of out.jsonl. PADDOCK_UPDATE_GOLDEN=1 rewrites
// out.jsonl; read the difference.

#include "precompiled/tests.hpp"
#include "support/mcp/mcp_fixture.hpp"

#include <paddock/mcp/server.hpp>

namespace paddock::mcp {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(PADDOCK_GOLDEN_DIR))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

class McpGolden : public testing::TestWithParam<std::string> {};

TEST_P(McpGolden, Conversation) {
  const fs::path directory = fs::path(PADDOCK_GOLDEN_DIR) / GetParam();
  server s(test::fixture_options(), test::fixture_tools(test::gate{}));
  std::vector<std::string> sent;
  for (const std::string& line : lines_of(directory / "in.jsonl"))
    for (std::string& answer : s.handle_line(line))
      sent.push_back(std::move(answer));
  ASSERT_FALSE(sent.empty());
  if (std::getenv("PADDOCK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(directory / "out.jsonl", std::ios::binary | std::ios::trunc);
    for (const std::string& line : sent)
      out << line << '\n';
  }
  EXPECT_EQ(lines_of(directory / "out.jsonl"), sent);
}

INSTANTIATE_TEST_SUITE_P(, McpGolden, testing::ValuesIn(cases()),
                         [](const auto& p) { return p.param; });

} // namespace
} // namespace paddock::mcp
