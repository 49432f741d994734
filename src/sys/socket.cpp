// SPDX-License-Identifier: MIT
#include "sys/socket.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <netdb.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace paddock::sys {
namespace {

std::vector<ip_address> addresses_of(const addrinfo* list) {
  std::vector<ip_address> found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    const auto address = address_of(*entry->ai_addr);
    if (!address) continue;
    if (std::find(found.begin(), found.end(), *address) == found.end()) found.push_back(*address);
  }
  return found;
}

struct socket_address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
};

socket_address socket_address_of(const ip_address& address, std::uint16_t port) {
  socket_address out;
  if (address.kind == ip_address::family::v4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
    std::memcpy(&out.storage, &in, sizeof in);
    out.bytes = sizeof in;
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    in.sin6_scope_id = address.scope;
    std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof in.sin6_addr);
    std::memcpy(&out.storage, &in, sizeof in);
    out.bytes = sizeof in;
  }
  return out;
}

} // namespace

result<std::vector<ip_address>> getaddrinfo(const char* host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host, nullptr, &hints, &list);
  if (status == EAI_SYSTEM) return failure(errno, "getaddrinfo");
  if (status == EAI_NONAME || status == EAI_NODATA || status == EAI_ADDRFAMILY)
    return error{error_code::not_found, 0, "getaddrinfo"};
  if (status != 0) return error{error_code::io, 0, "getaddrinfo"};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  std::vector<ip_address> found = addresses_of(list);
  if (found.empty()) return error{error_code::not_found, 0, "getaddrinfo"};
  return found;
}

std::string inet_ntop(const ip_address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const int family = address.kind == ip_address::family::v4 ? AF_INET : AF_INET6;
  const char* const written = ::inet_ntop(family, address.bytes.data(), text, sizeof text);
  return written == nullptr ? std::string() : std::string(written);
}

std::optional<ip_address> address_of(const sockaddr& from) noexcept {
  ip_address out;
  if (from.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(out.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return out;
  }
  if (from.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, &from, sizeof in);
  out.kind = ip_address::family::v6;
  out.scope = in.sin6_scope_id;
  std::memcpy(out.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  return out;
}

std::size_t unmap(sockaddr& address) noexcept {
  if (address.sa_family != AF_INET6) return 0;
  sockaddr_in6 from{};
  std::memcpy(&from, &address, sizeof from);
  if (!IN6_IS_ADDR_V4MAPPED(&from.sin6_addr)) return 0;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = from.sin6_port;
  std::memcpy(&to.sin_addr, &from.sin6_addr.s6_addr[12], sizeof to.sin_addr);
  std::memcpy(&address, &to, sizeof to);
  return sizeof to;
}

void restore_scope(sockaddr& address, std::span<const ip_address> known) noexcept {
  if (address.sa_family != AF_INET6) return;
  sockaddr_in6 to{};
  std::memcpy(&to, &address, sizeof to);
  for (const ip_address& each : known)
    if (each.kind == ip_address::family::v6 &&
        std::memcmp(&to.sin6_addr, each.bytes.data(), sizeof to.sin6_addr) == 0)
      to.sin6_scope_id = each.scope;
  std::memcpy(&address, &to, sizeof to);
}

std::optional<ip_address> inet_pton(std::string_view text) {
  const std::string copy(text);
  ip_address out;
  if (::inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) return out;
  out.kind = ip_address::family::v6;
  if (::inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) return out;
  return std::nullopt;
}

namespace {

/// Connections that wait to be accepted.
constexpr int backlog = 1024;

error bind_failure(int os_errno) {
  if (os_errno == EADDRINUSE) return {error_code::already_exists, os_errno, "bind"};
  return failure(os_errno, "bind");
}

result<file_descriptor> nonblocking_socket(int family) {
  file_descriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failure(errno, "socket");
  if (fd.get() <= 2) {
    PADDOCK_TRY(fd, duplicate(fd.get()));
  }
  return fd;
}

result<sockaddr_un> unix_address(std::string_view path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof out.sun_path ||
      path.find('\0') != std::string_view::npos)
    return error{error_code::invalid_argument, ENAMETOOLONG, "bind"};
  path.copy(out.sun_path, path.size());
  return out;
}

} // namespace

result<file_descriptor> listen_tcp(const ip_address& address, std::uint16_t port) {
  const socket_address at = socket_address_of(address, port);
  PADDOCK_TRY(file_descriptor fd, nonblocking_socket(at.storage.ss_family));
  const int yes = 1;
  // Connections of an earlier server that are still closing do not hold the port.
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0)
    return failure(errno, "setsockopt");
  if (at.storage.ss_family == AF_INET6 &&
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0)
    return failure(errno, "setsockopt");
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at.storage), at.bytes) != 0)
    return bind_failure(errno);
  if (::listen(fd.get(), backlog) != 0) return failure(errno, "listen");
  return fd;
}

result<file_descriptor> stream_socket(int family) {
  return nonblocking_socket(family);
}

result<endpoint> local_endpoint(int fd) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  auto* const any = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, any, &bytes) != 0) return failure(errno, "getsockname");
  const auto address = address_of(*any);
  if (!address) return error{error_code::unsupported, EAFNOSUPPORT, "getsockname"};
  in_port_t port = 0; // at the same place in both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&port, reinterpret_cast<const char*>(&storage) + offsetof(sockaddr_in, sin_port),
              sizeof port);
  return endpoint{*address, ntohs(port)};
}

result<std::uint16_t> local_port(int fd) {
  PADDOCK_TRY(const endpoint own, local_endpoint(fd));
  return own.port;
}

result<file_descriptor> begin_connect(const endpoint& to) {
  const socket_address at = socket_address_of(to.address, to.port);
  PADDOCK_TRY(file_descriptor fd, stream_socket(at.storage.ss_family));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at.storage), at.bytes) != 0 &&
      errno != EINPROGRESS && errno != EINTR)
    return failure(errno, "connect");
  return fd;
}

result<void> end_connect(int fd) {
  int os_errno = 0;
  socklen_t bytes = sizeof os_errno;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &os_errno, &bytes) != 0)
    return failure(errno, "getsockopt");
  if (os_errno != 0) return failure(os_errno, "connect");
  return {};
}

std::uint64_t network_cookie(int fd) noexcept {
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

result<file_descriptor> listen_unix(std::string_view path) {
  PADDOCK_TRY(const sockaddr_un at, unix_address(path));
  PADDOCK_TRY(file_descriptor fd, nonblocking_socket(AF_UNIX));
  // The file takes the socket's mode, so there is no moment at which others could connect.
  if (::fchmod(fd.get(), 0600) != 0) return failure(errno, "fchmod");
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    return bind_failure(errno);
  if (::listen(fd.get(), backlog) != 0) return failure(errno, "listen");
  return fd;
}

result<void> connect_unix(std::string_view path) {
  PADDOCK_TRY(const sockaddr_un at, unix_address(path));
  PADDOCK_TRY(const file_descriptor fd, nonblocking_socket(AF_UNIX));
  // A full backlog (EAGAIN) is that of somebody.
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 &&
      errno != EAGAIN)
    return failure(errno, "connect");
  return {};
}

result<file_descriptor> open_unix(std::string_view path) {
  PADDOCK_TRY(const sockaddr_un at, unix_address(path));
  PADDOCK_TRY(file_descriptor fd, nonblocking_socket(AF_UNIX));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    return errno == ECONNREFUSED ? error{error_code::not_found, errno, "connect"}
                                 : failure(errno, "connect");
  return fd;
}

result<unsigned> peer_user(int fd) {
  ucred who{};
  socklen_t bytes = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0)
    return failure(errno, "getsockopt");
  return who.uid;
}

result<file_descriptor> accept4(int fd) {
  int accepted = -1;
  do {
    accepted = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  } while (accepted < 0 && (errno == EINTR || errno == ECONNABORTED));
  file_descriptor out(accepted);
  if (!out) return failure(errno, "accept4");
  if (out.get() <= 2) {
    PADDOCK_TRY(out, duplicate(out.get()));
  }
  const int yes = 1;
  // Both are refused by sockets that are not TCP, which need neither: small answers go out at once,
  // and a client that vanished without a word is noticed.
  (void)::setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(out.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  return out;
}

void shutdown_write(int fd) noexcept {
  (void)::shutdown(fd, SHUT_WR);
}

// --- epoll -------------------------------------------------------------------------------------

namespace {

result<void> control(int epoll, int operation, int fd, const readiness& wanted) {
  epoll_event event{};
  event.data.u64 = wanted.key;
  event.events = (wanted.readable ? EPOLLIN : 0u) | (wanted.writable ? EPOLLOUT : 0u) |
                 (wanted.peer_done ? EPOLLRDHUP : 0u);
  if (::epoll_ctl(epoll, operation, fd, &event) != 0) return failure(errno, "epoll_ctl");
  return {};
}

} // namespace

std::uint64_t raise_descriptor_limit(std::uint64_t wanted) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return descriptor_limit();
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  return descriptor_limit();
}

std::uint64_t descriptor_limit() noexcept {
  rlimit bound{};
  return ::getrlimit(RLIMIT_NOFILE, &bound) == 0 ? bound.rlim_cur : 1024;
}

result<file_descriptor> epoll_create() {
  file_descriptor fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd) return failure(errno, "epoll_create1");
  if (fd.get() <= 2) {
    PADDOCK_TRY(fd, duplicate(fd.get()));
  }
  return fd;
}

result<void> epoll_add(int epoll, int fd, const readiness& wanted) {
  return control(epoll, EPOLL_CTL_ADD, fd, wanted);
}

result<void> epoll_modify(int epoll, int fd, const readiness& wanted) {
  return control(epoll, EPOLL_CTL_MOD, fd, wanted);
}

void epoll_remove(int epoll, int fd) noexcept {
  epoll_event unused{};
  (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &unused);
}

result<std::size_t> epoll_wait(int epoll, std::span<readiness> out, std::int64_t timeout_ms) {
  std::array<epoll_event, 64> events;
  const auto room = static_cast<int>(std::min(out.size(), events.size()));
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(timeout_ms, -1, INT_MAX));
  const int n = ::epoll_wait(epoll, events.data(), room, timeout);
  if (n < 0 && errno != EINTR) return failure(errno, "epoll_wait");
  for (int i = 0; i < n; ++i) {
    const epoll_event& e = events[static_cast<std::size_t>(i)];
    out[static_cast<std::size_t>(i)] = {.key = e.data.u64,
                                        .readable = (e.events & EPOLLIN) != 0,
                                        .writable = (e.events & EPOLLOUT) != 0,
                                        .peer_done = (e.events & EPOLLRDHUP) != 0,
                                        .broken = (e.events & (EPOLLHUP | EPOLLERR)) != 0};
  }
  return static_cast<std::size_t>(std::max(n, 0));
}

} // namespace paddock::sys
