// SPDX-License-Identifier: MIT
#include "exec/helper/root/overlay.hpp"

#include "exec/helper/root/mounts.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

// The same numbers on every architecture.
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif

namespace paddock::exec {
namespace {

// From linux/mount.h, which cannot be included together with sys/mount.h everywhere.
constexpr unsigned cloexec = 1; // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
constexpr unsigned set_flag = 0;
constexpr unsigned set_string = 1;
constexpr unsigned create = 6;
constexpr std::size_t value_bytes_max = 256;

bool set(int context, const char* key, const char* value) {
  return ::syscall(SYS_fsconfig, context, set_string, key, value, 0) == 0;
}

/// A colon would begin another directory.
bool escape(const char* path, char (&into)[value_bytes_max]) {
  std::size_t size = 0;
  for (; *path != '\0'; ++path) {
    if (size + 3 > sizeof into) return false;
    if (*path == ':' || *path == '\\') into[size++] = '\\';
    into[size++] = *path;
  }
  into[size] = '\0';
  return true;
}

/// In attributes that an ordinary user may set it notes what was removed, and it follows none that
/// lead from one place to another.
bool configure(int context, const overlay_places& places) {
  char below[value_bytes_max];
  if (!escape(places.below, below)) {
    errno = ENAMETOOLONG;
    return false;
  }
  return set(context, "lowerdir", below) && set(context, "upperdir", places.changed) &&
         set(context, "workdir", places.work) &&
         ::syscall(SYS_fsconfig, context, set_flag, "userxattr", nullptr, 0) == 0 &&
         ::syscall(SYS_fsconfig, context, create, nullptr, nullptr, 0) == 0;
}

} // namespace

int new_overlay(const overlay_places& places) {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "overlay", cloexec));
  if (context < 0) return -1;
  int mount = -1;
  if (configure(context, places))
    mount = static_cast<int>(
        ::syscall(SYS_fsmount, context, cloexec, mount_no_setuid | mount_no_devices));
  const int failed = errno;
  ::close(context);
  errno = failed;
  return mount;
}

} // namespace paddock::exec
