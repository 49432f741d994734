// SPDX-License-Identifier: MIT
#pragma once

// The system calls of TCP clients: finding addresses, connecting, asking about a connection. Same
// rules as in sys/syscall.hpp.

#include <paddock/file_descriptor.hpp>
#include <paddock/result.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock::sys {

/// An address of the Internet; an IPv4 address is in the first four bytes.
struct ip_address {
  enum class family : std::uint8_t { v4, v6 };
  family kind = family::v4;
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t scope = 0; ///< of a link-local IPv6 address

  friend bool operator==(const ip_address&, const ip_address&) = default;
};

/// What `host`, a name or any spelling of an address, stands for. May take as long as the
/// resolver's timeouts, and nothing can interrupt it. Errors: not_found, io.
result<std::vector<ip_address>> getaddrinfo(const char* host);
[[nodiscard]] std::string inet_ntop(const ip_address& address);

/// A socket that does not wait, on its way to `address`: ready for writing once `connect_error`
/// has something to say.
result<file_descriptor> connect_nowait(const ip_address& address, std::uint16_t port);
/// Success once the connection stands. Precondition: poll saw the socket as writable.
result<void> connect_error(int fd);

} // namespace paddock::sys
