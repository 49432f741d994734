// SPDX-License-Identifier: MIT
#pragma once

// What is looked at before several files are changed: nothing here changes anything.

#include "change/plan.hpp"
#include "file/replace.hpp"

#include <paddock/file/change_set.hpp>

#include <span>
#include <string>
#include <vector>

namespace paddock {

struct planned_set {
  std::vector<changed_file> files;         ///< one for each change
  change_plan plan{};                      ///< directories first, then in the order of the changes
  std::vector<const std::string*> texts{}; ///< the contents, by the numbers that steps refer to
  std::vector<content_lock> locks{};       ///< of every path
};

/// Errors: those of apply_changes, but for what writing can meet.
[[nodiscard]] result<planned_set, change_failure>
plan_changes(const root& root, std::span<const file_change> changes, const change_options& options);

} // namespace paddock
