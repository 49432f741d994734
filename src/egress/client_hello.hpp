// SPDX-License-Identifier: MIT
#pragma once

// Reads the server name (SNI) from a TLS ClientHello (RFC 8446, section 4.1.2; RFC 6066, section
// 3).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::egress {

enum class hello_state : std::uint8_t {
  incomplete, ///< more bytes are needed
  named,
  unnamed, ///< a whole message without a name
  other,   ///< no TLS, or not as the standard has it
};

struct hello {
  hello_state state = hello_state::incomplete;
  std::string name{};    ///< as it was written
  std::size_t bytes = 0; ///< of the records that it came in
};

/// More than clients send.
inline constexpr std::size_t hello_bytes_max = 16UL * 1024;

/// Looks at all that has arrived so far. Never reads beyond it.
[[nodiscard]] hello read_client_hello(std::string_view bytes);

/// Follows a connection behind its first message: a server may ask for another one
/// (HelloRetryRequest, RFC 8446, section 4.1.4), and then goes by the name in that.
class second_hello {
public:
  explicit second_hello(std::string host) : host_(std::move(host)) {}

  /// Takes what the client sends, and adds to `forward` what may go on: nothing before the server
  /// has answered. False when it must not go on; then neither is called again.
  [[nodiscard]] bool take(std::string_view bytes, std::string& forward);
  /// Takes what the server sends; otherwise as take.
  [[nodiscard]] bool answered(std::string_view bytes, std::string& forward);
  /// The host that the second message named instead; empty: none.
  [[nodiscard]] const std::string& asked_for() const noexcept { return asked_for_; }
  /// It need not be called any more.
  [[nodiscard]] bool is_over() const noexcept { return now_ == part::over; }

private:
  enum class part : std::uint8_t { unanswered, asked_again, over };

  std::string host_;
  part now_ = part::unanswered;
  std::string held_;   ///< of the client
  std::string answer_; ///< its first bytes
  std::string asked_for_;
};

} // namespace paddock::egress
