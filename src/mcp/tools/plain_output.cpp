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

/// The size of the escape sequence at the beginning (ECMA-48); 0: it is none, or has no end here.
std::size_t sequence_size(std::string_view text) {
  if (text.size() < 2) return 0;
  std::size_t at = 1;
  if (text[at] == ']') { // of the operating system: up to BEL or ESC \, on one line
    at = text.find_first_of("\a\x1b\n", at);
    if (at == std::string_view::npos || text[at] == '\n') return 0;
    if (text[at] == '\a') return at + 1;
    return text.substr(at).starts_with("\x1b\\") ? at + 2 : 0;
  }
  if (text[at] == '[') {
    ++at;
    while (at < text.size() && is_within(text[at], '0', '?'))
      ++at;
  }
  const bool is_control_sequence = text[1] == '[';
  while (at < text.size() && is_within(text[at], ' ', '/'))
    ++at;
  const bool ends = at < text.size() && is_within(text[at], is_control_sequence ? '@' : '0', '~');
  return ends ? at + 1 : 0;
}

std::string without_sequences(std::string_view bytes) {
  std::string made;
  for (auto at = bytes.find(escape); at != std::string_view::npos; at = bytes.find(escape)) {
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
  if (bytes.find_first_of("\x1b\r") == std::string_view::npos) return std::string(bytes);
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
