// SPDX-License-Identifier: MIT
#include "sys/stream.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

namespace paddock::sys {
namespace {

constexpr int above_standard_streams = 3;

result<void> move_above_standard_streams(file_descriptor& fd) {
  if (fd.get() < above_standard_streams) {
    PADDOCK_TRY(fd, duplicate(fd.get()));
  }
  return {};
}

result<descriptor_pair> pair_of(int status, const int (&fds)[2], const char* operation) {
  if (status < 0) return failure(errno, operation);
  descriptor_pair pair{file_descriptor(fds[0]), file_descriptor(fds[1])};
  PADDOCK_CHECK(move_above_standard_streams(pair.first));
  PADDOCK_CHECK(move_above_standard_streams(pair.second));
  return pair;
}

} // namespace

result<descriptor_pair> pipe2(int flags) {
  int fds[2];
  return pair_of(::pipe2(fds, flags | O_CLOEXEC), fds, "pipe2");
}

result<descriptor_pair> socketpair(int type) {
  int fds[2];
  return pair_of(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), fds, "socketpair");
}

result<file_descriptor> eventfd() {
  file_descriptor fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return failure(errno, "eventfd");
  PADDOCK_CHECK(move_above_standard_streams(fd));
  return fd;
}

result<file_descriptor> duplicate(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, above_standard_streams);
  if (copy < 0) return failure(errno, "fcntl");
  return file_descriptor(copy);
}

result<void> set_nonblocking(int fd) {
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) < 0) return failure(errno, "fcntl");
  return {};
}

result<std::size_t> poll(std::span<pollfd> entries, std::int64_t timeout_ms) {
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(timeout_ms, -1, INT_MAX));
  const int n = ::poll(entries.data(), entries.size(), timeout);
  if (n < 0 && errno != EINTR) return failure(errno, "poll");
  return static_cast<std::size_t>(std::max(n, 0));
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

result<std::size_t> recv_nowait(int fd, std::span<char> buffer) {
  ssize_t n = 0;
  do {
    n = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "recv");
  return static_cast<std::size_t>(n);
}

result<std::size_t> recv_nowait(int fd, std::span<char> buffer, file_descriptor& passed) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec bytes{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  do {
    n = ::recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "recvmsg");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header), sizeof received);
    passed = file_descriptor(received);
    PADDOCK_CHECK(move_above_standard_streams(passed));
  }
  return static_cast<std::size_t>(n);
}

result<std::size_t> send_nowait(int fd, std::string_view bytes) {
  ssize_t n = 0;
  do {
    n = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "send");
  return static_cast<std::size_t>(n);
}

result<std::size_t> write_quietly(int fd, std::string_view bytes) {
  sigset_t pipe;
  sigset_t before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  auto written = write(fd, bytes);
  const bool is_raised = !written && written.error().os_errno == EPIPE;
  const timespec now{};
  if (is_raised && ::sigismember(&before, SIGPIPE) == 0) (void)::sigtimedwait(&pipe, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

bool is_background_of(int fd) noexcept {
  const pid_t front = ::tcgetpgrp(fd); // fails where it is not the terminal of this process
  return front >= 0 && front != ::getpgrp();
}

void raise_event(int fd) noexcept {
  const int saved = errno;
  const std::uint64_t one = 1;
  // Only a counter at its maximum refuses, and that one is raised already.
  while (::write(fd, &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void clear_event(int fd) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd, &count, sizeof count);
}

void block_signals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void ignore_sigpipe() noexcept {
  ::signal(SIGPIPE, SIG_IGN);
}

namespace {

std::atomic<int> termination_event{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");
struct sigaction before_hup;
struct sigaction before_term;
struct sigaction before_int;

void on_termination(int) {
  if (const int fd = termination_event.load(); fd >= 0) raise_event(fd);
}

} // namespace

void redirect_termination(int event_fd) noexcept {
  if (event_fd < 0) {
    ::sigaction(SIGHUP, &before_hup, nullptr);
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
  ::sigaction(SIGHUP, nullptr, &before_hup);
  // Who starts a program with this signal ignored (nohup) wants it to outlive the terminal.
  if (before_hup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
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
