// SPDX-License-Identifier: MIT
#pragma once

// What is looked at before several files are changed: nothing here changes anything.

#include "change/change_record.hpp"
#include "file/replace.hpp"

#include <paddock/file/change_set.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paddock {

/// A step, and what it is made from.
struct planned_step {
  change_step step;
  std::size_t change = 0;             ///< the number of the change that it is of
  const std::string* bytes = nullptr; ///< the content of what is created or replaced
  std::string attributes_of{};        ///< the path of the file whose attributes it takes over
  std::optional<bool> is_executable{};
  file_status old{}; ///< of what is replaced, removed or moved
};

struct change_plan {
  std::vector<changed_file> files;  ///< one for each change
  std::vector<change_place> places; ///< the directories that were looked at
  std::vector<planned_step> steps;
  std::vector<std::string> directories; ///< that are not there yet, each above the next
  std::vector<content_lock> locks;      ///< of every path
};

/// Errors: those of apply_changes, but for what writing can meet.
[[nodiscard]] result<change_plan, change_failure>
plan_changes(const root& root, std::span<const file_change> changes, const change_options& options);

} // namespace paddock
