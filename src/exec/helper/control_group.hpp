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

/// Whether processes other than these two are alive in it.
bool group_has_other_than(const char* path, pid_t first, pid_t second);
/// SIGKILL for all; false when it could not be asked for.
bool kill_group(const char* path);
/// Nothing may be alive in it any more.
void remove_group(const char* path);

} // namespace paddock::exec
