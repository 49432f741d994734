// SPDX-License-Identifier: MIT
#include "mcp/refusal_text.hpp"

#include <paddock/detail/utf8.hpp>
#include <paddock/mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace paddock::mcp {
namespace {

constexpr std::size_t characters_max = 300;
constexpr std::size_t bytes_looked_at_max = std::size_t{64} * 1024;

struct character_range {
  std::uint32_t first;
  std::uint32_t last;
};
/// What draws nothing, or changes how its neighbours are drawn.
constexpr character_range invisible[] = {
    {0x00, 0x20},     {0x7F, 0xA0},     {0xAD, 0xAD},     {0x34F, 0x34F},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},   {0x2028, 0x202F},
    {0x205F, 0x206F}, {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xE000, 0xF8FF}, {0xE0000, 0x10FFFF}};

std::uint32_t value_of(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t value = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i)
    value = value << 6U | (byte(i) & 0x3FU);
  return value;
}

bool is_visible(std::string_view sequence) {
  const std::uint32_t value = value_of(sequence);
  for (const character_range& range : invisible)
    if (value >= range.first && value <= range.last) return false;
  return true;
}

/// Visible characters, with one blank between them where anything else was.
std::string one_line(std::string_view text) {
  std::string out;
  std::size_t characters = 0;
  bool gap = false;
  while (!text.empty()) {
    const auto found = detail::first_sequence(text);
    const std::string_view sequence = text.substr(0, found.size);
    text.remove_prefix(found.size);
    if (found.state != detail::utf8_state::complete || !is_visible(sequence)) {
      gap = !out.empty();
      continue;
    }
    if (characters + (gap ? 1 : 0) >= characters_max) return out + "…";
    if (gap) out += ' ';
    characters += gap ? 2 : 1;
    gap = false;
    out += sequence;
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
  const std::string_view seen = body.substr(0, bytes_looked_at_max);
  json_document document;
  if (const auto root = document.parse(seen))
    if (const auto message = message_in(*root)) return one_line(*message);
  return one_line(seen);
}

} // namespace paddock::mcp
