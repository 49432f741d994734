// SPDX-License-Identifier: MIT
#include "sys/process.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

// The child of `spawn` runs in this process's memory while its thread waits; sanitizers must not
// take notice of it.
#if defined(__clang__)
#define PADDOCK_NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define PADDOCK_NOT_INSTRUMENTED                                                                   \
  __attribute__((no_sanitize("address", "thread", "undefined"), no_stack_protector, noinline))
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PADDOCK_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define PADDOCK_THREAD_SANITIZER
#endif

#ifdef PADDOCK_THREAD_SANITIZER
// The same function of glibc by its other name: the sanitizer replaces `clone` and takes the child
// for a copy.
extern "C" int __clone(int (*start)(void*), void* stack, int flags, void* argument, ...) noexcept;
#define PADDOCK_CLONE ::__clone
#else
#define PADDOCK_CLONE ::clone
#endif

namespace paddock::sys {
namespace {

constexpr auto wait_by_pidfd = static_cast<idtype_t>(3); // P_PIDFD, which older headers do not have
constexpr std::size_t kernel_signal_set_bytes = 8;
constexpr std::size_t child_stack_bytes = 32UL * 1024;
constexpr int above_standard_streams = 3;

struct start_request {
  const char* path;
  char* const* argv;
  char* const* envp;
  const int* inherited;
  std::size_t inherited_count;
  int os_errno; ///< set by the child when execve fails
};

/// Nothing but system calls: another thread may hold any lock of the C library.
PADDOCK_NOT_INSTRUMENTED int start_in_child(void* argument) {
  auto* request = static_cast<start_request*>(argument);
  for (std::size_t i = 0; i < request->inherited_count; ++i)
    ::syscall(SYS_fcntl, request->inherited[i], F_SETFD, 0);
  ::syscall(SYS_execve, request->path, request->argv, request->envp);
  request->os_errno = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

result<void> move_above_standard_streams(file_descriptor& fd) {
  if (fd.get() < above_standard_streams) {
    PADDOCK_TRY(fd, duplicate(fd.get()));
  }
  return {};
}

result<descriptor_pair> pair_of(int status, const int (&fds)[2], const char* operation) {
  if (status < 0) return failure(errno, operation);
  descriptor_pair pair{file_descriptor(fds[0]), file_descriptor(fds[1])};
  PADDOCK_CHECK(move_above_standard_streams(pair.first));
  PADDOCK_CHECK(move_above_standard_streams(pair.second));
  return pair;
}

} // namespace

result<child_process> spawn(const char* path, char* const* argv, char* const* envp,
                            std::span<const int> inherited) {
  start_request request{path, argv, envp, inherited.data(), inherited.size(), 0};
  alignas(64) std::array<std::byte, child_stack_bytes> stack;
  int pidfd = -1;

  // A handler of this process must not run in the child. The system call itself, because the C
  // library's spares its own signals.
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, kernel_signal_set_bytes);
  const int id = PADDOCK_CLONE(start_in_child, stack.data() + stack.size(),
                               CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &request, &pidfd);
  const int clone_errno = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kernel_signal_set_bytes);

  if (id < 0) return failure(clone_errno, "clone");
  child_process child{id, file_descriptor(pidfd)};
  if (request.os_errno != 0) {
    wait(child);
    return failure(request.os_errno, "execve");
  }
  return child;
}

void wait(const child_process& child) noexcept {
  siginfo_t ignored;
  while (::waitid(wait_by_pidfd, static_cast<id_t>(child.handle.get()), &ignored, WEXITED) < 0 &&
         errno == EINTR) {
  }
}

result<void> pidfd_send_signal(int pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0)
    return failure(errno, "pidfd_send_signal");
  return {};
}

result<void> kill_group(int group, int signal) {
  if (::kill(-group, signal) < 0) return failure(errno, "kill");
  return {};
}

result<descriptor_pair> pipe2(int flags) {
  int fds[2];
  return pair_of(::pipe2(fds, flags | O_CLOEXEC), fds, "pipe2");
}

result<descriptor_pair> socketpair(int type) {
  int fds[2];
  return pair_of(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), fds, "socketpair");
}

result<file_descriptor> eventfd() {
  file_descriptor fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return failure(errno, "eventfd");
  PADDOCK_CHECK(move_above_standard_streams(fd));
  return fd;
}

result<file_descriptor> duplicate(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, above_standard_streams);
  if (copy < 0) return failure(errno, "fcntl");
  return file_descriptor(copy);
}

result<void> set_nonblocking(int fd) {
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) < 0) return failure(errno, "fcntl");
  return {};
}

result<file_descriptor> sealed_memory(std::string_view bytes) {
  file_descriptor memory(::memfd_create("paddock-policy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failure(errno, "memfd_create");
  PADDOCK_CHECK(move_above_standard_streams(memory));
  while (!bytes.empty()) {
    PADDOCK_TRY(const std::size_t written, write(memory.get(), bytes));
    bytes.remove_prefix(written);
  }
  constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(memory.get(), F_ADD_SEALS, seals) < 0) return failure(errno, "fcntl");
  return memory;
}

result<shared_memory> shared_memory::make() {
  int key = 0;
  PADDOCK_CHECK(getrandom({reinterpret_cast<char*>(&key), sizeof key}));
  key |= 1; // 0 is IPC_PRIVATE
  const int id = ::shmget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
  if (id < 0) return failure(errno, "shmget");
  return shared_memory(key, id);
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : key_(other.key_), id_(std::exchange(other.id_, -1)) {}

shared_memory::~shared_memory() {
  if (id_ >= 0) ::shmctl(id_, IPC_RMID, nullptr);
}

result<std::size_t> recv(int fd, std::span<char> buffer, int flags) {
  ssize_t n = 0;
  do
    n = ::recv(fd, buffer.data(), buffer.size(), flags);
  while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "recv");
  return static_cast<std::size_t>(n);
}

result<std::size_t> send(int fd, std::string_view bytes, int flags) {
  ssize_t n = 0;
  do
    n = ::send(fd, bytes.data(), bytes.size(), flags | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n < 0) return failure(errno, "send");
  return static_cast<std::size_t>(n);
}

result<std::size_t> poll(std::span<::pollfd> events, std::int64_t timeout_ms) {
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(timeout_ms, 0, INT_MAX));
  const int n = ::poll(events.data(), events.size(), timeout);
  if (n < 0 && errno != EINTR) return failure(errno, "poll");
  return static_cast<std::size_t>(std::max(n, 0));
}

result<std::string> executable_path() {
  return readlinkat(AT_FDCWD, "/proc/self/exe");
}

} // namespace paddock::sys
