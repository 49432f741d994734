// SPDX-License-Identifier: MIT
#pragma once

// How git names what it keeps.

#include <string_view>

namespace paddock {

/// A repository's own directory, or a file that leads to it.
inline constexpr std::string_view git_directory = ".git";

/// By which git tells a repository: the first with one of the others. `commondir` stands for a
/// worktree's.
inline constexpr std::string_view git_marks[] = {"HEAD", "objects", "commondir"};

/// Whether they make a repository of a directory; `has` tells which of them are there.
template <class Has> bool is_git_repository(const Has& has) {
  return has("HEAD") && (has("objects") || has("commondir"));
}

/// What it runs programs by, or finds such by.
inline constexpr const char* git_obeyed[] = {"config", "config.worktree", "hooks"};

/// Where it keeps those of submodules and worktrees, within a repository.
inline constexpr std::string_view git_stores[] = {"modules", "worktrees"};

/// Without these git takes a directory for no repository, and goes on looking above it.
inline constexpr std::string_view git_directories[] = {"objects", "refs"};

/// Whether the last component of the path is such a directory.
constexpr bool is_git_directory(std::string_view path) {
  return path == git_directory || path.ends_with("/.git");
}

/// Whether the path is such a directory or leads through one.
constexpr bool is_of_git(std::string_view path) {
  return is_git_directory(path) || path.starts_with(".git/") ||
         path.find("/.git/") != std::string_view::npos;
}

} // namespace paddock
