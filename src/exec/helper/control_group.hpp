// SPDX-License-Identifier: MIT
#pragma once

// A control group (version 2) for one command: the kernel kills all that is in it at once. The way
// to end a tree where there is no PID namespace.

#include <limits.h>
#include <sys/types.h>

namespace paddock::exec {

/// Where to look; a test has others.
struct group_places {
  const char* membership = "/proc/self/cgroup";
  const char* mounts[2] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
};

/// Makes a group below the one that this process is in and moves this process there. Whether that
/// is allowed is found out by trying. 0 or an errno; `path` is what to remove, also after a
/// failure, and empty when there is nothing.
int enter_new_group(char (&path)[PATH_MAX], const group_places& places = {});

/// For all that is in a group together; 0: none.
struct group_bounds {
  unsigned long memory_bytes = 0;
  unsigned long processes = 0;
};

/// Sets the bounds of a group. 0 or an errno; EOPNOTSUPP: the kernel does not count this here.
int bound_group(const char* path, const group_bounds& bounds);
/// As enter_new_group, with bounds, which only a group has whose parent may give them: so it is
/// made beside the one that this process is in, or else below.
int enter_bounded_group(char (&path)[PATH_MAX], const group_bounds& bounds,
                        const group_places& places = {});

/// Whether processes other than these two are alive in it.
bool group_has_other_than(const char* path, pid_t first, pid_t second);
/// SIGKILL for all; false when it could not be asked for.
bool kill_group(const char* path);
/// Nothing may be alive in it any more.
void remove_group(const char* path);

} // namespace paddock::exec
