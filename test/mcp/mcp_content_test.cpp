// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/mcp/content.hpp>

namespace paddock::mcp {
namespace {

TEST(McpContent, BlocksOfEveryKind) {
  const std::string_view bytes("\x00\xFF\x10", 3);
  const struct {
    const char* name;
    std::string made;
    const char* expected;
  } cases[] = {
      {"nothing", content_blocks().take(), "[]"},
      {"text", content_blocks().text("a\n\"b\"").take(), R"([{"type":"text","text":"a\n\"b\""}])"},
      {"text that is not UTF-8", content_blocks().text("\xFF").take(),
       "[{\"type\":\"text\",\"text\":\"\xEF\xBF\xBD\"}]"},
      {"image", content_blocks().image(bytes, "image/png").take(),
       R"([{"type":"image","data":"AP8Q","mimeType":"image/png"}])"},
      {"sound", content_blocks().audio(bytes, "audio/wav").take(),
       R"([{"type":"audio","data":"AP8Q","mimeType":"audio/wav"}])"},
      {"text resource", content_blocks().text_resource("a:b", "text/plain", "c").take(),
       R"([{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"c"}}])"},
      {"binary resource", content_blocks().binary_resource("a:b", "image/png", bytes).take(),
       R"([{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"AP8Q"}}])"},
      {"link", content_blocks().link({.uri = "a:b", .name = "c"}).take(),
       R"([{"type":"resource_link","uri":"a:b","name":"c"}])"},
      {"link with everything",
       content_blocks()
           .link({.uri = "a:b", .name = "c", .description = "d", .mime_type = "e/f"})
           .take(),
       R"([{"type":"resource_link","uri":"a:b","name":"c","description":"d","mimeType":"e/f"}])"},
      {"several", content_blocks().text("a").image("", "image/png").take(),
       R"([{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}])"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(c.expected, c.made) << c.name;
}

TEST(McpContent, StartsAgainWhenTaken) {
  content_blocks blocks;
  EXPECT_EQ(R"([{"type":"text","text":"a"}])", blocks.text("a").take());
  EXPECT_EQ(R"([{"type":"text","text":"b"}])", blocks.text("b").take());
}

} // namespace
} // namespace paddock::mcp
