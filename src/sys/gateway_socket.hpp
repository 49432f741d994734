// SPDX-License-Identifier: MIT
#pragma once

// The system calls of a program between two networks, beside those of sys/socket.hpp: datagrams
// with the address that they were sent to, and how connections end. Same rules as in
// sys/syscall.hpp.

#include "sys/socket.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace paddock::sys {

[[nodiscard]] bool is_datagram_socket(int fd) noexcept;

/// Where a datagram comes from, and the IPv4 address that it was sent to: the answer goes back the
/// same way.
struct datagram_route {
  std::uint32_t from = 0; ///< in network order, as the next two
  std::uint16_t from_port = 0;
  std::uint32_t to = 0;
};
/// Has the kernel report the address that a datagram was sent to.
result<void> enable_packet_info(int fd);
result<std::size_t> receive_datagram(int fd, std::span<char> into, datagram_route& way);
result<void> answer_datagram(int fd, std::string_view bytes, const datagram_route& way);

/// What a connection was meant for before a rule of the kernel led it elsewhere.
result<endpoint> original_endpoint(int fd);

/// Whether the address is one of this machine's own. Sends nothing. True also when the kernel does
/// not say.
[[nodiscard]] bool leads_to_this_machine(const ip_address& address) noexcept;

/// Small writes are sent at once, and a peer that has vanished is noticed.
void set_nodelay_and_keepalive(int fd) noexcept;
/// Closing it tells the peer that the connection was refused, not that it has ended well.
void reset_on_close(int fd) noexcept;

/// For the next getaddrinfo of this thread: a name with a dot in it is never another one, with a
/// search domain behind it.
void take_names_as_they_are() noexcept;

} // namespace paddock::sys
