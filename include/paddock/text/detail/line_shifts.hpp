// SPDX-License-Identifier: MIT
#pragma once

/// Where lines of a text went when places of it were replaced, and where they came from.
/// Thread-safety: as for any value.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paddock::detail {

/// The replacements of one edit, from the first line of the text to the last.
class line_shifts {
public:
  /// A replacement that begins in `line`, whose old text has `old_breaks` line breaks. Lines count
  /// from 0, in the text before the edit. Precondition: no line is smaller than the one before.
  void add(std::uint64_t line, std::uint64_t old_breaks, std::uint64_t new_breaks) {
    const std::uint64_t added = replaced_.empty() ? 0 : added_;
    replaced_.push_back({line, old_breaks, line + added, new_breaks});
    added_ = added + new_breaks - old_breaks; // modulo 2^64, as all of it
  }

  /// A line of the text before, in the text after; in replaced text it is where that begins.
  [[nodiscard]] std::uint64_t forward(std::uint64_t line) const {
    const place* const last = last_before(line, &place::line);
    if (last == nullptr) return line;
    const std::uint64_t end = last->line + last->old_breaks;
    return line < end ? last->new_line : line - end + last->new_line + last->new_breaks;
  }

  /// A line of the text after, in the text before.
  [[nodiscard]] std::uint64_t backward(std::uint64_t line) const {
    const place* const last = last_before(line, &place::new_line);
    if (last == nullptr) return line;
    const std::uint64_t end = last->new_line + last->new_breaks;
    return line < end ? last->line : line - end + last->line + last->old_breaks;
  }

private:
  struct place {
    std::uint64_t line, old_breaks;
    std::uint64_t new_line, new_breaks;
  };

  [[nodiscard]] const place* last_before(std::uint64_t line, std::uint64_t place::* begin) const {
    std::size_t first = 0;
    for (std::size_t count = replaced_.size(); count > 0;) {
      const std::size_t half = count / 2;
      const bool is_before = replaced_[first + half].*begin < line;
      if (is_before) first += half + 1;
      count = is_before ? count - half - 1 : half;
    }
    return first == 0 ? nullptr : &replaced_[first - 1];
  }

  std::vector<place> replaced_;
  std::uint64_t added_ = 0; ///< lines, by all of them
};

} // namespace paddock::detail
