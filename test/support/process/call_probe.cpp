// SPDX-License-Identifier: MIT

// Which system calls the filter of this process refuses: makes each with a filter of its own above,
// under which no call runs. What the other one allows waits for an answer, and gets `allowed`.
// Prints the errno of each number in a line: with all arguments 0, then with all bits set. The
// argument is where to begin (the second ABI of x86-64 has a bit of its own).

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int tried = 1024, allowed = EXFULL, last_call = 0xffff;
long first;
std::atomic<int> listener{0};
int told[tried][2];

/// uretprobe and uprobe of x86-64 (Linux 6.11, 6.18), of the kernel's own trampolines: they pass
/// every filter, and end whoever else makes them.
bool is_of_the_kernel(long number) {
#if defined(__x86_64__)
  return number == 335 || number == 336;
#else
  return number < 0;
#endif
}

int error_of(long number, long argument) {
  if (is_of_the_kernel(number)) return allowed;
  const long result = ::syscall(number, argument, argument, argument, argument, argument, argument);
  return result == -1 ? errno : 0;
}

void* try_all(void*) {
  sock_filter ask{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF};
  const sock_fprog program{1, &ask};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  listener = static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  for (int i = 0; i < tried; ++i)
    for (int bits : {0, 1})
      told[i][bits] = error_of(first + i, -bits);
  for (;;)
    ::syscall(last_call);
}

/// Until the last call.
void answer_all() {
  seccomp_notif call{};
  for (;; call = {}) {
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    if (call.data.nr == last_call) return;
    seccomp_notif_resp answer{call.id, 0, -allowed, 0};
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

} // namespace

int main(int, char** argv) {
  first = std::atol(argv[1]);
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, try_all, nullptr) != 0) return 2;
  while (listener == 0)
    ::sched_yield();
  if (listener < 0) return 3;
  answer_all();
  for (const auto& each : told)
    std::printf("%d %d\n", each[0], each[1]);
  std::fflush(stdout);
  ::_exit(0); // the thread still waits
}
