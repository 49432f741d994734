// SPDX-License-Identifier: MIT
#pragma once

// The format of git's index: versions 2 to 4, with names of SHA-1 or SHA-256
// (Documentation/gitformat-index.txt). Thread-safety: pure functions.

#include <cstddef>
#include <functional>
#include <string_view>

namespace paddock {

inline constexpr std::size_t git_sha1_bytes = 20, git_sha256_bytes = 32;

/// Valid during the call that it is given to.
struct git_index_entry {
  std::string_view name;
  std::string_view mode;  ///< four bytes
  std::string_view said;  ///< its object and flags
  std::size_t at = 0;     ///< offset in the index
  std::size_t shared = 0; ///< version 4: how much of the name before it takes over
  std::size_t kept = 0;   ///< how much of the name before is the same, which may be more
};

using on_git_index_entry = std::function<bool(const git_index_entry&)>;
/// An extension as a whole, and its offset.
using on_git_index_extension = std::function<bool(std::string_view whole, std::size_t at)>;

/// Calls for each entry, then for each extension. False: these are not the bytes of an index, or a
/// call returned false.
[[nodiscard]] bool read_git_index(std::string_view bytes, std::size_t object_bytes,
                                  const on_git_index_entry& entry,
                                  const on_git_index_extension& extension);

/// Whether git may follow a path in a worktree: what its verify_path accepts, with the names that
/// any file system takes for `.git`. A directory of a sparse index ends with a slash.
[[nodiscard]] bool is_path_inside(std::string_view path);

enum class index_paths : unsigned char {
  inside,    ///< git may check out and add all of them
  elsewhere, ///< one leads out of the worktree or into `.git`, or git could read it otherwise
  shared,    ///< the entries are inside; there are more in files `sharedindex.*`
};

/// Where the paths of an index lead; what cannot be read leads elsewhere. Git itself checks them
/// only when it adds them, and follows them wherever they lead.
[[nodiscard]] index_paths paths_of_index(std::string_view bytes, std::size_t object_bytes);

} // namespace paddock
