// SPDX-License-Identifier: MIT

// The functions of <unistd.h> and its like that the helper uses, on the system calls that both
// architectures have. No thread, no cancellation, no signal handlers: nothing but the call and
// errno.

#include "exec/helper/runtime/system_call.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using paddock::exec::answer;
using paddock::exec::argument;
using paddock::exec::call_kernel;

namespace {

constexpr long kernel_signal_set_bytes = 8;

template <class... Arguments> int call(long number, Arguments... arguments) {
  return static_cast<int>(answer(call_kernel(number, static_cast<long>(arguments)...)));
}

} // namespace

extern "C" {

// --- any call
// -------------------------------------------------------------------------------------

long syscall(long number, ...) noexcept {
  // Fewer may have been given: what is read then is not looked at by the call.
  long given[6];
  va_list list;
  va_start(list, number);
  for (long& each : given)
    each = va_arg(list, long);
  va_end(list);
  return answer(call_kernel(number, given[0], given[1], given[2], given[3], given[4], given[5]));
}

int prctl(int option, ...) noexcept {
  unsigned long given[4];
  va_list list;
  va_start(list, option);
  for (unsigned long& each : given)
    each = va_arg(list, unsigned long);
  va_end(list);
  return call(SYS_prctl, option, given[0], given[1], given[2], given[3]);
}

// --- files
// ----------------------------------------------------------------------------------------

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return call(SYS_openat, AT_FDCWD, argument(path), flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return call(SYS_openat, directory, argument(path), flags, mode);
}
int close(int fd) {
  return call(SYS_close, fd);
}
ssize_t read(int fd, void* into, std::size_t size) {
  return answer(call_kernel(SYS_read, fd, argument(into), static_cast<long>(size)));
}
ssize_t write(int fd, const void* from, std::size_t size) {
  return answer(call_kernel(SYS_write, fd, argument(from), static_cast<long>(size)));
}
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long value = va_arg(list, long);
  va_end(list);
  return call(SYS_fcntl, fd, command, value);
}
int dup2(int from, int to) noexcept {
  if (from == to) return call(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
  return call(SYS_dup3, from, to, 0);
}
int dup3(int from, int to, int flags) noexcept {
  return call(SYS_dup3, from, to, flags);
}
int pipe2(int* ends, int flags) noexcept {
  return call(SYS_pipe2, argument(ends), flags);
}
int flock(int fd, int operation) noexcept {
  return call(SYS_flock, fd, operation);
}
int access(const char* path, int mode) noexcept {
  return call(SYS_faccessat, AT_FDCWD, argument(path), mode);
}
int stat(const char* path, struct stat* status) noexcept {
  return call(SYS_newfstatat, AT_FDCWD, argument(path), argument(status), 0);
}
int lstat(const char* path, struct stat* status) noexcept {
  return call(SYS_newfstatat, AT_FDCWD, argument(path), argument(status), AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* status) noexcept {
  return call(SYS_fstat, fd, argument(status));
}
ssize_t readlink(const char* path, char* into, std::size_t size) noexcept {
  return answer(call_kernel(SYS_readlinkat, AT_FDCWD, argument(path), argument(into),
                            static_cast<long>(size)));
}
int symlink(const char* target, const char* path) noexcept {
  return call(SYS_symlinkat, argument(target), AT_FDCWD, argument(path));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return call(SYS_mkdirat, AT_FDCWD, argument(path), mode);
}
int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return call(SYS_mkdirat, directory, argument(path), mode);
}
int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return call(SYS_mknodat, AT_FDCWD, argument(path), mode, device);
}
int rmdir(const char* path) noexcept {
  return call(SYS_unlinkat, AT_FDCWD, argument(path), AT_REMOVEDIR);
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  return call(SYS_unlinkat, directory, argument(path), flags);
}
int fchmod(int fd, mode_t mode) noexcept {
  return call(SYS_fchmod, fd, mode);
}
off_t lseek(int fd, off_t offset, int whence) noexcept {
  return answer(call_kernel(SYS_lseek, fd, offset, whence));
}
/// The call has no flags.
int fchmodat(int directory, const char* path, mode_t mode, int) noexcept {
  return call(SYS_fchmodat, directory, argument(path), mode);
}
int chdir(const char* path) noexcept {
  return call(SYS_chdir, argument(path));
}
int fchdir(int fd) noexcept {
  return call(SYS_fchdir, fd);
}
mode_t umask(mode_t mask) noexcept {
  return static_cast<mode_t>(call(SYS_umask, mask));
}
int mount(const char* source, const char* target, const char* type, unsigned long flags,
          const void* data) noexcept {
  return call(SYS_mount, argument(source), argument(target), argument(type), flags, argument(data));
}
int umount2(const char* target, int flags) noexcept {
  return call(SYS_umount2, argument(target), flags);
}

// --- processes
// ------------------------------------------------------------------------------------

pid_t fork() noexcept {
  return call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
int execve(const char* program, char* const* arguments, char* const* environment) noexcept {
  return call(SYS_execve, argument(program), argument(arguments), argument(environment));
}
void _exit(int status) {
  for (;;)
    call_kernel(SYS_exit_group, status);
}
pid_t waitpid(pid_t which, int* status, int options) {
  return call(SYS_wait4, which, argument(status), options, 0);
}
pid_t getpid() noexcept {
  return call(SYS_getpid);
}
pid_t getppid() noexcept {
  return call(SYS_getppid);
}
uid_t geteuid() noexcept {
  return static_cast<uid_t>(call(SYS_geteuid));
}
gid_t getegid() noexcept {
  return static_cast<gid_t>(call(SYS_getegid));
}
pid_t setsid() noexcept {
  return call(SYS_setsid);
}
int getrlimit(__rlimit_resource_t which, struct rlimit* bound) noexcept {
  return call(SYS_prlimit64, 0, static_cast<int>(which), 0, argument(bound));
}
int setrlimit(__rlimit_resource_t which, const struct rlimit* bound) noexcept {
  return call(SYS_prlimit64, 0, static_cast<int>(which), argument(bound), 0);
}
int shmget(key_t key, std::size_t size, int flags) noexcept {
  return call(SYS_shmget, key, size, flags);
}
void* mmap(void* wanted, std::size_t size, int protection, int flags, int fd,
           off_t offset) noexcept {
  return reinterpret_cast<void*>(answer(call_kernel(
      SYS_mmap, argument(wanted), static_cast<long>(size), protection, flags, fd, offset)));
}
void* mremap(void* old, std::size_t old_size, std::size_t size, int flags, ...) noexcept {
  return reinterpret_cast<void*>(answer(call_kernel(
      SYS_mremap, argument(old), static_cast<long>(old_size), static_cast<long>(size), flags)));
}

// --- signals
// --------------------------------------------------------------------------------------

int kill(pid_t process, int signal) noexcept {
  return call(SYS_kill, process, signal);
}
/// The default action only, and no old one: a handler would need a way back.
int sigaction(int signal, const struct sigaction*, struct sigaction*) noexcept {
  const unsigned long by_default[4] = {};
  return call(SYS_rt_sigaction, signal, argument(by_default), 0, kernel_signal_set_bytes);
}
int sigemptyset(sigset_t* set) noexcept {
  *set = {};
  return 0;
}
int sigfillset(sigset_t* set) noexcept {
  set->__val[0] = ~0UL;
  return 0;
}
int sigaddset(sigset_t* set, int signal) noexcept {
  set->__val[0] |= 1UL << (signal - 1);
  return 0;
}
int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return call(SYS_rt_sigprocmask, how, argument(set), argument(before), kernel_signal_set_bytes);
}
int sigtimedwait(const sigset_t* set, siginfo_t* found, const struct timespec* timeout) {
  return call(SYS_rt_sigtimedwait, argument(set), argument(found), argument(timeout),
              kernel_signal_set_bytes);
}
int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  return call(SYS_signalfd4, fd, argument(set), kernel_signal_set_bytes, flags);
}

// --- messages and time
// ----------------------------------------------------------------------------

int socket(int family, int type, int protocol) noexcept {
  return call(SYS_socket, family, type, protocol);
}
int connect(int fd, const struct sockaddr* to, socklen_t size) {
  return call(SYS_connect, fd, argument(to), size);
}
ssize_t send(int fd, const void* from, std::size_t size, int flags) {
  return answer(call_kernel(SYS_sendto, fd, argument(from), static_cast<long>(size), flags, 0, 0));
}
ssize_t recv(int fd, void* into, std::size_t size, int flags) {
  return answer(
      call_kernel(SYS_recvfrom, fd, argument(into), static_cast<long>(size), flags, 0, 0));
}
int poll(struct pollfd* events, nfds_t count, int timeout_ms) {
  timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return call(SYS_ppoll, argument(events), count, argument(timeout_ms < 0 ? nullptr : &timeout), 0,
              kernel_signal_set_bytes);
}
int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
  return call(SYS_clock_gettime, clock, argument(now));
}
int nanosleep(const struct timespec* time, struct timespec* left) {
  return call(SYS_nanosleep, argument(time), argument(left));
}

} // extern "C"
