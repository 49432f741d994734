// SPDX-License-Identifier: MIT
#pragma once

// The subcommands of `paddock`: each adds itself to the command line and says how to run it.

#include "cli/doctor/doctor.hpp"
#include "cli/experts/experts.hpp"
#include "cli/search/search_cli.hpp"
#include "cli/skills/skills_cli.hpp"
#include "cli/undo/undo_cli.hpp"
#include "common/subcommand.hpp"

namespace paddock::cli {

/// A patch, in all of its files or in none.
[[nodiscard]] subcommand add_apply(CLI::App& app);
/// One tool, called in this process.
[[nodiscard]] subcommand add_call(CLI::App& app);
/// The real server at work on a copy of a directory.
[[nodiscard]] subcommand add_demo(CLI::App& app);
/// One command, confined.
[[nodiscard]] subcommand add_exec(CLI::App& app);
/// What agents have started, beside what servers keep of it, and its end.
[[nodiscard]] subcommand add_ps(CLI::App& app);
[[nodiscard]] subcommand add_logs(CLI::App& app);
[[nodiscard]] subcommand add_stop(CLI::App& app);
/// What was changed, on a page for people.
[[nodiscard]] subcommand add_review(CLI::App& app);
/// The tools, and how one of them is called.
[[nodiscard]] subcommand add_tools(CLI::App& app);

} // namespace paddock::cli
