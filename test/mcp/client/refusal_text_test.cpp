// SPDX-License-Identifier: MIT
// The few words of a server's refusal that people and models see.
#include "mcp/client/refusal_text.hpp"
#include "precompiled/tests.hpp"

namespace paddock {
namespace {

TEST(refusal_text, shows_what_can_be_read) {
  const struct {
    const char* name;
    std::string body;
    std::string shown;
  } cases[] = {
      {"nothing", "", ""},
      {"blank", " \r\n\t ", ""},
      {"text", "Session not found\n", "Session not found"},
      {"lines", "a\r\n\r\nb\tc", "a b c"},
      {"JSON-RPC", R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no session"}})",
       "no session"},
      {"error as text", R"({"error":"invalid_token"})", "invalid_token"},
      {"OAuth", R"({"error":"x","error_description":"expired"})", "expired"},
      {"problem details", R"({"title":"t","detail":"the detail"})", "the detail"},
      {"JSON without a message", R"({"a":1})", R"({"a":1})"},
      {"escapes for terminals", "\x1b]0;x\x07y\x1b[2J", "]0;x y [2J"},
      {"escaped in JSON", R"({"message":"a\u001b[31m\nb"})", "a [31m b"},
      {"C1",
       "a\xC2\x9B"
       "b",
       "a b"},
      {"not UTF-8",
       "a\xFF\xC0\xAF"
       "b",
       "a b"},
      {"NUL", std::string("a\0b", 3), "a b"},
      {"bidi and zero width",
       "a\xE2\x80\xAE"
       "b\xE2\x80\x8B"
       "c\xF3\xA0\x81\x81"
       "d",
       "a b c d"},
      {"shorthand and musical format characters, a private one",
       "a\xF0\x9B\xB2\xA0"
       "b\xF0\x9D\x85\xB3"
       "c\xEE\x80\x80"
       "d\xF4\x80\x80\x80"
       "e",
       "a b c d e"},
      {"letters", "gr\xC3\xBC\xC3\x9F \xE6\x9F\xA5 \xF0\x9F\x90\x8E",
       "gr\xC3\xBC\xC3\x9F \xE6\x9F\xA5 \xF0\x9F\x90\x8E"},
      {"long", std::string(1000, 'x'), std::string(300, 'x') + "…"},
      {"as long as allowed", std::string(300, 'x') + "\n", std::string(300, 'x')},
  };
  for (const auto& c : cases)
    EXPECT_EQ(mcp::refusal_text(c.body), c.shown) << c.name;
}

TEST(refusal_text, is_bounded_for_every_body) {
  std::string longest;
  for (int i = 0; i < 100'000; ++i)
    longest += "\xF0\x9F\x90\x8E\x01";
  EXPECT_LE(mcp::refusal_text(longest).size(), 300U * 4 + 4);
}

} // namespace
} // namespace paddock
