// SPDX-License-Identifier: MIT
#pragma once

// The record of a change of several files on disk, in a directory of the program's own outside of
// the workspace: nobody but this user's programs has written it. Whoever has it open holds its
// lock, and so is the only one who changes several files of the workspace.

#include "change/change_record.hpp"
#include "path/private_directory.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

class change_journal {
public:
  /// In the directory of a workspace below `state_directory`. Nothing where there is no place for
  /// it: none is named, it is not there or cannot be made, or an agent could write there. Waits for
  /// somebody else's lock as long as said. Errors: conflict (it is still held), cancelled,
  /// timed_out.
  static result<std::optional<change_journal>>
  open(const root& root, std::string_view state_directory, missing_directories missing,
       std::uint64_t wait_ms, const work_bounds& bounds);

  /// What an earlier process has left; nothing where that is nothing or no whole record. Errors:
  /// unsupported (of a version to come), io.
  [[nodiscard]] result<std::optional<change_record>> read() const;
  /// Writes a record, in the stage `begun`.
  [[nodiscard]] result<void> begin(const change_record& record);
  [[nodiscard]] result<void> write_stage(change_stage stage);
  [[nodiscard]] result<void> sync() const;
  /// Removes the record.
  void end();

private:
  change_journal(file_descriptor directory, file_descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  file_descriptor directory_;
  file_descriptor lock_;
  file_descriptor fd_; ///< of the record that this process writes
};

} // namespace paddock
