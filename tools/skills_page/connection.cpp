// SPDX-License-Identifier: MIT
#include "connection.hpp"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace paddock::skills_page {
namespace {

constexpr int linger_ms = 1'000;
/// Headers that a server may ignore, and that the library must not see. Its parser of Range
/// recurses with every character, further than a small stack goes; and it would compress answers
/// with all its might, which takes seconds where sending them takes none.
constexpr std::string_view ignored_headers[] = {"range:", "accept-encoding:"};

/// Gives them a name that nobody reads.
void hide_ignored(std::string& request, std::size_t head_bytes) {
  for (std::size_t line = 0; line < head_bytes; line = request.find('\n', line) + 1)
    for (const std::string_view name : ignored_headers)
      if (::strncasecmp(request.data() + line, name.data(), name.size()) == 0) request[line] = 'X';
}

} // namespace

connection::connection(int socket, int stop_event, connection_limits limits)
    : socket_(socket), stop_event_(stop_event), limits_(limits) {}

connection::clock::time_point connection::soon() const {
  return std::min(clock::now() + std::chrono::milliseconds(limits_.idle_ms),
                  began_ + std::chrono::milliseconds(limits_.request_ms));
}

bool connection::wait_for(short events, clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> watched{{{.fd = socket_, .events = events, .revents = 0},
                                   {.fd = stop_event_, .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || (events == POLLIN && watched[1].revents != 0)) return false;
    if (watched[0].revents != 0) return true;
    // Only the stop event: a response that is ready may still go out, if the client takes it.
    return false;
  }
}

ssize_t connection::receive(char* out, std::size_t size, clock::time_point deadline) const {
  for (;;) {
    if (!wait_for(POLLIN, deadline)) return -1;
    const ssize_t got = ::recv(socket_, out, size, MSG_DONTWAIT);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
  }
}

bool connection::read_head() {
  constexpr std::string_view end_of_head = "\r\n\r\n";
  const auto deadline = began_ + std::chrono::milliseconds(limits_.head_ms);
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = receive(part.data(), part.size(), deadline);
    if (got <= 0) return false;
    const std::size_t from = buffered_.size() - std::min(buffered_.size(), end_of_head.size());
    buffered_.append(part.data(), static_cast<std::size_t>(got));
    const auto end = buffered_.find(end_of_head, from);
    if (end != std::string::npos) {
      hide_ignored(buffered_, end + end_of_head.size());
      return end <= limits_.head_bytes_max;
    }
    if (buffered_.size() > limits_.head_bytes_max) return false;
  }
}

void connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const auto deadline = clock::now() + std::chrono::milliseconds(linger_ms);
  std::array<char, 16'384> ignored;
  while (receive(ignored.data(), ignored.size(), deadline) > 0) {
  }
}

bool connection::is_readable() const {
  return taken_ < buffered_.size() || wait_for(POLLIN, soon());
}

bool connection::is_writable() const {
  return wait_for(POLLOUT, soon());
}

ssize_t connection::read(char* out, std::size_t size) {
  if (taken_ == buffered_.size()) return receive(out, size, soon());
  const std::size_t part = std::min(size, buffered_.size() - taken_);
  buffered_.copy(out, part, taken_);
  taken_ += part;
  return static_cast<ssize_t>(part);
}

ssize_t connection::write(const char* bytes, std::size_t size) {
  for (;;) {
    if (!wait_for(POLLOUT, soon())) return -1;
    const ssize_t sent = ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || (errno != EINTR && errno != EAGAIN)) return sent;
  }
}

// Who is at the other end does not matter: it is this machine, and the token decides.
void connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}
void connection::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

} // namespace paddock::skills_page
