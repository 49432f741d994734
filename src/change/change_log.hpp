// SPDX-License-Identifier: MIT
#pragma once

// The record of a change under way, on disk: a file in a directory outside the workspace that only
// this user's programs can write. Its user holds the lock of that directory.

#include "change/change_record.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace paddock {

/// The operation of errors about the record.
inline constexpr const char* record_operation = "change record";

class change_log {
public:
  /// `name`: of the record in a directory; both live longer.
  change_log(int directory, const char* name,
             std::uint64_t bytes_max = change_record_bytes_max / 2) noexcept
      : directory_(directory), name_(name), bytes_max_(bytes_max) {}

  /// The record an earlier process left, if any. Removes one without a whole plan, since nothing
  /// had been done yet. Errors: unsupported (of another version), io.
  [[nodiscard]] result<std::optional<change_record>> read();

  /// Writes the record. If the plan is durable, this and each section below is synced. Errors:
  /// those of writing, too_many of `record_operation` (larger than `bytes_max`).
  [[nodiscard]] result<void> begin(const change_plan& plan);
  [[nodiscard]] result<void> add_staged(std::span<const entry_stamp> staged);
  [[nodiscard]] result<void> add_made(std::span<const known_directory> made);
  [[nodiscard]] result<void> add_way_back();
  /// Continues a record that was read.
  void take_up(const change_record& found) noexcept {
    is_durable_ = found.plan.how.is_durable;
    whole_bytes_ = found.whole_bytes;
  }
  /// Removes the record. Errors: it is still there, unchanged.
  result<void> end();
  /// Renames it, for a person to look at.
  void put_aside(const char* name);

private:
  [[nodiscard]] result<void> add(std::string_view section);

  int directory_;
  const char* name_;
  std::uint64_t bytes_max_;
  file_descriptor fd_; ///< of the record that this process writes
  bool is_durable_ = false;
  std::uint64_t whole_bytes_ = 0; ///< of one that was taken up
};

} // namespace paddock
