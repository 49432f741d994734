// SPDX-License-Identifier: MIT
#include "mcp/stdio/line_reader.hpp"
#include "precompiled/tests.hpp"

namespace paddock::mcp {
namespace {

/// Feeds `input` in pieces of at most `piece` bytes; "!" stands for a line that was too long.
std::vector<std::string> lines_of(std::string_view input, std::size_t piece,
                                  std::size_t line_bytes_max) {
  line_reader reader(line_bytes_max);
  std::vector<std::string> lines;
  const auto keep = [&](const line_reader::item& i) {
    lines.push_back(i.too_long ? "!" : std::string(i.line));
  };
  while (!input.empty()) {
    while (const auto i = reader.take())
      keep(*i);
    const auto space = reader.space();
    EXPECT_FALSE(space.empty());
    EXPECT_LE(space.size(), line_bytes_max + 200'000);
    const std::size_t n = std::min({piece, space.size(), input.size()});
    std::memcpy(space.data(), input.data(), n);
    reader.added(n);
    input.remove_prefix(n);
  }
  while (const auto i = reader.take())
    keep(*i);
  if (const auto rest = reader.take_rest()) keep(*rest);
  return lines;
}

TEST(LineReader, CutsLines) {
  using lines = std::vector<std::string>;
  const struct {
    const char* name;
    std::string input;
    lines expected;
  } cases[] = {
      {"nothing", "", {}},
      {"one", "a\n", {"a"}},
      {"without a newline at the end", "a\nb", {"a", "b"}},
      {"CRLF", "a\r\nb\r\n", {"a", "b"}},
      {"blank", "\n\n", {"", ""}},
      {"at the bound", "0123456789\n", {"0123456789"}},
      {"at the bound with CRLF", "0123456789\r\nx\n", {"0123456789", "x"}},
      {"beyond the bound", "01234567890\nok\n", {"!", "ok"}},
      {"far beyond", std::string(5000, 'x') + "\nok\n", {"!", "ok"}},
      {"two too long",
       std::string(500, 'x') + "\n" + std::string(500, 'y') + "\nok",
       {"!", "!", "ok"}},
      {"too long at the end", "ok\n" + std::string(500, 'x'), {"ok", "!"}},
  };
  for (const auto& c : cases)
    for (const std::size_t piece : {1UL, 2UL, 7UL, 100'000UL}) {
      SCOPED_TRACE(std::string(c.name) + ", pieces of " + std::to_string(piece));
      EXPECT_EQ(c.expected, lines_of(c.input, piece, 10));
    }
}

TEST(LineReader, LongAndShortLinesInRandomPieces) {
  std::mt19937 random(1);
  std::string input;
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    const std::size_t length = random() % 10 == 0 ? random() % 400'000 : random() % 300;
    expected.emplace_back(length, static_cast<char>('a' + i % 26));
    input += expected.back() + "\n";
  }
  for (const std::size_t piece : {1000UL, 65'536UL, 1'000'000UL})
    EXPECT_EQ(expected, lines_of(input, piece, 400'000)) << piece;
}

} // namespace
} // namespace paddock::mcp
