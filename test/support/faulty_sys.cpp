// SPDX-License-Identifier: MIT
#include "support/faulty_sys.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

namespace paddock::test {
namespace {

struct {
  std::atomic<bool> armed = false;
  std::mutex mutex;
  fault what;
  std::size_t calls = 0;
  std::size_t failed = 0;
  const char* failing = "";
} now; // NOLINT: the wrappers are functions of the whole program

/// Whether the call may happen; otherwise errno says why not.
bool passes(const char* name) {
  if (!now.armed) return true;
  const std::lock_guard lock(now.mutex);
  ++now.calls;
  if (now.what.before) {
    now.armed = false;
    now.what.before(now.calls);
    now.armed = true;
  }
  const bool hit =
      now.what.at != 0 &&
      (now.calls == now.what.at || (now.calls > now.what.at && now.what.lasting == lasting::ever));
  if (!hit) return true;
  if (now.failed++ == 0) now.failing = name;
  errno = now.what.os_errno;
  return false;
}

std::size_t shortened(std::size_t bytes) {
  return now.armed && now.what.bytes_max != 0 ? std::min(bytes, now.what.bytes_max) : bytes;
}

const char* name_of_call(long number) {
  switch (number) {
  case SYS_openat2:
    return "openat2";
  case SYS_faccessat2:
    return "faccessat2";
  case SYS_getcwd:
    return "getcwd";
  case SYS_getdents64:
    return "getdents64";
  case SYS_renameat2:
    return "renameat2";
  default:
    return nullptr;
  }
}

} // namespace

injection::injection(const fault& f) {
  now.what = f;
  now.calls = now.failed = 0;
  now.failing = "";
  now.armed = true;
}

void injection::end() {
  now.armed = false;
}

std::size_t injection::calls() {
  return now.calls;
}
std::size_t injection::failed() {
  return now.failed;
}
std::string_view injection::failing() {
  return now.failing;
}

} // namespace paddock::test

using paddock::test::name_of_call;
using paddock::test::now;
using paddock::test::passes;
using paddock::test::shortened;

// The reserved names are the linker's.
// NOLINTBEGIN
#define PADDOCK_WRAP(type, name, label, parameters, arguments)                                     \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    return passes(label) ? __real_##name arguments : type(-1);                                     \
  }

extern "C" {
PADDOCK_WRAP(int, statx, "statx",
             (int dirfd, const char* path, int flags, unsigned mask, struct statx* out),
             (dirfd, path, flags, mask, out))
PADDOCK_WRAP(int, fstat64, "fstat", (int fd, struct stat64* out), (fd, out))
PADDOCK_WRAP(int, fstatfs64, "fstatfs", (int fd, struct statfs64* out), (fd, out))
PADDOCK_WRAP(ssize_t, readlinkat, "readlinkat",
             (int dirfd, const char* path, char* out, size_t size), (dirfd, path, out, size))
PADDOCK_WRAP(ssize_t, read, "read", (int fd, void* out, size_t size), (fd, out, shortened(size)))
PADDOCK_WRAP(ssize_t, pread64, "pread", (int fd, void* out, size_t size, off64_t at),
             (fd, out, shortened(size), at))
PADDOCK_WRAP(ssize_t, write, "write", (int fd, const void* in, size_t size),
             (fd, in, shortened(size)))
PADDOCK_WRAP(ssize_t, getrandom, "getrandom", (void* out, size_t size, unsigned flags),
             (out, shortened(size), flags))
PADDOCK_WRAP(int, ftruncate64, "ftruncate", (int fd, off64_t size), (fd, size))
PADDOCK_WRAP(int, mkdirat, "mkdirat", (int dirfd, const char* path, mode_t mode),
             (dirfd, path, mode))
PADDOCK_WRAP(int, unlinkat, "unlinkat", (int dirfd, const char* path, int flags),
             (dirfd, path, flags))
PADDOCK_WRAP(int, linkat, "linkat",
             (int from_dirfd, const char* from, int to_dirfd, const char* to, int flags),
             (from_dirfd, from, to_dirfd, to, flags))
PADDOCK_WRAP(int, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode))
PADDOCK_WRAP(int, fchown, "fchown", (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
PADDOCK_WRAP(int, flock, "flock", (int fd, int operation), (fd, operation))

ssize_t __real_writev(int fd, const iovec* parts, int count);
ssize_t __wrap_writev(int fd, const iovec* parts, int count);
ssize_t __wrap_writev(int fd, const iovec* parts, int count) {
  if (!passes("writev")) return -1;
  const size_t size = count > 0 ? shortened(parts[0].iov_len) : 0;
  if (count == 0 || size == parts[0].iov_len) return __real_writev(fd, parts, count);
  const iovec first{.iov_base = parts[0].iov_base, .iov_len = size};
  return __real_writev(fd, &first, 1);
}

/// Waiting for the disk shows nothing that these tests could see.
#define PADDOCK_WRAP_SYNC(name)                                                                    \
  int __real_##name(int fd);                                                                       \
  int __wrap_##name(int fd);                                                                       \
  int __wrap_##name(int fd) {                                                                      \
    if (!now.armed) return __real_##name(fd);                                                      \
    return passes(#name) ? 0 : -1;                                                                 \
  }
PADDOCK_WRAP_SYNC(fdatasync)
PADDOCK_WRAP_SYNC(fsync)

/// The descriptor is released all the same, as by Linux.
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  const bool fine = passes("close");
  const int n = __real_close(fd);
  return fine ? n : -1;
}

int __real_openat64(int dirfd, const char* path, int flags, ...);
int __wrap_openat64(int dirfd, const char* path, int flags, ...);
int __wrap_openat64(int dirfd, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return passes("openat") ? __real_openat64(dirfd, path, flags, mode) : -1;
}

int __real_open64(const char* path, int flags, ...);
int __wrap_open64(const char* path, int flags, ...);
int __wrap_open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return passes("open") ? __real_open64(path, flags, mode) : -1;
}

long __real_syscall(long number, ...);
// It reads arguments that may not have been passed, as the library itself does.
[[gnu::no_sanitize("address")]] long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a)
    argument = va_arg(rest, long);
  va_end(rest);
  const char* name = name_of_call(number);
  if (name != nullptr && !passes(name)) return -1;
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}
// NOLINTEND
