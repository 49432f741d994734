// SPDX-License-Identifier: MIT
#pragma once

// A workspace that is a worktree of a git repository outside of it: which parts of that repository
// commands see and change.

#include <paddock/history/history.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::cli {

struct git_worktree {
  std::string repository;                 ///< its directory, which is read
  std::vector<std::string> written;       ///< objects, refs, and what is this worktree's own
  std::vector<std::string> never_written; ///< in those: what makes git obey other files
};

/// By the `.git` file of the workspace. The repository has to know the worktree, too, or the file
/// could name any. Otherwise why there is none. Makes an empty config.worktree where there is none,
/// so that no command can.
[[nodiscard]] std::variant<git_worktree, std::string>
find_git_worktree(const std::string& workspace);

/// The repository of a workspace that is a worktree of one outside; empty: it is none. Makes
/// nothing.
[[nodiscard]] std::string repository_outside(const std::string& workspace);

/// Commits in the repository outside, which no restore takes back. An agent may have written the
/// names of commits, which are hexadecimal digits.
struct left_commits {
  std::string repository;
  std::string from, to; ///< where HEAD was and is, shortened
};

/// Those since a checkpoint, by the worktree's reference log. Nothing: there are none, or the
/// workspace is no worktree of a repository outside.
[[nodiscard]] std::optional<left_commits> commits_left(history::store& store,
                                                       std::optional<std::uint64_t> to);
/// As a clause; empty for none.
[[nodiscard]] std::string text(const std::optional<left_commits>& left);

} // namespace paddock::cli
