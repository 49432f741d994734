// SPDX-License-Identifier: MIT
#pragma once

/// Texts of files whose byte order mark says that they are UTF-16, as UTF-8 and back. What comes
/// back is to the byte what it was, the mark included; so text that is changed in between changes
/// nothing else.
///
/// Bytes without such a mark are taken as they are, both ways: UTF-8, with or without a mark of its
/// own, and any other encoding. UTF-16 without a mark is not recognised. Refused is what could not
/// come back: half of a surrogate pair, an odd number of bytes, and UTF-32, whose mark begins as
/// one of UTF-16 does.
///
/// Cost: one pass. Thread-safety: pure functions.

#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

/// What a file begins with.
enum class utf16_mark : std::uint8_t { none, little_endian, big_endian };
inline constexpr std::size_t utf16_mark_bytes = 2;

/// Of a file with this beginning.
[[nodiscard]] constexpr utf16_mark utf16_mark_of(std::string_view bytes) noexcept {
  if (bytes.starts_with("\xFF\xFE")) return utf16_mark::little_endian;
  if (bytes.starts_with("\xFE\xFF")) return utf16_mark::big_endian;
  return utf16_mark::none;
}

struct decoded_text {
  std::string text; ///< in UTF-8 if there is a mark, without it; else the bytes
  utf16_mark mark = utf16_mark::none;
};

/// Why bytes have no text, or a text no bytes; `operation` says it in words.
struct text_fault : error {
  std::size_t offset = 0; ///< of the first byte that is at fault
};

/// Errors: not_text (see above).
[[nodiscard]] result<decoded_text, text_fault> decode_text(std::string bytes);

/// What of a file's bytes is shown and compared line by line: its text, of UTF-16 as UTF-8. Nothing
/// where it is binary, which means the same everywhere: NUL is in it, or UTF-16 that has no text.
[[nodiscard]] std::optional<std::string> text_to_show(std::string bytes);

/// The bytes of a file with this mark. Errors: not_text (with a mark: the text is not UTF-8).
[[nodiscard]] result<std::string, text_fault> encode_text(std::string text, utf16_mark mark);

// --- inline --------------------------------------------------------------------------------------

namespace detail {

struct utf16_character {
  char32_t code = 0;
  std::size_t size = 2; ///< bytes

  /// Whether it is a surrogate whose other half is missing.
  [[nodiscard]] constexpr bool is_half() const noexcept { return (code & 0x1F'F800U) == 0xD800U; }
};

/// The first character of bytes in this order. Precondition: there are two bytes.
[[nodiscard]] constexpr utf16_character first_utf16(std::string_view bytes,
                                                    utf16_mark mark) noexcept {
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(mark == utf16_mark::big_endian ? first << 8 | second
                                                                : second << 8 | first);
  };
  const char32_t high = unit(0);
  if ((high & 0xFC00U) != 0xD800U || bytes.size() < 4) return {high, 2};
  const char32_t low = unit(2);
  if ((low & 0xFC00U) != 0xDC00U) return {high, 2};
  return {0x1'0000U + ((high & 0x3FFU) << 10U) + (low & 0x3FFU), 4};
}

} // namespace detail
} // namespace paddock
