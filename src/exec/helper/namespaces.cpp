// SPDX-License-Identifier: MIT
#include "exec/helper/namespaces.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/helper/privileges.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

int write_proc_file(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const auto size = std::strlen(text);
  const int failed = ::write(fd, text, size) == static_cast<ssize_t>(size) ? 0 : errno;
  ::close(fd);
  return failed;
}

} // namespace

int map_user(unsigned user, unsigned group) {
  ::prctl(PR_SET_DUMPABLE, 1); // the files below belong to the user only while this is so
  char line[64];
  text_writer(line).add(user).add(" ").add(user).add(" 1");
  int failed = write_proc_file("/proc/self/uid_map", line);
  if (failed == 0) failed = write_proc_file("/proc/self/setgroups", "deny");
  text_writer(line).add(group).add(" ").add(group).add(" 1");
  if (failed == 0) failed = write_proc_file("/proc/self/gid_map", line);
  ::prctl(PR_SET_DUMPABLE, 0);
  return failed;
}

namespace {

bool next_number(const char*& at, unsigned long& number) {
  while (*at == ' ' || *at == '\n')
    ++at;
  return read_number(at, number);
}

/// Every range of this namespace's users, or groups, as itself.
int copy_map(const char* name, const char* child) {
  char path[64];
  char known[512];
  text_writer(path).add("/proc/self/").add(name);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t size = ::read(fd, known, sizeof known - 1);
  ::close(fd);
  if (size < 0 || size == sizeof known - 1) return size < 0 ? errno : E2BIG;
  known[size] = '\0';
  char ranges[sizeof known];
  text_writer map(ranges);
  const char* at = known;
  for (unsigned long first = 0, outside = 0, count = 0;
       next_number(at, first) && next_number(at, outside) && next_number(at, count);)
    map.add(first).add(" ").add(first).add(" ").add(count).add("\n");
  text_writer(path).add("/proc/").add(child).add("/").add(name);
  return map.complete() ? write_proc_file(path, ranges) : E2BIG;
}

} // namespace

int map_users_of(const char* child) {
  const int failed = copy_map("uid_map", child);
  return failed != 0 ? failed : copy_map("gid_map", child);
}

/// Whoever may make one without a user namespace needs none for the others either.
int unshare_namespaces(int flags, bool& as_new_user) {
  const unsigned user = ::geteuid();
  const unsigned group = ::getegid();
  int failed = ::syscall(SYS_unshare, flags) == 0 ? 0 : errno;
  as_new_user = failed == EPERM;
  if (!as_new_user) return failed;
  failed = ::syscall(SYS_unshare, flags | CLONE_NEWUSER) == 0 ? 0 : errno;
  return failed != 0 ? failed : map_user(user, group);
}

namespace {

pid_t fork_with(int flags) {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, static_cast<long>(flags) | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

/// A user namespace can be made and still be of no use, so the child tells how far it came.
pid_t fork_with_user_namespace(int flags) {
  const unsigned user = ::geteuid();
  const unsigned group = ::getegid();
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) return -1;
  const pid_t child = fork_with(flags | CLONE_NEWUSER);
  if (child == 0) {
    int failed = map_user(user, group);
    (void)!::write(told[1], &failed, sizeof failed);
    if (failed != 0) ::_exit(0);
  }
  int failed = errno;
  ::close(told[1]);
  if (child > 0) {
    if (::read(told[0], &failed, sizeof failed) != sizeof failed) failed = ECHILD;
    if (failed != 0) ::waitpid(child, nullptr, 0);
  }
  ::close(told[0]);
  if (child <= 0 || failed == 0) return child;
  errno = failed;
  return -1;
}

} // namespace

pid_t fork_into_namespaces(const policy& wanted, const confine::enforcement& taken,
                           new_namespaces& made) {
  int needed = 0;
  if (wanted.wants(confine::file_system) || wanted.wants(confine::protected_entries))
    needed |= CLONE_NEWNS;
  if (wanted.wants(confine::kill)) needed |= CLONE_NEWPID | CLONE_NEWNS; // for a /proc that fits
  int extra = 0;
  if (wanted.wants(confine::ipc)) extra |= CLONE_NEWIPC;
  // A network namespace takes the kernel as long as all the rest together, and adds nothing to a
  // filter under which there are no sockets.
  if (wanted.wants(confine::network) && !taken.has(confine::step::network_namespace) &&
      !can_filter_system_calls())
    extra |= CLONE_NEWNET;
  made.tried = needed | extra;
  // A user namespace is the way of those who have no privileges, so it comes second; a kernel that
  // was built without the less common ones gets along with the others.
  const int attempts[] = {needed | extra, needed | extra | CLONE_NEWUSER, needed,
                          needed | CLONE_NEWUSER, 0};
  for (const int flags : attempts) {
    if (flags == CLONE_NEWUSER) continue;
    made.flags = flags;
    const pid_t child = (flags & CLONE_NEWUSER) != 0
                            ? fork_with_user_namespace(flags & ~CLONE_NEWUSER)
                            : fork_with(flags);
    if (child >= 0 || flags == 0) return child;
    made.os_errno = errno;
  }
  return -1;
}

} // namespace paddock::exec
