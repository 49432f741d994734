// SPDX-License-Identifier: MIT
#include "sys/gateway_socket.hpp"

#include "sys/call.hpp"

#include <linux/rtnetlink.h>
#include <resolv.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace paddock::sys {
namespace {

/// Also the part of its answer that is read.
struct route_question {
  nlmsghdr head{};
  rtmsg route{};
  rtattr destination{};
  std::uint8_t address[16]{};
};

} // namespace

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

result<endpoint> original_endpoint(int fd) {
  // Of linux/netfilter_ipv4.h, which does not go with netinet/in.h.
  constexpr int original_destination = 80;
  sockaddr_in meant{};
  socklen_t bytes = sizeof meant;
  if (::getsockopt(fd, IPPROTO_IP, original_destination, &meant, &bytes) != 0)
    return failure(errno, "getsockopt");
  endpoint out{.port = ntohs(meant.sin_port)};
  std::memcpy(out.address.bytes.data(), &meant.sin_addr, sizeof meant.sin_addr);
  return out;
}

/// What `ip route get` says: an own address need not be the one that the machine answers from.
bool leads_to_this_machine(const ip_address& address) noexcept {
  constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool is_mapped = address.kind == ip_address::family::v6 &&
                         std::memcmp(address.bytes.data(), mapped, sizeof mapped) == 0;
  const bool is_v4 = is_mapped || address.kind == ip_address::family::v4;
  const unsigned bytes = is_v4 ? 4 : 16;
  route_question asked;
  asked.head.nlmsg_len = static_cast<std::uint32_t>(offsetof(route_question, address)) + bytes;
  asked.head.nlmsg_type = RTM_GETROUTE;
  asked.head.nlmsg_flags = NLM_F_REQUEST;
  asked.route.rtm_family = is_v4 ? AF_INET : AF_INET6;
  asked.route.rtm_dst_len = static_cast<std::uint8_t>(8 * bytes);
  asked.destination.rta_type = RTA_DST;
  asked.destination.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(bytes));
  std::memcpy(asked.address, address.bytes.data() + (is_mapped ? sizeof mapped : 0), bytes);
  const file_descriptor fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  route_question answer;
  if (!fd || ::send(fd.get(), &asked, asked.head.nlmsg_len, MSG_NOSIGNAL) < 0 ||
      ::recv(fd.get(), &answer, sizeof answer, MSG_DONTWAIT) <
          static_cast<ssize_t>(offsetof(route_question, destination)))
    return true;
  if (answer.head.nlmsg_type == RTM_NEWROUTE) return answer.route.rtm_type == RTN_LOCAL;
  int why = 0; // of an nlmsgerr
  std::memcpy(&why, &answer.route, sizeof why);
  const bool is_nowhere = why == -ENETUNREACH || why == -EHOSTUNREACH;
  return answer.head.nlmsg_type != NLMSG_ERROR || !is_nowhere;
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
