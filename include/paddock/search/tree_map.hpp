// SPDX-License-Identifier: MIT
#pragma once

/// A map of a directory tree in little text: what is where, how much of it, and what takes the
/// room.
///
/// Directories come before files. What has no room is one line with its counts: first the lists of
/// directories nearest to the top are shown, then their files, the short lists before the long
/// ones. An ignored directory is always one line; ignored files of a directory are one, too. What
/// is hidden, links and races are as with find_files.hpp; links count as files, and have no size.
///
/// Thread-safety: may be called from any thread; it uses threads of its own.

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>
#include <paddock/search/find_files.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct map_options {
  std::uint64_t depth_max = std::numeric_limits<std::uint64_t>::max(); ///< levels shown; 1 or more
  std::uint64_t bytes_max = 5000;                                      ///< of all lines, as text
  ignore_files ignored = ignore_files::respect;
  unsigned threads_max = 2;
  std::uint64_t entries_max = 2'000'000; ///< then it ends early
  work_bounds bounds{};
};

/// Files, directories and bytes of files.
struct tree_amount {
  std::uint64_t files = 0, directories = 0, bytes = 0;

  friend bool operator==(const tree_amount&, const tree_amount&) = default;
};

/// What a line of a map stands for.
enum class map_kind : std::uint8_t {
  file,
  link,      ///< not followed
  directory, ///< with what is in it below, if anything
  collapsed, ///< a directory; what is in it is counted only
  rest,      ///< entries of a directory that are counted only
};

/// How much of what a line stands for was looked at.
enum class looked_at : std::uint8_t {
  all,
  some,       ///< it ended early, or something in it could not be read
  none,       ///< it ended before
  unreadable, ///< it could not be opened, or not be read whole
};

struct map_line {
  std::uint32_t depth = 0; ///< 0: directly in the directory that was asked for
  map_kind kind = map_kind::file;
  bool ignored = false;
  std::string name{};   ///< UTF-8 in the codec of lexical_path.hpp, what is hidden as `?`
  tree_amount amount{}; ///< of a file its bytes; nothing of a directory whose content is below
  looked_at seen = looked_at::all; ///< of a directory, or of those that `rest` counts

  friend bool operator==(const map_line&, const map_line&) = default;
};

/// A line as text, indented by two blanks for each level, without a line break:
/// `node_modules/ 31,204 files, 310 MB, ignored`, `latest (link)`. 1 KB is 1024 bytes. What was not
/// looked at says `not looked at`, `not all looked at` or `unreadable`.
[[nodiscard]] std::string text_of(const map_line& line);

struct tree_map {
  std::vector<map_line> lines;
  tree_amount amount;     ///< of all beneath, without what is ignored
  bool truncated = false; ///< something is not shown for want of room, or was not looked at
  search_coverage coverage;
};

/// The map of what is beneath the directory `path`. When the deadline passes, what was met so far
/// is mapped, and `coverage` tells. Errors: those of root::open_beneath; too_large and too_many of
/// the budget of `bounds`; cancelled.
[[nodiscard]] result<tree_map> map_tree(const root& root, std::string_view path,
                                        const map_options& options = {});

} // namespace paddock
