// SPDX-License-Identifier: MIT
#pragma once

/// Reads one field from a block that is not valid YAML: from its own lines alone, as YAML if they
/// are, as text otherwise. Part of frontmatter.hpp.

#include <paddock/frontmatter/detail/block.hpp>
#include <paddock/frontmatter/detail/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::frontmatter::detail {

/// One of the two values, and where its key stands.
struct found_field {
  std::string text;
  value_kind kind = value_kind::missing;
  std::uint32_t line = 2;
  std::uint32_t column = 1;
};

/// Takes name and description, and passes the rest.
struct field_sink {
  found_field name;
  found_field description;
  found_field* current = nullptr;

  std::string* key(std::string_view key, std::uint32_t line, std::size_t column, std::size_t) {
    current = key == "name" ? &name : key == "description" ? &description : nullptr;
    if (current == nullptr) return nullptr;
    current->line = line;
    current->column = static_cast<std::uint32_t>(column + 1);
    return &current->text;
  }
  void value(value_kind kind, std::size_t) const noexcept {
    if (current != nullptr) current->kind = kind;
  }
};

/// The lines of a field: from its key in the first column to before the next line that is not
/// indented. A description goes on where such a line is prose, which nobody else wants: to before
/// the next key, item or comment.
struct field_lines {
  std::string_view text; ///< with line breaks; empty: there is no such key
  std::uint32_t line = 2;
};

[[nodiscard]] inline field_lines find_field(std::string_view block, std::string_view key) noexcept {
  for (std::uint32_t line = 2; !block.empty(); ++line, block = after_first_line(block)) {
    if (!block.starts_with(key) || !block.substr(key.size()).starts_with(':')) continue;
    std::string_view rest = after_first_line(block);
    std::string_view behind = rest; // the last line that belongs to it
    while (!rest.empty()) {
      const std::string_view next = first_line(rest);
      const bool is_empty = without_leading_blanks(next).empty();
      constexpr std::string_view of_yaml = "#-.{}[]?!&%@|>";
      const bool is_prose = key == "description" && !is_empty &&
                            of_yaml.find(next.front()) == std::string_view::npos &&
                            bare_key_size(next) == 0;
      if (!is_empty && !is_blank(next.front()) && !is_prose) break;
      rest = after_first_line(rest);
      if (!is_empty) behind = rest;
    }
    return {block.substr(0, block.size() - behind.size()), line};
  }
  return {};
}

/// The text between quotes on one line; unknown escapes stay as they are. The text as it is when it
/// is not one quoted whole.
[[nodiscard]] inline std::string unquoted(std::string_view text) {
  const char quote = text.front();
  std::string out;
  std::size_t at = 1;
  for (; at < text.size() && text[at] != quote; ++at) {
    if (quote != '"' || text[at] != '\\') {
      out.push_back(text[at]);
      continue;
    }
    const std::size_t escaped = read_escape(text.substr(at + 1), &out);
    if (escaped == 0 && at + 1 < text.size()) out.push_back(text[++at]); // such as \'
    at += escaped;
  }
  if (at >= text.size()) return std::string(text.substr(1)); // never closed
  return at + 1 == text.size() ? out : std::string(text);
}

/// The value as text: what follows the colon and the indented lines, joined by spaces.
[[nodiscard]] inline std::string raw_value(std::string_view lines, std::size_t key_size) {
  std::string text;
  bool is_first = true;
  for (; !lines.empty(); lines = after_first_line(lines), is_first = false) {
    std::string_view line = first_line(lines);
    if (is_first) {
      line = without_leading_blanks(line.substr(key_size + 1));
      // "> text": the indicator says nothing when the text does not begin on the next line.
      if (line.starts_with('>') || line.starts_with('|')) {
        const std::size_t behind = found_or_end(line.find_first_not_of("+-0123456789", 1), line);
        if (behind == line.size() || is_blank(line[behind])) line.remove_prefix(behind);
      }
    }
    if (!text.empty()) text.push_back(' ');
    text.append(without_trailing_blanks(without_leading_blanks(line)));
  }
  for (char& c : text) // a line's text has no use for control characters
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  collapse(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'')) text = unquoted(text);
  return text;
}

[[nodiscard]] inline found_field repair_field(std::string_view block, std::string_view key,
                                              full_parser full) {
  const field_lines lines = find_field(block, key);
  if (lines.text.empty()) return {};
  field_sink sink;
  found_field& field = key == "name" ? sink.name : sink.description;
  if (!scanner<field_sink>(lines.text, sink).run()) {
    field = {};
    document whole;
    if (full != nullptr) whole = full(lines.text, lines.line);
    if (whole.problems.empty() && whole.entries.size() == 1 && whole.entries.front().key == key)
      field = {std::move(whole.entries.front().value), whole.entries.front().kind};
    else
      field = {raw_value(lines.text, key.size()), value_kind::text};
  }
  field.line = lines.line;
  return std::move(field);
}

} // namespace paddock::frontmatter::detail
