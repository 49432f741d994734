// SPDX-License-Identifier: MIT
#include "exec/helper/loopback_listeners.hpp"

#include "exec/helper/loopback_redirect.hpp"
#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/text.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <netinet/in.h>

namespace paddock::exec {
namespace {

constexpr int index_of_loopback = 1; // the first interface of every namespace
constexpr unsigned port_of_names = 53;
constexpr int waiting_max = 1024;

/// A socket that listens at every address, or -1.
int listen_at(int type, unsigned port) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = __builtin_bswap16(static_cast<std::uint16_t>(port));
  const bool is_bound = ::syscall(SYS_bind, fd, &at, sizeof at) == 0;
  if (is_bound && (type == SOCK_DGRAM || ::syscall(SYS_listen, fd, waiting_max) == 0)) return fd;
  const int failed = errno;
  ::close(fd);
  errno = failed;
  return -1;
}

int send_listener(int channel, int type, unsigned port) {
  const int fd = listen_at(type, port);
  if (fd < 0) return errno;
  if (port == 0) {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    int failed = ::syscall(SYS_getsockname, fd, &at, &size) == 0 ? 0 : errno;
    if (failed == 0) failed = redirect_connections(at.sin_port);
    if (failed != 0) return failed;
  }
  const sys::loopback_answer answer{0, sys::loopback_part::listener};
  return send_with_descriptor(channel, &answer, sizeof answer, fd);
}

} // namespace

/// What `ip route add local 0.0.0.0/0 dev lo` does; see rtnetlink(7).
int answer_for_all_addresses() {
  struct {
    nlmsghdr head;
    rtmsg route;
    rtattr out;
    int interface;
  } request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = RTM_NEWROUTE;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK;
  request.route.rtm_family = AF_INET;
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_BOOT;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  request.out.rta_len = RTA_LENGTH(sizeof request.interface);
  request.out.rta_type = RTA_OIF;
  request.interface = index_of_loopback;
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return errno;
  struct {
    nlmsghdr head;
    nlmsgerr what;
  } answer{};
  int failed = 0;
  if (::send(fd, &request, sizeof request, 0) < 0 ||
      ::recv(fd, &answer, sizeof answer, 0) <
          static_cast<ssize_t>(offsetof(decltype(answer), what.msg)))
    failed = errno != 0 ? errno : EPROTO;
  else if (answer.head.nlmsg_type == NLMSG_ERROR)
    failed = -answer.what.error;
  ::close(fd);
  return failed;
}

int send_listeners(int channel, const char* ports) {
  int failed = send_listener(channel, SOCK_DGRAM, port_of_names);
  unsigned long port = 0;
  while (failed == 0 && *ports != '\0') {
    if (!read_number(ports, port) || port > UINT16_MAX) return EINVAL;
    if (*ports == ',') ++ports;
    failed = send_listener(channel, SOCK_STREAM, static_cast<unsigned>(port));
  }
  return failed;
}

} // namespace paddock::exec
