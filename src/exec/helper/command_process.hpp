// SPDX-License-Identifier: MIT
#pragma once

// The two processes below the supervisor: the command's parent, which is the init of its PID
// namespace when it has one, and the command itself until its program runs.

#include "exec/helper/command_setup.hpp"
#include "exec/helper/namespaces.hpp"

namespace paddock::exec {

/// Looks up where the command is to run.
void find_places(const options& given, places& found);

[[noreturn]] void run_parent(const command_setup& setup, const new_namespaces& made);

} // namespace paddock::exec
