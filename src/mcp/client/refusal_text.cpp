// SPDX-License-Identifier: MIT
#include "mcp/client/refusal_text.hpp"

#include <paddock/base/detail/visible_text.hpp>
#include <paddock/mcp/json.hpp>

#include <cstddef>
#include <optional>

namespace paddock::mcp {
namespace {

constexpr std::size_t characters_max = 300;

/// Neither hidden, in whatever company, nor blank, nor of private use: that draws what it likes.
bool is_drawn(char32_t c) {
  const bool is_private = (c >= 0xE000 && c <= 0xF8FF) || c >= 0xE0000;
  return !detail::is_hidden(c) && !detail::is_blank_character(c) && !is_private;
}

/// Visible characters, with one blank between them where anything else was.
std::string one_line(std::string_view text) {
  std::string out;
  std::size_t characters = 0;
  bool gap = false;
  for (detail::visible_text walk(text); !walk.at_end();) {
    const auto next = walk.next();
    if (!next.is_valid || !is_drawn(next.code)) {
      gap = !out.empty();
      continue;
    }
    if (characters + (gap ? 1 : 0) >= characters_max) return out + "…";
    if (gap) out += ' ';
    characters += gap ? 2 : 1;
    gap = false;
    out += next.bytes;
  }
  return out;
}

/// The members in which servers put a sentence.
std::optional<std::string_view> message_in(json_view root) {
  for (const json_view holder : {root["error"], root})
    for (const std::string_view key : {"message", "detail", "error_description", "title"})
      if (const auto text = holder[key].string(); text && !text->empty()) return text;
  return root["error"].string();
}

} // namespace

std::string refusal_text(std::string_view body) {
  const std::string_view seen = body.substr(0, refusal_bytes_max);
  json_document document;
  if (const auto root = document.parse(seen))
    if (const auto message = message_in(*root)) return one_line(*message);
  return one_line(seen);
}

} // namespace paddock::mcp
