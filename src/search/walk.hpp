// SPDX-License-Identifier: MIT
#pragma once

// The one walk beneath a root that searching, finding and mapping share: every entry of a directory
// tree, in bytewise order of the paths, with what ignore files say of it.
//
// Each directory is opened by one name in its parent, which is held open, without following a link;
// so whatever is exchanged meanwhile, the walk stays beneath the root. Directories are read by
// several threads; the outcome does not depend on how many.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>
#include <paddock/search/ignore_tree.hpp>

#include <cstdint>
#include <memory>
#include <string>
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
};

/// How much of a directory's names the walk has.
enum class names_read : std::uint8_t {
  none, ///< it was not entered before the end, or is hidden
  some, ///< it ended before all that is in it was met
  all,
  failed, ///< it could not be opened, or not be read to its end
};

struct walked_directory;

struct walked_entry {
  std::uint32_t name_offset = 0; ///< into walked_directory::names
  std::uint16_t name_size = 0;
  entry_kind kind = entry_kind::other; ///< links are not followed
  bool ignored = false;                ///< only where such entries are marked
  /// A link that surely leads to a file: to one beside it, as most links do. Others have to be
  /// followed, which takes ten times as long.
  bool leads_to_file = false;
  std::unique_ptr<walked_directory> inside{}; ///< of a directory that was entered
};

struct walked_directory {
  std::string path; ///< relative to the root; "" is the root
  names_read read = names_read::none;
  std::uint64_t device = 0, inode = 0; ///< of what was entered; 0: nothing was
  std::string names;                   ///< each followed by a NUL
  std::vector<walked_entry> entries;   ///< in the order of their paths, with those inside of them
  std::vector<std::uint64_t> sizes;    ///< of the entries, if wanted; 0 of what is no file

  std::unique_ptr<ignore_frame> own_rules; ///< if it has any
  const ignore_frame* rules = nullptr;     ///< the innermost that count here

  /// Followed by a NUL; valid as long as this object.
  [[nodiscard]] std::string_view name(const walked_entry& entry) const noexcept {
    return std::string_view(names).substr(entry.name_offset, entry.name_size);
  }
  /// Relative to the root.
  [[nodiscard]] std::string path_of(const walked_entry& entry) const {
    std::string whole;
    whole.reserve(path.size() + 1 + entry.name_size);
    if (!path.empty()) whole.append(path) += '/';
    return whole.append(name(entry));
  }
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
