// SPDX-License-Identifier: MIT
#pragma once

// The directory, outside the workspace, that holds the record of a change of several files: one for
// each workspace. While it is open its lock is held, so one process at a time changes several files
// of a workspace.

#include "path/private_directory.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace paddock {

class change_state {
public:
  /// Opens the one below `state_directory`. Nothing if there cannot be one: the directory is not
  /// named, missing, cannot be made, or an agent could write there. Waits for the lock for at most
  /// `wait_ms`. Errors: conflict (it is still held), cancelled, timed_out.
  static result<std::optional<change_state>> open(const root& root,
                                                  std::string_view state_directory,
                                                  missing_directories missing,
                                                  std::uint64_t wait_ms, const work_bounds& bounds);

  [[nodiscard]] int descriptor() const noexcept { return directory_.get(); }

private:
  change_state(file_descriptor directory, file_descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  /// EAGAIN while the lock is held.
  static result<std::optional<change_state>>
  try_open(const root& root, std::string_view state_directory, missing_directories missing);

  file_descriptor directory_;
  file_descriptor lock_;
};

} // namespace paddock
