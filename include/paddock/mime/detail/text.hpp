// SPDX-License-Identifier: MIT
#pragma once

/// Whether bytes are text, in which encoding, and which kind of text: HTML, XML, SVG or a script by
/// its first line. Part of mime.hpp.

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/utf8.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paddock::mime {

enum class text_encoding : std::uint8_t {
  none, ///< not text
  utf8, ///< valid UTF-8, ASCII included
  utf8_with_bom,
  utf16,        ///< by its byte order mark
  utf32,        ///< by its byte order mark
  unknown_8bit, ///< not UTF-8, but free of bytes that text does not have (Latin-1, GBK, …)
};

namespace detail {

inline constexpr std::string_view utf8_bom = "\xEF\xBB\xBF";
inline constexpr std::string_view white_space = "\t\n\f\r ";

/// WHATWG MIME Sniffing, "binary data byte": 00-08, 0B, 0E-1A, 1C-1F. One bit for each control
/// byte.
inline constexpr std::uint32_t binary_data_bytes =
    ~(1U << '\t' | 1U << '\n' | 1U << '\f' | 1U << '\r' | 1U << 0x1B);

[[nodiscard]] inline bool has_binary_data_byte(std::string_view bytes) noexcept {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  constexpr std::uint64_t spaces = 0x2020'2020'2020'2020;
  std::size_t at = 0;
  for (; bytes.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    // The high bit of each byte below 0x20. No subtraction borrows from the next byte.
    std::uint64_t controls = ~((word | high_bits) - spaces) & ~word & high_bits;
    for (; controls != 0; controls &= controls - 1) {
      const auto control = word >> (std::countr_zero(controls) - 7) & 0xFF;
      if ((binary_data_bytes >> control & 1) != 0) return true;
    }
  }
  for (const char c : bytes.substr(at)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && (binary_data_bytes >> byte & 1) != 0) return true;
  }
  return false;
}

/// Whether what follows a byte order mark is text: no control characters, nothing that Unicode has
/// not, and surrogates in pairs.
[[nodiscard]] constexpr bool are_units_text(std::string_view prefix, std::size_t unit_bytes,
                                            bool is_little) noexcept {
  bool is_half = false;
  for (std::size_t at = unit_bytes; prefix.size() - at >= unit_bytes; at += unit_bytes) {
    std::uint32_t unit = 0;
    for (std::size_t i = 0; i < unit_bytes; ++i)
      unit =
          unit << 8 | static_cast<unsigned char>(prefix[at + (is_little ? unit_bytes - 1 - i : i)]);
    const bool is_control = unit < 0x20 && (binary_data_bytes >> unit & 1) != 0;
    const bool is_second = unit >= 0xDC00 && unit <= 0xDFFF;
    if (is_control || unit > 0x10FFFF || (unit & 0xFFFE) == 0xFFFE || is_half != is_second)
      return false;
    is_half = unit >= 0xD800 && unit <= 0xDBFF;
    if (is_half && unit_bytes == 4) return false;
  }
  return true;
}

[[nodiscard]] inline text_encoding encoding_of(std::string_view prefix) noexcept {
  using namespace std::string_view_literals;
  const bool is_little = prefix.starts_with("\xFF\xFE");
  if (prefix.starts_with("\xFF\xFE\0\0"sv) || prefix.starts_with("\0\0\xFE\xFF"sv))
    return are_units_text(prefix, 4, is_little) ? text_encoding::utf32 : text_encoding::none;
  if (is_little || prefix.starts_with("\xFE\xFF"))
    return are_units_text(prefix, 2, is_little) ? text_encoding::utf16 : text_encoding::none;
  if (has_binary_data_byte(prefix)) return text_encoding::none;
  if (!paddock::detail::is_valid_utf8(paddock::detail::truncate_to_valid_prefix(prefix)))
    return text_encoding::unknown_8bit;
  return prefix.starts_with(utf8_bom) ? text_encoding::utf8_with_bom : text_encoding::utf8;
}

[[nodiscard]] constexpr bool starts_with_ignoring_case(std::string_view text,
                                                       std::string_view start) noexcept {
  return paddock::detail::equal_ignoring_ascii_case(text.substr(0, start.size()), start);
}

[[nodiscard]] constexpr std::string_view skip_white_space(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(white_space);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// WHATWG MIME Sniffing, "rules for identifying an unknown MIME type": the HTML rows.
[[nodiscard]] constexpr bool looks_like_html(std::string_view text) noexcept {
  constexpr std::string_view tags[] = {
      "<!DOCTYPE HTML", "<HTML", "<HEAD",  "<SCRIPT", "<IFRAME", "<H1",   "<DIV", "<FONT",
      "<TABLE",         "<A",    "<STYLE", "<TITLE",  "<B",      "<BODY", "<BR",  "<P",
  };
  if (text.starts_with("<!--")) return true;
  for (const std::string_view tag : tags)
    if (starts_with_ignoring_case(text, tag) && text.size() > tag.size() &&
        (text[tag.size()] == ' ' || text[tag.size()] == '>'))
      return true;
  return false;
}

/// The name of the first element after declarations, comments and processing instructions; empty
/// when there is none.
[[nodiscard]] constexpr std::string_view root_element(std::string_view text) noexcept {
  while (true) {
    text = skip_white_space(text);
    const std::string_view end = text.starts_with("<?")     ? "?>"
                                 : text.starts_with("<!--") ? "-->"
                                 : text.starts_with("<!")   ? ">"
                                                            : "";
    if (end.empty()) break;
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + end.size());
  }
  if (!text.starts_with('<')) return {};
  return text.substr(1, text.find_first_of("\t\n\f\r />", 1) - 1);
}

/// The type of a script by the interpreter its first line names ("#!/usr/bin/env python3").
[[nodiscard]] constexpr std::string_view script_type(std::string_view text) noexcept {
  struct row {
    std::string_view interpreter; // without a version at its end
    std::string_view type;
  };
  constexpr row rows[] = {
      {"ash", "text/x-shellscript"},    {"awk", "text/x-awk"},
      {"bash", "text/x-shellscript"},   {"bun", "text/javascript"},
      {"dash", "text/x-shellscript"},   {"deno", "text/x-typescript"},
      {"fish", "text/x-shellscript"},   {"gawk", "text/x-awk"},
      {"ksh", "text/x-shellscript"},    {"lua", "text/x-lua"},
      {"make", "text/x-makefile"},      {"node", "text/javascript"},
      {"perl", "text/x-perl"},          {"php", "text/x-php"},
      {"python", "text/x-python"},      {"Rscript", "text/x-r"},
      {"ruby", "text/x-ruby"},          {"sed", "text/x-sed"},
      {"sh", "text/x-shellscript"},     {"tclsh", "text/x-tcl"},
      {"ts-node", "text/x-typescript"}, {"tsx", "text/x-typescript"},
      {"zsh", "text/x-shellscript"},
  };
  if (!text.starts_with("#!")) return {};
  std::string_view line = text.substr(2, text.find_first_of("\r\n") - 2);
  while (true) {
    line = skip_white_space(line);
    std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (word.empty()) return {};
    line.remove_prefix(word.size());
    word = word.substr(word.rfind('/') + 1);
    // env passes on its options and assignments.
    if (word == "env" || word.starts_with('-') || word.find('=') != std::string_view::npos)
      continue;
    word = word.substr(0, word.find_last_not_of("0123456789.") + 1);
    for (const row& known : rows)
      if (word == known.interpreter) return known.type;
    return {};
  }
}

/// The kind of a text. Only encodings that contain ASCII as it is are looked into.
[[nodiscard]] constexpr std::string_view text_type(std::string_view prefix,
                                                   text_encoding encoding) noexcept {
  if (encoding == text_encoding::utf16 || encoding == text_encoding::utf32) return "text/plain";
  if (encoding == text_encoding::utf8_with_bom) prefix.remove_prefix(utf8_bom.size());
  if (const auto type = script_type(prefix); !type.empty()) return type;
  const std::string_view text = skip_white_space(prefix);
  if (!text.starts_with('<')) return "text/plain";
  if (const auto root = root_element(text); root == "svg" || root == "svg:svg")
    return "image/svg+xml";
  if (text.starts_with("<?xml")) return "text/xml";
  return looks_like_html(text) ? "text/html" : "text/plain";
}

} // namespace detail
} // namespace paddock::mime
