// SPDX-License-Identifier: MIT
#include "exec/helper/root/proc.hpp"

#include "exec/helper/root/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::exec {
namespace {

/// Uses up the mount; one that is not there is left out.
int put_table(int mount, const char* path) {
  if (mount < 0) return 0;
  struct stat status {};
  int failed = ::fstat(mount, &status) == 0 ? make_place(path, S_ISDIR(status.st_mode)) : errno;
  if (failed == 0 &&
      (set_mount_attributes(mount, proc_attributes | mount_read_only, depth::with_submounts) != 0 ||
       attach_mount(mount, path) != 0))
    failed = errno;
  ::close(mount);
  return failed;
}

} // namespace

int mount_proc() {
  const int proc = new_file_system("proc", nullptr, proc_attributes);
  if (proc < 0 || attach_mount(proc, "/proc") != 0) return errno;
  ::close(proc);
  return 0;
}

int seal_proc() {
  const int proc = ::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return errno;
  const bool sealed = set_mount_attributes(proc, mount_read_only, depth::only_this) == 0;
  const int failed = sealed ? 0 : errno;
  ::close(proc);
  return failed;
}

int leave_only_tables() {
  constexpr const char* tables[] = {
      "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat",
      "/proc/swaps",   "/proc/sys",         "/proc/uptime",  "/proc/version", "/proc/vmstat"};
  int mounts[sizeof tables / sizeof *tables];
  if (::syscall(SYS_unshare, CLONE_NEWNS) != 0) return errno;
  int* mount = mounts;
  for (const char* table : tables) {
    *mount = copy_mount(table, depth::with_submounts);
    if (*mount++ < 0 && errno != ENOENT) return errno;
  }
  const int cover = new_file_system("tmpfs", "0555", proc_attributes);
  if (cover < 0 || attach_mount(cover, "/proc") != 0) return errno;
  ::close(cover);
  mount = mounts;
  for (const char* table : tables)
    if (const int failed = put_table(*mount++, table); failed != 0) return failed;
  return seal_proc();
}

} // namespace paddock::exec
