// SPDX-License-Identifier: MIT
#pragma once

// The system calls of sockets: finding addresses, connecting, listening, accepting, and waiting for
// many of them at once. Same rules as in sys/syscall.hpp.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sockaddr;

namespace paddock::sys {

/// An address of the Internet; an IPv4 address is in the first four bytes.
struct ip_address {
  enum class family : std::uint8_t { v4, v6 };
  family kind = family::v4;
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t scope = 0; ///< of a link-local IPv6 address

  friend bool operator==(const ip_address&, const ip_address&) = default;
};

struct endpoint {
  ip_address address;
  std::uint16_t port = 0;
};

/// What `host`, a name or any spelling of an address, stands for. May take as long as the
/// resolver's timeouts, and nothing can interrupt it. Errors: not_found, io.
result<std::vector<ip_address>> getaddrinfo(const char* host);
[[nodiscard]] std::string inet_ntop(const ip_address& address);
/// Nothing when `text` is no address.
[[nodiscard]] std::optional<ip_address> inet_pton(std::string_view text);

// --- clients, whose connections libcurl makes
/// A socket that does not wait.
result<file_descriptor> stream_socket(int family);
/// Nothing when it is none of the Internet.
[[nodiscard]] std::optional<ip_address> address_of(const sockaddr& from) noexcept;
/// Makes an IPv4 address that is written as one of IPv6 (::ffff:1.2.3.4) what it means, in place,
/// and says how long it is then; 0 when it is none.
std::size_t unmap(sockaddr& address) noexcept;
/// Gives a link-local address that is among `known` the scope that it has there.
void restore_scope(sockaddr& address, std::span<const ip_address> known) noexcept;

/// Begins to connect; the socket is writable when that has ended.
result<file_descriptor> begin_connect(const endpoint& to);
/// How that has ended.
result<void> end_connect(int fd);

// --- servers
/// A socket that listens and never waits. Port 0 stands for any that is free. Errors:
/// already_exists when another program has the port.
result<file_descriptor> listen_tcp(const ip_address& address, std::uint16_t port);
result<std::uint16_t> local_port(int fd);

/// Its own end; of a connection that was accepted, what it is meant for.
result<endpoint> local_endpoint(int fd);
/// The kernel's number of the network namespace of a socket; 0 before Linux 5.14.
std::uint64_t network_cookie(int fd) noexcept;
/// A socket file of mode 0600 at `path`. Errors: already_exists, invalid_argument (longer than such
/// addresses may be), those of bind.
result<file_descriptor> listen_unix(std::string_view path);
/// Whether somebody listens at the socket file `path`: ECONNREFUSED says that nobody does.
result<void> connect_unix(std::string_view path);
/// A connection to it, which never waits. Errors: not_found (nobody listens, or no file).
result<file_descriptor> open_unix(std::string_view path);
/// Whose process made the other end of a connection to a socket file.
result<unsigned> peer_user(int fd);
/// The next connection, as a socket that never waits; EAGAIN when there is none.
result<file_descriptor> accept4(int fd);
/// Nothing more is sent; what was, still arrives.
void shutdown_write(int fd) noexcept;

/// What to wait for at a descriptor, and what happened there.
struct readiness {
  std::uint64_t key = 0; ///< chosen by the caller
  bool readable = false;
  bool writable = false;
  bool peer_done = false; ///< the other side sends no more
  bool broken = false;    ///< closed on both sides, or failed; reported without being asked for

  friend bool operator==(const readiness&, const readiness&) = default;
};
/// How many descriptors this process may have open.
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;
/// Raises it to that many where this process may; the limit then.
std::uint64_t raise_descriptor_limit(std::uint64_t wanted) noexcept;

result<file_descriptor> epoll_create();
result<void> epoll_add(int epoll, int fd, const readiness& wanted);
result<void> epoll_modify(int epoll, int fd, const readiness& wanted);
void epoll_remove(int epoll, int fd) noexcept;
/// Fills the front of `out` and says how much of it; 0 at the timeout, and when a signal
/// interrupted. A negative timeout waits for ever.
result<std::size_t> epoll_wait(int epoll, std::span<readiness> out, std::int64_t timeout_ms);

} // namespace paddock::sys
