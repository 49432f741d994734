// SPDX-License-Identifier: MIT
#pragma once

/// Texts of YAML scalars: which bytes may be in a line, what a plain scalar means, escapes, and
/// white space collapsed for lists. Part of frontmatter.hpp.

#include <paddock/base/detail/utf8.hpp>
#include <paddock/frontmatter/detail/diagnostics.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

namespace paddock::frontmatter::detail {

/// A set of bytes, for one look per byte.
class byte_set {
public:
  consteval explicit byte_set(std::string_view members) noexcept {
    for (const char c : members)
      has_[static_cast<unsigned char>(c)] = true;
  }
  [[nodiscard]] constexpr bool contains(char c) const noexcept {
    return has_[static_cast<unsigned char>(c)];
  }

private:
  std::array<bool, 256> has_{};
};

inline constexpr std::uint64_t every_byte = 0x0101'0101'0101'0101;
inline constexpr std::uint64_t every_high_bit = 0x8080'8080'8080'8080;

[[nodiscard]] inline std::uint64_t load_word(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// A bit for each byte below `limit` (at most 128). Bytes behind the first that is below may be
/// marked too.
[[nodiscard]] constexpr std::uint64_t bytes_below(std::uint64_t word, unsigned limit) noexcept {
  return (word - every_byte * limit) & ~word & every_high_bit;
}

/// Where something was found; the size of the text when it was not.
[[nodiscard]] constexpr std::size_t found_or_end(std::size_t at, std::string_view text) noexcept {
  return at < text.size() ? at : text.size();
}

/// What the bytes of a line allow.
enum class line_bytes : std::uint8_t {
  ascii,   ///< printable ASCII only
  unicode, ///< other characters too, to be looked at
  refused, ///< a control character
};

[[nodiscard]] inline line_bytes classify_line(std::string_view line) noexcept {
  const char* at = line.data();
  std::size_t left = line.size();
  std::uint64_t controls = 0;
  std::uint64_t high = 0;
  const auto look = [&](std::uint64_t word) {
    controls |= bytes_below(word, 0x20) | bytes_below(word ^ (every_byte * 0x7F), 1);
    high |= word & every_high_bit;
  };
  for (; left >= sizeof(std::uint64_t); at += sizeof(std::uint64_t), left -= sizeof(std::uint64_t))
    look(load_word(at));
  if (left > 0) {
    std::uint64_t word = every_byte * ' ';
    std::memcpy(&word, at, left);
    look(word);
  }
  if (controls != 0) return line_bytes::refused;
  return high != 0 ? line_bytes::unicode : line_bytes::ascii;
}

using paddock::detail::code_point;

/// The first character of `text`, which is not empty and valid UTF-8, and its size.
[[nodiscard]] constexpr std::string_view first_character(std::string_view text) noexcept {
  return text.substr(0, paddock::detail::first_sequence(text).size);
}

/// Line breaks of other standards, which some YAML parsers fold and some do not.
[[nodiscard]] constexpr bool is_unicode_line_break(char32_t c) noexcept {
  return c == 0x85 || c == 0x2028 || c == 0x2029;
}

[[nodiscard]] constexpr bool is_control(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/// Whether a character stands for itself in every YAML parser, line breaks aside.
[[nodiscard]] constexpr bool is_printable(char32_t c) noexcept {
  return !is_control(c) && !is_unicode_line_break(c) && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

/// Whether a line is valid UTF-8 of printable characters. ASCII is passed over, `classify_line`
/// looks at that.
[[nodiscard]] inline bool is_printable_line(std::string_view line) noexcept {
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at != end) {
    if (end - at >= static_cast<std::ptrdiff_t>(sizeof(std::uint64_t))) {
      const std::uint64_t high = load_word(at) & every_high_bit;
      if (high == 0) {
        at += sizeof(std::uint64_t);
        continue;
      }
      if constexpr (std::endian::native == std::endian::little) at += std::countr_zero(high) / 8;
    }
    if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
      continue;
    }
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const auto sequence = paddock::detail::first_sequence(rest);
    if (sequence.state != paddock::detail::utf8_state::complete) return false;
    if (!is_printable(code_point(rest.substr(0, sequence.size)))) return false;
    at += sequence.size;
  }
  return true;
}

/// Reads the escape whose backslash stands before `text` and appends what it stands for. Its size
/// without the backslash; 0 for none that YAML knows, or half of a surrogate pair.
[[nodiscard]] inline std::size_t read_escape(std::string_view text, std::string* out) {
  constexpr std::string_view letters = "\"\\/ntr0abfve N_LP";
  constexpr char32_t meanings[] = {'"',  '\\', '/',  '\n', '\t', '\r', 0,      '\a',  '\b',
                                   '\f', '\v', 0x1B, ' ',  0x85, 0xA0, 0x2028, 0x2029};
  if (text.empty()) return 0;
  const auto append = [out](char32_t c) {
    if (out != nullptr) paddock::detail::append_utf8(*out, c);
  };
  if (const std::size_t i = letters.find(text.front()); i != std::string_view::npos) {
    append(meanings[i]);
    return 1;
  }
  const std::size_t digits = text.front() == 'x'   ? 2
                             : text.front() == 'u' ? 4
                             : text.front() == 'U' ? 8
                                                   : 0;
  if (digits == 0 || text.size() <= digits) return 0;
  char32_t value = 0;
  for (const char c : text.substr(1, digits)) {
    const bool is_digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (!is_digit && (lower < 'a' || lower > 'f')) return 0;
    value = value << 4 | static_cast<char32_t>(is_digit ? c - '0' : lower - 'a' + 10);
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
  append(value);
  return digits + 1;
}

/// What YAML's core schema makes of a plain scalar.
[[nodiscard]] inline value_kind resolve_plain(std::string_view text) noexcept {
  if (text.empty()) return value_kind::null;
  const auto is_one_of = [text](std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
      if (text == word) return true;
    return false;
  };
  static constexpr byte_set beginnings("0123456789+-.~ntfNTF");
  if (!beginnings.contains(text.front())) return value_kind::text;
  if (is_one_of({"~", "null", "Null", "NULL"})) return value_kind::null;
  if (is_one_of({"true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN"}))
    return value_kind::other_scalar;
  const auto all_of = [](std::string_view digits, std::string_view set) {
    return !digits.empty() && digits.find_first_not_of(set) == std::string_view::npos;
  };
  constexpr std::string_view decimal = "0123456789";
  if (text.starts_with("0o") && all_of(text.substr(2), "01234567")) return value_kind::other_scalar;
  if (text.starts_with("0x") && all_of(text.substr(2), "0123456789abcdefABCDEF"))
    return value_kind::other_scalar;
  if (text.front() == '+' || text.front() == '-') text.remove_prefix(1);
  if (is_one_of({".inf", ".Inf", ".INF"})) return value_kind::other_scalar;
  const std::size_t whole = found_or_end(text.find_first_not_of(decimal), text);
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = found_or_end(text.find_first_not_of(decimal), text);
    text.remove_prefix(fraction);
  }
  if (whole + fraction == 0) return value_kind::text;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    return all_of(text, decimal) ? value_kind::other_scalar : value_kind::text;
  }
  return text.empty() ? value_kind::other_scalar : value_kind::text;
}

/// Whether eight bytes hold nothing for `collapse` to do: no control character, no two spaces, and
/// no part of the Unicode line breaks, whose last bytes are 0x85, 0xA8 and 0xA9.
[[nodiscard]] inline bool is_collapsed_word(const char* at) noexcept {
  const std::uint64_t word = load_word(at);
  const std::uint64_t spaces = bytes_below(word, 0x21);
  if ((spaces & spaces << 8) != 0 || bytes_below(word, 0x20) != 0) return false;
  if ((word & every_high_bit) == 0) return true;
  if (bytes_below(word ^ (every_byte * 0x85), 1) != 0) return false;
  if (bytes_below((word | every_byte) ^ (every_byte * 0xA9), 1) != 0) return false;
  return at[7] != '\xC2' && at[7] != '\xE2' && (at[6] != '\xE2' || at[7] != '\x80');
}

/// Size of the white space character at the beginning of `text`, which is not empty; 0: there is
/// none. Looks for whole characters, so that it may begin inside of one.
[[nodiscard]] constexpr std::size_t white_space_size(std::string_view text) noexcept {
  const char first = text.front();
  if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
  if (first == '\xC2') return text.starts_with("\xC2\x85") ? 2 : 0;
  if (first != '\xE2') return 0;
  return text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

/// Trims white space and line breaks, and makes each run of them inside one space. All other bytes
/// stay.
inline void collapse(std::string& text) noexcept {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  char* const out = text.data();
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_open = kept == 0 || out[kept - 1] == ' '; // another space would be too many
    if (text.size() - at >= word_size && (!is_open || out[at] != ' ') &&
        is_collapsed_word(out + at)) { // it may end inside of a character
      std::memmove(out + kept, out + at, word_size);
      kept += word_size;
      at += word_size;
      continue;
    }
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t blank = white_space_size(rest);
    const std::size_t size = blank > 0 ? blank : first_character(rest).size();
    if (blank == 0) {
      std::memmove(out + kept, rest.data(), size);
      kept += size;
    } else if (!is_open) {
      out[kept++] = ' ';
    }
    at += size;
  }
  if (kept > 0 && out[kept - 1] == ' ') --kept;
  text.resize(kept);
}

} // namespace paddock::frontmatter::detail
