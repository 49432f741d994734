// SPDX-License-Identifier: MIT
#pragma once

// The system calls of a program that stands between two networks: accepted connections that are
// meant for somebody else, datagrams with the address that they were sent to, connections that do
// not wait. Same rules as in sys/syscall.hpp.

#include "sys/socket.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace paddock::sys {

struct endpoint {
  ip_address address;
  std::uint16_t port = 0;
};

/// What a connection that was accepted is meant for.
result<endpoint> local_endpoint(int fd);
[[nodiscard]] bool is_datagram_socket(int fd) noexcept;

/// Where a datagram comes from, and the IPv4 address that it was sent to: the answer goes back the
/// same way.
struct datagram_way {
  std::uint32_t from = 0; ///< in network order, as the next two
  std::uint16_t from_port = 0;
  std::uint32_t to = 0;
};
/// Lets receive_datagram know the address.
result<void> tell_destinations(int fd);
result<std::size_t> receive_datagram(int fd, std::span<char> into, datagram_way& way);
result<void> answer_datagram(int fd, std::string_view bytes, const datagram_way& way);

/// Whether the address is one of this machine's own. Sends nothing.
[[nodiscard]] bool leads_to_this_machine(const ip_address& address) noexcept;
/// Begins to connect; the socket is writable when that has ended.
result<file_descriptor> begin_connect(const endpoint& to);
/// How it ended.
result<void> end_connect(int fd);
/// Small writes are sent at once, and a peer that has vanished is noticed.
void make_lively(int fd) noexcept;
/// Closing it tells the peer that the connection was refused, not that it has ended well.
void reset_on_close(int fd) noexcept;

/// For the next getaddrinfo of this thread: a name with a dot in it is never another one, with a
/// search domain behind it.
void take_names_as_they_are() noexcept;

/// As it is listed: a program in memory has no name of its own. At most 15 bytes.
void name_this_process(const char* name) noexcept;
/// From now on this process gains no privileges, starts no program, traces nothing and writes to no
/// file; it reads the system's files only. What the kernel cannot do of it is left out: there is
/// less to lose in a process that holds nothing. False when it may still start programs.
[[nodiscard]] bool give_up_all_but_sockets() noexcept;

} // namespace paddock::sys
