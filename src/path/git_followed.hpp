// SPDX-License-Identifier: MIT
#pragma once

// Which contents of git's own files make a person's git run a program, or read or write a file
// outside the workspace. Thread-safety: pure functions.

#include "path/git_index.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

struct followed_file {
  std::string_view name; ///< as `files_followed` has it, relative to the repository
  std::string_view bytes;
  std::size_t object_bytes = 0; ///< of the repository; 0: not known, nor what else is there
  /// Whether a path in it, of a worktree, of objects or of a conflict, stays in the workspace.
  std::function<bool(std::string_view path)> leads_inside = [](std::string_view) { return false; };
};

/// Whether git reads a file of a repository as a reference: which another may be named in.
[[nodiscard]] bool is_git_reference(std::string_view name);
/// Whether it does what such a file, or one of `git_followed` or `git_followed_in`, says.
[[nodiscard]] bool is_git_followed(std::string_view name);

/// Nothing where git may follow the file; else as much of its contents as git may follow, or "".
[[nodiscard]] std::optional<std::string> harmless_rest(const followed_file& of);

} // namespace paddock
