// SPDX-License-Identifier: MIT
#pragma once

/// The rules of the Agent Skills specification that loading does not ask for. Part of
/// frontmatter.hpp.

#include <paddock/base/detail/visible_text.hpp>
#include <paddock/frontmatter/detail/read.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::frontmatter::detail {

/// Takes every key of the top level.
struct entry_sink {
  std::vector<entry> entries;

  std::string* key(std::string_view key, std::uint32_t line, std::size_t column,
                   std::size_t begin) {
    entry& next = entries.emplace_back();
    next.key = key;
    next.line = line;
    next.column = static_cast<std::uint32_t>(column + 1);
    next.begin = begin;
    return &next.value;
  }
  void value(value_kind kind, std::size_t end) noexcept {
    entries.back().kind = kind;
    entries.back().end = end;
  }
};

/// Every key of the top level; nothing when the block is not known to be valid but for keys that
/// occur twice.
[[nodiscard]] inline std::vector<entry> read_entries(std::string_view block, full_parser full) {
  entry_sink sink;
  if (scanner<entry_sink>(block, sink).run()) return std::move(sink.entries);
  if (full == nullptr || check_bytes(block)) return {};
  document whole = full(block, 2);
  for (const diagnostic& problem : whole.problems)
    if (problem.code != diagnostic_code::duplicate_key) return {};
  return std::move(whole.entries);
}

/// Capital letters of the scripts where they are found without tables: Latin-1, Greek, Cyrillic.
[[nodiscard]] constexpr bool is_capital(char32_t c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
         (c >= 0x391 && c <= 0x3A9) || (c >= 0x400 && c <= 0x42F);
}

/// Characters beyond ASCII pass for letters, but for blocks that have none: Latin-1 signs, general
/// punctuation, arrows, mathematics, box drawing, CJK punctuation.
[[nodiscard]] constexpr bool is_name_character(char32_t c) noexcept {
  if (c < 0x80)
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  return c != 0xD7 && c != 0xF7 && (c < 0x2000 || c > 0x2BFF) && (c < 0x3000 || c > 0x3004) &&
         (c < 0x3008 || c > 0x3020) && (c < 0xE000 || c > 0xF8FF) && (c < 0x1F000 || c > 0x1FAFF);
}

inline void check_name(const found_field& name, std::string_view directory,
                       std::vector<diagnostic>& found) {
  const auto note = [&](diagnostic_code code) { found.push_back({code, name.line, name.column}); };
  bool has_capital = false;
  bool has_other = false;
  for (std::string_view rest = name.text; !rest.empty();) {
    const std::string_view character = first_character(rest);
    has_capital |= is_capital(code_point(character));
    has_other |= !is_name_character(code_point(character));
    rest.remove_prefix(character.size());
  }
  if (has_capital) note(diagnostic_code::name_uppercase);
  if (has_other) note(diagnostic_code::name_character);
  if (name.text.starts_with('-') || name.text.ends_with('-') ||
      name.text.find("--") != std::string::npos)
    note(diagnostic_code::name_hyphen);
  if (!directory.empty() && name.text != directory) note(diagnostic_code::name_not_directory);
}

/// Characters of a whole file that a person does not see: of each run the first.
inline void find_hidden(std::string_view file, std::vector<diagnostic>& found) {
  constexpr std::size_t runs_max = 100;
  if (file.starts_with(utf8_mark))
    file.remove_prefix(utf8_mark.size()); // which has its own warning
  diagnostic at{diagnostic_code::invisible_character, 1, 1};
  bool in_run = false;
  std::size_t runs = 0;
  for (paddock::detail::visible_text walk(file); !walk.at_end() && runs < runs_max;) {
    const auto c = walk.next();
    if (c.is_hidden && !in_run) {
      at.character = c.code;
      found.push_back(at);
      ++runs;
    }
    in_run = c.is_hidden;
    at.column += static_cast<std::uint32_t>(c.bytes.size());
    if (c.code == '\n') ++at.line, at.column = 1;
  }
}

/// Those that only an escape in the value makes.
inline void find_hidden(const found_field& field, std::vector<diagnostic>& found) {
  for (paddock::detail::visible_text walk(field.text); !walk.at_end();) {
    const auto c = walk.next();
    if (!c.is_hidden) continue;
    const diagnostic here{diagnostic_code::invisible_character, field.line, field.column, c.code};
    for (const diagnostic& d : found)
      if (d.code == here.code && d.line >= field.line) return; // it is in the file itself
    return found.push_back(here);
  }
}

/// Values of metadata that are no texts. Only the full parser reads them.
inline void check_metadata(std::string_view block, const entry& e, full_parser full,
                           std::vector<diagnostic>& found) {
  if (full == nullptr || e.key != "metadata" || e.kind != value_kind::mapping) return;
  const std::string_view whole = block.substr(e.begin, e.end - e.begin);
  const std::size_t colon = whole.find(':');
  if (colon == std::string_view::npos) return;
  const document inner = full(whole.substr(colon + 1), e.line);
  for (const entry& value : inner.entries)
    if (value.kind != value_kind::text)
      found.push_back(
          {diagnostic_code::metadata_not_text, value.line,
           value.column +
               (value.line == e.line ? e.column + static_cast<std::uint32_t>(colon) : 0U)});
}

inline void check_entry(const entry& e, std::vector<diagnostic>& found) {
  constexpr std::size_t compatibility_max = 500;
  const auto note = [&](diagnostic_code code) { found.push_back({code, e.line, e.column}); };
  const bool is_text = e.kind == value_kind::text;
  if (e.key == "license") {
    if (!is_text) note(diagnostic_code::license_not_string);
  } else if (e.key == "compatibility") {
    if (!is_text && e.kind != value_kind::null)
      note(diagnostic_code::compatibility_not_string);
    else if (e.value.find_first_not_of(" \t\n") == std::string::npos || !is_text)
      note(diagnostic_code::compatibility_empty);
    else if (paddock::detail::count_code_points(e.value) > compatibility_max)
      note(diagnostic_code::compatibility_too_long);
  } else if (e.key == "metadata") {
    if (e.kind != value_kind::mapping) note(diagnostic_code::metadata_not_map);
  } else if (e.key == "allowed-tools") {
    if (!is_text) note(diagnostic_code::allowed_tools_not_string);
  } else if (e.key != "name" && e.key != "description") {
    note(diagnostic_code::unknown_key);
  }
}

} // namespace paddock::frontmatter::detail
