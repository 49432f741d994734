// SPDX-License-Identifier: MIT
#pragma once

// What is protected in a workspace, for as long as a command runs in it. The directories of a
// workspace are known from one command to the next, so that only those that have changed are looked
// at again.

#include "exec/protection/command_marks.hpp"
#include "exec/protection/made_repositories.hpp"
#include "exec/protection/protected_entries.hpp"
#include "path/directory_moves.hpp"

#include <paddock/base/result.hpp>
#include <paddock/path/protected_names.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock {

struct entries_to_protect {
  std::vector<protected_entry> list; ///< in the order that the helper expects
  std::string unseen;                ///< what was not looked at, and why; empty: nothing
};

/// What a policy wants protected, borrowed for the time of a call.
struct protection_request {
  const std::vector<protected_name>& names;
  const std::vector<std::string>& write_paths;     ///< what may be changed beside the workspace
  const std::vector<std::string>& read_only_paths; ///< what may not, where it lies in those
  bool git_settings = false;             ///< configurations of repositories are given as copies
  std::vector<std::string> read_paths{}; ///< what may be read beside the workspace
};

inline constexpr std::uint64_t turn_ms_max = 10'000;

/// What else a look at the workspace is told.
struct watch_options {
  bool whole = false; ///< better late than without a part of the workspace
  bool again = false; ///< what the last look told was not there: nothing of it is believed
  /// A repository that appears meanwhile is the command's; false: it runs for long, and so it may
  /// well be somebody else's.
  bool makes_own = true;
  bool sweeps = true; ///< what appears meanwhile is moved aside at the end
  /// Where this is noted for the case that it does not come to its end; empty: nowhere.
  std::string state_directory{};
  std::uint64_t turn_ms = turn_ms_max; ///< waits for other processes so long
};

/// A repository that appears while a command of this process runs is the command's own, and stays
/// so for as long as this process remembers it. Thread-safe.
class workspace_watch {
public:
  /// Looks at the workspace and takes note that a command begins; its end is that of this object.
  /// Errors: those of looking at the workspace itself; invalid_argument: a name is none.
  static result<workspace_watch> begin(int workspace, const protection_request& asked,
                                       const watch_options& options = {});
  /// For a command from which nothing is protected.
  static workspace_watch of_nothing();

  workspace_watch(workspace_watch&&) noexcept;
  workspace_watch& operator=(workspace_watch&&) = delete;
  workspace_watch(const workspace_watch&) = delete;
  workspace_watch& operator=(const workspace_watch&) = delete;
  ~workspace_watch();

  [[nodiscard]] const entries_to_protect& entries() const noexcept { return entries_; }

  struct made {
    std::vector<made_entry> moved;
    bool complete = true; ///< everything was looked at
    bool alone = true;    ///< no other process did that, or noted it, at the same time
  };
  /// When the command has ended: moves aside what in repositories that are not of before makes git
  /// run a program.
  [[nodiscard]] made sweep_repositories(int workspace) const;
  /// What commands of killed processes had left, moved aside before this one began.
  [[nodiscard]] std::vector<made_entry> take_left() { return std::move(left_); }
  [[nodiscard]] bool is_noted() const noexcept { return marks_ != nullptr; }
  /// To be called now and then while the command runs.
  void touch() const {
    if (marks_) marks_->touch();
  }

private:
  class index;
  workspace_watch(std::shared_ptr<index> of, entries_to_protect found, std::uint64_t command,
                  kept_directories kept);

  std::shared_ptr<index> index_; ///< null: moved from, or nothing to note
  entries_to_protect entries_;
  std::uint64_t command_ = 0;
  kept_directories kept_;
  std::shared_ptr<workspace_then> then_; ///< null: nothing is swept
  std::unique_ptr<command_marks> marks_; ///< null: there is no place for them
  std::vector<made_entry> left_;
  bool had_turn_ = true; ///< at the beginning
};

} // namespace paddock
