// SPDX-License-Identifier: MIT
#pragma once

// paddock-egress reads bytes of commands and of servers, so it keeps nothing that they could want.

namespace paddock::egress {

/// From now on this process has no privileges, starts no program, signals and traces nobody,
/// changes no file and its attributes, and reads only what name resolution needs. False when the
/// filter of system calls cannot be had; files are out of reach from Linux 5.13 on.
[[nodiscard]] bool give_up_all_but_sockets();

} // namespace paddock::egress
