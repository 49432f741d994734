// SPDX-License-Identifier: MIT
#pragma once

// What an undo did, as JSON: for `paddock undo --json` and the page of `paddock review`.

#include "git_worktree.hpp"

#include <paddock/history/history.hpp>
#include <paddock/mcp/json.hpp>

#include <optional>

namespace paddock::cli {

/// The members "restored", "paths", "pathsTotal", "folded", "conflicts", "left", "lost", "running",
/// and where there are any "kept", "notice", "commitsLeft", "checkpoint".
void write_restored(mcp::json_writer& out, const history::restore_outcome& outcome,
                    const std::optional<left_commits>& commits);

} // namespace paddock::cli
