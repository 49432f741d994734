// SPDX-License-Identifier: MIT

// Runs a program in a world without openat2: `with-denied-openat2 ENOSYS|EPERM -- program
// arguments…`. ENOSYS is what kernels before 5.6 say, EPERM what the system call filters of some
// container engines say. The filter is inherited by everything the program starts. Needs no
// privilege.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

#if defined(__x86_64__)
constexpr unsigned this_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_architecture = AUDIT_ARCH_AARCH64;
#else
#error "add the AUDIT_ARCH constant of this architecture"
#endif

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter skip_unless_equal(unsigned value, unsigned char skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}
constexpr sock_filter answer(unsigned action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

bool deny_openat2(unsigned error_number) {
  sock_filter instructions[] = {
      load(offsetof(seccomp_data, arch)),       skip_unless_equal(this_architecture, 3),
      load(offsetof(seccomp_data, nr)),         skip_unless_equal(SYS_openat2, 1),
      answer(SECCOMP_RET_ERRNO | error_number), answer(SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(instructions), .filter = instructions};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (argc < 4 || std::string_view(argv[2]) != "--" || (name != "ENOSYS" && name != "EPERM")) {
    std::fputs("usage: with-denied-openat2 ENOSYS|EPERM -- program arguments...\n", stderr);
    return 2;
  }
  if (!deny_openat2(name == "ENOSYS" ? ENOSYS : EPERM)) {
    std::fprintf(stderr, "the system call filter cannot be installed: %s\n", std::strerror(errno));
    return 77; // "skipped" to the test runner
  }
  // Make sure that the filter works, so that a test behind it cannot pass by never meeting it.
  if (syscall(SYS_openat2, -1, nullptr, nullptr, 0) != -1 || (errno != ENOSYS && errno != EPERM)) {
    std::fputs("openat2 is still there\n", stderr);
    return 1;
  }
  execvp(argv[3], argv + 3);
  std::fprintf(stderr, "%s cannot be started: %s\n", argv[3], std::strerror(errno));
  return 127;
}
