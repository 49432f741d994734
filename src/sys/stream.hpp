// SPDX-License-Identifier: MIT
#pragma once

// The system calls of a long-lived connection: waiting, writing without waiting, waking, and the
// process's own standard streams and signals. Same rules as in sys/syscall.hpp.

#include <paddock/file_descriptor.hpp>
#include <paddock/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

struct pollfd;

namespace paddock::sys {

/// How many entries are ready; 0 at the timeout. A negative timeout waits for ever.
result<std::size_t> poll(std::span<pollfd> entries, int timeout_ms);

enum class stream_kind : std::uint8_t { pipe, socket, other };
[[nodiscard]] stream_kind kind_of_stream(int fd) noexcept;
[[nodiscard]] bool is_nonblocking(int fd) noexcept;
/// Another description of the pipe `fd`, whose writes never wait.
result<file_descriptor> nonblocking_pipe_writer(int fd);
/// Sends what a socket takes at once; the error is EAGAIN when it takes nothing.
result<std::size_t> send_nowait(int fd, std::string_view bytes);

/// A counter that poll sees as readable once it was raised.
result<file_descriptor> event_fd();
void raise_event(int fd) noexcept;

/// Writing to a closed pipe is an error from now on, not the end of the process.
void ignore_sigpipe() noexcept;
/// SIGTERM and SIGINT raise `event_fd` from now on; -1 restores what was before.
void redirect_termination(int event_fd) noexcept;

/// Makes `fd` mean what `as` means.
result<void> replace(int fd, int as);

} // namespace paddock::sys
