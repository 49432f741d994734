// SPDX-License-Identifier: MIT
#pragma once

// A directory that a walk has met, with what is in it.

#include <paddock/base/file_status.hpp>
#include <paddock/search/ignore_tree.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

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
  bool is_entered = false;             ///< for whoever follows the walk
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

} // namespace paddock
