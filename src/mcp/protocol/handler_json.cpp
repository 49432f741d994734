// SPDX-License-Identifier: MIT
#include "mcp/protocol/handler_json.hpp"

#include <algorithm>

namespace paddock::mcp {

std::string problem_of_json(std::string_view json, json_kind kind) {
  const char bracket = kind == json_kind::array ? '[' : '{';
  const std::string_view wanted = kind == json_kind::array ? "an array" : "an object";
  // Also because a parser may skip a byte order mark.
  const std::size_t begin = json.find_first_not_of(" \t\r\n");
  json_document document;
  if (begin == std::string_view::npos || json[begin] != bracket)
    return "is not " + std::string(wanted);
  const auto parsed = document.parse(json);
  return parsed ? std::string() : std::string("is ") + parsed.error().operation;
}

bool has_braces(std::string_view json) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = json.find_first_not_of(blanks);
  const std::size_t end = json.find_last_not_of(blanks);
  return begin < end && json[begin] == '{' && json[end] == '}';
}

void put_on_one_line(std::string& json) {
  // Two searches, because find_first_of looks at every byte by itself.
  if (json.find('\n') == std::string::npos && json.find('\r') == std::string::npos) return;
  std::ranges::replace_if(json, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

} // namespace paddock::mcp
