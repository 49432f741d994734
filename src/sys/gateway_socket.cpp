// SPDX-License-Identifier: MIT
#include "sys/gateway_socket.hpp"

#include "sys/call.hpp"

#include <resolv.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace paddock::sys {

result<endpoint> local_endpoint(int fd) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  auto* const any = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, any, &bytes) != 0) return failure(errno, "getsockname");
  const auto address = address_of(*any);
  if (!address) return error{error_code::unsupported, EAFNOSUPPORT, "getsockname"};
  PADDOCK_TRY(const std::uint16_t port, local_port(fd));
  return endpoint{*address, port};
}

bool is_datagram_socket(int fd) noexcept {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_DGRAM;
}

result<void> enable_packet_info(int fd) {
  const int yes = 1;
  return none(::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof yes), "setsockopt");
}

result<std::size_t> receive_datagram(int fd, std::span<char> into, datagram_route& way) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
  sockaddr_in from{};
  iovec bytes{into.data(), into.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto size = retried([&] { return ::recvmsg(fd, &message, MSG_DONTWAIT); });
  if (size < 0) return failure(errno, "recvmsg");
  way.from = from.sin_addr.s_addr;
  way.from_port = from.sin_port;
  for (const cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(each))) {
    if (each->cmsg_level != IPPROTO_IP || each->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(each), sizeof info);
    way.to = info.ipi_addr.s_addr;
  }
  return static_cast<std::size_t>(size);
}

result<void> answer_datagram(int fd, std::string_view bytes, const datagram_route& way) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = way.from;
  to.sin_port = way.from_port;
  iovec out{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &out;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_spec_dst.s_addr = way.to;
  std::memcpy(CMSG_DATA(header), &info, sizeof info);
  return none(retried([&] { return ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); }),
              "sendmsg");
}

namespace {

int connect_socket(int fd, const endpoint& to) {
  if (to.address.kind == ip_address::family::v4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(to.port);
    std::memcpy(&in.sin_addr, to.address.bytes.data(), sizeof in.sin_addr);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&in), sizeof in);
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(to.port);
  in.sin6_scope_id = to.address.scope;
  std::memcpy(&in.sin6_addr, to.address.bytes.data(), sizeof in.sin6_addr);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&in), sizeof in);
}

int family_of(const ip_address& address) {
  return address.kind == ip_address::family::v4 ? AF_INET : AF_INET6;
}

} // namespace

/// The kernel answers from the address itself only where it is its own.
bool leads_to_this_machine(const ip_address& address) noexcept {
  constexpr std::uint16_t any_port = 9;
  const file_descriptor fd(::socket(family_of(address), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || connect_socket(fd.get(), {address, any_port}) != 0) return false;
  const auto own = local_endpoint(fd.get());
  return own && own->address.bytes == address.bytes;
}

result<file_descriptor> begin_connect(const endpoint& to) {
  PADDOCK_TRY(file_descriptor fd, stream_socket(family_of(to.address)));
  if (connect_socket(fd.get(), to) != 0 && errno != EINPROGRESS && errno != EINTR)
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

void set_nodelay_and_keepalive(int fd) noexcept {
  const int yes = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

void reset_on_close(int fd) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void take_names_as_they_are() noexcept {
  (void)::res_init();
  _res.options &= ~static_cast<unsigned long>(RES_DNSRCH);
}

} // namespace paddock::sys
