// SPDX-License-Identifier: MIT
#pragma once

// A port of this machine that answers nothing at all, as a host behind a broken route: its queue of
// connections is full, and Linux drops what asks for another one.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <utility>
#include <vector>

namespace paddock::test {

class full_listener {
public:
  /// An address of IPv4 or IPv6. Port 0: any that is free. With `room` it lets so many in first.
  explicit full_listener(const char* address = "127.0.0.1", int port = 0, int room = 0) {
    to_.v4.sin_family = AF_INET;
    to_.v4.sin_port = htons(static_cast<in_port_t>(port)); // where IPv6 has it, too
    if (::inet_pton(AF_INET, address, &to_.v4.sin_addr) != 1) {
      to_.v6.sin6_family = AF_INET6;
      (void)::inet_pton(AF_INET6, address, &to_.v6.sin6_addr);
      bytes_ = sizeof to_.v6;
    }
    listener_ = ::socket(to_.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = ::bind(listener_, &to_.any, bytes_) == 0 &&
                         ::getsockname(listener_, &to_.any, &bytes_) == 0 &&
                         ::listen(listener_, room) == 0;
    constexpr int enough = 16;
    while (listens && room == 0 && !full_ && waiting_.size() < enough)
      full_ = !connect_one();
  }
  full_listener(const full_listener&) = delete;
  full_listener& operator=(const full_listener&) = delete;
  ~full_listener() {
    for (const int fd : waiting_)
      ::close(fd);
    if (listener_ >= 0) ::close(listener_);
  }

  /// False where the system lets more in than it says.
  [[nodiscard]] bool is_full() const { return full_; }
  [[nodiscard]] int port() const { return ntohs(to_.v4.sin_port); }

  /// Takes back the connection that was not let in, so that it is not the next one.
  void give_up_asking() {
    ::close(waiting_.back());
    waiting_.pop_back();
  }
  /// Accepts those that made it full, and after them whoever comes next, whose socket it returns.
  [[nodiscard]] int let_in() {
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      ::close(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    return ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  }

private:
  /// False when nothing answers.
  bool connect_one() {
    const int fd = ::socket(to_.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    waiting_.push_back(fd);
    if (::connect(fd, &to_.any, bytes_) == 0) return true;
    pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
    constexpr int answer_ms = 200; // of this machine, which takes microseconds
    return ::poll(&entry, 1, answer_ms) == 1;
  }

  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } to_{.v6 = {}};
  socklen_t bytes_ = sizeof to_.v4;
  int listener_ = -1;
  std::vector<int> waiting_;
  bool full_ = false;
};

} // namespace paddock::test
