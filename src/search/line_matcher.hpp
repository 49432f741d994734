// SPDX-License-Identifier: MIT
#pragma once

// Finds the lines of a text that match a pattern. Literals that every match contains are looked for
// first, and only the lines that have one are given to the regular expression.

#include "search/literal_set.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/search/text_pattern.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace paddock {

/// A pattern that was compiled.
struct text_pattern::prepared {
  /// Every match contains one of these; nothing where that cannot be said.
  std::optional<literal_set> literals{};
  std::string expression{}; ///< of RE2; empty: whatever contains the literal matches
  letter_case letters = letter_case::exact;
  bool lines_apart = false; ///< each has to be a text of its own, which takes longer
};

/// A line of a text. `end` is before its line break.
struct matched_line {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t match = 0; ///< where in the text the match begins
};

/// Searches for one pattern; one for each thread.
class line_matcher {
public:
  explicit line_matcher(const text_pattern::prepared& pattern);
  line_matcher(const line_matcher&) = delete;
  line_matcher& operator=(const line_matcher&) = delete;
  ~line_matcher();

  /// The next matching line at or behind `from`, where a line begins; nothing where there is none.
  /// Errors: those of the bounds.
  [[nodiscard]] result<std::optional<matched_line>> next(std::string_view text, std::size_t from,
                                                         const work_bounds& bounds);

  /// Lines that were not searched, because the pattern is slow and they are long.
  [[nodiscard]] std::uint64_t lines_left_out() const noexcept { return left_out_; }

private:
  /// Looks at the bounds when enough was searched since the last time.
  [[nodiscard]] result<void> look_after(std::uint64_t bytes, const work_bounds& bounds);
  [[nodiscard]] result<std::optional<matched_line>>
  next_by_literals(std::string_view text, std::size_t from, const work_bounds& bounds);
  [[nodiscard]] result<std::optional<matched_line>>
  next_by_expression(std::string_view text, std::size_t from, const work_bounds& bounds);
  [[nodiscard]] std::optional<std::size_t> find_in(std::string_view text, std::size_t from,
                                                   std::size_t end);

  /// Whether the expression takes long for such a slice, however long this thread waits meanwhile.
  [[nodiscard]] bool is_slow(std::string_view text, std::size_t from, std::size_t end);

  const text_pattern::prepared& pattern_;
  std::unique_ptr<re2::RE2> expression_;
  std::size_t slice_ = 0;        ///< bytes given to the expression at once
  std::uint64_t since_look_ = 0; ///< bytes searched since the bounds were looked at
  bool tried_ = false;           ///< on the beginning of a long line
  std::uint64_t left_out_ = 0;
};

} // namespace paddock
