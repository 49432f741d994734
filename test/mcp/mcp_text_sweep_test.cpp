// SPDX-License-Identifier: MIT

// The byte loops of the MCP library against the slow words of support/text/slow_text.hpp; and ones
// that are broken on purpose, which the comparison has to notice.

#include "http/text.hpp"
#include "mcp/json/json_escape.hpp"
#include "mcp/protocol/header_value.hpp"
#include "precompiled/tests.hpp"
#include "support/text/slow_text.hpp"

namespace paddock::mcp {
namespace {

std::string written(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// RFC 9110, section 5.5: visible characters and blanks.
bool is_header_value(std::string_view header) {
  for (const char c : header)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) return false;
  return true;
}

TEST(McpTextSweep, FastPathsSayWhatTheSlowOnesSay) {
  std::string many; // several times as long as the writer's buffer
  slow::sweep([&](const slow::sample& s) {
    bool good = written(s.text) == slow::json_string(s.text);
    EXPECT_TRUE(good) << testing::PrintToString(s.text);
    const std::string header = header_value_of(s.text);
    const bool returns = decoded_header(header) == s.text && is_header_value(header);
    EXPECT_TRUE(returns) << testing::PrintToString(s.text);
    if (s.text.size() % 13 == 0) many += s.text;
    if (many.size() > 3000) {
      good = good && written(many) == slow::json_string(many);
      EXPECT_TRUE(good) << testing::PrintToString(many);
      many.clear();
    }
    return good && returns;
  });
}

struct broken_writer {
  const char* name;
  std::string (*write)(std::string_view text);
};

constexpr broken_writer broken_writers[] = {
    {"forgets the last byte of a block",
     [](std::string_view text) {
       std::string out = written(text);
       if (text.size() > 15 && text[15] == '"') out.erase(out.find("\\\""), 1);
       return out;
     }},
    {"writes one U+FFFD for two bad bytes",
     [](std::string_view text) {
       std::string out = written(text);
       if (const auto at = out.find("\xEF\xBF\xBD\xEF\xBF\xBD"); at != std::string::npos)
         out.erase(at, 3);
       return out;
     }},
    {"takes 0x1F for a letter",
     [](std::string_view text) {
       std::string out = written(text);
       if (const auto at = out.find("\\u001f"); at != std::string::npos) out.replace(at, 6, "\x1F");
       return out;
     }},
    {"one character at one place",
     [](std::string_view text) {
       return written(text) + (text.find("\xE6\x83\x85") == 14 ? " " : "");
     }},
};

TEST(McpTextSweep, BrokenWritersAreNoticed) {
  std::vector<broken_writer> left(std::begin(broken_writers), std::end(broken_writers));
  slow::sweep([&](const slow::sample& s) {
    const std::string wanted = slow::json_string(s.text);
    std::erase_if(left, [&](const broken_writer& w) { return w.write(s.text) != wanted; });
    return !left.empty();
  });
  for (const broken_writer& unnoticed : left)
    ADD_FAILURE() << unnoticed.name;
}

TEST(McpTextSweep, TokensAreThoseOfTheStandard) {
  // RFC 9110, section 5.6.2, written out.
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "!#$%&'*+-.^_`|~";
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool good = std::count(letters.begin(), letters.end(), c) == 1;
    for (const std::string& text : {std::string(1, c), "a" + std::string(1, c),
                                    std::string(1, c) + "a", "abcdefgh" + std::string(1, c) + "x"})
      EXPECT_EQ(http::is_token(text), good) << value;
    // RFC 9110, section 5.5: no controls but the tab.
    const bool control = (value < 32 && value != 9) || value == 127;
    EXPECT_EQ(http::has_control_characters("ab" + std::string(1, c) + "cd"), control) << value;
  }
  EXPECT_FALSE(http::is_token(""));
}

} // namespace
} // namespace paddock::mcp
