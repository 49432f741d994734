// SPDX-License-Identifier: MIT
#pragma once

// What is said of the changes of several files: why a hunk has no place, why a plan was not made,
// and what fitted but for white space.

#include "mcp/tools/planned_changes.hpp"
#include "mcp/tools/refusals.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/text/patch.hpp>

#include <span>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Words, and that nothing was changed.
[[nodiscard]] refusal plain(error_code code, std::string words);
/// The same failure, of a file that it is about.
[[nodiscard]] failed_change named(failed_change failed, std::string_view given);

/// Why a hunk has no place in `text`, where so much may differ, and what would have fitted.
[[nodiscard]] refusal refusal_of(std::string_view text, std::span<const patch_hunk> hunks,
                                 const hunk_failure& failure, text_matching matching,
                                 const work_bounds& bounds);

/// Why the file system did not take the plan.
[[nodiscard]] failed_change refused_plan(const change_failure& failure,
                                         const planned_changes& plan);

/// How the lines matched, and what that made of new ones.
[[nodiscard]] std::string_view matched_with(new_indentation indentation);
/// As the members `matchedWith` and `matchedLines`.
void write_matched(json_writer& out, const loose_lines& loose);

} // namespace paddock::mcp
