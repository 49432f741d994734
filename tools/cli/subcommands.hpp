// SPDX-License-Identifier: MIT
#pragma once

// The subcommands of `paddock`: each adds itself to the command line and says how to run it.

#include "common/workspace_cli.hpp"

#include <functional>

namespace paddock::cli {

inline constexpr std::string_view paddock_program = "paddock";

struct subcommand {
  CLI::App* parser = nullptr;
  std::function<int()> run; ///< returns the exit code; to be called when `parser` was chosen
};

/// One tool, called in this process.
[[nodiscard]] subcommand add_call(CLI::App& app);
/// The real server at work on a copy of a directory.
[[nodiscard]] subcommand add_demo(CLI::App& app);
/// One command, confined.
[[nodiscard]] subcommand add_exec(CLI::App& app);
/// The experts of a configuration, with their skills.
[[nodiscard]] subcommand add_experts(CLI::App& app);
/// What this system offers.
[[nodiscard]] subcommand add_doctor(CLI::App& app);
/// The skills of a directory.
[[nodiscard]] subcommand add_skills(CLI::App& app);
/// The tools, and how one of them is called.
[[nodiscard]] subcommand add_tools(CLI::App& app);

} // namespace paddock::cli
