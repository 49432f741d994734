// SPDX-License-Identifier: MIT
#pragma once

// A text as lines. Thread-safety: pure.

#include <paddock/text/detail/line_breaks.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace paddock {

/// The lines of a text, each with its LF; the last one may have none.
[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  lines.reserve(detail::count_breaks(text).all + 1); // to grow costs more than to count
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

/// A line without its LF.
[[nodiscard]] constexpr std::string_view without_break(std::string_view line) noexcept {
  return line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
}

/// A line without its LF, and without a CR at the end.
[[nodiscard]] constexpr std::string_view without_end(std::string_view line) noexcept {
  line = without_break(line);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

} // namespace paddock
