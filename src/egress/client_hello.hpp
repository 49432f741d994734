// SPDX-License-Identifier: MIT
#pragma once

// Reads the server name (SNI) from a TLS ClientHello (RFC 8446, section 4.1.2; RFC 6066, section
// 3).

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::egress {

enum class hello_state : std::uint8_t {
  incomplete, ///< more bytes are needed
  named,
  unnamed, ///< a whole message without a name
  other,   ///< no TLS, or not as the standard has it
};

struct hello {
  hello_state state = hello_state::incomplete;
  std::string name{}; ///< as it was written
};

/// More than clients send.
inline constexpr std::size_t hello_bytes_max = 16UL * 1024;

/// Looks at all that has arrived so far. Never reads beyond it.
[[nodiscard]] hello read_client_hello(std::string_view bytes);

} // namespace paddock::egress
