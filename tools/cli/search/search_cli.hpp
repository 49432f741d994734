// SPDX-License-Identifier: MIT
#pragma once

// The subcommands that look into a workspace: search, find, map.

#include "common/subcommand.hpp"

#include <paddock/search/coverage.hpp>

#include <string>

namespace paddock::cli {

/// Lines of text that match a pattern.
[[nodiscard]] subcommand add_search(CLI::App& app);
/// Files and directories by their names.
[[nodiscard]] subcommand add_find(CLI::App& app);
/// What is where, in little text.
[[nodiscard]] subcommand add_map(CLI::App& app);

/// "; 3 entries are ignored (node_modules/ in .gitignore:2 …)": what an answer leaves out; empty
/// when that is nothing.
[[nodiscard]] std::string left_out(const search_coverage& coverage);

} // namespace paddock::cli
