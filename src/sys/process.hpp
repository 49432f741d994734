// SPDX-License-Identifier: MIT
#pragma once

// Every process-related system call of the library, once, in the manner of sys/syscall.hpp.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace paddock::sys {

struct child_process {
  int id = 0;
  file_descriptor handle; ///< a pidfd
};

/// Starts a program, by a descriptor of its file, without copying this process: the child borrows
/// its memory until execve (clone with CLONE_VM and CLONE_VFORK), so the size of this process does
/// not matter. All signals are blocked in the new program. `inherited` descriptors, all above 2,
/// lose close-on-exec in the child; others keep what they have. `argv` and `envp` end with a null
/// pointer.
result<child_process> spawn(int program, char* const* argv, char* const* envp,
                            std::span<const int> inherited);

/// A program on its own: it leads a session and a process group, has the three streams as 0, 1 and
/// 2 and no other descriptor, and starts with default signal handling and no signal blocked.
struct standalone_program {
  const char* path = nullptr; ///< relative to the working directory
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  int in = -1; ///< this and the next two are above 2
  int out = -1;
  int err = -1;
  int working_directory = -1; ///< a descriptor; -1: this process's
};
/// Starts it in the same way. Errors: those of fchdir and execve, by operation.
result<child_process> spawn_standalone(const standalone_program& program);

/// "exited with status 1", "was killed by signal 9".
std::string describe_wait_status(int status);
/// The same of a child that has ended and not been waited for. Empty while it runs, and in a
/// process that ignores SIGCHLD.
std::string describe_end(const child_process& child);
/// Waits until the child has ended and forgets its zombie. Its status is not told, because a
/// process that ignores SIGCHLD does not get one.
void wait(const child_process& child) noexcept;
/// The same, for so long. False: it still runs.
bool wait_for(const child_process& child, std::int64_t timeout_ms) noexcept;
/// Signal 0 asks whether the process exists, dead or alive.
result<void> pidfd_send_signal(int pidfd, int signal);
/// Sends to every process of a group.
result<void> kill_group(int group, int signal);

/// Memory with these bytes that nobody can change any more; its descriptor is above 2.
result<file_descriptor> sealed_memory(std::string_view bytes);

/// A copy of a file, to be run by its descriptor, that nobody can change any more. Errors:
/// too_large (no program is that long); permission_denied where memory may not be run.
result<file_descriptor> sealed_program(int file);

/// A page of System V shared memory that any process of this user can find by its key; gone with
/// this object.
class shared_memory {
public:
  static result<shared_memory> make();
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&&) = delete;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();
  [[nodiscard]] int key() const noexcept { return key_; }

private:
  shared_memory(int key, int id) noexcept : key_(key), id_(id) {}
  int key_;
  int id_;
};

/// Whether this thread has the capability, by its number, in effect.
bool has_capability(unsigned number) noexcept;

/// What a path leads to, without a link; empty: nothing.
std::string canonical_name(const std::string& path);
/// The same of an open descriptor.
std::string name_of(int fd);
/// "/proc/self/exe", resolved.
result<std::string> executable_path();

} // namespace paddock::sys
