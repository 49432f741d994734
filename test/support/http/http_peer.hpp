// SPDX-License-Identifier: MIT
#pragma once

// A server on this machine that answers with exactly the bytes a test wants, well-formed or not.

#include "support/http/send_all.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::test {

struct http_received {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers; ///< names in lower case
  std::string body;

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

/// One connection, as the server sees it.
class http_peer {
public:
  explicit http_peer(int fd) : fd_(fd) {}

  /// False when the client is gone.
  bool send(std::string_view bytes) const { return send_all(fd_, bytes); }
  bool answer(int status, std::string_view type, std::string_view body,
              std::string_view more_headers = {}) const {
    return send("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: " + std::string(type) +
                "\r\n" + std::string(more_headers) +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  }
  bool begin_events(std::string_view more_headers = {}) const {
    return send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n" +
                std::string(more_headers) + "Transfer-Encoding: chunked\r\n\r\n");
  }
  bool chunk(std::string_view bytes) const {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return send(std::string(size) + std::string(bytes) + "\r\n");
  }
  bool event(std::string_view data) const { return chunk("data: " + std::string(data) + "\n\n"); }
  bool end_events() const { return send("0\r\n\r\n"); }
  /// Waits until the client closes the connection, or anything else comes from it.
  void wait_for_client() const {
    char byte;
    (void)::recv(fd_, &byte, 1, MSG_PEEK);
  }
  void hang_up() const { ::shutdown(fd_, SHUT_RDWR); }

  /// False at the end of the connection.
  bool receive(http_received& out) {
    out = {};
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return false;
    parse_head(std::string_view(buffer_).substr(0, end + 2), out);
    buffer_.erase(0, end + 4);
    const std::size_t length = std::strtoul(out.header("content-length").c_str(), nullptr, 10);
    while (buffer_.size() < length)
      if (!more()) return false;
    out.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return true;
  }

private:
  bool more() {
    char bytes[4096];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }
  static void parse_head(std::string_view head, http_received& out) {
    const auto line = [&] {
      const std::size_t end = head.find("\r\n");
      const std::string_view taken = head.substr(0, end);
      head.remove_prefix(end + 2);
      return taken;
    };
    const std::string_view first = line();
    const std::size_t blank = first.find(' ');
    out.method = first.substr(0, blank);
    out.target = first.substr(blank + 1, first.rfind(' ') - blank - 1);
    while (!head.empty()) {
      const std::string_view field = line();
      std::string name(field.substr(0, field.find(':')));
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      out.headers[name] = field.substr(std::min(field.find(": ") + 2, field.size()));
    }
  }

  int fd_;
  std::string buffer_;
};

class http_script_server {
public:
  using handler = std::function<void(http_peer&, const http_received&)>;

  /// Where it listens; port 0 for any that is free.
  struct listen_at {
    const char* address = "127.0.0.1";
    int port = 0;
  };

  /// `h` is called for each request, on the thread of its connection.
  explicit http_script_server(handler h) : http_script_server(std::move(h), listen_at{}) {}
  http_script_server(handler h, const listen_at& at) : handler_(std::move(h)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    (void)::inet_pton(AF_INET, at.address, &address.sin_addr);
    address.sin_port = htons(static_cast<std::uint16_t>(at.port));
    const int on = 1;
    (void)::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t bytes = sizeof address;
    is_listening_ = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
                    ::listen(listener_, 256) == 0;
    (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  http_script_server(const http_script_server&) = delete;
  http_script_server& operator=(const http_script_server&) = delete;
  ~http_script_server() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(guard_);
      for (const int fd : open_)
        ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& t : threads_)
      t.join();
    for (const int fd : open_)
      ::close(fd);
    ::close(listener_);
  }

  /// False where the address is taken, or none of this machine.
  [[nodiscard]] bool is_listening() const { return is_listening_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "/mcp") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  [[nodiscard]] int connections() const { return connections_.load(); }

private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      const std::lock_guard lock(guard_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd] {
        http_peer peer(fd);
        for (http_received request; peer.receive(request);)
          handler_(peer, request);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
  }

  handler handler_;
  int listener_ = -1;
  int port_ = 0;
  bool is_listening_ = false;
  std::atomic<int> connections_{0};
  std::thread acceptor_;
  std::mutex guard_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
};

} // namespace paddock::test
