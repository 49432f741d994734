// SPDX-License-Identifier: MIT
#pragma once

// Unicode writes "é" as one character or as "e" and a mark, and file systems take those for two
// names. For messages only: without tables any letter with a mark passes for any composed one.

#include <paddock/base/detail/utf8.hpp>

#include <string_view>

namespace paddock {

[[nodiscard]] constexpr bool is_combining(char32_t c) noexcept {
  return (c >= 0x300 && c <= 0x36F) || c == 0x3099 || c == 0x309A ||
         (c >= 0x1160 && c <= 0x11FF); // vowels and ends of Hangul
}

/// Whether two names differ, but only in that.
[[nodiscard]] inline bool differ_in_form(std::string_view a, std::string_view b) {
  if (a == b || !detail::is_valid_utf8(a) || !detail::is_valid_utf8(b)) return false;
  const auto next = [](std::string_view& of) {
    const std::string_view bytes = of.substr(0, detail::first_sequence(of).size);
    of.remove_prefix(bytes.size());
    return detail::code_point(bytes);
  };
  const auto skip_marks = [&](std::string_view& of) {
    bool any = false;
    for (auto rest = of; !rest.empty() && is_combining(next(rest)); of = rest)
      any = true;
    return any;
  };
  while (!a.empty() && !b.empty()) {
    const char32_t in_a = next(a), in_b = next(b);
    if (in_a == in_b) continue;
    const bool marks_a = skip_marks(a), marks_b = skip_marks(b);
    if ((!marks_a && !marks_b) || (!marks_a && in_a < 0x80) || (!marks_b && in_b < 0x80))
      return false;
  }
  return a.empty() && b.empty();
}

} // namespace paddock
