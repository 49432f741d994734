// SPDX-License-Identifier: MIT

// The wrappers of the calls that start programs and talk to them, beside those of faulty_sys.cpp.

#include "support/fault/faulty_process.hpp"

#include "support/fault/faulty_sys.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstdarg>

using paddock::test::may_happen;

namespace {

std::int64_t speed = 1;
std::int64_t began_ns = 0;

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t nanoseconds(const timespec& t) {
  return std::int64_t{t.tv_sec} * second_ns + t.tv_nsec;
}
/// At least a moment: a wait of no time could go round and round.
int on_the_wall(int timeout_ms) {
  if (speed == 1 || timeout_ms <= 0) return timeout_ms;
  return static_cast<int>(std::max<std::int64_t>(1, timeout_ms / speed));
}

} // namespace

// The reserved names are the linker's.
// NOLINTBEGIN
#define PADDOCK_WRAP_CALL(type, name, parameters, arguments)                                       \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    return may_happen(#name) ? __real_##name arguments : type(-1);                                 \
  }

extern "C" {
PADDOCK_WRAP_CALL(int, pipe2, (int* fds, int flags), (fds, flags))
PADDOCK_WRAP_CALL(int, socketpair, (int domain, int type, int protocol, int* fds),
                  (domain, type, protocol, fds))
PADDOCK_WRAP_CALL(int, eventfd, (unsigned count, int flags), (count, flags))
PADDOCK_WRAP_CALL(int, memfd_create, (const char* name, unsigned flags), (name, flags))
PADDOCK_WRAP_CALL(int, poll, (pollfd * entries, nfds_t count, int timeout),
                  (entries, count, on_the_wall(timeout)))
PADDOCK_WRAP_CALL(ssize_t, recv, (int fd, void* out, size_t size, int flags),
                  (fd, out, size, flags))
PADDOCK_WRAP_CALL(ssize_t, recvmsg, (int fd, msghdr* message, int flags), (fd, message, flags))
PADDOCK_WRAP_CALL(ssize_t, send, (int fd, const void* in, size_t size, int flags),
                  (fd, in, size, flags))
PADDOCK_WRAP_CALL(int, waitid, (idtype_t type, id_t id, siginfo_t* out, int options),
                  (type, id, out, options))
PADDOCK_WRAP_CALL(int, kill, (pid_t id, int signal), (id, signal))

int __real_clock_gettime(clockid_t clock, timespec* now);
int __wrap_clock_gettime(clockid_t clock, timespec* now);
int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  const int n = __real_clock_gettime(clock, now);
  if (n != 0 || speed == 1 || clock != CLOCK_MONOTONIC) return n;
  const std::int64_t faster = began_ns + (nanoseconds(*now) - began_ns) * speed;
  *now = {.tv_sec = faster / second_ns, .tv_nsec = faster % second_ns};
  return n;
}

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

namespace paddock::test {

faster_time::faster_time(std::int64_t times) {
  timespec now{};
  __real_clock_gettime(CLOCK_MONOTONIC, &now);
  began_ns = nanoseconds(now);
  speed = times;
}
faster_time::~faster_time() {
  speed = 1;
}

} // namespace paddock::test
// NOLINTEND
