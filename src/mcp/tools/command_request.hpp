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

/// What the system enforces, found out by trying: by the first one who asks, and again when a path
/// of the options came or went, or when a command met something else.
struct confinement_trial {
  confinement_report report;
  command_trouble trouble;
  bool was_made = true; ///< else no trial could be made, for what `trouble` says
};
/// Nothing where commands are never run.
[[nodiscard]] std::optional<confinement_trial> confinement_verdict(workspace_state& state, call& c);
/// The refusal of a command, where the trial has shown that a required layer is missing.
[[nodiscard]] std::optional<tool_result> refuse_unconfined(workspace_state& state, call& c);

/// What a command meets of its confinement is the latest there is to know, for the next trial.
void note_confinement(workspace_state& state, const confinement_report& met);

} // namespace paddock::mcp
