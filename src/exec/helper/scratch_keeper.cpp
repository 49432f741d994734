// SPDX-License-Identifier: MIT
#include "exec/helper/scratch_keeper.hpp"

#include "exec/helper/command_process.hpp"
#include "exec/helper/namespaces.hpp"
#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/scratch.hpp"
#include "exec/helper/root/session_mounts.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace paddock::exec {
namespace {

using sys::scratch_answer;
using sys::scratch_part;

constexpr char session_prefix[] = "/tmp/paddock-session-";
constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int send_part(int channel, scratch_part part, int fd) {
  const scratch_answer told{.os_errno = 0, .part = part, .directory = {}};
  return send_with_descriptor(channel, &told, sizeof told, fd);
}

/// Mounts that this process leaves to whoever holds the namespace. 0 or an errno.
int make_mounts(int channel, const visible_paths& visible) {
  if (!can_set_mount_attributes()) return ENOSYS; // then no command has a private root
  bool as_new_user = false;
  int failed = unshare_namespaces(CLONE_NEWNS, as_new_user);
  if (failed != 0) return failed;
  const int user = as_new_user ? ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC) : -1;
  const int mounts = ::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (mounts < 0 || (as_new_user && user < 0)) return errno;
  failed = make_session_mounts(visible);
  if (failed == 0 && as_new_user) failed = send_part(channel, scratch_part::user, user);
  return failed != 0 ? failed : send_part(channel, scratch_part::mounts, mounts);
}

/// Whether nobody else holds the directory of that name, and it is this user's. Holds it then, for
/// as long as this process lives or closes it.
bool hold_directory(const char* path, int& held) {
  struct stat opened{};
  struct stat named{};
  held = ::open(path, directory_flags);
  if (held < 0) return false;
  const bool is_free = ::fstat(held, &opened) == 0 && opened.st_uid == ::geteuid() &&
                       (opened.st_mode & 07777) == 0700 && ::flock(held, LOCK_EX | LOCK_NB) == 0 &&
                       ::lstat(path, &named) == 0 && named.st_ino == opened.st_ino &&
                       named.st_dev == opened.st_dev;
  if (!is_free) ::close(held);
  return is_free;
}

/// Those whose keeper was killed, too.
void remove_forgotten() {
  const int all = ::open("/tmp", directory_flags);
  if (all < 0) return;
  const char* begin = std::strrchr(session_prefix, '/') + 1;
  directory_entries entries(all);
  while (const char* name = entries.next()) {
    char path[PATH_MAX];
    int held = -1;
    if (std::strncmp(name, begin, std::strlen(begin)) != 0) continue;
    if (!text_writer(path).add("/tmp/").add(name).complete() || !hold_directory(path, held))
      continue;
    remove_tree(path);
    ::close(held);
  }
  ::close(all);
}

/// 0 or an errno.
int make_kept_directory(scratch_answer& told) {
  constexpr int attempts_max = 16; // another one may have taken it for forgotten
  for (int i = 0; i < attempts_max; ++i) {
    unsigned long random = 0;
    if (::syscall(SYS_getrandom, &random, sizeof random, 0) != sizeof random) return errno;
    text_writer(told.directory).add(session_prefix).add(random);
    if (::mkdir(told.directory, 0700) != 0) return errno;
    int held = -1;
    if (hold_directory(told.directory, held)) return 0;
  }
  return EAGAIN;
}

/// What commands that are about to end still write is removed, too.
void remove_kept(const char* path) {
  constexpr int attempts_max = 500;
  const timespec pause{0, 20'000'000};
  for (int i = 0; i < attempts_max; ++i) {
    remove_tree(path);
    if (::access(path, F_OK) != 0) return;
    ::nanosleep(&pause, nullptr);
  }
}

/// A process of its own, so that the directory goes also when that of the library is killed.
int keep_directory(int channel, int why_no_mounts) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  close_descriptors(3, static_cast<unsigned>(channel) - 1);
  close_descriptors(static_cast<unsigned>(channel) + 1, UINT_MAX);
  scratch_answer told{.os_errno = 0, .part = scratch_part::directory, .directory = {}};
  if (!open_null_streams() || ::chdir("/") != 0 || make_kept_directory(told) != 0)
    told = {.os_errno = why_no_mounts, .part = scratch_part::none, .directory = {}};
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NAME, "paddock-scratch");
  ::setsid();
  const bool heard = ::send(channel, &told, sizeof told, MSG_NOSIGNAL) == sizeof told;
  if (told.os_errno != 0) return 1;
  remove_forgotten(); // nobody waits for it now
  pollfd end{channel, POLLIN, 0};
  while (heard && ::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  remove_kept(told.directory);
  return 0;
}

} // namespace

int make_session(char** arguments) {
  unsigned long numbers[sys::make_scratch_arguments];
  for (unsigned long& number : numbers) {
    const char* text = *arguments++;
    if (!read_number(text, number) || number < 3 || number > INT_MAX) return 2;
  }
  const auto channel = static_cast<int>(numbers[0]);
  options given{};
  given.workspace = static_cast<int>(numbers[1]);
  given.policy = static_cast<int>(numbers[2]);
  static policy wanted;
  static places where;
  static visible_paths visible;
  if (!map_policy(given.policy, wanted)) return 2;
  find_places(given, where);
  visible.collect(wanted, where.workspace, "");
  // What fails half way changes nothing for the other way but the root directory.
  const auto child = ::fork();
  if (child == 0) ::_exit(make_mounts(channel, visible));
  int status = 0;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  const int failed = ended ? WEXITSTATUS(status) : EAGAIN;
  return failed == 0 ? 0 : keep_directory(channel, failed);
}

} // namespace paddock::exec
