// SPDX-License-Identifier: MIT
#include "exec/helper/verify.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/protocol/enforcement.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <netinet/in.h>

namespace paddock::exec {
namespace {

bool can_open(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

/// A datagram socket sends no packet: it looks only for a route to this machine itself.
bool can_connect(int type, unsigned short port) {
  const int made = ::socket(AF_INET, type, 0);
  if (made < 0) return false;
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = __builtin_bswap16(port);
  here.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
  const bool routed = ::connect(made, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0;
  ::close(made);
  return routed;
}

/// Where it cannot be found out, it is.
bool is_in_network(unsigned long asked) {
  unsigned long cookie = 0;
  unsigned size = sizeof cookie;
  const int any = ::socket(AF_INET, SOCK_DGRAM, 0);
  const bool known = any >= 0 && ::syscall(SYS_getsockopt, any, SOL_SOCKET, SO_NETNS_COOKIE,
                                           &cookie, &size) == 0;
  ::close(any);
  return !known || cookie == asked;
}

bool has_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return true;
  return (data[0].permitted | data[1].permitted) != 0 ||
         ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || ::prctl(PR_GET_SECCOMP) != 2;
}

/// Whether the name stands for the same entry as outside.
bool is_entry(const char* path, unsigned long device, unsigned long inode) {
  struct stat status{};
  return *path != '\0' && ::lstat(path, &status) == 0 &&
         status.st_dev % sys::verify_modulus == device &&
         status.st_ino % sys::verify_modulus == inode;
}

/// What is outside, if it was changed, is for the library to see.
void try_to_change(const char* path) {
  const timespec never[2] = {};
  (void)::fchmodat(AT_FDCWD, path, 0777, 0);
  (void)::syscall(SYS_utimensat, AT_FDCWD, path, never, 0);
}

/// In the scratch directory, so that nothing of it stays, and by a name that no other command of
/// the session can have taken. Where it cannot be found out, it can.
bool can_leave_privileges() {
  const char* directory = std::getenv("TMPDIR");
  char path[PATH_MAX];
  unsigned long random = 0;
  if (::syscall(SYS_getrandom, &random, sizeof random, 0) != sizeof random) return true;
  text_writer name(path);
  name.add(directory != nullptr ? directory : "/tmp").add("/set-id-").add(random);
  if (!name.complete()) return false;
  const int made = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  if (made < 0) return false;
  ::close(made);
  (void)::fchmodat(AT_FDCWD, path, 04700, 0);
  struct stat status{};
  const bool left = ::stat(path, &status) == 0 && (status.st_mode & S_ISUID) != 0;
  ::unlinkat(AT_FDCWD, path, 0);
  return left;
}

/// In a PID namespace the first numbers are given anew: to this process and its init, which are all
/// there is in it. A server that is the first process of a container has such a number, too.
bool reaches(pid_t process) {
  return process != ::getpid() && process != ::getppid() && ::kill(process, 0) == 0;
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
  try_to_change(argv[2]);
  unsigned long numbers[6]; // device, inode, process, key, port, network
  for (int i = 0; i < 6; ++i)
    if (!read_number(argv[4 + i], numbers[i])) return (1 << confine::layer_count) - 1;
  const auto& [device, inode, process, key, port, network] = numbers;
  // Whether that is the library's, and not one of the command's own loopback, is for it to see.
  if (port != 0) (void)can_connect(SOCK_STREAM, static_cast<unsigned short>(port));
  constexpr unsigned short discard = 9;
  note(confine::network, can_connect(SOCK_DGRAM, discard) && is_in_network(network));
  note(confine::protected_entries, is_entry(argv[3], device, inode));
  note(confine::kill, reaches(static_cast<pid_t>(process)));
  note(confine::ipc, ::shmget(static_cast<key_t>(key), 1, 0) >= 0);
  note(confine::privileges, has_privileges() || can_leave_privileges());
  note(confine::limits, may_dump_core());
  return static_cast<int>(found);
}

} // namespace paddock::exec
