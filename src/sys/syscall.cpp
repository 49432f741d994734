// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include "sys/call.hpp"
#include "sys/shared_lock.hpp"

#include <paddock/base/limits.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>

namespace paddock::sys {
namespace {

std::int64_t nanoseconds(const statx_timestamp& t) {
  return sys::nanoseconds(t.tv_sec, t.tv_nsec);
}

entry_kind kind_of(unsigned mode) {
  if (S_ISREG(mode)) return entry_kind::file;
  if (S_ISDIR(mode)) return entry_kind::directory;
  if (S_ISLNK(mode)) return entry_kind::symlink;
  return entry_kind::other;
}

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

} // namespace

result<file_descriptor> openat2(int dirfd, const char* path, std::uint64_t flags,
                                std::uint64_t mode, std::uint64_t resolve) {
  open_how how{.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
  return descriptor(retried([&] { return ::syscall(SYS_openat2, dirfd, path, &how, sizeof how); }),
                    "openat2");
}

bool openat2_available() {
  // A size of zero is refused with EINVAL before anything is opened; a missing or filtered call
  // says ENOSYS or EPERM.
  open_how how{};
  const long n = ::syscall(SYS_openat2, AT_FDCWD, ".", &how, 0);
  if (n >= 0) sys::close(static_cast<int>(n));
  return n >= 0 || errno == EINVAL;
}

result<file_descriptor> openat(int dirfd, const char* path, int flags, unsigned mode) {
  return descriptor(retried([&] { return ::openat(dirfd, path, flags | O_CLOEXEC, mode); }),
                    "openat");
}

result<file_descriptor> reopen(int fd, int flags) {
  const auto path = path_of(fd);
  return descriptor(retried([&] { return ::open(path.data(), flags | O_CLOEXEC); }), "reopen");
}

void close(int fd) noexcept {
  const int saved = errno;
  ::close(fd); // not repeated on EINTR: Linux has released the descriptor already
  errno = saved;
}

result<file_status> status_at(int dirfd, const char* name, int at_flags) {
  struct statx s;
  const int n = retried([&] {
    return ::statx(dirfd, name, at_flags | AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
                   STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &s);
  });
  if (n < 0) return failure(errno, "statx");
  return file_status{
      .kind = kind_of(s.stx_mode),
      .mode = s.stx_mode & 07777U,
      .links = s.stx_nlink,
      .uid = s.stx_uid,
      .gid = s.stx_gid,
      .size = s.stx_size,
      .device = makedev(s.stx_dev_major, s.stx_dev_minor),
      .inode = s.stx_ino,
      .mount = (s.stx_mask & STATX_MNT_ID) != 0 ? s.stx_mnt_id : 0,
      .created_ns = nanoseconds((s.stx_mask & STATX_BTIME) != 0 ? s.stx_btime : s.stx_ctime),
      .has_birth_time = (s.stx_mask & STATX_BTIME) != 0,
      .modified_ns = nanoseconds(s.stx_mtime),
      .accessed_ns = nanoseconds(s.stx_atime),
      .changed_ns = nanoseconds(s.stx_ctime),
  };
}

result<entry_status> entry_status_at(int dirfd, const char* name) {
  struct statx s;
  const int n = retried([&] {
    return ::statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                   STATX_TYPE | STATX_SIZE | STATX_MTIME, &s);
  });
  if (n < 0) return failure(errno, "statx");
  return entry_status{
      .kind = kind_of(s.stx_mode), .size = s.stx_size, .modified_ns = nanoseconds(s.stx_mtime)};
}

result<file_status> fstat(int fd) {
  struct stat s;
  if (retried([&] { return ::fstat(fd, &s); }) < 0) return failure(errno, "fstat");
  return file_status{
      .kind = kind_of(s.st_mode),
      .mode = s.st_mode & 07777U,
      .links = static_cast<std::uint32_t>(s.st_nlink),
      .uid = s.st_uid,
      .gid = s.st_gid,
      .size = static_cast<std::uint64_t>(s.st_size),
      .device = s.st_dev,
      .inode = s.st_ino,
      .created_ns = nanoseconds(s.st_ctim),
      .modified_ns = nanoseconds(s.st_mtim),
      .accessed_ns = nanoseconds(s.st_atim),
      .changed_ns = nanoseconds(s.st_ctim),
  };
}

result<std::int64_t> fstatfs_type(int fd) {
  struct statfs s;
  if (retried([&] { return ::fstatfs(fd, &s); }) < 0) return failure(errno, "fstatfs");
  return static_cast<std::int64_t>(s.f_type);
}

result<std::string> readlinkat(int dirfd, const char* name) {
  std::string target(path_bytes_max + 1, '\0');
  const auto n = retried([&] { return ::readlinkat(dirfd, name, target.data(), target.size()); });
  if (n < 0) return failure(errno, "readlinkat");
  target.resize(static_cast<std::size_t>(n));
  return target;
}

result<void> faccessat(int dirfd, const char* name, int mode) {
  // The system call itself, because glibc emulates AT_EACCESS where faccessat2 is missing.
  return none(retried([&] {
                return ::syscall(SYS_faccessat2, dirfd, name, mode, AT_EACCESS | AT_EMPTY_PATH);
              }),
              "faccessat2");
}

result<std::string> getcwd() {
  std::string path(path_bytes_max + 1, '\0');
  const auto n = retried([&] { return ::syscall(SYS_getcwd, path.data(), path.size()); });
  if (n < 0) return failure(errno, "getcwd");
  path.resize(n > 0 ? static_cast<std::size_t>(n) - 1 : 0);
  return path;
}

result<std::size_t> getdents64(int fd, std::span<char> buffer) {
  return count(retried([&] { return ::syscall(SYS_getdents64, fd, buffer.data(), buffer.size()); }),
               "getdents64");
}

result<std::size_t> read(int fd, std::span<char> buffer) {
  return count(retried([&] { return ::read(fd, buffer.data(), buffer.size()); }), "read");
}

result<std::size_t> pread(int fd, std::span<char> buffer, std::uint64_t offset) {
  return count(retried([&] {
                 return ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
               }),
               "pread");
}

result<std::size_t> pwrite(int fd, std::span<const char> buffer, std::uint64_t offset) {
  return count(retried([&] {
                 return ::pwrite(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
               }),
               "pwrite");
}

result<std::string> read_small_file(int fd, std::size_t bytes_max) {
  PADDOCK_TRY(const auto status, fstat(fd));
  if (status.kind == entry_kind::directory) return error{error_code::is_a_directory, 0, "read"};
  if (status.kind != entry_kind::file) return error{error_code::not_regular, 0, "read"};
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    PADDOCK_TRY(const std::size_t size, read(fd, block));
    if (size == 0) return text;
    text.append(block.data(), size);
    if (text.size() > bytes_max) return error{error_code::too_large, 0, "read"};
  }
}

result<std::uint64_t> seek_data(int fd, std::uint64_t offset) {
  const auto at = retried([&] { return ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA); });
  if (at < 0) return failure(errno, "lseek");
  return static_cast<std::uint64_t>(at);
}

result<void> seek(int fd, std::int64_t offset) {
  const auto at = retried([&] { return ::lseek(fd, static_cast<off_t>(offset), SEEK_SET); });
  if (at < 0) return failure(errno, "lseek");
  return {};
}

result<std::size_t> write(int fd, std::string_view bytes) {
  return count(retried([&] { return ::write(fd, bytes.data(), bytes.size()); }), "write");
}

result<std::size_t> writev(int fd, std::span<const iovec> parts) {
  return count(retried([&] { return ::writev(fd, parts.data(), static_cast<int>(parts.size())); }),
               "writev");
}

result<void> ftruncate(int fd, std::uint64_t size) {
  return none(retried([&] { return ::ftruncate(fd, static_cast<off_t>(size)); }), "ftruncate");
}

result<void> fdatasync(int fd) {
  return none(retried([&] { return ::fdatasync(fd); }), "fdatasync");
}

result<void> fsync(int fd) {
  return none(retried([&] { return ::fsync(fd); }), "fsync");
}

result<void> syncfs(int fd) {
  return none(retried([&] { return ::syncfs(fd); }), "syncfs");
}

result<void> mkdirat(int dirfd, const char* name, unsigned mode) {
  return none(retried([&] { return ::mkdirat(dirfd, name, mode); }), "mkdirat");
}

result<void> unlinkat(int dirfd, const char* name, int flags) {
  return none(retried([&] { return ::unlinkat(dirfd, name, flags); }), "unlinkat");
}

result<void> renameat2(int from_dirfd, const char* from, int to_dirfd, const char* to,
                       unsigned flags) {
  return none(
      retried([&] { return ::syscall(SYS_renameat2, from_dirfd, from, to_dirfd, to, flags); }),
      "renameat2");
}

result<void> linkat(int from_dirfd, const char* from, int to_dirfd, const char* to, int flags) {
  return none(retried([&] { return ::linkat(from_dirfd, from, to_dirfd, to, flags); }), "linkat");
}

result<void> link_nameless(int fd, int dirfd, const char* name) {
  const auto path = path_of(fd);
  return linkat(AT_FDCWD, path.data(), dirfd, name, AT_SYMLINK_FOLLOW);
}

result<void> symlinkat(const char* target, int dirfd, const char* name) {
  return none(retried([&] { return ::symlinkat(target, dirfd, name); }), "symlinkat");
}

result<void> set_modified(int dirfd, const char* name, std::int64_t modified_ns) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t part = (modified_ns % second + second) % second; // of times before 1970, too
  const std::array<timespec, 2> times{
      timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
      timespec{.tv_sec = (modified_ns - part) / second, .tv_nsec = part}};
  return none(retried([&] { return ::utimensat(dirfd, name, times.data(), AT_SYMLINK_NOFOLLOW); }),
              "utimensat");
}

result<void> fchmod(int fd, unsigned mode) {
  return none(retried([&] { return ::fchmod(fd, mode); }), "fchmod");
}

result<void> chmod_opened(int fd, unsigned mode) {
  const auto path = path_of(fd);
  return none(retried([&] { return ::chmod(path.data(), mode); }), "chmod");
}

result<void> fchown(int fd, std::uint32_t uid, std::uint32_t gid) {
  return none(retried([&] { return ::fchown(fd, uid, gid); }), "fchown");
}

result<void> try_flock(int fd) {
  return none(retried([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }), "flock");
}

result<void> try_shared_flock(int fd) {
  return none(retried([&] { return ::flock(fd, LOCK_SH | LOCK_NB); }), "flock");
}

result<void> unlock(int fd) {
  return none(retried([&] { return ::flock(fd, LOCK_UN); }), "flock");
}

namespace {

result<void> set_byte_lock(int fd, std::uint64_t at, short kind) {
  struct flock wanted{};
  wanted.l_type = kind;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = static_cast<off_t>(at);
  wanted.l_len = 1;
  return none(retried([&] { return ::fcntl(fd, F_OFD_SETLK, &wanted); }), "fcntl");
}

} // namespace

result<void> try_lock_byte(int fd, std::uint64_t at) {
  return set_byte_lock(fd, at, F_WRLCK);
}

result<void> unlock_byte(int fd, std::uint64_t at) {
  return set_byte_lock(fd, at, F_UNLCK);
}

} // namespace paddock::sys
