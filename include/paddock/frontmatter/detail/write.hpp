// SPDX-License-Identifier: MIT
#pragma once

/// Name and description as YAML. Part of frontmatter.hpp.

#include <paddock/frontmatter/detail/text.hpp>

#include <string>
#include <string_view>

namespace paddock::frontmatter::detail {

/// Whether a text is the same without quotes in every YAML parser: a word of small letters, digits
/// and single hyphens that no version of YAML takes for something else.
[[nodiscard]] inline bool is_plain_word(std::string_view text) noexcept {
  if (text.empty() || text.front() < 'a' || text.front() > 'z' || text.ends_with('-')) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_letter_or_digit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_letter_or_digit && (c != '-' || text[i - 1] == '-')) return false;
  }
  constexpr std::string_view taken[] = {"false", "n",    "no", "null", "off",
                                        "on",    "true", "y",  "yes"};
  for (const std::string_view word : taken)
    if (text == word) return false;
  return true;
}

/// An escape of the shortest form that YAML has for a code point without a letter of its own.
inline void append_hexadecimal(std::string& out, char32_t c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out.append(c < 0x100 ? "\\x" : "\\u");
  for (int shift = c < 0x100 ? 4 : 12; shift >= 0; shift -= 4)
    out.push_back(digits[c >> static_cast<unsigned>(shift) & 0xF]);
}

/// A double-quoted scalar on one line. Three dashes in a row are broken by an escape, for readers
/// that look for the closing fence everywhere.
inline void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = first_character(text.substr(at));
    const char32_t c = code_point(character);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.append(character);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (!is_printable(c) || (c == '-' && out.ends_with("--"))) {
      append_hexadecimal(out, c);
    } else {
      out.append(character);
    }
    at += character.size();
  }
  out.push_back('"');
}

inline void append_name(std::string& out, std::string_view name) {
  out.append("name: ");
  if (is_plain_word(name))
    out.append(name);
  else
    append_quoted(out, name);
}

inline void append_description(std::string& out, std::string_view description) {
  out.append("description: ");
  append_quoted(out, description);
}

} // namespace paddock::frontmatter::detail
