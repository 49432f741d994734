// SPDX-License-Identifier: MIT
#pragma once

// Checks that every request on a plain HTTP/1 connection (RFC 9112) names the one allowed host.
// Refuses requests that two parsers could read differently: they smuggle a second request.

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::egress {

class http_guard {
public:
  http_guard(std::string host, std::uint16_t port) : host_(std::move(host)), port_(port) {}

  /// Takes bytes from the client and appends those that may go on to `forward`. Returns the
  /// problem, or null; not to be called after a problem.
  [[nodiscard]] const char* take(std::string_view bytes, std::string& forward);
  /// Takes bytes from the server: it decides whether an upgrade happens. Client bytes that waited
  /// for the decision are then judged and appended to `forward`; returns as take does.
  [[nodiscard]] const char* answered(std::string_view bytes, std::string& forward);
  /// The host that a refused request named instead; empty: none.
  [[nodiscard]] const std::string& asked_for() const noexcept { return asked_for_; }

private:
  enum class part : std::uint8_t {
    head,
    body,       ///< left_ bytes
    chunk_size, ///< a line
    chunk,      ///< left_ bytes, then the end of a line
    trailer,    ///< lines
    upgrading,  ///< until the server has answered
    tunnel,
  };

  const char* take_some(std::string_view& bytes, std::string& forward);
  const char* take_line(std::string_view& bytes, std::string& forward);
  const char* take_chunk_size();
  const char* judge_head();
  const char* judge_target(std::string_view target);
  bool is_this_host(std::string_view authority);

  std::string host_;
  std::uint16_t port_;
  part now_ = part::head;
  std::string line_; ///< the head, or the line, so far
  std::uint64_t left_ = 0;
  bool is_first_ = true;
  std::string held_;   ///< sent while the server has not answered
  std::string answer_; ///< its first bytes
  std::string asked_for_;
};

} // namespace paddock::egress
