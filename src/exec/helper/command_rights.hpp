// SPDX-License-Identifier: MIT
#pragma once

// What the command's process does without just before its program runs.

#include "exec/helper/command_setup.hpp"

namespace paddock::exec {

/// Applies resource limits, Landlock, dropped capabilities and the filter of system calls, as the
/// policy wants them, and notes which steps it took.
void give_up_rights(const command_setup& setup);
/// Ends the command where a required layer is missing.
void check_required(const command_setup& setup);

} // namespace paddock::exec
