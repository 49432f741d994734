// SPDX-License-Identifier: MIT
#pragma once

// The one walk beneath a root that searching, finding and mapping share: every entry of a directory
// tree, in bytewise order of the paths, with what ignore files say of it.
//
// Each directory is opened by one name in its parent, which is held open, without following a link;
// so whatever is exchanged meanwhile, the walk stays beneath the root. Directories are read by
// several threads; the outcome does not depend on how many.

#include "search/walked_directory.hpp"

#include <paddock/base/detail/function_view.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace paddock {

enum class ignored_entries : std::uint8_t {
  leave_out, ///< and count
  mark,      ///< walk through them all the same
  include,   ///< as if there were no ignore files
};

/// Whether the sizes of files are wanted, which costs a system call for each.
enum class file_sizes : std::uint8_t { leave_out, read };

struct walk_options {
  ignored_entries ignored = ignored_entries::leave_out;
  file_sizes sizes = file_sizes::leave_out;
  bool mark_links = false; ///< see walked_entry::leads_to_file
  unsigned threads_max = 2;
  std::uint64_t entries_max = 2'000'000; ///< then the walk ends early
  work_bounds bounds{};
  /// Called with each directory that was entered, or tried, by the thread that did; it answers how
  /// many bytes it holds more. A directory may be freed when all in it were called for, and its
  /// rules after the walk.
  detail::function_view<std::int64_t(walked_directory&)> entered{};
};

struct walked_tree {
  std::unique_ptr<walked_directory> top;
  std::vector<std::unique_ptr<walked_directory>> above; ///< whose rules count, from the root down
  search_coverage coverage;
  memory_share memory; ///< what all of it takes of the budget, if there is one
};

/// Walks through the directory at `path`. Its own rules and those of the directories above it
/// count, but where `path` is itself ignored those above do not, because it was asked for.
/// Directories that cannot be entered, and an end before the end, are told in `coverage`. Errors:
/// those of root::open_beneath; cancelled.
[[nodiscard]] result<walked_tree> walk(const root& root, std::string_view path,
                                       const walk_options& options);

/// Opens a directory that was entered before. Errors: those of root::open_beneath; conflict, when
/// the path names a different object now, which the walk reports separately.
[[nodiscard]] result<file_descriptor> open_again(const root& root, const walked_directory& entered);

/// Calls visit(directory, entry) for all that was met, in bytewise order of the paths of files: a
/// directory comes directly before what is in it, which is passed over where `visit` says false.
template <class Visit> void for_each_walked(const walked_directory& from, Visit&& visit) {
  for (const walked_entry& entry : from.entries) // at most as deep as a path has components
    if (visit(from, entry) && entry.inside) for_each_walked(*entry.inside, visit);
}

} // namespace paddock
