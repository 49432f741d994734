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

/// What git alone writes, beside its marks: file tools leave it alone.
inline constexpr const char* git_own[] = {".git/rebase-merge", ".git/rebase-apply",
                                          ".git/sequencer",    ".git/MERGE_RR",
                                          ".git/index",        ".git/objects/info/alternates"};

/// Files of a repository by which git runs programs, or reads and writes files elsewhere, when a
/// person continues, commits or checks out. git_followed.hpp says which of their contents do not.
inline constexpr std::string_view git_followed[] = {"rebase-merge/git-rebase-todo",
                                                    "rebase-merge/strategy",
                                                    "sequencer/opts",
                                                    "rebase-merge/msgnum",
                                                    "rebase-merge/end",
                                                    "rebase-apply/next",
                                                    "rebase-apply/last",
                                                    "rebase-apply/apply-opt",
                                                    "objects/info/alternates",
                                                    "MERGE_RR",
                                                    "index"};

/// Parts of a split index, and where remotes were kept once.
inline constexpr std::string_view git_index_part = "sharedindex.";
inline constexpr std::string_view git_old_remotes[] = {"remotes", "branches"};

/// Its own directories (gitrepository-layout), but for hooks. A bare repository can have worktrees
/// beside them.
inline constexpr std::string_view git_folders[] = {
    "branches",     "info", "logs",    "modules",  "objects",   "rebase-apply",
    "rebase-merge", "refs", "remotes", "rr-cache", "sequencer", "worktrees"};

/// Where it keeps those of submodules and worktrees, within a repository.
inline constexpr std::string_view git_stores[] = {"modules", "worktrees"};

/// How a file called `.git` begins; the path of the repository follows, and a line feed.
inline constexpr std::string_view git_file_prefix = "gitdir: ";

/// Without these git takes a directory for no repository, and goes on looking above it.
inline constexpr std::string_view git_directories[] = {"objects", "refs"};

} // namespace paddock
