// SPDX-License-Identifier: MIT
#pragma once

namespace paddock::exec {

/// What stays open until the program runs, besides the standard streams.
struct start_descriptors {
  int channel;
  int link;   ///< -1: none
  int itself; ///< what open_if_itself() has opened
};

/// This program, if it is what is to run, by a name that needs /proc; else -1.
int open_if_itself(const char* program);

/// Becomes the program argv[0], or tells why it cannot. Closes all other descriptors.
[[noreturn]] void run_program(start_descriptors held, char** argv);

} // namespace paddock::exec
