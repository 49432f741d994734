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
inline constexpr const char* git_own[] = {".git/rebase-merge",
                                          ".git/rebase-apply",
                                          ".git/sequencer",
                                          ".git/MERGE_RR",
                                          ".git/index",
                                          ".git/gitdir",
                                          ".git/objects/info/alternates",
                                          ".git/objects/pack/multi-pack-index",
                                          ".git/objects/pack/multi-pack-index.d",
                                          ".git/refs",
                                          ".git/reftable",
                                          ".git/remotes",
                                          ".git/branches",
                                          ".git/ORIG_HEAD",
                                          ".git/FETCH_HEAD",
                                          ".git/MERGE_HEAD",
                                          ".git/CHERRY_PICK_HEAD",
                                          ".git/REVERT_HEAD",
                                          ".git/REBASE_HEAD",
                                          ".git/BISECT_HEAD",
                                          ".git/BISECT_EXPECTED_REV",
                                          ".git/AUTO_MERGE",
                                          ".git/MERGE_AUTOSTASH",
                                          ".git/NOTES_MERGE_PARTIAL",
                                          ".git/NOTES_MERGE_REF"};

/// Where it keeps what it knows of worktrees, and the file there that says where one is.
inline constexpr std::string_view git_worktrees = "worktrees";
inline constexpr const char* git_worktree_file = "gitdir";

/// Names the tables of references, which git reads, and removes when it joins them (2.45 and
/// later).
inline constexpr const char* git_reference_tables = "reftable/tables.list";

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
                                                    git_worktree_file,
                                                    git_reference_tables,
                                                    "MERGE_RR",
                                                    "index"};

/// What it remembers of conflicts.
inline constexpr std::string_view git_conflicts = "MERGE_RR";

/// The index, and parts of a split one.
inline constexpr const char* git_index_name = "index";
inline constexpr std::string_view git_index_part = "sharedindex.";
constexpr bool is_of_index(std::string_view name) {
  return name == git_index_name || name.starts_with(git_index_part);
}

/// Where such files have any name, or one that begins so: parts of an index, what names packs to
/// remove, and where remotes were kept once.
inline constexpr struct {
  std::string_view directory, prefix;
} git_followed_in[] = {{"", git_index_part},
                       {"objects/pack", "multi-pack-index"},
                       {"objects/pack/multi-pack-index.d", ""},
                       {"remotes", ""},
                       {"branches", ""}};

/// Where its references are, and the names of those beside HEAD that do not end so (refs.c).
inline constexpr std::string_view git_references = "refs";
/// How one begins that names another.
inline constexpr std::string_view git_reference_begin = "ref:";
inline constexpr std::string_view git_other_heads[] = {"AUTO_MERGE", "BISECT_EXPECTED_REV",
                                                       "MERGE_AUTOSTASH", "NOTES_MERGE_PARTIAL",
                                                       "NOTES_MERGE_REF"};

/// Its own directories (gitrepository-layout), but for hooks. A bare repository can have worktrees
/// beside them.
inline constexpr std::string_view git_folders[] = {
    "branches", "info",         "logs",         "modules",  "NOTES_MERGE_WORKTREE",
    "objects",  "rebase-apply", "rebase-merge", "refs",     "reftable",
    "remotes",  "rr-cache",     "sequencer",    "worktrees"};

/// Where it keeps those of submodules and worktrees, within a repository.
inline constexpr std::string_view git_stores[] = {"modules", git_worktrees};

/// How a file called `.git` begins; the path of the repository follows, and a line feed.
inline constexpr std::string_view git_file_prefix = "gitdir: ";

/// Without these git takes a directory for no repository, and goes on looking above it.
inline constexpr std::string_view git_directories[] = {"objects", "refs"};

} // namespace paddock
