// SPDX-License-Identifier: MIT
#pragma once

// The lines of a file that a search returns: the matching ones and what is around them.

#include "search/line_matcher.hpp"

#include <paddock/search/text_search.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

/// Makes the lines of one file, each once. The file may come in parts, which end with lines: each
/// function is given the part that is at hand, and positions are those in it.
class shown_lines {
public:
  shown_lines(const search_options& options, std::vector<found_line>& lines)
      : options_(options), lines_(lines) {}

  void add(std::string_view text, const matched_line& match);
  /// Adds what comes after the last match, up to `end`.
  void add_after(std::string_view text, std::size_t end);
  /// Where the lines begin that may still be shown before a match behind the end of `text`.
  [[nodiscard]] std::size_t needed_from(std::string_view text) const;
  /// The next part begins where this one has `begin`; at most `needed_from`.
  void move_on(std::string_view text, std::size_t begin);

  /// What the lines hold that were added since it was asked.
  std::size_t take_bytes() noexcept { return std::exchange(bytes_, 0); }

private:
  void show(std::string_view text, std::size_t begin, std::size_t match, bool context);
  void count_up_to(std::string_view text, std::size_t end);

  const search_options& options_;
  std::vector<found_line>& lines_;
  std::size_t next_ = 0;     ///< behind the last line that was shown
  std::size_t counted_ = 0;  ///< line breaks are counted up to here
  std::uint64_t number_ = 1; ///< of the line there
  std::uint64_t after_ = 0;  ///< lines of context that are still wanted
  std::size_t bytes_ = 0;    ///< of the lines that were added
};

} // namespace paddock
