// SPDX-License-Identifier: MIT
#include "skill_manager/config_tree.hpp"

#include <algorithm>
#include <tuple>

#ifdef PADDOCK_WITH_TOML
// Header-only and without exceptions, because the compiled library of the system throws.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#endif

namespace paddock::skill_manager {

#ifdef PADDOCK_WITH_TOML

namespace {

constexpr unsigned dots_of_line_max = 64;

/// Where a string that begins at `at` ends: behind its closing quotes, or at the end of its line or
/// of the text.
std::size_t end_of_string(std::string_view text, std::size_t at, unsigned& line) {
  const char quote = text[at];
  const std::string_view begin = text.substr(at);
  const bool multiline = begin.size() >= 3 && begin[1] == quote && begin[2] == quote;
  for (at += multiline ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\n') {
      if (!multiline) return at;
      ++line;
    } else if (text[at] == '\\' && quote == '"') {
      ++at;
      if (at < text.size() && text[at] == '\n') ++line;
    } else if (text[at] == quote) {
      if (!multiline) return at + 1;
      if (text.substr(at).starts_with(std::string(3, quote))) return at + 3;
    }
  }
  return at;
}

/// The line whose keys nest too deeply, or 0. The parser recurses once for each dot of a key and
/// bounds only brackets.
unsigned line_too_deep(std::string_view text) {
  unsigned line = 1;
  unsigned dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at, line);
      continue;
    }
    if (c == '#') at = std::min(text.find('\n', at), text.size());
    if (at == text.size()) break;
    if (text[at] == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > dots_of_line_max) {
      return line;
    }
    ++at;
  }
  return 0;
}

config_node convert(const toml::node& from) {
  config_node made;
  made.line = from.source().begin.line;
  if (const auto* table = from.as_table()) {
    made.kind = node_kind::table;
    for (const auto& [key, value] : *table)
      made.members.push_back({std::string(key.str()), key.source().begin.line, convert(value)});
    std::ranges::sort(made.members, {},
                      [](const config_member& m) { return std::tie(m.line, m.key); });
  } else if (const auto* array = from.as_array()) {
    made.kind = node_kind::array;
    for (const auto& element : *array)
      made.elements.push_back(convert(element));
  } else if (const auto* string = from.as_string()) {
    made.kind = node_kind::string;
    made.text = string->get();
  } else if (const auto* integer = from.as_integer()) {
    made.kind = node_kind::integer;
    made.integer = integer->get();
  } else if (const auto* number = from.as_floating_point()) {
    made.kind = node_kind::number;
    made.number = number->get();
  } else if (const auto* boolean = from.as_boolean()) {
    made.kind = node_kind::boolean;
    made.boolean = boolean->get();
  }
  return made;
}

} // namespace

result<config_node> parse_toml(std::string_view text, config_problem& problem) {
  constexpr error not_toml{error_code::invalid_argument, 0, "TOML"};
  if (const unsigned line = line_too_deep(text); line != 0) {
    problem.line = line;
    problem.message =
        "a line has at most " + std::to_string(dots_of_line_max) + " dots outside of strings";
    return not_toml;
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed) return convert(parsed.table());
  problem.line = parsed.error().source().begin.line;
  problem.message = "not TOML: " + std::string(parsed.error().description());
  return not_toml;
}

#else

result<config_node> parse_toml(std::string_view, config_problem& problem) {
  problem.message = "this build cannot read TOML; write the configuration as JSON, or build with "
                    "-Dtoml=enabled";
  return error{error_code::unsupported, 0, "TOML"};
}

#endif

} // namespace paddock::skill_manager
