// SPDX-License-Identifier: MIT
#pragma once

// What mount_setattr does, for kernels before 5.12 that do not have it, and for containers whose
// seccomp profile has the mount calls of 5.2 but not this one (Docker 20.10 with SYS_ADMIN): mounts
// are put in place first, and restricted one by one afterwards.

#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/visible_paths.hpp"

namespace paddock::exec {

/// Adds attributes to the mount at a path. 0 or an errno.
int remount(const char* path, std::uint64_t attributes);

/// Gives every mount in this namespace, at a visible path or below one, the attributes of that
/// path. Needs /proc. 0 or an errno.
int remount_all(const visible_paths& visible, std::uint64_t (*attributes_of)(use));

} // namespace paddock::exec
