// SPDX-License-Identifier: MIT
#pragma once

// The differences of two texts as the page shows them: hunks with some lines around them, each of
// which can be taken back alone. Pure.

#include <paddock/text/unified_diff.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::review_page {

/// Changes that stand so close that they are shown together. Lines count from 0.
struct hunk {
  std::size_t first_change = 0, changes = 0; ///< in file_diff::changes
  std::size_t before_line = 0, before_count = 0;
  std::size_t after_line = 0, after_count = 0; ///< with the lines around

  friend bool operator==(const hunk&, const hunk&) = default;
};

/// Refers to both texts.
struct file_diff {
  std::vector<std::string_view> before{}, after{}; ///< lines, with their line feed
  std::vector<line_change> changes{};
  std::vector<hunk> hunks{};
  std::uint64_t added = 0, removed = 0; ///< lines
};

/// `lines_around`: how many unchanged lines are shown before and after a change.
[[nodiscard]] file_diff compare(std::string_view before, std::string_view after,
                                std::size_t lines_around = 3);

/// The text afterwards, but for one hunk, which is as before. Precondition: there is that hunk.
[[nodiscard]] std::string without_hunk(const file_diff& diff, std::size_t number);

/// One line as it is shown.
struct row {
  char sign = ' ';         ///< ' ', '-' or '+'
  std::size_t line = 0;    ///< in the text before, of '+' in the one afterwards
  std::string_view text{}; ///< with its line feed, if it has one
};
[[nodiscard]] std::vector<row> rows_of(const file_diff& diff, const hunk& which);

} // namespace paddock::review_page
