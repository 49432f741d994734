// SPDX-License-Identifier: MIT
#pragma once

// One file of a text search: how it is read, what of it is text, and the lines that are returned.

#include "search/line_matcher.hpp"

#include <paddock/path/root.hpp>
#include <paddock/search/text_search.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

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

/// What the threads of one search take of the budget, if there is one. It is one share, which holds
/// something from the start: none of them waits for others.
class search_memory {
public:
  explicit search_memory(memory_share taken) noexcept : share_(std::move(taken)) {}
  /// Before the threads start. Errors: those of memory_share::grow.
  [[nodiscard]] result<void> begin(const work_bounds& bounds) {
    return share_.bytes() > 0 ? result<void>() : share_.grow(1, bounds);
  }
  [[nodiscard]] result<void> grow(std::uint64_t bytes, const work_bounds& bounds) {
    const std::lock_guard lock(mutex_);
    return share_.grow(bytes, bounds);
  }

private:
  std::mutex mutex_;
  memory_share share_;
};

/// Searches files one after the other; one for each thread.
class file_search {
public:
  file_search(const root& root, const text_pattern& pattern, const search_options& options,
              search_memory& memory)
      : root_(root), options_(options), matcher_(pattern.get()), memory_(memory) {}

  /// Searches the file `name` of an open directory. At most `lines_max` matching lines are kept.
  /// Errors: those of the bounds, and of what is kept; all others are in the outcome.
  [[nodiscard]] result<file_outcome> search(int directory, const char* name,
                                            std::uint64_t lines_max);

  /// Counts what is kept of what was found. Errors: those of memory_share::grow.
  [[nodiscard]] result<void> keep(std::uint64_t bytes);

  /// Lines that a slow pattern was not tried on.
  [[nodiscard]] std::uint64_t lines_left_out() const noexcept { return matcher_.lines_left_out(); }

private:
  [[nodiscard]] result<std::string_view> read(int directory, const char* name);
  [[nodiscard]] result<std::string_view> as_text(std::string_view bytes);
  [[nodiscard]] result<void> count_buffer(std::size_t bytes, std::uint64_t& counted);
  [[nodiscard]] result<void> match(std::string_view text, std::uint64_t lines_max,
                                   file_outcome& outcome);

  const root& root_;
  const search_options& options_;
  line_matcher matcher_;
  std::string buffer_;
  std::string decoded_; ///< UTF-16 made UTF-8
  search_memory& memory_;
  std::uint64_t counted_ = 0;         ///< bytes of `buffer_` that are taken of the budget
  std::uint64_t decoded_counted_ = 0; ///< of `decoded_`
  std::uint64_t kept_ = 0;            ///< bytes of what was found that are not counted yet
};

/// Keeps, of the lines of one file, the matching ones from `first` up to `end` (numbers among the
/// matching ones) with their context.
void keep_matches(std::vector<found_line>& lines, std::uint64_t first, std::uint64_t end,
                  const search_options& options);

} // namespace paddock
