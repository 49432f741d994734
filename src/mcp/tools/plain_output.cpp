// SPDX-License-Identifier: MIT
#include "mcp/tools/plain_output.hpp"

#include "mcp/json/json_escape.hpp"

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr char escape = '\x1b';

bool is_within(char c, char first, char last) {
  return c >= first && c <= last;
}

/// The control at the beginning, as the letter that follows ESC: 0 where it has another byte there,
/// or none. A C1 control is two bytes of UTF-8: a single one is a part of another character.
char control_of(std::string_view text) {
  const std::string_view kinds = "PX[\\]^_";
  if (text.size() < 2 || (text[0] != escape && text[0] != '\xC2')) return 0;
  const char kind = text[0] == escape ? text[1] : static_cast<char>(text[1] - 0x40);
  return kinds.find(kind) == std::string_view::npos ? '\0' : kind;
}

/// Of DCS, SOS, OSC, PM or APC with its string, up to ST (an OSC: or BEL), CAN, SUB, the next
/// control or the end. 0: it would take lines with it that are output.
std::size_t string_size(std::string_view text, bool ends_with_bell) {
  const std::string_view ends = ends_with_bell ? "\x1b\xC2\x18\x1a\n\a" : "\x1b\xC2\x18\x1a";
  std::size_t at = std::min(text.find_first_of(ends, 2), text.size());
  while (at < text.size() && text[at] == '\xC2' && control_of(text.substr(at)) == 0)
    at = std::min(text.find_first_of(ends, at + 1), text.size());
  const std::string_view rest = text.substr(at);
  if (control_of(rest) == '\\') return at + 2;
  if (!rest.empty() && rest[0] != escape && rest[0] != '\xC2') ++at;
  return text.substr(0, at).find('\n') == std::string_view::npos ? at : 0;
}

/// The size of the escape sequence at the beginning (ECMA-48), also of one that the end or another
/// ESC cuts off; 0: it is none.
std::size_t sequence_size(std::string_view text) {
  const char control = control_of(text);
  if (control == 0 && text[0] != escape) return 0;
  if (control == '\\') return 2;
  if (control != 0 && control != '[') return string_size(text, control == ']');
  std::size_t at = control == '[' ? 2 : 1;
  while (control == '[' && at < text.size() && is_within(text[at], '0', '?'))
    ++at;
  while (at < text.size() && is_within(text[at], ' ', '/'))
    ++at;
  if (at == text.size() || text[at] == escape) return at;
  return is_within(text[at], control == '[' ? '@' : '0', '~') ? at + 1 : 0;
}

std::string without_sequences(std::string_view bytes) {
  constexpr std::string_view first = "\x1b\xC2";
  std::string made;
  for (auto at = bytes.find_first_of(first); at != std::string_view::npos;
       at = bytes.find_first_of(first)) {
    const std::size_t size = sequence_size(bytes.substr(at));
    made += bytes.substr(0, at + (size == 0 ? 1 : 0));
    bytes.remove_prefix(at + std::max<std::size_t>(size, 1));
  }
  return made.append(bytes);
}

/// The last text that a carriage return puts into the line, which has no newline.
std::string_view last_written(std::string_view line) {
  const auto end = line.find_last_not_of('\r');
  if (end == std::string_view::npos) return {};
  const auto begin = line.rfind('\r', end);
  return line.substr(begin + 1, end - begin); // npos + 1 is 0
}

} // namespace

std::string plain_output(std::string_view bytes) {
  if (bytes.find_first_of("\x1b\xC2\r") == std::string_view::npos) return std::string(bytes);
  const std::string text = without_sequences(bytes);
  std::string_view rest = text;
  std::string made;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    made += last_written(line);
    if (end < rest.size()) made += line.ends_with('\r') ? "\r\n" : "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return made;
}

std::size_t json_size(std::string_view text) {
  std::string made;
  append_json_string(made, text);
  return made.size() - 2;
}

} // namespace paddock::mcp
