// SPDX-License-Identifier: MIT
#pragma once

// One accepted connection as the HTTP library reads it: with a bounded request head, deadlines for
// the whole of a request and not only for each read, and an end when the server stops.

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::skills_page {

struct connection_limits {
  std::size_t head_bytes_max = std::size_t{32} * 1024; ///< request line and headers
  int head_ms = 5'000;
  int idle_ms = 15'000;     ///< without a byte in either direction
  int request_ms = 300'000; ///< all of it, until the response is out
};

class connection final : public httplib::Stream {
public:
  /// `stop_event` becomes readable when the server stops. Both descriptors stay the caller's.
  connection(int socket, int stop_event, connection_limits limits = {});

  /// Reads up to the empty line that ends the head. False: too long, too slow or incomplete.
  [[nodiscard]] bool read_head();
  /// Reads away what the client still sends, for a moment, so that closing does not destroy the
  /// response on its way.
  void linger();

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  ssize_t read(char* out, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

private:
  using clock = std::chrono::steady_clock;
  [[nodiscard]] bool wait_for(short events, clock::time_point deadline) const;
  [[nodiscard]] clock::time_point soon() const;
  [[nodiscard]] ssize_t receive(char* out, std::size_t size, clock::time_point deadline) const;

  int socket_;
  int stop_event_;
  connection_limits limits_;
  clock::time_point began_ = clock::now();
  std::string buffered_; ///< the head, and what of the body came with it
  std::size_t taken_ = 0;
};

} // namespace paddock::skills_page
