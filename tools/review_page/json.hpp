// SPDX-License-Identifier: MIT
#pragma once

// What the page's script is told, as JSON. Paths are written by encode_name, times are milliseconds
// since 1970-01-01 UTC, lines count from 1.

#include "file_diff.hpp"
#include "two_sides.hpp"

#include <paddock/history/history.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace paddock::review_page {

/// {"workspace", "since", "start", "reading"?: {"files", "of"}, "storeBytes", "trouble"?}
[[nodiscard]] std::string state_json(const reviewed& of, const history::store_state& state);
/// {"id", "label", "time", "files", "start"}
[[nodiscard]] std::string to_json(const history::checkpoint& one);
/// {"checkpoints": […]}, the newest first.
[[nodiscard]] std::string to_json(std::span<const history::checkpoint> all);
/// {"since", "total", "changes": [change_detail::states], "notCovered": […]}
[[nodiscard]] std::string to_json(const history::change_list& list);
/// {"events": [{"number", "time", "by", "tool"?, "command"?, "paths", "entries", "checkpoint"?}]}
[[nodiscard]] std::string to_json(std::span<const history::event> events);
/// {"restored", "paths", "conflicts": [{"path", "reason"}], "commitsLeft"?: {"repository", "from",
/// "to"}, "checkpoint"?}
[[nodiscard]] std::string to_json(const history::restore_outcome& outcome,
                                  const std::optional<cli::left_commits>& commits = {});

/// Which rows of a diff an answer has.
struct row_range {
  std::size_t from = 0;
  std::size_t rows_max = 500;
};
/// What `diff` is made of: who takes back one of its hunks has to show that it has seen this.
[[nodiscard]] std::string seen_token(const two_sides& sides);
/// {"change", "before": {"form", "bytes", "problem"?}, "after", "seen"?, "added"?, "removed"?,
/// "hunks"?: [{"number", "lines": [before, count, after, count], "first", "rows": ["+text", …],
/// "cut"?: [indices of rows whose line is longer], "open"?: [of rows without a line feed]}],
/// "hunkCount"?, "next"?: row to go on from}. Without texts no hunks.
[[nodiscard]] std::string diff_json(const two_sides& sides, const file_diff* diff, row_range range);

/// The counts of one file; nothing where lines cannot be compared.
struct line_counts {
  std::string path{};
  bool is_known = false;
  std::uint64_t added = 0, removed = 0;
};
/// {"counts": [{"path", "added"?, "removed"?}]}
[[nodiscard]] std::string to_json(std::span<const line_counts> counts);

} // namespace paddock::review_page
