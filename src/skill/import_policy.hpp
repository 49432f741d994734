// SPDX-License-Identifier: MIT
#pragma once

// What a source has to be like to become a skill. Decided from what it claims, before anything is
// read or written.

#include "skill/source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// What will be written: paths relative to the skill's directory.
struct import_plan {
  std::vector<std::string> directories; ///< parents first
  std::vector<source_entry> files;      ///< with `path` relative to the skill's directory
  std::string top;                      ///< the only top folder, when the skill is in one
};

/// Errors: a refusal of names, sizes, types or layout.
[[nodiscard]] result<import_plan> plan_import(std::vector<source_entry> entries,
                                              const import_context& in);

/// Whether a relative path, without a slash at its end, may be that of a file or folder of a skill.
/// Errors: a refusal of names.
[[nodiscard]] result<void> check_entry_name(std::string_view path, const import_context& in);

} // namespace paddock
