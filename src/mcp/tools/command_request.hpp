// SPDX-License-Identifier: MIT
#pragma once

// What a call of a tool that runs a program asks for, as a command.

#include "mcp/tools/tools.hpp"

#include <paddock/exec/command.hpp>

#include <optional>

namespace paddock::mcp {

struct command_request {
  command run;
  opened directory;
};

/// Program, arguments, environment and directory, checked as far as the table of parameters cannot.
/// A result is a refusal. In the coding set and without a terminal EDITOR fails with what to do
/// instead, if there is none.
[[nodiscard]] std::optional<tool_result> prepare_command(const workspace_state& state,
                                                         const call& c, command_request& request);

/// What a command has of this machine and what not, by the options: " It has …."
[[nodiscard]] std::string surroundings_of_commands(const workspace_options& options);

/// What a command meets of its confinement is the latest there is to know, for healthCheck.
void note_confinement(workspace_state& state, const confinement_report& met);

} // namespace paddock::mcp
