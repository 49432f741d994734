// SPDX-License-Identifier: MIT
#pragma once

// Every file system call of the library, once, under its own name. Each returns a result whose
// error carries the mapped code, errno and the call's name. Calls that a signal can interrupt are
// repeated here and nowhere else. Tests link another implementation of this header to inject
// faults, so nothing outside src/sys may call the kernel.

#include "sys/errno_map.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct iovec;

namespace paddock::sys {

// --- opening ------------------------------------------------------------------------------------
/// `resolve` is a set of RESOLVE_* bits. Not repeated on EAGAIN.
result<file_descriptor> openat2(int dirfd, const char* path, std::uint64_t flags,
                                std::uint64_t mode, std::uint64_t resolve);
/// Whether the kernel implements openat2 and no filter denies it, told apart from a denial for one
/// file.
bool openat2_available();
result<file_descriptor> openat(int dirfd, const char* path, int flags, unsigned mode = 0);
/// The same object again with other flags, through /proc/self/fd.
result<file_descriptor> reopen(int fd, int flags);
void close(int fd) noexcept;

// --- looking ------------------------------------------------------------------------------------
/// `name` may be empty: the object `dirfd` itself.
result<file_status> status_at(int dirfd, const char* name, int at_flags = 0);
/// What a listing says of an entry, links not followed: less than file_status, and cheaper.
struct entry_status {
  entry_kind kind = entry_kind::other;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};
result<entry_status> entry_status_at(int dirfd, const char* name);
/// Less than status_at, and less work for the kernel: no mount and no birth time.
result<file_status> fstat(int fd);
/// The magic number of the file system (statfs f_type).
result<std::int64_t> fstatfs_type(int fd);
result<std::string> readlinkat(int dirfd, const char* name);
/// Whether the effective user may, `mode` being R_OK, W_OK, X_OK; name empty: the object itself.
result<void> faccessat(int dirfd, const char* name, int mode);
result<std::string> getcwd();
/// Raw linux_dirent64 records; 0 at the end.
result<std::size_t> getdents64(int fd, std::span<char> buffer);

// --- content ------------------------------------------------------------------------------------
result<std::size_t> read(int fd, std::span<char> buffer);
result<std::size_t> pread(int fd, std::span<char> buffer, std::uint64_t offset);
result<std::size_t> pwrite(int fd, std::span<const char> buffer, std::uint64_t offset);
/// All of a small file from where it stands. Errors: is_a_directory, not_regular, too_large.
result<std::string> read_small_file(int fd, std::size_t bytes_max);
/// Where the next data begin, at `offset` or behind it; ENXIO: only a hole up to the end. Moves the
/// position that read and write use.
result<std::uint64_t> seek_data(int fd, std::uint64_t offset);
/// To where a listing goes on, for a directory.
result<void> seek(int fd, std::int64_t offset);
result<std::size_t> write(int fd, std::string_view bytes);
result<std::size_t> writev(int fd, std::span<const iovec> parts);
result<void> ftruncate(int fd, std::uint64_t size);
result<void> fdatasync(int fd);
result<void> fsync(int fd);
/// Everything of the file system that it lies on.
result<void> syncfs(int fd);

// --- changing -----------------------------------------------------------------------------------
result<void> mkdirat(int dirfd, const char* name, unsigned mode);
result<void> unlinkat(int dirfd, const char* name, int flags);
result<void> renameat2(int from_dirfd, const char* from, int to_dirfd, const char* to,
                       unsigned flags);
result<void> linkat(int from_dirfd, const char* from, int to_dirfd, const char* to, int flags);
/// Gives a name to what O_TMPFILE has made. Errors: also not_found, without /proc.
result<void> link_nameless(int fd, int dirfd, const char* name);
result<void> symlinkat(const char* target, int dirfd, const char* name);
/// Sets the time of the last change of content, links not followed; the other one stays.
result<void> set_modified(int dirfd, const char* name, std::int64_t modified_ns);
result<void> fchmod(int fd, unsigned mode);
/// Also of what was opened for looking only. Errors: also not_found, without /proc.
result<void> chmod_opened(int fd, unsigned mode);
result<void> fchown(int fd, std::uint32_t uid, std::uint32_t gid);
/// An exclusive lock on the object behind `fd`, until the descriptor is closed. Never waits: EAGAIN
/// while another open description has it.
result<void> try_flock(int fd);
/// Gives the lock of try_flock back.
result<void> unlock(int fd);
result<void> getrandom(std::span<char> buffer);

// --- extended attributes ------------------------------------------------------------------------
/// Their names, each ended by a NUL; links not followed.
result<std::string> attribute_names_at(int dirfd, const char* name);
/// The value of one; links not followed.
result<std::string> attribute_at(int dirfd, const char* name, const char* attribute);
result<std::size_t> attribute_size(int fd, const char* attribute);
result<void> set_attribute(int fd, const char* attribute, std::string_view value);
result<void> remove_attribute(int fd, const char* attribute);

// --- this process -------------------------------------------------------------------------------
[[nodiscard]] unsigned effective_uid() noexcept;
[[nodiscard]] int process_id() noexcept;
/// NULL-terminated "NAME=value" strings; may be null.
[[nodiscard]] const char* const* environment() noexcept;
[[nodiscard]] std::int64_t monotonic_ms() noexcept;
/// The processor time that this thread has used.
[[nodiscard]] std::int64_t thread_time_ms() noexcept;
/// The clock that file times are taken from: nanoseconds since 1970-01-01 UTC, one tick coarse. A
/// file may have a time that is up to a tick later.
[[nodiscard]] std::int64_t file_clock_ns() noexcept;
/// A time between those of what has been changed before this call and of what will be after it; of
/// the same tick where the kernel tells no finer times. Dearer than `file_clock_ns`.
[[nodiscard]] std::int64_t file_time_now_ns() noexcept;
/// Does nothing for a while; a signal may end it early.
void pause_ms(int milliseconds) noexcept;

struct memory {
  std::uint64_t resident_bytes = 0;
  std::uint64_t peak_bytes = 0; ///< highest resident size so far
};
[[nodiscard]] memory memory_usage() noexcept;

} // namespace paddock::sys
