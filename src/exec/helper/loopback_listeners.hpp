// SPDX-License-Identifier: MIT
#pragma once

// Makes a network namespace answer for the whole Internet: every IPv4 address is local, and sockets
// listen at the ports that commands may reach. The library gets the sockets.

namespace paddock::exec {

/// Makes every IPv4 address one of this namespace. 0 or an errno.
int answer_for_all_addresses();
/// Sends a listening socket for each port of the list ("22,80,443") to the channel, and before them
/// one that takes questions for names; 0 stands for all ports. 0 or an errno.
int send_listeners(int channel, const char* ports);

} // namespace paddock::exec
