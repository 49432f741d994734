// SPDX-License-Identifier: MIT
#pragma once

// Mounts that cannot be taken apart. What covers a protected name is a mount, and a mount namespace
// that ends takes its mounts apart: a directory that one command has passed to another, through a
// socket, would lie open as soon as the first one has ended. The kernel keeps mounts together even
// then where they are copies for a user namespace with fewer rights (MNT_LOCKED; those of an ended
// namespace since Linux 4.0). So the command gets such copies.

#include <sys/types.h>

namespace paddock::exec {

/// fork() of a process in a user namespace of its own, which knows the same users, and in a mount
/// namespace of its own, with locked copies of the mounts of this one. Where that cannot be it is a
/// plain fork(), and `failed` the errno that says why; else 0. It is set in both processes.
/// Precondition: /proc is that of this PID namespace, and can be written.
pid_t fork_with_locked_mounts(int& failed);

} // namespace paddock::exec
