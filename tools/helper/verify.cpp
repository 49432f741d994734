// SPDX-License-Identifier: MIT
#include "verify.hpp"

#include "confine/enforcement.hpp"
#include "text.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <netinet/in.h>

namespace paddock::exec {
namespace {

bool can_open(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

/// No packet is sent: a datagram socket looks only for a route to this machine itself.
bool can_send() {
  const int made = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (made < 0) return false;
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = __builtin_bswap16(9);
  here.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
  const bool routed = ::connect(made, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0;
  ::close(made);
  return routed;
}

bool has_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return true;
  return (data[0].permitted | data[1].permitted) != 0 ||
         ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || ::prctl(PR_GET_SECCOMP) != 2;
}

bool may_dump_core() {
  rlimit bound{};
  return ::getrlimit(RLIMIT_CORE, &bound) != 0 || bound.rlim_max != 0;
}

} // namespace

int verify(const char** argv) {
  unsigned found = 0;
  const auto note = [&](confine::layer which, bool escaped) {
    if (escaped) found |= 1U << which;
  };
  note(confine::file_system, can_open(argv[0], O_RDONLY));
  // Whether this is really outside, and not the command's own /tmp, is for the library to see.
  (void)can_open(argv[1], O_WRONLY | O_CREAT | O_EXCL);
  note(confine::network, can_send());
  note(confine::protected_entries, can_open(argv[2], O_RDONLY));
  unsigned long process = 0;
  unsigned long key = 0;
  if (!read_number(argv[3], process) || !read_number(argv[4], key))
    return (1 << confine::layer_count) - 1;
  note(confine::kill, ::kill(static_cast<pid_t>(process), 0) == 0);
  note(confine::ipc, ::shmget(static_cast<key_t>(key), 1, 0) >= 0);
  note(confine::privileges, has_privileges());
  note(confine::limits, may_dump_core());
  return static_cast<int>(found);
}

} // namespace paddock::exec
