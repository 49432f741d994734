// SPDX-License-Identifier: MIT
#pragma once

// A kernel whose Landlock knows less than this one's: whoever asks for its version hears a lower
// one. A tracer answers that call, since a filter can make it fail only.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace paddock::test {

#if defined(__x86_64__)
inline constexpr bool can_imitate_older_landlock = true;

namespace older_landlock {

constexpr unsigned create_ruleset = 444;

/// Skips the call, if it asks for the version.
inline void answer(pid_t caller, int abi) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, caller, nullptr, &registers) != 0) return;
  constexpr unsigned ask_version = 1;
  if (static_cast<unsigned>(registers.rdx) != ask_version) return;
  registers.orig_rax = static_cast<unsigned long long>(-1);
  registers.rax = static_cast<unsigned long long>(abi);
  (void)::ptrace(PTRACE_SETREGS, caller, nullptr, &registers);
}

/// Returns when everything that is traced has ended.
inline void trace(int abi) {
  int status = 0;
  for (pid_t id = 0; (id = ::waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (id <= 0 || !WIFSTOPPED(status)) continue;
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP) answer(id, abi);
    const bool is_group_stop = event == PTRACE_EVENT_STOP && signal != SIGTRAP;
    const std::uintptr_t passed = event == 0 ? static_cast<std::uintptr_t>(signal) : 0;
    (void)::ptrace(is_group_stop ? PTRACE_LISTEN : PTRACE_CONT, id, nullptr,
                   reinterpret_cast<void*>(passed));
  }
}

inline void filter() {
  sock_filter traced[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, create_ruleset, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(traced), traced};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::abort();
}

} // namespace older_landlock

/// Goes on in a child of this process, which only traces it and ends with it.
inline void become_older_landlock(int abi) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) std::abort();
  ::prctl(PR_SET_DUMPABLE, 1); // one that has become another user could not be traced
  const pid_t traced = ::fork();
  if (traced == 0) {
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) std::abort();
    older_landlock::filter();
    return;
  }
  constexpr std::uintptr_t options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                                     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
  if (::ptrace(PTRACE_SEIZE, traced, nullptr, reinterpret_cast<void*>(options)) != 0) std::abort();
  // What the caller keeps open ends with the traced process.
  for (int fd = 3; fd < 256; ++fd)
    if (fd != ready[1]) ::close(fd);
  if (::write(ready[1], "", 1) != 1) std::abort();
  older_landlock::trace(abi);
  ::_exit(0);
}
#else
inline constexpr bool can_imitate_older_landlock = false;
inline void become_older_landlock(int) {
  std::abort();
}
#endif

} // namespace paddock::test
