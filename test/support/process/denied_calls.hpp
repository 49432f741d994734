// SPDX-License-Identifier: MIT
#pragma once

// A machine that lacks something: system call filters under which a process, and everything it
// starts, gets an error for what an older or stricter kernel would not do.

#include "support/process/older_landlock.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace paddock::test {

enum class machine {
  whole,
  without_namespaces,
  without_namespaces_on_linux_5_13, ///< as far as Landlock goes
  without_landlock_and_seccomp,
  without_mount_attributes, ///< Linux 5.11
  without_openat2,          ///< Linux 5.5
  with_filtered_openat2,    ///< as some container engines do
  without_rename_flags,     ///< a file system such as ZFS
  without_close_range,      ///< Linux 5.8
};

/// For the rest of this process's life. Aborts when it does not work.
inline void become(machine kind) {
  if (kind == machine::without_namespaces_on_linux_5_13) {
    become_older_landlock(1);
    return become(machine::without_namespaces);
  }
  constexpr auto number = offsetof(seccomp_data, nr);
  constexpr auto first = offsetof(seccomp_data, args); // little-endian: the low half
  constexpr unsigned any_namespace = 0x7e020000;       // CLONE_NEW*, but for time
  sock_filter no_namespaces[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setns, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, any_namespace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_filter no_filters[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1), // landlock_create_ruleset
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_filter no_mount_attributes[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 442, 0, 1), // mount_setattr
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_filter no_openat2[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K,
               SECCOMP_RET_ERRNO | (kind == machine::without_openat2 ? ENOSYS : EPERM)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_filter no_rename_flags[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + 4 * sizeof(__u64)), // the flags
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_filter no_close_range[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1), // close_range
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{};
  switch (kind) {
  case machine::whole:
  case machine::without_namespaces_on_linux_5_13:
    return;
  case machine::without_namespaces:
    program = {std::size(no_namespaces), no_namespaces};
    break;
  case machine::without_landlock_and_seccomp:
    program = {std::size(no_filters), no_filters};
    break;
  case machine::without_mount_attributes:
    program = {std::size(no_mount_attributes), no_mount_attributes};
    break;
  case machine::without_openat2:
  case machine::with_filtered_openat2:
    program = {std::size(no_openat2), no_openat2};
    break;
  case machine::without_rename_flags:
    program = {std::size(no_rename_flags), no_rename_flags};
    break;
  case machine::without_close_range:
    program = {std::size(no_close_range), no_close_range};
    break;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::abort();
}

/// The kernel gives a process one listener for its calls: from now on this one has it. Whether so.
inline bool is_listened_to() {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &allow};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                   &program) >= 0;
}

} // namespace paddock::test
