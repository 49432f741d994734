// SPDX-License-Identifier: MIT
#pragma once

// How git names what it keeps.

#include <paddock/path/detail/git_paths.hpp>

#include <string_view>

namespace paddock {

/// By which git tells a repository: the first with one of the others. `commondir` stands for a
/// worktree's.
inline constexpr std::string_view git_marks[] = {"HEAD", "objects", "commondir"};

/// Whether they make a repository of a directory; `has` tells which of them are there.
template <class Has> bool is_git_repository(const Has& has) {
  return has("HEAD") && (has("objects") || has("commondir"));
}

/// What it runs programs by, or finds such by.
inline constexpr const char* git_obeyed[] = {"config", "config.worktree", "hooks"};

/// Where it keeps the steps of a rebase, cherry-pick or revert that is under way, and which files
/// there can make it run a program when a person continues.
inline constexpr const char* git_under_way[] = {".git/rebase-merge", ".git/sequencer"};
inline constexpr std::string_view git_steps[] = {"rebase-merge/git-rebase-todo",
                                                 "rebase-merge/strategy", "sequencer/opts"};

/// Where it keeps those of submodules and worktrees, within a repository.
inline constexpr std::string_view git_stores[] = {"modules", "worktrees"};

/// How a file called `.git` begins; the path of the repository follows, and a line feed.
inline constexpr std::string_view git_file_prefix = "gitdir: ";

/// Without these git takes a directory for no repository, and goes on looking above it.
inline constexpr std::string_view git_directories[] = {"objects", "refs"};

} // namespace paddock
