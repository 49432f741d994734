// SPDX-License-Identifier: MIT
#pragma once

namespace paddock::exec {

/// Becomes the program argv[0], or tells why it cannot.
[[noreturn]] void run_program(int channel, char** argv);

} // namespace paddock::exec
