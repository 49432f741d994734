// SPDX-License-Identifier: MIT
#pragma once

// System calls that wait at the listener of a filter (SECCOMP_RET_USER_NOTIF) for this process to
// answer, and what can be learnt of who makes them. Same rules as in sys/syscall.hpp.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace paddock::sys {

struct filtered_call {
  std::uint64_t id = 0;
  int caller = 0; ///< a thread; meaningful as long as `is_waiting`
  int number = 0;
  std::array<std::uint64_t, 6> arguments{};
};
/// The next one. Errors: not_found when its caller is gone; of ioctl.
result<filtered_call> take_filtered_call(int listener);
/// If so, the caller's ID has meant no other process until now.
[[nodiscard]] bool is_waiting(int listener, const filtered_call& call) noexcept;
/// It returns 0, or fails with this. A caller that is gone is no error.
result<void> answer(int listener, const filtered_call& call, int os_errno);
/// It goes on, with the arguments that it has then.
result<void> let_go_on(int listener, const filtered_call& call);

/// Bytes of the caller's memory. Errors: EFAULT, permission_denied.
result<void> read_of_caller(const filtered_call& call, std::uint64_t address,
                            std::span<char> bytes);
/// A text that ends with NUL; at most `bytes_max` with it. Errors: the same, ENAMETOOLONG.
result<std::string> text_of_caller(const filtered_call& call, std::uint64_t address,
                                   std::size_t bytes_max);
/// What the caller has open as `fd`, or its working directory for AT_FDCWD, by a descriptor for its
/// place alone (O_PATH).
result<file_descriptor> place_of_caller(const filtered_call& call, int fd);
/// The size beyond which the caller makes no file longer (RLIMIT_FSIZE). Errors: those of
/// prlimit(2).
result<std::uint64_t> file_bytes_max_of_caller(const filtered_call& call);
/// The caller's descriptor, for this process. Errors: EBADF, permission_denied.
result<file_descriptor> descriptor_of_caller(const filtered_call& call, int fd);

// --- of what a descriptor stands for, also one for its place alone
/// Access and change. Times are now (UTIME_NOW), as they are (UTIME_OMIT), or nanoseconds below a
/// second.
struct file_times {
  std::array<std::int64_t, 2> seconds{};
  std::array<std::int64_t, 2> nanoseconds{};
};
result<void> set_times(int fd, const file_times& times);
result<void> chown_place(int fd, std::uint32_t uid, std::uint32_t gid);
/// `flags` of setxattr(2).
result<void> set_attribute_of_place(int fd, const char* name, std::string_view value, int flags);
result<void> remove_attribute_of_place(int fd, const char* name);
result<void> truncate_place(int fd, std::int64_t size);
/// Of this process.
struct own_ids {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};
[[nodiscard]] own_ids effective_ids() noexcept;

} // namespace paddock::sys
