// SPDX-License-Identifier: MIT
#pragma once

// What commands say when they miss something that no command has here, whichever program says it: a
// terminal, the right to trace, sockets of other programs, toolchains in the home directory.

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <string>

namespace paddock::mcp {

/// Which bound of the policy the command has met, as its streams or its signal tell: "; " and
/// advice, or nothing.
[[nodiscard]] std::string bound_hint(const command& run, const command_outcome& o,
                                     hint_reader reader);

/// "; ", one sentence of cause and one of remedy. Empty: nothing speaks for any of them.
[[nodiscard]] std::string symptom_hint(const command& run, const command_outcome& o,
                                       hint_reader reader);

/// Whether standard output, where test runners report, tells of a network that could not be had. It
/// is mostly content, so only whole reports of an error count, and none of a program that prints
/// files.
[[nodiscard]] bool reports_network(const command& run, const command_outcome& o);

} // namespace paddock::mcp
