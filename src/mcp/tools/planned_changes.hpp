// SPDX-License-Identifier: MIT
#pragma once

// What a call of applyChanges is to do, file by file.

#include <paddock/base/work_bounds.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/text/text_matching.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock::mcp {

/// Lines of a file that fitted but for white space.
struct loose_lines {
  std::vector<std::uint64_t> lines{}; ///< from 0, in the file before
  new_indentation indentation = new_indentation::as_given;

  /// Those of one more edit or hunk.
  void add(const std::vector<std::uint64_t>& more, new_indentation how) {
    lines.insert(lines.end(), more.begin(), more.end());
    indentation = std::max(indentation, how);
  }
};

/// One file of a plan; that with the same number of `planned_changes::changes` is what to do.
struct planned_file {
  std::string given; ///< its path, as the call or the patch has it
  loose_lines loose{};
  bool was_executable = false; ///< what was read
};

struct planned_changes {
  std::vector<file_change> changes;
  std::vector<planned_file> files;
  memory_share memory{}; ///< for all contents
};

} // namespace paddock::mcp
