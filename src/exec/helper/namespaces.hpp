// SPDX-License-Identifier: MIT
#pragma once

// The namespaces of a confined command.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/protocol/enforcement.hpp"

namespace paddock::exec {

struct new_namespaces {
  int tried = 0;    ///< those that the policy asks for
  int flags = 0;    ///< CLONE_NEW* bits that the new process has; 0: none
  int os_errno = 0; ///< why it does not have all
};

/// In a new user namespace: makes it know the one user that this process runs as, by the numbers
/// that it had outside. 0 or an errno.
int map_user(unsigned user, unsigned group);

/// Makes the new user namespace of a child know the users and groups that this one knows, by the
/// same numbers. `child` is its name in /proc. 0 or an errno.
int map_users_of(const char* child);

/// Moves this process into new namespaces, in a new user namespace where that is the only way. 0 or
/// an errno.
int unshare_namespaces(int flags, bool& as_new_user);

/// fork() into the namespaces that the policy needs, with a user namespace when that is the only
/// way, and without any when there is none. Returns as fork does; `made` is set in both processes.
pid_t fork_into_namespaces(const policy& wanted, const confine::enforcement& taken,
                           new_namespaces& made);

} // namespace paddock::exec
