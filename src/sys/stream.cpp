// SPDX-License-Identifier: MIT
#include "sys/stream.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace paddock::sys {

result<std::size_t> poll(std::span<pollfd> entries, int timeout_ms) {
  int n = 0;
  do {
    n = ::poll(entries.data(), entries.size(), timeout_ms);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "poll");
  return static_cast<std::size_t>(n);
}

stream_kind kind_of_stream(int fd) noexcept {
  struct stat s{};
  if (::fstat(fd, &s) != 0) return stream_kind::other;
  if (S_ISFIFO(s.st_mode)) return stream_kind::pipe;
  return S_ISSOCK(s.st_mode) ? stream_kind::socket : stream_kind::other;
}

bool is_nonblocking(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

result<file_descriptor> nonblocking_pipe_writer(int fd) {
  return reopen(fd, O_WRONLY | O_NONBLOCK);
}

result<std::size_t> send_nowait(int fd, std::string_view bytes) {
  ssize_t n = 0;
  do {
    n = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "send");
  return static_cast<std::size_t>(n);
}

result<file_descriptor> event_fd() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return failure(errno, "eventfd");
  return file_descriptor(fd);
}

void raise_event(int fd) noexcept {
  const int saved = errno;
  const std::uint64_t one = 1;
  // Only a counter at its maximum refuses, and that one is raised already.
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
  errno = saved;
}

void ignore_sigpipe() noexcept {
  ::signal(SIGPIPE, SIG_IGN);
}

namespace {

std::atomic<int> termination_event{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");
struct sigaction before_term;
struct sigaction before_int;

void on_termination(int) {
  if (const int fd = termination_event.load(); fd >= 0) raise_event(fd);
}

} // namespace

void redirect_termination(int event_fd) noexcept {
  if (event_fd < 0) {
    ::sigaction(SIGTERM, &before_term, nullptr);
    ::sigaction(SIGINT, &before_int, nullptr);
    termination_event.store(-1);
    return;
  }
  termination_event.store(event_fd);
  struct sigaction action{};
  action.sa_handler = on_termination;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, &before_term);
  ::sigaction(SIGINT, &action, &before_int);
}

result<void> replace(int fd, int as) {
  int n = 0;
  do {
    n = ::dup2(as, fd);
  } while (n < 0 && (errno == EINTR || errno == EBUSY));
  if (n < 0) return failure(errno, "dup2");
  return {};
}

} // namespace paddock::sys
