// SPDX-License-Identifier: MIT
#include "support/fault/faulty_sys.hpp"

#include "support/fault/change_recorder.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>
#include <string>
#include <utility>

namespace paddock::test {
namespace {

struct {
  std::atomic<bool> armed = false;
  std::mutex mutex;
  fault what;
  std::size_t calls = 0;
  std::size_t failed = 0;
  const char* failing = "";
  std::size_t inheritable = 0;
  std::atomic<unsigned> rename_flags = 0;
  recording* recorder = nullptr;
} now; // NOLINT: the wrappers are functions of the whole program

bool passes(const char* name) {
  if (!now.armed) return true;
  const std::lock_guard lock(now.mutex);
  ++now.calls;
  if (now.what.before) {
    now.armed = false;
    now.what.before(now.calls);
    now.armed = true;
  }
  const bool hit = now.what.at == 0
                       ? now.what.os_errno_of != nullptr
                       : now.calls == now.what.at ||
                             (now.calls > now.what.at && now.what.lasting == lasting::ever);
  if (!hit) return true;
  const int os_errno = now.what.os_errno_of ? now.what.os_errno_of(name) : now.what.os_errno;
  if (os_errno == 0) return true;
  if (now.failed++ == 0) now.failing = name;
  errno = os_errno;
  return false;
}

void note_flags(std::uint64_t flags) {
  if (!now.armed || (flags & O_CLOEXEC) != 0) return;
  const std::lock_guard lock(now.mutex);
  ++now.inheritable;
}

std::size_t shortened(std::size_t bytes) {
  return now.armed && now.what.bytes_max != 0 ? std::min(bytes, now.what.bytes_max) : bytes;
}

bool is_nameless(int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

std::uint64_t inode_told(std::uint64_t inode) {
  return now.armed && now.what.inode_told ? now.what.inode_told(inode) : inode;
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
  case SYS_pidfd_send_signal:
    return "pidfd_send_signal";
  default:
    return nullptr;
  }
}

} // namespace

bool may_happen(const char* name) {
  return passes(name);
}

injection::injection(const fault& f) {
  now.what = f;
  now.calls = now.failed = now.inheritable = 0;
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
unsigned injection::rename_flags() {
  return now.rename_flags;
}
std::string_view injection::failing() {
  return now.failing;
}
std::size_t injection::inheritable() {
  return now.inheritable;
}

recording::recording(dev_t device) : device_(device) {
  now.recorder = this;
}
recording::~recording() {
  now.recorder = nullptr;
}
recording* recording::current() {
  return now.recorder;
}
std::uint64_t recording::number_of(int fd) const {
  return number_of(fd, "", nullptr);
}
std::uint64_t recording::number_of(int dirfd, const char* name, unsigned* mode) const {
  const int saved = errno;
  struct stat64 s {};
  const bool there =
      ::fstatat64(dirfd, name, &s, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 && s.st_dev == device_;
  errno = saved;
  if (mode != nullptr) *mode = s.st_mode;
  return there ? s.st_ino : 0;
}
std::uint64_t recording::number_behind(const char* path) const {
  const int saved = errno;
  struct stat64 s {};
  const bool there = ::fstatat64(AT_FDCWD, path, &s, 0) == 0 && s.st_dev == device_;
  errno = saved;
  return there ? s.st_ino : 0;
}

namespace {

using kind = change::kind;

/// Takes down a change that has just been made.
template <class Describe> void take_down(bool made, Describe describe) {
  if (!made || now.recorder == nullptr) return;
  const std::lock_guard lock(now.mutex);
  change c;
  describe(*now.recorder, c);
  now.recorder->changes.push_back(std::move(c));
}

void take_down_entry(bool made, kind what, int dirfd, const char* name) {
  take_down(made, [&](recording& r, change& c) {
    c.what = what;
    c.directory = r.number_of(dirfd);
    c.name = name;
    if (what != kind::remove) c.object = r.number_of(dirfd, name, &c.mode);
  });
}

void take_down_content(bool made, kind what, int fd, std::uint64_t offset, std::string bytes = {}) {
  take_down(made, [&](recording& r, change& c) {
    c.what = what;
    c.object = r.number_of(fd);
    c.offset = offset;
    c.bytes = std::move(bytes);
  });
}

void take_down_written(ssize_t n, int fd, const void* from) {
  if (n <= 0 || now.recorder == nullptr) return;
  const auto size = static_cast<std::size_t>(n);
  const auto end = ::lseek64(fd, 0, SEEK_CUR);
  if (end < n) return; // a pipe
  take_down_content(true, kind::write, fd, static_cast<std::uint64_t>(end) - size,
                    std::string(static_cast<const char*>(from), size));
}

/// Whether a file is about to be made that the recorder is to know.
bool is_to_be_made(int dirfd, const char* path, int flags) {
  const recording* recorder = now.recorder;
  if ((flags & O_CREAT) == 0 || recorder == nullptr) return false;
  return (flags & O_EXCL) != 0 || recorder->number_of(dirfd, path, nullptr) == 0;
}

void take_down_rename(bool made, const long (&a)[6]) {
  take_down(made, [&](recording& r, change& c) {
    const auto flags = static_cast<unsigned>(a[4]);
    c.what = (flags & RENAME_EXCHANGE) != 0 ? kind::exchange : kind::rename;
    c.directory = r.number_of(static_cast<int>(a[0]));
    c.name = reinterpret_cast<const char*>(a[1]); // NOLINT: as the kernel gets it
    c.other_directory = r.number_of(static_cast<int>(a[2]));
    c.other_name = reinterpret_cast<const char*>(a[3]); // NOLINT
  });
}

} // namespace

} // namespace paddock::test

using paddock::test::inode_told;
using paddock::test::is_nameless;
using paddock::test::is_to_be_made;
using paddock::test::name_of_call;
using paddock::test::nameless_files;
using paddock::test::note_flags;
using paddock::test::now;
using paddock::test::passes;
using paddock::test::shortened;
using paddock::test::take_down;
using paddock::test::take_down_content;
using paddock::test::take_down_entry;
using paddock::test::take_down_rename;
using paddock::test::take_down_written;
using kind_of_change = paddock::test::change::kind;

// The reserved names are the linker's.
// NOLINTBEGIN
#define PADDOCK_WRAP(type, name, label, parameters, arguments, ...)                                \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    const type n = passes(label) ? __real_##name arguments : type(-1);                             \
    __VA_ARGS__;                                                                                   \
    return n;                                                                                      \
  }

extern "C" {
PADDOCK_WRAP(int, statx, "statx",
             (int dirfd, const char* path, int flags, unsigned mask, struct statx* out),
             (dirfd, path, flags, mask, out), if (n == 0) out->stx_ino = inode_told(out->stx_ino))
PADDOCK_WRAP(int, fstat64, "fstat", (int fd, struct stat64* out), (fd, out),
             if (n == 0) out->st_ino = inode_told(out->st_ino))
PADDOCK_WRAP(int, fstatfs64, "fstatfs", (int fd, struct statfs64* out), (fd, out))
PADDOCK_WRAP(ssize_t, readlinkat, "readlinkat",
             (int dirfd, const char* path, char* out, size_t size), (dirfd, path, out, size))
PADDOCK_WRAP(ssize_t, read, "read", (int fd, void* out, size_t size), (fd, out, shortened(size)))
PADDOCK_WRAP(ssize_t, pread64, "pread", (int fd, void* out, size_t size, off64_t at),
             (fd, out, shortened(size), at))
PADDOCK_WRAP(ssize_t, write, "write", (int fd, const void* in, size_t size),
             (fd, in, shortened(size)), take_down_written(n, fd, in))
PADDOCK_WRAP(ssize_t, getrandom, "getrandom", (void* out, size_t size, unsigned flags),
             (out, shortened(size), flags))
PADDOCK_WRAP(int, ftruncate64, "ftruncate", (int fd, off64_t size), (fd, size),
             take_down_content(n == 0, kind_of_change::truncate, fd,
                               static_cast<std::uint64_t>(size)))
PADDOCK_WRAP(int, mkdirat, "mkdirat", (int dirfd, const char* path, mode_t mode),
             (dirfd, path, mode), take_down_entry(n == 0, kind_of_change::create, dirfd, path))
PADDOCK_WRAP(int, unlinkat, "unlinkat", (int dirfd, const char* path, int flags),
             (dirfd, path, flags), take_down_entry(n == 0, kind_of_change::remove, dirfd, path))
PADDOCK_WRAP(int, linkat, "linkat",
             (int from_dirfd, const char* from, int to_dirfd, const char* to, int flags),
             (from_dirfd, from, to_dirfd, to, flags),
             take_down_entry(n == 0, kind_of_change::link, to_dirfd, to))
PADDOCK_WRAP(int, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode),
             take_down(n == 0, [&](const auto& r, auto& c) {
               c.what = kind_of_change::mode;
               c.object = r.number_of(fd);
               c.mode = mode;
             }))
PADDOCK_WRAP(int, chmod, "chmod", (const char* path, mode_t mode), (path, mode),
             take_down(n == 0, [&](const auto& r, auto& c) {
               c.what = kind_of_change::mode;
               c.object = r.number_behind(path);
               c.mode = mode;
             }))
PADDOCK_WRAP(int, symlinkat, "symlinkat", (const char* target, int dirfd, const char* path),
             (target, dirfd, path), take_down(n == 0, [&](const auto& r, auto& c) {
               c.what = kind_of_change::create;
               c.directory = r.number_of(dirfd);
               c.name = path;
               c.object = r.number_of(dirfd, path, &c.mode);
               c.bytes = target;
             }))
PADDOCK_WRAP(int, utimensat, "utimensat",
             (int dirfd, const char* path, const timespec* times, int flags),
             (dirfd, path, times, flags), take_down(n == 0, [&](const auto& r, auto& c) {
               c.what = kind_of_change::times;
               c.object = r.number_of(dirfd, path, nullptr);
               c.offset = static_cast<std::uint64_t>(times[1].tv_sec) * 1'000'000'000U +
                          static_cast<std::uint64_t>(times[1].tv_nsec);
             }))
PADDOCK_WRAP(int, fchown, "fchown", (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
PADDOCK_WRAP(int, flock, "flock", (int fd, int operation), (fd, operation))
PADDOCK_WRAP(ssize_t, llistxattr, "llistxattr", (const char* path, char* out, size_t size),
             (path, out, size))
PADDOCK_WRAP(ssize_t, lgetxattr, "lgetxattr",
             (const char* path, const char* name, void* out, size_t size), (path, name, out, size))
PADDOCK_WRAP(ssize_t, flistxattr, "flistxattr", (int fd, char* out, size_t size), (fd, out, size))
PADDOCK_WRAP(ssize_t, fgetxattr, "fgetxattr", (int fd, const char* name, void* out, size_t size),
             (fd, name, out, size))
PADDOCK_WRAP(int, fsetxattr, "fsetxattr",
             (int fd, const char* name, const void* in, size_t size, int flags),
             (fd, name, in, size, flags))
PADDOCK_WRAP(int, fremovexattr, "fremovexattr", (int fd, const char* name), (fd, name))

ssize_t __real_writev(int fd, const iovec* parts, int count);
ssize_t __wrap_writev(int fd, const iovec* parts, int count);
ssize_t __wrap_writev(int fd, const iovec* parts, int count) {
  if (!passes("writev")) return -1;
  const size_t size = count > 0 ? shortened(parts[0].iov_len) : 0;
  const iovec first{.iov_base = count > 0 ? parts[0].iov_base : nullptr, .iov_len = size};
  const bool less = count > 0 && size != parts[0].iov_len;
  const ssize_t n = __real_writev(fd, less ? &first : parts, less ? 1 : count);
  if (n <= 0 || paddock::test::recording::current() == nullptr) return n;
  std::string all;
  for (int i = 0; i < count; ++i)
    all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  take_down_written(n, fd, all.data());
  return n;
}

/// With a file its time comes to the disk, which a write has given it.
static void take_down_times(bool passed, int fd) {
  if (paddock::test::recording::current() == nullptr) return;
  struct stat s {};
  if (::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return;
  take_down_content(passed, kind_of_change::times, fd,
                    static_cast<std::uint64_t>(s.st_mtim.tv_sec) * 1'000'000'000U +
                        static_cast<std::uint64_t>(s.st_mtim.tv_nsec));
}

/// Waiting for the disk shows nothing that these tests could see.
#define PADDOCK_WRAP_SYNC(name, kind)                                                              \
  int __real_##name(int fd);                                                                       \
  int __wrap_##name(int fd);                                                                       \
  int __wrap_##name(int fd) {                                                                      \
    if (!now.armed) return __real_##name(fd);                                                      \
    const bool passed = passes(#name);                                                             \
    if (kind_of_change::kind == kind_of_change::sync) take_down_times(passed, fd);                 \
    take_down_content(passed, kind_of_change::kind, fd, 0);                                        \
    return passed ? 0 : -1;                                                                        \
  }
PADDOCK_WRAP_SYNC(fdatasync, sync_data)
PADDOCK_WRAP_SYNC(fsync, sync)
PADDOCK_WRAP_SYNC(syncfs, sync_all)

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
  const mode_t mode = (flags & O_CREAT) != 0 || is_nameless(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  note_flags(static_cast<unsigned>(flags));
  if (is_nameless(flags) && now.what.files == nameless_files::unknown) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const bool is_made = is_to_be_made(dirfd, path, flags);
  const int fd = passes("openat") ? __real_openat64(dirfd, path, flags, mode) : -1;
  take_down_entry(fd >= 0 && is_made, kind_of_change::create, dirfd, path);
  take_down(fd >= 0 && is_nameless(flags), [&](const auto& r, auto& c) {
    c.what = kind_of_change::nameless;
    c.object = r.number_of(fd, "", &c.mode);
  });
  take_down_content(fd >= 0 && (flags & O_TRUNC) != 0 && !is_made, kind_of_change::truncate, fd, 0);
  return fd;
}

int __real_open64(const char* path, int flags, ...);
int __wrap_open64(const char* path, int flags, ...);
int __wrap_open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  note_flags(static_cast<unsigned>(flags));
  return passes("open") ? __real_open64(path, flags, mode) : -1;
}

long __real_syscall(long number, ...);
// It reads arguments that may not have been passed, as the library itself does.
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a)
    argument = va_arg(rest, long);
  va_end(rest);
  const char* name = name_of_call(number);
  if (number == SYS_openat2 && a[3] != 0)
    note_flags(reinterpret_cast<const open_how*>(a[2])->flags);
  if (number == SYS_renameat2) now.rename_flags = static_cast<unsigned>(a[4]);
  if (name != nullptr && !passes(name)) return -1;
  const long n = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  take_down_rename(n == 0 && number == SYS_renameat2, a);
  return n;
}
}
// NOLINTEND
