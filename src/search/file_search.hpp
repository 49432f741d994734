// SPDX-License-Identifier: MIT
#pragma once

// One file of a text search: how it is read, what of it is text, and the lines that are returned.

#include "search/line_matcher.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/text/utf16.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

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

/// Reads files one after the other, in parts that end with lines, so that a large file needs no
/// more memory than a small one; one for each thread. UTF-16 comes as UTF-8, a line that is
/// longer than a part whole; no byte order mark comes.
class file_parts {
public:
  file_parts(const root& root, const search_options& options, search_memory& memory) noexcept
      : root_(root), options_(options), memory_(memory) {}

  /// Opens the file `name` of an open directory. Errors: not_regular, those of openat and
  /// of root::check_entered.
  [[nodiscard]] result<void> open(int directory, const char* name);

  /// Reads the next part; the first begins with the file, the others with what the one before has
  /// from `kept` on. Precondition: open, and not at the end. Errors: too_large (a line),
  /// those of read and of memory_share::grow.
  [[nodiscard]] result<void> next(std::size_t kept);

  /// The part that was read last. It is all or ends with a line.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }
  /// Whether it is no text, as far as it was read.
  [[nodiscard]] bool is_binary() const noexcept { return is_binary_; }
  /// Of the file, read until now.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return read_; }

  /// Gives back what few files need.
  void close() noexcept;

private:
  /// Reads until there are so many bytes in the buffer, or to the end.
  [[nodiscard]] result<void> fill(std::size_t wanted);
  /// `next` where the file is UTF-16.
  [[nodiscard]] result<void> next_decoded(std::size_t kept);
  /// Makes UTF-8 of the characters that are whole in the buffer, from `skipped` on.
  [[nodiscard]] result<void> decode(std::size_t skipped);
  [[nodiscard]] result<void> check_line(std::size_t bytes) const;
  [[nodiscard]] result<void> count_buffer(std::size_t bytes, std::uint64_t& counted);

  const root& root_;
  const search_options& options_;
  search_memory& memory_;
  file_descriptor file_;
  std::uint64_t expected_ = 0; ///< bytes of the file when it was opened
  std::uint64_t read_ = 0;
  std::string buffer_;
  std::size_t size_ = 0; ///< of it that is filled
  utf16_mark mark_ = utf16_mark::none;
  std::string decoded_; ///< of UTF-16: what comes as text; the buffer holds what is behind it
  std::string_view text_;
  bool is_at_end_ = false, is_binary_ = false;
  std::uint64_t counted_ = 0;         ///< bytes of `buffer_` that are taken of the budget
  std::uint64_t decoded_counted_ = 0; ///< of `decoded_`
};

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
