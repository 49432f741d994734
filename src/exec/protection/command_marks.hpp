// SPDX-License-Identifier: MIT
#pragma once

// What the end of a command looks for, in a file outside of the workspace until it has: its process
// may be killed before, and what other processes of this user do in the workspace counts, too. The
// file is locked as long as the process lives.

#include "exec/protection/made_repositories.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

class command_marks {
public:
  /// Nothing where there is no place for them: none is named, or an agent could write there.
  static std::unique_ptr<command_marks> open(int workspace, const std::string& state_directory);
  command_marks(const command_marks&) = delete;
  command_marks& operator=(const command_marks&) = delete;
  /// Removes the own one.
  ~command_marks();

  /// Hands out what was noted for commands whose processes were killed, and forgets it.
  void take_left(const std::function<void(const workspace_then&)>& sweep) const;
  /// Notes this for a command that begins. What cannot be written is not noted.
  void put(const workspace_then& then);
  /// The command runs still; what is made later than the last of these was not made by it.
  void touch();
  /// Nobody else sweeps this workspace until the descriptor is closed. Empty: somebody else does,
  /// and for longer than that.
  [[nodiscard]] file_descriptor turn(std::uint64_t wait_ms) const;
  /// What others have replaced meanwhile is not of before any more.
  void take_news(workspace_then& then) const;
  /// Tells the commands of others so.
  void tell_others(std::span<const file_status> changed) const;

private:
  command_marks(file_descriptor directory, std::string prefix, std::uint64_t workspace)
      : directory_(std::move(directory)), prefix_(std::move(prefix)), workspace_(workspace) {}
  [[nodiscard]] std::vector<std::string> names() const;
  friend bool has_left_marks(int workspace, const std::string& state_directory);

  file_descriptor directory_;
  std::string prefix_;      ///< of all of the workspace
  std::uint64_t workspace_; ///< its inode
  std::string name_;
  file_descriptor own_;
  std::int64_t touched_ms_ = 0;
};

/// Whether there are any in the workspace of processes that may have been killed.
[[nodiscard]] bool has_left_marks(int workspace, const std::string& state_directory);

} // namespace paddock
