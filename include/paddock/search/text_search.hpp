// SPDX-License-Identifier: MIT
#pragma once

/// Searches the text of the files beneath a root, line by line.
///
/// Which files are looked at, and what is told of those that are not, is as with find_files.hpp.
/// Files with a NUL are binary and counted, unless a byte order mark says that they are UTF-16,
/// which is searched as UTF-8. Links are not followed. Each file is opened by one name in a
/// directory that is held open, without following links and without waiting for FIFOs. The outcome
/// does not depend on the number of threads. It is not a snapshot.
///
/// Thread-safety: may be called from any thread; it uses threads of its own.

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>
#include <paddock/search/find_files.hpp>
#include <paddock/search/glob.hpp>
#include <paddock/search/text_pattern.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// What is wanted of the matches.
enum class search_output : std::uint8_t { lines, files, counts };

/// Which lines are wanted; the others are called matches nevertheless.
enum class wanted_lines : std::uint8_t { matching, not_matching };

/// A glob that is matched against paths relative to `rules_from`, and what becomes of what it
/// matches.
struct glob_rule {
  glob pattern;
  bool leaves_out = false; ///< files, and directories with all that is in them
};

struct search_options {
  search_output output = search_output::lines;
  wanted_lines lines = wanted_lines::matching;
  std::span<const glob> include{}; ///< empty: all files
  std::span<const glob> exclude{}; ///< files, and directories with all that is in them
  std::uint64_t before = 0;        ///< lines shown before each match
  std::uint64_t after = 0;         ///< and behind it
  std::uint64_t offset = 0;        ///< matching lines (or files) not returned
  std::uint64_t limit = 200;       ///< matching lines (or files) returned
  /// The last one that matches decides; a file that none matches is left out where one takes files
  /// in.
  std::span<const glob_rule> rules{};
  std::string_view rules_from{}; ///< a directory beneath the root; paths outside it stay whole
  ignore_files ignored = ignore_files::respect;
  std::uint64_t line_characters_max = 500;            ///< code points of a line that are returned
  /// Files are searched in pieces, at any size; one with a longer line is not searched.
  std::uint64_t line_bytes_max = 64ull * 1024 * 1024;
  std::uint64_t matches_max = 10'000'000;             ///< counting ends there
  unsigned threads_max = 2;
  std::uint64_t entries_max = 2'000'000;
  work_bounds bounds{};
};

/// A line of a file.
struct found_line {
  std::uint64_t line_number = 0; ///< from 1
  std::string text;              ///< without its line break; bytes of the file, UTF-16 decoded
  bool context = false;          ///< it is shown because it is near a match
  bool cut = false;              ///< only a part of it, around the first match

  friend bool operator==(const found_line&, const found_line&) = default;
};

struct file_matches {
  std::string path;              ///< relative to the root
  std::uint64_t count = 0;       ///< matching lines in the file, returned or not
  std::vector<found_line> lines; ///< of search_output::lines

  friend bool operator==(const file_matches&, const file_matches&) = default;
};

struct text_matches {
  std::vector<file_matches> files; ///< bytewise by path
  std::uint64_t total_matches = 0; ///< matching lines
  std::uint64_t total_files = 0;   ///< files that have one
  /// False: there may be more, for a bound ended the count, or something could not be read; what
  /// that was, `coverage` names.
  bool exact = true;
  std::uint64_t searched = 0;      ///< files looked through
  std::uint64_t searched_bytes = 0;
  std::uint64_t binary = 0;    ///< files not searched because they are no text
  std::uint64_t too_large = 0; ///< files not searched because of line_bytes_max, or the budget
  std::uint64_t no_memory = 0; ///< those of them for which the budget had no room
  search_coverage coverage;    ///< `unreadable` counts files, too, and `unread` names all of them
};

/// The matching lines in the file or beneath the directory `path`. When the deadline passes, what
/// was found so far is returned, with `exact` false. Errors: those of root::open_beneath;
/// cancelled; of a file that was named, why it cannot be searched (unsupported_type: it is no text).
[[nodiscard]] result<text_matches> search_text(const root& root, std::string_view path,
                                               const text_pattern& pattern,
                                               const search_options& options = {});

/// Why a file was not searched (`why` of search_coverage::unread, or what search_text refused of a
/// file that was named), as a clause about it.
[[nodiscard]] std::string why_not_searched(error_code why);

} // namespace paddock
