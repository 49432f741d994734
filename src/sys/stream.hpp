// SPDX-License-Identifier: MIT
#pragma once

// The system calls of pipes, sockets and events: making them, waiting for them, using them without
// waiting, and the process's own standard streams and signals. Same rules as in sys/syscall.hpp.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

struct pollfd;

namespace paddock::sys {

/// How many entries are ready; 0 at the timeout, and when a signal interrupted. A negative timeout
/// waits for ever. Entries with a negative descriptor are skipped.
result<std::size_t> poll(std::span<pollfd> entries, std::int64_t timeout_ms);

struct descriptor_pair {
  file_descriptor first;
  file_descriptor second;
};
// Close-on-exec, and never 0, 1 or 2, even if this process has closed its standard streams.
result<descriptor_pair> pipe2(int flags);     ///< first: read end; `flags` apply to both ends
result<descriptor_pair> socketpair(int type); ///< AF_UNIX
result<file_descriptor> eventfd(); ///< not blocking; poll sees it as readable once it was raised
result<file_descriptor> duplicate(int fd);
result<void> set_nonblocking(int fd);
void raise_event(int fd) noexcept;
void clear_event(int fd) noexcept;

/// Take or give what can be had at once; the error is EAGAIN when that is nothing. Receiving 0
/// bytes is the end.
result<std::size_t> recv_nowait(int fd, std::span<char> buffer);
/// The same with a descriptor that may come along, close-on-exec.
result<std::size_t> recv_nowait(int fd, std::span<char> buffer, file_descriptor& passed);
result<std::size_t> send_nowait(int fd, std::string_view bytes);   ///< never raises SIGPIPE
result<std::size_t> write_quietly(int fd, std::string_view bytes); ///< `write`, the same
/// Whether reading from this terminal would stop this process; false of anything else.
[[nodiscard]] bool is_background_of(int fd) noexcept;

enum class stream_kind : std::uint8_t { pipe, socket, other };
[[nodiscard]] stream_kind kind_of_stream(int fd) noexcept;
[[nodiscard]] bool is_nonblocking(int fd) noexcept;
/// Another description of the pipe `fd`, whose writes never wait.
result<file_descriptor> nonblocking_pipe_writer(int fd);

/// No signal is for this thread from now on, and one that it raises itself, as SIGPIPE, stays with
/// it and does nothing.
void block_signals() noexcept;
/// Writing to a closed pipe is an error from now on, not the end of the process.
void ignore_sigpipe() noexcept;
/// SIGTERM, SIGINT and a SIGHUP that is not ignored raise `event_fd` from now on; -1 restores what
/// was before.
void redirect_termination(int event_fd) noexcept;

/// Makes `fd` mean what `as` means.
result<void> replace(int fd, int as);

} // namespace paddock::sys
