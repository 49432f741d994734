// SPDX-License-Identifier: MIT
#pragma once

// The record of a change of several files on disk. Whoever has it open holds its lock, and so is
// the only one who changes several files of the workspace.

#include "file/change_record.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace paddock {

class change_journal {
public:
  /// Makes the record's file if it is not there. Waits for somebody else's lock as long as said.
  /// Errors: conflict (it is still held), not_regular, cancelled, timed_out.
  static result<change_journal> open(const root& root, std::uint64_t wait_ms,
                                     const work_bounds& bounds);
  /// Nothing where there is no record. Errors: as `open`; conflict at once.
  static result<std::optional<change_journal>> open_existing(const root& root);

  /// What an earlier process has left; nothing where that is nothing or no whole record. What
  /// follows writes to the file or removes it, so no other one may have got its name. Errors:
  /// unsupported, permission_denied (it is somebody else's), hard_linked, not_regular (it does not
  /// begin as a record).
  [[nodiscard]] result<std::optional<change_record>> read() const;
  /// Writes a record, in the stage `begun`.
  [[nodiscard]] result<void> begin(const change_record& record);
  [[nodiscard]] result<void> write_stage(change_stage stage);
  [[nodiscard]] result<void> sync() const;
  /// Removes the file.
  void end();

private:
  change_journal(const root& root, file_descriptor fd) : root_(&root), fd_(std::move(fd)) {}
  enum class absent : std::uint8_t { nothing, make };
  static result<std::optional<change_journal>> try_open(const root& root, absent what);
  [[nodiscard]] result<std::string> read_first(std::size_t count) const;
  [[nodiscard]] result<bool> begins_as_record() const;

  const root* root_;
  file_descriptor fd_;
};

} // namespace paddock
