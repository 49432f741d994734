// SPDX-License-Identifier: MIT
#include "sys/process.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <limits>
#include <memory>
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

struct start_request {
  int program;
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
  ::syscall(SYS_execveat, request->program, "", request->argv, request->envp, AT_EMPTY_PATH);
  request->os_errno = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

struct standalone_request {
  const standalone_program& program;
  int os_errno = 0; ///< set by the child when it cannot become the program
  const char* operation = "";
};

/// As the kernel defines it; all zero is the default handling.
struct kernel_sigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr int signal_max = 64;

PADDOCK_NOT_INSTRUMENTED void close_all_above_standard_streams() {
  constexpr unsigned first = 3;
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  rlimit most{}; // a kernel before 5.9
  ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &most);
  constexpr unsigned sane = 1U << 20U;
  for (unsigned fd = first; fd < most.rlim_cur && fd < sane; ++fd)
    ::syscall(SYS_close, fd);
}

PADDOCK_NOT_INSTRUMENTED int start_standalone_in_child(void* argument) {
  auto* request = static_cast<standalone_request*>(argument);
  const standalone_program& p = request->program;
  ::syscall(SYS_setsid);
  ::syscall(SYS_dup3, p.in, STDIN_FILENO, 0);
  ::syscall(SYS_dup3, p.out, STDOUT_FILENO, 0);
  ::syscall(SYS_dup3, p.err, STDERR_FILENO, 0);
  request->operation = "fchdir";
  if (p.working_directory < 0 || ::syscall(SYS_fchdir, p.working_directory) == 0) {
    close_all_above_standard_streams(); // of the child's own table
    const kernel_sigaction usual{};
    for (int number = 1; number <= signal_max; ++number)
      ::syscall(SYS_rt_sigaction, number, &usual, nullptr, kernel_signal_set_bytes);
    const std::uint64_t none = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kernel_signal_set_bytes);
    request->operation = "execve";
    ::syscall(SYS_execve, p.path, p.argv, p.envp);
  }
  request->os_errno = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

/// Runs `start` in a child that shares this process's memory until it has become another program.
result<child_process> clone_and_run(int (*start)(void*), void* request) {
  alignas(64) std::array<std::byte, child_stack_bytes> stack;
  int pidfd = -1;

  // A handler of this process must not run in the child. The system call itself, because the C
  // library's spares its own signals.
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, kernel_signal_set_bytes);
  const int id = PADDOCK_CLONE(start, stack.data() + stack.size(),
                               CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, request, &pidfd);
  const int clone_errno = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kernel_signal_set_bytes);

  if (id < 0) return failure(clone_errno, "clone");
  return child_process{id, file_descriptor(pidfd)};
}

} // namespace

result<child_process> spawn(int program, char* const* argv, char* const* envp,
                            std::span<const int> inherited) {
  start_request request{program, argv, envp, inherited.data(), inherited.size(), 0};
  PADDOCK_TRY(child_process child, clone_and_run(start_in_child, &request));
  if (request.os_errno == 0) return child;
  wait(child);
  return failure(request.os_errno, "execve");
}

result<child_process> spawn_standalone(const standalone_program& program) {
  standalone_request request{program};
  PADDOCK_TRY(child_process child, clone_and_run(start_standalone_in_child, &request));
  if (request.os_errno == 0) return child;
  wait(child);
  return failure(request.os_errno, request.operation);
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) return "exited with status " + std::to_string(WEXITSTATUS(status));
  return "was killed by signal " + std::to_string(WTERMSIG(status));
}

std::string describe_end(const child_process& child) {
  siginfo_t end{};
  const auto id = static_cast<id_t>(child.handle.get());
  if (::waitid(wait_by_pidfd, id, &end, WEXITED | WNOHANG | WNOWAIT) < 0 || end.si_pid == 0)
    return {};
  return describe_wait_status(end.si_code == CLD_EXITED ? W_EXITCODE(end.si_status, 0)
                                                        : W_EXITCODE(0, end.si_status));
}

void wait(const child_process& child) noexcept {
  siginfo_t ignored;
  while (::waitid(wait_by_pidfd, static_cast<id_t>(child.handle.get()), &ignored, WEXITED) < 0 &&
         errno == EINTR) {
  }
}

bool wait_for(const child_process& child, std::int64_t timeout_ms) noexcept {
  std::array<pollfd, 1> ended{{{child.handle.get(), POLLIN, 0}}};
  const std::int64_t deadline_ms = monotonic_ms() + timeout_ms;
  for (;;) {
    const auto found = poll(ended, std::max<std::int64_t>(deadline_ms - monotonic_ms(), 0));
    if (!found) return false;
    if (*found != 0) break;
    if (monotonic_ms() >= deadline_ms) return false; // otherwise a signal came
  }
  wait(child);
  return true;
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

result<file_descriptor> sealed_memory(std::string_view bytes) {
  file_descriptor memory(::memfd_create("paddock-policy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failure(errno, "memfd_create");
  if (memory.get() <= STDERR_FILENO) {
    PADDOCK_TRY(memory, duplicate(memory.get()));
  }
  while (!bytes.empty()) {
    PADDOCK_TRY(const std::size_t written, write(memory.get(), bytes));
    bytes.remove_prefix(written);
  }
  constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(memory.get(), F_ADD_SEALS, seals) < 0) return failure(errno, "fcntl");
  return memory;
}

result<file_descriptor> sealed_program(int file) {
  constexpr unsigned may_be_run = 0x10; // MFD_EXEC, since Linux 6.3
  constexpr int never_otherwise = 0x20; // F_SEAL_EXEC, since Linux 6.3
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  constexpr const char* name = "paddock-exec-helper";
  file_descriptor memory(::memfd_create(name, flags | may_be_run));
  const bool old = !memory && errno == EINVAL;
  if (old) memory = file_descriptor(::memfd_create(name, flags));
  if (!memory) return failure(errno, "memfd_create");
  if (memory.get() <= STDERR_FILENO) {
    PADDOCK_TRY(memory, duplicate(memory.get()));
  }
  constexpr std::size_t block_bytes = 64UL * 1024;
  constexpr std::uint64_t program_bytes_max = 1UL << 30;
  const auto block = std::make_unique_for_overwrite<char[]>(block_bytes);
  for (std::uint64_t at = 0;;) {
    PADDOCK_TRY(const std::size_t size, pread(file, {block.get(), block_bytes}, at));
    if (size == 0) break;
    at += size;
    if (at > program_bytes_max) return failure(EFBIG, "memfd_create");
    for (std::string_view left(block.get(), size); !left.empty();) {
      PADDOCK_TRY(const std::size_t written, write(memory.get(), left));
      left.remove_prefix(written);
    }
  }
  const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(memory.get(), F_ADD_SEALS, seals | (old ? 0 : never_otherwise)) < 0)
    return failure(errno, "fcntl");
  return memory;
}

result<shared_memory> shared_memory::make() {
  int key = 0;
  PADDOCK_CHECK(getrandom({reinterpret_cast<char*>(&key), sizeof key}));
  key = (key & std::numeric_limits<int>::max()) | 1; // positive, and 0 is IPC_PRIVATE
  const int id = ::shmget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
  if (id < 0) return failure(errno, "shmget");
  return shared_memory(key, id);
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : key_(other.key_), id_(std::exchange(other.id_, -1)) {}

shared_memory::~shared_memory() {
  if (id_ >= 0) ::shmctl(id_, IPC_RMID, nullptr);
}

bool has_capability(unsigned number) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return false;
  return number / 32 < std::size(held) && (held[number / 32].effective >> number % 32 & 1) != 0;
}

std::string canonical_name(const std::string& path) {
  const auto fd = openat(AT_FDCWD, path.c_str(), O_PATH | O_CLOEXEC);
  return fd ? name_of(fd->get()) : std::string();
}

std::string name_of(int fd) {
  const auto name = readlinkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str());
  return name ? *name : std::string();
}

result<std::string> executable_path() {
  return readlinkat(AT_FDCWD, "/proc/self/exe");
}

} // namespace paddock::sys
