// SPDX-License-Identifier: MIT
#include "exec/helper/privileges.hpp"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace paddock::exec {
namespace {

/// The same as __rlimit_resource_t, which C++ sees as a type of its own.
using resource = decltype(RLIMIT_CORE);

int bound(resource which, std::uint64_t value) {
  rlimit current{};
  if (::getrlimit(which, &current) != 0) return errno;
  if (value > current.rlim_max) return 0; // stricter already
  const rlimit wanted{value, value};
  return ::setrlimit(which, &wanted) == 0 ? 0 : errno;
}

int bound_if_asked(resource which, std::uint64_t value) {
  return value == 0 ? 0 : bound(which, value);
}

} // namespace

int apply_bounds(const sys::exec_policy& policy, bounds_held held) {
  int failed = bound(RLIMIT_CORE, 0);
  const bool is_alone = held == bounds_held::by_nobody;
  // Not the address space: runtimes reserve far more of it than they use.
  if (failed == 0 && is_alone) failed = bound_if_asked(RLIMIT_DATA, policy.memory_bytes);
  if (failed == 0 && is_alone) failed = bound_if_asked(RLIMIT_NPROC, policy.processes);
  if (failed == 0) failed = bound_if_asked(RLIMIT_FSIZE, policy.file_size_bytes);
  if (failed == 0) failed = bound_if_asked(RLIMIT_CPU, policy.cpu_seconds);
  return failed;
}

/// Then no program gives root any.
bool is_bounded_to_none() {
  unsigned long capability = 0;
  int held = 0;
  while ((held = ::prctl(PR_CAPBSET_READ, capability)) == 0)
    ++capability;
  return held < 0 && capability > 0;
}

int drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability) == 0; ++capability) {
  }
  // Root is an ordinary user from now on. Without the capability to say so this user has none.
  ::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return errno;
  const bool root_is_ordinary = (::prctl(PR_GET_SECUREBITS) & SECBIT_NOROOT) != 0;
  return root_is_ordinary || ::geteuid() != 0 || is_bounded_to_none() ? 0 : EPERM;
}

bool can_filter_system_calls() {
  // A program that cannot be read is refused as such, where programs are known at all.
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 && errno == EFAULT;
}

int apply_seccomp(confine::filter_request request, int& listener, int& unanswered) {
  sock_filter instructions[confine::seccomp_filter_max];
  const std::size_t size =
      confine::build_seccomp_filter(request, instructions, confine::seccomp_filter_max);
  if (size == 0) return EINVAL;
  sock_fprog program{static_cast<unsigned short>(size), instructions};
  if (!request.listens())
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
  // A kernel that knows TSYNC_ESRCH (5.7) also lets a call go on (5.5).
  constexpr unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  // A call that is being made is not made again because of a signal (5.19).
  constexpr unsigned long wait_killable = 1UL << 5;
  long made = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | wait_killable, &program);
  if (made < 0) made = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (made >= 0) {
    listener = static_cast<int>(made);
    unanswered = 0;
    return 0;
  }
  unanswered = errno;
  request.links = confine::link_calls::as_permitted;
  request.truncates = confine::truncation::as_permitted;
  request.sends = confine::signals::as_permitted;
  if (request.attributes == confine::file_attributes::asked_for)
    request.attributes = confine::file_attributes::fixed;
  return apply_seccomp(request, listener, unanswered);
}

} // namespace paddock::exec
