// SPDX-License-Identifier: MIT
#include "sys/socket.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace paddock::sys {
namespace {

std::vector<ip_address> addresses_of(const addrinfo* list) {
  std::vector<ip_address> found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    ip_address address;
    if (entry->ai_family == AF_INET) {
      sockaddr_in in{};
      std::memcpy(&in, entry->ai_addr, sizeof in);
      std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    } else if (entry->ai_family == AF_INET6) {
      sockaddr_in6 in{};
      std::memcpy(&in, entry->ai_addr, sizeof in);
      address.kind = ip_address::family::v6;
      address.scope = in.sin6_scope_id;
      std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
    } else {
      continue;
    }
    if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
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

result<file_descriptor> connect_nowait(const ip_address& address, std::uint16_t port) {
  const socket_address to = socket_address_of(address, port);
  file_descriptor fd(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!fd) return failure(errno, "socket");
  if (fd.get() <= 2) {
    PADDOCK_TRY(fd, duplicate(fd.get()));
  }
  const int yes = 1;
  // Messages are small and somebody waits for them; where it can't be set they only arrive later.
  (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.bytes) != 0 &&
      errno != EINPROGRESS && errno != EINTR)
    return failure(errno, "connect");
  return fd;
}

result<void> connect_error(int fd) {
  int status = 0;
  socklen_t bytes = sizeof status;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &bytes) != 0)
    return failure(errno, "getsockopt");
  if (status != 0) return failure(status, "connect");
  return {};
}

} // namespace paddock::sys
