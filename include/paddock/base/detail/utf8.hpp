// SPDX-License-Identifier: MIT
#pragma once

/// UTF-8 on bytes: validation, counting, cutting a prefix at a code point, and writing one.
///
/// Valid means well-formed by table 3-7 of the Unicode Standard: no overlong forms, no surrogates,
/// nothing above U+10FFFF. NUL is an ordinary code point. Runs of ASCII are passed eight bytes at a
/// time.
///
/// Thread-safety: pure functions.

#include <paddock/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace paddock::detail {

enum class utf8_state : std::uint8_t {
  complete,  ///< a whole code point
  truncated, ///< the beginning of one, cut off by the end of the text
  invalid,   ///< no continuation makes this valid
};

struct utf8_sequence {
  utf8_state state = utf8_state::invalid;
  std::size_t size = 1; ///< bytes of a complete code point; 1 otherwise
};

/// The first character of `text`. Precondition: not empty.
[[nodiscard]] constexpr utf8_sequence first_sequence(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {utf8_state::complete, 1};
  if (lead < 0xC2 || lead > 0xF4) return {};
  // The second byte carries the limits that exclude overlong forms, surrogates and values above
  // U+10FFFF.
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (text.size() < 2) return {utf8_state::truncated, 1};
  if (byte(1) < lowest || byte(1) > highest) return {};
  if (lead < 0xE0) return {utf8_state::complete, 2};
  if (text.size() < 3) return {utf8_state::truncated, 1};
  if ((byte(2) & 0xC0) != 0x80) return {};
  if (lead < 0xF0) return {utf8_state::complete, 3};
  if (text.size() < 4) return {utf8_state::truncated, 1};
  if ((byte(3) & 0xC0) != 0x80) return {};
  return {utf8_state::complete, 4};
}

/// The code point of a complete sequence.
[[nodiscard]] constexpr char32_t code_point(std::string_view sequence) noexcept {
  const auto byte = [sequence](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]));
  };
  if (sequence.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7FU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i)
    code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

/// Precondition: `c` is a Unicode scalar value, which has a form in UTF-8.
inline void append_utf8(std::string& out, char32_t c) {
  const auto byte = [&out](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
    }
    byte(0x80 | (c >> 6 & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

/// Offset of the first byte that is not part of a complete, valid code point; size() when there is
/// none.
[[nodiscard]] inline std::size_t first_invalid_utf8(std::string_view text) noexcept {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word[2];
    if (text.size() - at >= sizeof word) {
      std::memcpy(word, text.data() + at, sizeof word);
      if (((word[0] | word[1]) & high_bits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    // At least to the end of this block one by one: text in other scripts mixes both.
    const std::size_t block_end =
        at + (text.size() - at < sizeof word ? text.size() - at : sizeof word);
    while (at < block_end) {
      const utf8_sequence found = first_sequence(text.substr(at));
      if (found.state != utf8_state::complete) return at;
      at += found.size;
    }
  }
  return text.size();
}

[[nodiscard]] inline bool is_valid_utf8(std::string_view text) noexcept {
  return first_invalid_utf8(text) == text.size();
}

/// Number of code points of valid UTF-8: its bytes that are not continuation bytes (10xxxxxx).
[[nodiscard]] inline std::size_t count_code_points(std::string_view text) noexcept {
  constexpr std::uint64_t low_bits = 0x0101'0101'0101'0101;
  std::size_t continuations = 0;
  std::size_t at = 0;
  for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t marks = (word >> 7) & (~word >> 6) & low_bits; // one per continuation byte
    continuations += static_cast<std::size_t>((marks * low_bits) >> 56);
  }
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++continuations;
  return text.size() - continuations;
}

/// `prefix` without a code point that the end of the prefix cut off: at most 3 bytes less. Bytes
/// that could not become valid stay, so validation still finds them.
[[nodiscard]] constexpr std::string_view
truncate_to_valid_prefix(std::string_view prefix) noexcept {
  for (std::size_t tail = 1; tail <= 3 && tail <= prefix.size(); ++tail) {
    const std::string_view end = prefix.substr(prefix.size() - tail);
    if ((static_cast<unsigned char>(end.front()) & 0xC0) == 0x80) continue;
    if (first_sequence(end).state == utf8_state::truncated) prefix.remove_suffix(tail);
    break;
  }
  return prefix;
}

} // namespace paddock::detail
