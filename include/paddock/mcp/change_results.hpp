// SPDX-License-Identifier: MIT
#pragma once

/// What the history of a workspace found, as JSON and as unified diffs: for the tools `listChanges`
/// and `restore`, for `paddock changes`, `diff` and `undo` with `--json`, and for the page of
/// `paddock review`.
///
/// Names that are no UTF-8 are written in the codec of lexical_path.hpp. Lists are followed by a
/// total, such as `notCoveredTotal`, where they do not name everything. Thread-safety: functions of
/// their arguments.

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/history/history.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/text/unified_diff.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

enum class change_detail : std::uint8_t {
  brief,  ///< path, kind, by, restorable; from, of a move; files, of a directory told as one
  full,   ///< also entry, time; tool, command, alsoOther and reason where there is one
  states, ///< also before and after: entry, mode, size and target, or null
};

/// One object.
void write_change(json_writer& out, const history::change& each, change_detail detail);

/// The member `notCovered`: path and reason; entries, if several.
void write_not_covered(json_writer& out, const history::change_list& found);

/// The member `name`, conflicts or left: path and reason of the first `count_max`, of `total`.
void write_reasons(json_writer& out, std::string_view name,
                   const std::vector<history::restore_conflict>& all, std::uint64_t total,
                   std::size_t count_max = std::numeric_limits<std::size_t>::max());

/// The member `running`: tool, command and when it began.
void write_running(json_writer& out, const std::vector<history::running_command>& running);

/// What changed in a file, or in the target of a link: from the state before to the state after, as
/// the store has them. Empty: neither state is a file or a link, or both are the same. Nothing: the
/// content is binary, or the store does not have it.
[[nodiscard]] std::optional<unified_diff_text>
diff_of_change(history::store& store, const history::change& each,
               std::size_t bytes_max = std::numeric_limits<std::size_t>::max());

/// The same change for `git apply`: names, contents and links byte for byte, and whether a file is
/// executable. Nothing: git has no such change (of a directory, a FIFO, other permission bits), or
/// the store does not have the content.
[[nodiscard]] std::optional<std::string> patch_of_change(history::store& store,
                                                         const history::change& each);

/// Has each restore of a store end with `end_moves`: to be called before it is used.
void end_restores(history::store& store, const confinement_policy& policy = {});

/// recover_changes, and `end_moves` if it has made the rest of a change, with clauses in `said`.
/// Errors: as recover_changes.
[[nodiscard]] result<interrupted_change>
end_interrupted_change(const root& root, std::string_view state_directory, std::string& said,
                       const confinement_policy& policy = {}, const work_bounds& bounds = {});

} // namespace paddock::mcp
