// SPDX-License-Identifier: MIT
#include "exec/helper/locked_mounts.hpp"

#include "exec/helper/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::exec {
namespace {

/// The child, which waits at `told` until its users are known.
[[nodiscard]] bool is_let_go(int told) {
  int failed = ECHILD;
  const bool heard = ::read(told, &failed, sizeof failed) == sizeof failed;
  ::close(told);
  ::prctl(PR_SET_DUMPABLE, 0);
  return heard && failed == 0;
}

} // namespace

pid_t fork_with_locked_mounts(int& failed) {
  failed = 0;
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) {
    failed = errno;
    return ::fork();
  }
  ::prctl(PR_SET_DUMPABLE, 1); // so long the child's files in /proc belong to the user
  const auto child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0L, 0L, 0L, 0L));
  if (child == 0) {
    ::close(told[1]);
    if (is_let_go(told[0])) return 0;
    ::_exit(0);
  }
  failed = child < 0 ? errno : map_users_of(child);
  ::prctl(PR_SET_DUMPABLE, 0);
  if (child > 0 && ::write(told[1], &failed, sizeof failed) != sizeof failed) failed = EPIPE;
  for (const int end : told)
    ::close(end);
  if (failed == 0) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  return ::fork();
}

} // namespace paddock::exec
