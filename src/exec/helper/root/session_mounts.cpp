// SPDX-License-Identifier: MIT
#include "exec/helper/root/session_mounts.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/canonical.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/private_root.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace paddock::exec {
namespace {

/// What the session has in the place of a scratch directory; null: nothing. Home has two names
/// where one is a link.
const char* shared_directory(const char* scratch) {
  if (std::strcmp(scratch, "/dev/shm") == 0) return nullptr;
  if (std::strcmp(scratch, "/tmp") == 0) return "/tmp";
  return std::strcmp(scratch, "/var/tmp") == 0 ? "/var-tmp" : "/home";
}

/// Where something visible is to be mounted within the session's directories; empty: not there.
void find_place(const visible_paths& visible, const visible_path& entry, char (&place)[PATH_MAX]) {
  const visible_path* around = nullptr; // parents come first
  for (const visible_path& each : visible)
    if (&each != &entry && is_within(entry.path, each.path)) around = &each;
  place[0] = '\0';
  if (around == nullptr || around->as != use::scratch) return;
  const char* shared = shared_directory(around->path);
  if (shared != nullptr) text_writer(place).add(shared).add(entry.path + std::strlen(around->path));
}

struct place_list {
  static constexpr std::size_t capacity = 512;
  struct {
    const char* path;
    bool is_directory;
  } all[capacity];
  std::size_t size = 0;
};

/// While the paths lead where they lead outside. What is not there needs no place. 0 or an errno.
int list_places(const visible_paths& visible, place_list& places) {
  for (const visible_path& entry : visible) {
    char place[PATH_MAX];
    struct stat status {};
    find_place(visible, entry, place);
    const bool is_scratch = entry.as == use::scratch;
    if (place[0] == '\0' || (!is_scratch && ::stat(entry.path, &status) != 0)) continue;
    const char* kept = ::strdup(place);
    if (kept == nullptr || places.size == place_list::capacity) return E2BIG;
    places.all[places.size++] = {kept, is_scratch || S_ISDIR(status.st_mode)};
  }
  return 0;
}

bool is_mount_at(const char* path) {
  struct statx status {};
  constexpr std::uint64_t mount_root = 0x2000; // STATX_ATTR_MOUNT_ROOT
  return ::syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0U, &status) == 0 &&
         (status.stx_attributes & mount_root) != 0;
}

// --- the session --------------------------------------------------------------------------------

/// Being a mount, it can be neither moved nor removed by whoever sees it so.
int keep_in_place(const char* path, bool is_directory) {
  const int made = is_directory ? ::mkdir(path, 0755) : ::mknod(path, S_IFREG | 0644, 0);
  if (made != 0 && errno != EEXIST) return errno;
  if (is_mount_at(path)) return 0;
  const int mount = copy_mount(path, depth::only_this);
  if (mount < 0) return errno;
  const int failed = attach_mount(mount, path) == 0 ? 0 : errno;
  ::close(mount);
  return failed;
}

/// The place, and before it what leads there.
int make_session_place(const char* path, bool is_directory) {
  char leading[PATH_MAX];
  text_writer(leading).add(path);
  char* slash = std::strchr(leading + 1, '/'); // that behind the shared directory
  while (slash != nullptr && (slash = std::strchr(slash + 1, '/')) != nullptr) {
    *slash = '\0';
    if (const int failed = keep_in_place(leading, true); failed != 0) return failed;
    *slash = '/';
  }
  return keep_in_place(path, is_directory);
}

/// Any directory will do to attach the file system to; this one is there, because its namespaces
/// are known by it.
int enter_new_root() {
  const int own = new_file_system("tmpfs", "0755", mount_no_setuid | mount_no_devices);
  if (own < 0) return errno;
  const bool entered = attach_mount(own, "/proc") == 0 && ::fchdir(own) == 0 &&
                       ::syscall(SYS_pivot_root, ".", ".") == 0 &&
                       ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0;
  const int failed = entered ? 0 : errno;
  ::close(own);
  return failed;
}

// --- a command of it ----------------------------------------------------------------------------

/// Runs in a child, because setns changes its mount namespace for good.
int copy_here(const options& given, const visible_paths& visible, session_copies& copies) {
  static place_list places;
  if (const int failed = list_places(visible, places); failed != 0) return failed;
  if (given.scratch_user != 0 && ::syscall(SYS_setns, given.scratch_user, CLONE_NEWUSER) != 0)
    return errno;
  if (::syscall(SYS_setns, given.scratch_mounts, CLONE_NEWNS) != 0) return errno;
  for (std::size_t i = 0; i < places.size; ++i)
    if (!is_mount_at(places.all[i].path)) return EXDEV;
  unsigned number = 0;
  for (const visible_path& entry : visible) {
    if (entry.as != use::scratch) continue;
    if (number == session_copies::capacity) return E2BIG;
    int& mount = copies.mounts[number++];
    const char* shared = shared_directory(entry.path);
    if (shared == nullptr) continue;
    mount = copy_mount(shared, depth::with_submounts);
    if (mount < 0) return errno;
  }
  return 0;
}

} // namespace

int make_session_mounts(const visible_paths& visible) {
  static place_list places;
  if (const int failed = list_places(visible, places); failed != 0) return failed;
  if (const int failed = isolate_mounts(); failed != 0) return failed;
  if (const int failed = enter_new_root(); failed != 0) return failed;
  ::umask(0);
  const bool made =
      ::mkdir("/tmp", 01777) == 0 && ::mkdir("/var-tmp", 0700) == 0 && ::mkdir("/home", 0700) == 0;
  int failed = made ? 0 : errno;
  for (std::size_t i = 0; i < places.size && failed == 0; ++i)
    failed = make_session_place(places.all[i].path, places.all[i].is_directory);
  return failed;
}

int copy_session(const options& given, const visible_paths& visible, session_copies& copies) {
  // It has the same descriptors, but a root directory of its own.
  const auto child =
      static_cast<pid_t>(::syscall(SYS_clone, CLONE_VFORK | CLONE_FILES | SIGCHLD, 0, 0, 0, 0));
  if (child < 0) return errno;
  if (child == 0) ::_exit(copy_here(given, visible, copies));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int failed = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  if (failed == 0) return 0;
  for (const int mount : copies.mounts)
    if (mount >= 0) ::close(mount);
  copies.clear();
  return failed;
}

} // namespace paddock::exec
