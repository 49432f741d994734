// SPDX-License-Identifier: MIT
#include "exec/helper/locked_mounts.hpp"

#include "exec/helper/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::exec {
namespace {

/// The child, which says at `parent` what its number is in /proc, and waits until its users are
/// known.
[[nodiscard]] bool is_let_go(int parent) {
  char number[24] = "";
  int failed = ECHILD;
  const bool heard = ::readlink("/proc/self", number, sizeof number - 1) > 0 &&
                     ::write(parent, number, sizeof number) == sizeof number &&
                     ::read(parent, &failed, sizeof failed) == sizeof failed;
  ::close(parent);
  ::prctl(PR_SET_DUMPABLE, 0);
  return heard && failed == 0;
}

/// Lets the child go, or not. 0 or an errno.
int map_users_and_tell(int child) {
  char number[24];
  const bool heard = ::read(child, number, sizeof number) == sizeof number;
  const int failed = heard ? map_users_of(number) : ECHILD;
  const long sent =
      ::syscall(SYS_sendto, child, &failed, sizeof failed, MSG_NOSIGNAL, nullptr, 0);
  return sent == sizeof failed ? failed : EPIPE;
}

} // namespace

pid_t fork_with_locked_mounts(int& failed) {
  failed = 0;
  int ends[2];
  if (::syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    failed = errno;
    return ::fork();
  }
  ::prctl(PR_SET_DUMPABLE, 1); // so long the child's files in /proc belong to the user
  const auto child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0L, 0L, 0L, 0L));
  if (child == 0) {
    ::close(ends[1]);
    if (is_let_go(ends[0])) return 0;
    ::_exit(0);
  }
  failed = child < 0 ? errno : 0;
  ::close(ends[0]);
  if (child > 0) failed = map_users_and_tell(ends[1]);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::close(ends[1]);
  if (failed == 0) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  return ::fork();
}

} // namespace paddock::exec
