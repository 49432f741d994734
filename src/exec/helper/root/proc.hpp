// SPDX-License-Identifier: MIT
#pragma once

// The /proc of a command: one of its own PID namespace or, where a container covers parts of /proc
// so that the kernel makes no new one, what that says of the machine, without any process.

#include "exec/helper/root/mounts.hpp"

#include <cstdint>

namespace paddock::exec {

/// Without mount_read_only: it is sealed later.
inline constexpr std::uint64_t proc_attributes =
    mount_no_setuid | mount_no_devices | mount_no_programs;

/// Makes /proc fit the PID namespace and nothing else; as in a private root it can be written until
/// it is sealed. 0 or an errno.
int mount_proc();
/// Makes /proc read-only. 0 or an errno.
int seal_proc();
/// Leaves this process, in a mount namespace of its own, a /proc without processes, read-only.
/// Rights over that namespace could take it away again. 0 or an errno.
int leave_only_tables();

} // namespace paddock::exec
