// SPDX-License-Identifier: MIT
#include "exec/helper/loopback_namespace.hpp"

#include "exec/helper/loopback_listeners.hpp"
#include "exec/helper/namespaces.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <net/if.h>

namespace paddock::exec {
namespace {

/// A new namespace has the interface, but switched off.
int switch_loopback_on() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return errno;
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const int failed = ::syscall(SYS_ioctl, any, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
  ::close(any);
  return failed;
}

/// 0 or an errno.
int send_namespace(int channel, sys::loopback_part part, const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const sys::loopback_answer told{0, part};
  return send_with_descriptor(channel, &told, sizeof told, fd);
}

} // namespace

int make_loopback(int channel, const char* ports) {
  bool as_new_user = false;
  int failed = unshare_namespaces(CLONE_NEWNET, as_new_user);
  if (failed == 0) failed = switch_loopback_on();
  if (failed == 0 && as_new_user)
    failed = send_namespace(channel, sys::loopback_part::user, "/proc/self/ns/user");
  if (failed == 0 && *ports != '\0') failed = answer_for_all_addresses();
  if (failed == 0 && *ports != '\0') failed = send_listeners(channel, ports);
  if (failed == 0)
    failed = send_namespace(channel, sys::loopback_part::network, "/proc/self/ns/net");
  if (failed == 0) return 0;
  const sys::loopback_answer told{failed, sys::loopback_part::none};
  (void)!::send(channel, &told, sizeof told, MSG_NOSIGNAL);
  return 1;
}

int enter_loopback(const options& given) {
  const bool as_other_user = given.user_namespace != 0;
  if (as_other_user && ::syscall(SYS_setns, given.user_namespace, CLONE_NEWUSER) != 0) return errno;
  return ::syscall(SYS_setns, given.network_namespace, CLONE_NEWNET) == 0 ? 0 : errno;
}

} // namespace paddock::exec
