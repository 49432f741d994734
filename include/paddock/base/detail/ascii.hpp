// SPDX-License-Identifier: MIT
#pragma once

/// Case folding of ASCII letters, and hexadecimal digits, independent of the locale. Folding leaves
/// other bytes as they are.

#include <paddock/base/config.hpp>

#include <cstddef>
#include <string_view>

namespace paddock::detail {

[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr char ascii_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

[[nodiscard]] constexpr bool equal_ignoring_ascii_case(std::string_view a,
                                                       std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  return true;
}

/// Whether all characters are of 0-9 and a-f, as in a printed hash.
[[nodiscard]] constexpr bool is_lower_hex(std::string_view digits) noexcept {
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace paddock::detail
