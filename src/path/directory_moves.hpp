// SPDX-License-Identifier: MIT
#pragma once

// Moves of directories by this process, kept apart from commands. A command is told what it has to
// find protected, and its helper mounts over that, by place: a directory that is moved before that
// would be seen neither at its old place nor at its new one, and one that is moved later would
// leave what is mounted in it behind. Thread-safe.

#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Shared by starts of commands, held alone by a move.
std::shared_timed_mutex& directory_moves();

inline constexpr int directory_move_wait_ms = 10'000;

/// Directories that a running command keeps in place, for as long as this lives. Moves only.
class kept_directories {
public:
  kept_directories() = default;
  /// Paths relative to the workspace, which `top` is the status of.
  kept_directories(const file_status& top, std::vector<std::string> paths);
  kept_directories(kept_directories&& other) noexcept;
  kept_directories& operator=(kept_directories&&) = delete;
  kept_directories(const kept_directories&) = delete;
  kept_directories& operator=(const kept_directories&) = delete;
  ~kept_directories();

  /// Whether any command keeps this one.
  [[nodiscard]] static bool contain(const file_status& top, std::string_view path);

private:
  file_status top_;
  std::vector<std::string> paths_;
};

/// Held by whoever renames a directory of the workspace, by whichever way.
class directory_move {
public:
  /// Waits for starts of commands. Errors: timed_out.
  [[nodiscard]] static result<directory_move> begin(const char* operation);
  /// Whether the one at a path may get another name now. Errors: conflict (a command keeps it).
  [[nodiscard]] result<void> check(const file_status& top, std::string_view path) const;

private:
  explicit directory_move(const char* operation) noexcept : operation_(operation) {}

  const char* operation_;
  std::unique_lock<std::shared_timed_mutex> alone_;
};

} // namespace paddock
