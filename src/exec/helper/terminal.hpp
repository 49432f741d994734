// SPDX-License-Identifier: MIT
#pragma once

// A terminal for a command: the command has one side as its three streams, the library the other.

namespace paddock::exec {

struct terminal {
  int command_side = -1;
  int os_errno = 0; ///< why there is none
};

/// Opens a new terminal, of the private instance where /dev is the command's own, and sends its
/// other side to the library.
terminal open_terminal(int channel);

/// Makes it the controlling terminal of this session. 0 or an errno.
int take_terminal(int command_side);

} // namespace paddock::exec
