// SPDX-License-Identifier: MIT
#pragma once

// A client on a plain socket that sends exactly the bytes a test wants and reads responses, with a
// deadline, so that a server that says nothing fails the test instead of hanging it.

#include "support/http/send_all.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cstdlib>
#include <map>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::test {

struct http_reply {
  int status = 0;                             ///< 0: the connection ended, or the deadline passed
  std::map<std::string, std::string> headers; ///< names in lower case
  std::string body;                           ///< chunks put together

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

class raw_client {
public:
  /// `address` is what http_server::address says.
  explicit raw_client(const std::string& address, int receive_buffer = 0) {
    if (address.starts_with("unix://")) {
      sockaddr_un to{};
      to.sun_family = AF_UNIX;
      address.substr(7, address.find('#') - 7).copy(to.sun_path, sizeof to.sun_path - 1);
      connect(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to, 0);
    } else {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      to.sin_port =
          htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
      connect(AF_INET, reinterpret_cast<const sockaddr*>(&to), sizeof to, receive_buffer);
    }
  }
  raw_client(raw_client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}
  raw_client& operator=(raw_client&&) = delete;
  ~raw_client() { close(); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] bool connected() const { return fd_ >= 0; }
  void shut_sending() const { ::shutdown(fd_, SHUT_WR); }

  /// False when the server is gone.
  bool send(std::string_view bytes) const { return send_all(fd_, bytes); }

  /// The next response, whole; a stream of events up to its end.
  http_reply receive() {
    http_reply out = receive_head();
    if (out.status == 0 || out.status == 204 || out.status < 200) return out;
    if (out.header("transfer-encoding") == "chunked") {
      for (std::string piece; next_chunk(piece);)
        out.body += piece;
    } else if (const std::string length = out.header("content-length"); !length.empty()) {
      const std::size_t wanted = std::strtoul(length.c_str(), nullptr, 10);
      while (buffer_.size() < wanted && more()) {
      }
      out.body = buffer_.substr(0, wanted);
      buffer_.erase(0, wanted);
    } else {
      while (more()) {
      }
      out.body = std::exchange(buffer_, {});
    }
    return out;
  }
  http_reply receive_head() {
    http_reply out;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return out;
    out.status = std::atoi(buffer_.c_str() + sizeof "HTTP/1.1");
    for (std::size_t at = buffer_.find("\r\n") + 2; at < end + 2;) {
      const std::size_t line_end = buffer_.find("\r\n", at);
      const std::size_t colon = buffer_.find(": ", at);
      std::string name = buffer_.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      out.headers[name] = buffer_.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    buffer_.erase(0, end + 4);
    return out;
  }
  /// The next chunk of a stream; false at its end.
  bool next_chunk(std::string& out) {
    std::size_t line_end = 0;
    while ((line_end = buffer_.find("\r\n")) == std::string::npos)
      if (!more()) return false;
    const std::size_t size = std::strtoul(buffer_.c_str(), nullptr, 16);
    while (buffer_.size() < line_end + 2 + size + 2)
      if (!more()) return false;
    out = buffer_.substr(line_end + 2, size);
    buffer_.erase(0, line_end + 2 + size + 2);
    return size > 0;
  }
  /// Whether the server ends the connection, whatever else it sends before.
  bool is_ended() {
    while (more()) {
    }
    return ended_;
  }

private:
  void connect(int family, const sockaddr* to, socklen_t bytes, int receive_buffer) {
    fd_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval deadline{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (::connect(fd_, to, bytes) != 0) close();
  }
  bool more() {
    char bytes[16 * 1024];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    ended_ = n == 0 || (n < 0 && errno == ECONNRESET);
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  int fd_ = -1;
  std::string buffer_;
  bool ended_ = false;
};

} // namespace paddock::test
