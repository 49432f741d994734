// SPDX-License-Identifier: MIT

// The wrappers of the calls that start programs and talk to them, beside those of faulty_sys.cpp.

#include "support/faulty_sys.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdarg>

using paddock::test::may_happen;

// The reserved names are the linker's.
// NOLINTBEGIN
#define PADDOCK_WRAP(type, name, parameters, arguments)                                            \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    return may_happen(#name) ? __real_##name arguments : type(-1);                                 \
  }

extern "C" {
PADDOCK_WRAP(int, pipe2, (int* fds, int flags), (fds, flags))
PADDOCK_WRAP(int, socketpair, (int domain, int type, int protocol, int* fds),
             (domain, type, protocol, fds))
PADDOCK_WRAP(int, eventfd, (unsigned count, int flags), (count, flags))
PADDOCK_WRAP(int, memfd_create, (const char* name, unsigned flags), (name, flags))
PADDOCK_WRAP(int, poll, (pollfd * entries, nfds_t count, int timeout), (entries, count, timeout))
PADDOCK_WRAP(ssize_t, recv, (int fd, void* out, size_t size, int flags), (fd, out, size, flags))
PADDOCK_WRAP(ssize_t, send, (int fd, const void* in, size_t size, int flags), (fd, in, size, flags))
PADDOCK_WRAP(int, waitid, (idtype_t type, id_t id, siginfo_t* out, int options),
             (type, id, out, options))
PADDOCK_WRAP(int, kill, (pid_t id, int signal), (id, signal))

int __real_fcntl64(int fd, int what, ...);
// It reads an argument that may not have been passed, as the library itself does.
__attribute__((no_sanitize("address"))) int __wrap_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return may_happen("fcntl") ? __real_fcntl64(fd, what, argument) : -1;
}

// By two names: sys/process.cpp takes the other one where the thread sanitizer replaces the first.
#define FAULTY_CLONE(name)                                                                         \
  int __real_##name(int (*start)(void*), void* stack, int flags, void* argument, ...);             \
  int __wrap_##name(int (*start)(void*), void* stack, int flags, void* argument, ...);             \
  int __wrap_##name(int (*start)(void*), void* stack, int flags, void* argument, ...) {            \
    va_list rest;                                                                                  \
    va_start(rest, argument);                                                                      \
    int* const handle = va_arg(rest, int*);                                                        \
    va_end(rest);                                                                                  \
    return may_happen("clone") ? __real_##name(start, stack, flags, argument, handle) : -1;        \
  }
FAULTY_CLONE(clone)
FAULTY_CLONE(__clone)
}
// NOLINTEND
