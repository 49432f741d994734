// SPDX-License-Identifier: MIT
#pragma once

// One file of a text search: how it is read, what of it is text, and the lines that are returned.

#include "search/file_parts.hpp"
#include "search/line_matcher.hpp"

#include <paddock/path/root.hpp>
#include <paddock/search/text_search.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace paddock {

class shown_lines;

/// What became of a file.
enum class file_verdict : std::uint8_t { searched, binary, too_large, unreadable };

struct file_outcome {
  file_verdict verdict = file_verdict::searched;
  error_code why{};              ///< it is unreadable
  bool no_memory = false;        ///< it is not searched, because the budget has no room for it
  std::uint64_t bytes = 0;       ///< searched
  std::uint64_t count = 0;       ///< matching lines
  std::vector<found_line> lines; ///< the first of them, with their context; counted
};

/// Searches files one after the other; one for each thread.
class file_search {
public:
  file_search(const root& root, const text_pattern& pattern, const search_options& options,
              search_memory& memory)
      : options_(options), matcher_(pattern.get()), memory_(memory), parts_(root, options, memory) {
  }

  /// Searches the file `name` of an open directory. At most `lines_max` matching lines are kept.
  /// Errors: those of the bounds, and of what is kept; all others are in the outcome.
  [[nodiscard]] result<file_outcome> search(int directory, const char* name,
                                            std::uint64_t lines_max);

  /// Counts what is kept of what was found. Errors: those of memory_share::grow.
  [[nodiscard]] result<void> keep(std::uint64_t bytes);

  /// Lines that a slow pattern was not tried on.
  [[nodiscard]] std::uint64_t lines_left_out() const noexcept { return matcher_.lines_left_out(); }

private:
  [[nodiscard]] result<void> search_parts(std::uint64_t lines_max, file_outcome& outcome);
  /// From the line at `from` on.
  [[nodiscard]] result<void> match(std::string_view text, std::size_t from, std::uint64_t lines_max,
                                   shown_lines& lines, std::uint64_t& count);
  [[nodiscard]] static file_outcome unread(const error& why);

  const search_options& options_;
  line_matcher matcher_;
  search_memory& memory_;
  file_parts parts_;
  std::uint64_t kept_ = 0; ///< bytes of what was found that are not counted yet
};

/// Keeps, of the lines of one file, the matching ones from `first` up to `end` (numbers among the
/// matching ones) with their context.
void keep_matches(std::vector<found_line>& lines, std::uint64_t first, std::uint64_t end,
                  const search_options& options);

} // namespace paddock
