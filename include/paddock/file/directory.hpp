// SPDX-License-Identifier: MIT
#pragma once

/// Directories beneath a root: list, create with parents, remove with or without contents.
///
/// Listing is not a snapshot: entries that appear or vanish meanwhile may or may not be reported,
/// but a bad entry never fails the listing. Removing never follows a link, never crosses a mount,
/// and needs a bounded number of descriptors however deep the tree is.
///
/// Not guaranteed: that a directory which is removed when it is empty is the one that was looked
/// at, as no system call removes by descriptor. An empty one that gets its name at just that moment
/// is removed instead. Thread-safety: every function may be called from any thread.

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct directory_entry {
  std::uint32_t name_offset = 0; ///< into directory_listing::names
  std::uint16_t name_size = 0;
  entry_kind kind = entry_kind::other; ///< of the link's target when that lies beneath the root
  bool symlink = false;                ///< the entry itself is a symbolic link
  bool known = true; ///< false: the entry could not be examined; size and time are 0
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};

struct directory_listing {
  std::string path;  ///< resolved, relative to the root
  std::string names; ///< all names, back to back, raw bytes
  std::vector<directory_entry> entries;
  std::uint64_t total = 0; ///< entries in the directory, hidden ones not counted
  memory_share memory;     ///< what this takes of the budget, if there is one

  /// The name of one of its entries: bytes, perhaps not UTF-8. Valid as long as the listing.
  [[nodiscard]] std::string_view name(const directory_entry& entry) const noexcept {
    return std::string_view(names).substr(entry.name_offset, entry.name_size);
  }
};

struct list_options {
  std::uint64_t offset = 0;
  std::uint64_t entries_max = limits{}.list_entries_max;
  unsigned threads_max = 2; ///< for very large directories; 1: the calling thread only
  work_bounds bounds{};
};

/// The immediate children, sorted by name in UTF-16 code unit order (what JavaScript clients
/// expect), from `offset`. Protected entries are left out, and so are the temporary files of writes
/// that this process has under way; nothing is left out or removed for its name. Errors: not_found,
/// not_a_directory, permission_denied, timed_out, cancelled, too_many and too_large (memory).
[[nodiscard]] result<directory_listing> list_directory(const root& root, std::string_view path,
                                                       list_options options = {});

/// Where there is no `path`: the one in the same directory whose name differs in case, in how
/// Unicode writes its letters, or by one letter where no other name does. Empty: there is none that
/// is not hidden.
[[nodiscard]] std::string similar_path(const root& root, std::string_view path);

/// Makes the directory and its missing parents. Returns the resolved path.
/// Errors: already_exists, not_a_directory, dangling_symlink, protected_entry,
/// write_protected.
[[nodiscard]] result<std::string> create_directory(const root& root, std::string_view path);

enum class recursion : std::uint8_t { no, yes };

struct remove_options {
  recursion recursive = recursion::no;
  work_bounds bounds{};
  std::uint64_t* entries_removed = nullptr; ///< counted there also when the removal fails
  std::string* kept = nullptr; ///< the path of the hidden entry that the removal failed for
};

struct removed {
  std::string path;
  std::uint64_t entries = 0; ///< removed, the directory itself included
};

/// Removes a directory. A recursive removal looks first, for at most half of its time: where it
/// would meet a hidden entry, a mount or a directory that cannot be listed, nothing is removed.
/// When it fails in the middle all the same, what was removed stays removed. Errors: not_found,
/// not_a_directory, not_empty, crosses_mount, read_only, workspace_root, protected_entry,
/// conflict (another directory has its name by now), cancelled, timed_out.
[[nodiscard]] result<removed> remove_directory(const root& root, std::string_view path,
                                               remove_options options = {});

} // namespace paddock
