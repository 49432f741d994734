// SPDX-License-Identifier: MIT
#pragma once

// The system calls that the filter of a command denies, whether always or for some arguments, and
// with which errno: the table that seccomp_filter.cpp makes its program of.

#include "exec/protocol/filter_request.hpp"

#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

namespace paddock::confine::filter {

/// When a call is denied. Only values in registers can be looked at.
enum class check : std::uint8_t {
  always,
  new_namespace,   ///< argument 0 has a CLONE_NEW* bit
  other_process,   ///< argument 0 is not 0, the caller itself
  others_priority, ///< unless which is PRIO_PROCESS and who is 0
  others_io,       ///< unless which is IOPRIO_WHO_PROCESS and who is 0
  device_request,  ///< the ioctl takes over a terminal or copies or removes whole trees, or as
                   ///< file_attributes says
  new_personality, ///< unless the default one is set or the current one asked for, or what a
                   ///< debugger sets, as process_tracing says
  socket,          ///< as network_access says
  socket_pair,     ///< as network_access says
  attribute,       ///< as file_attributes says
  creat,           ///< argument 1 is a mode with a set-ID bit
  chmod,           ///< the same, or as file_attributes says
  chmodat,         ///< argument 2 is such a mode, or as file_attributes says
  open,            ///< argument 1 asks for a new file and argument 2 is such a mode, or as
                   ///< `truncation` says
  openat,          ///< the same of arguments 2 and 3
  mknod,           ///< argument 1 is such a mode, or says that it is a device
  mknodat,         ///< the same of argument 2
  rename,          ///< argument 4 asks for a device in place of what is renamed
  fcntl,           ///< argument 1 asks for a lease or delegation, for which others would wait, or
                   ///< says whom to signal, as `signals` says
  truncate,        ///< as `truncation` says
  signal,          ///< as `signals` says
  tracing,         ///< as process_tracing says
};

struct call_numbers {
  std::int16_t x86_64;
  std::int16_t aarch64; ///< -1: there is no such call
};

struct denied_call {
  call_numbers number;
  check when;
  std::uint16_t error;
};

inline void a_number_differs_from_the_system_headers() {
} // no constexpr: a compile error when reached

/// Numbers are written out, since the headers of the build machine know one architecture and may
/// be older than a call. What they know must agree. `system` is the number as text, or the name of
/// a macro that they do not define.
consteval call_numbers numbers(const char* system, int x86_64, int aarch64) {
  const int written = filter_arch::native == filter_arch::x86_64 ? x86_64 : aarch64;
  int known = 0;
  const char* at = system;
  while (*at >= '0' && *at <= '9')
    known = known * 10 + (*at++ - '0');
  const bool is_number = at != system && *at == '\0';
  if (is_number && known != written) a_number_differs_from_the_system_headers();
  return {static_cast<std::int16_t>(x86_64), static_cast<std::int16_t>(aarch64)};
}
#define PADDOCK_TEXT(value) #value
#define PADDOCK_VALUE_TEXT(value) PADDOCK_TEXT(value)
#define CALL(name, x86_64, aarch64) numbers(PADDOCK_VALUE_TEXT(SYS_##name), x86_64, aarch64)

// Numbers: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h (Linux 6.17).
// EPERM, except where a caller that hears something else goes on better.
inline constexpr denied_call denied_calls[] = {
    // Calls that are denied for some arguments come first: all others that are allowed are
    // answered by the kernel from a bitmap (since 5.11), without running the program.
    // Files that are made, or given a mode, with a set-ID bit: whoever runs them outside later has
    // the rights of this user.
    {CALL(open, 2, -1), check::open, EPERM},
    {CALL(openat, 257, 56), check::openat, EPERM},
    {CALL(creat, 85, -1), check::creat, EPERM},
    {CALL(mknod, 133, -1), check::mknod, EPERM},
    {CALL(mknodat, 259, 33), check::mknodat, EPERM},
    {CALL(chmod, 90, -1), check::chmod, EPERM},
    {CALL(fchmod, 91, 52), check::chmod, EPERM},
    {CALL(fchmodat, 268, 53), check::chmodat, EPERM},
    {CALL(fchmodat2, 452, 452), check::chmodat, EPERM},

    {CALL(renameat2, 316, 276), check::rename, EPERM},
    {CALL(fcntl, 72, 25), check::fcntl, EPERM},

    {CALL(ioctl, 16, 29), check::device_request, EPERM},
    {CALL(clone, 56, 220), check::new_namespace, EPERM},
    {CALL(socket, 41, 198), check::socket, EACCES},
    {CALL(socketpair, 53, 199), check::socket_pair, EACCES},
    {CALL(personality, 135, 92), check::new_personality, EPERM}, // switches ASLR off, among others
    {CALL(setpriority, 141, 140), check::others_priority, EPERM},
    {CALL(ioprio_set, 251, 30), check::others_io, EPERM},
    // Limits, scheduling and memory of other processes of the same user.
    {CALL(prlimit64, 302, 261), check::other_process, EPERM},
    {CALL(sched_setparam, 142, 118), check::other_process, EPERM},
    {CALL(sched_setscheduler, 144, 119), check::other_process, EPERM},
    {CALL(sched_setaffinity, 203, 122), check::other_process, EPERM},
    {CALL(sched_setattr, 314, 274), check::other_process, EPERM},
    {CALL(migrate_pages, 256, 238), check::other_process, EPERM},
    {CALL(move_pages, 279, 239), check::other_process, EPERM},

    // Its flags are behind a pointer. The C libraries fall back to clone when it does not exist.
    {CALL(clone3, 435, 435), check::always, ENOSYS},
    // Its mode is, too. Programs that know it get along with kernels before 5.6.
    {CALL(openat2, 437, 437), check::always, ENOSYS},

    // Other attributes of files.
    {CALL(chown, 92, -1), check::attribute, EPERM},
    {CALL(fchown, 93, 55), check::attribute, EPERM},
    {CALL(lchown, 94, -1), check::attribute, EPERM},
    {CALL(fchownat, 260, 54), check::attribute, EPERM},
    {CALL(utime, 132, -1), check::attribute, EPERM},
    {CALL(utimes, 235, -1), check::attribute, EPERM},
    {CALL(futimesat, 261, -1), check::attribute, EPERM},
    {CALL(utimensat, 280, 88), check::attribute, EPERM},
    {CALL(file_setattr, 469, 469), check::attribute, EPERM},
    {CALL(setxattr, 188, 5), check::attribute, EOPNOTSUPP},
    {CALL(lsetxattr, 189, 6), check::attribute, EOPNOTSUPP},
    {CALL(fsetxattr, 190, 7), check::attribute, EOPNOTSUPP},
    {CALL(setxattrat, 463, 463), check::attribute, EOPNOTSUPP},
    {CALL(removexattr, 197, 14), check::attribute, EOPNOTSUPP},
    {CALL(lremovexattr, 198, 15), check::attribute, EOPNOTSUPP},
    {CALL(fremovexattr, 199, 16), check::attribute, EOPNOTSUPP},
    {CALL(removexattrat, 466, 466), check::attribute, EOPNOTSUPP},

    {CALL(truncate, 76, 45), check::truncate, EPERM},

    {CALL(kill, 62, 129), check::signal, EPERM},
    {CALL(tkill, 200, 130), check::signal, EPERM},
    {CALL(tgkill, 234, 131), check::signal, EPERM},
    {CALL(rt_sigqueueinfo, 129, 138), check::signal, EPERM},
    {CALL(rt_tgsigqueueinfo, 297, 240), check::signal, EPERM},
    {CALL(pidfd_send_signal, 424, 424), check::signal, EPERM},

    // Makes sockets and opens files without a system call that a filter could see.
    {CALL(io_uring_setup, 425, 425), check::always, EPERM},
    {CALL(io_uring_enter, 426, 426), check::always, EPERM},
    {CALL(io_uring_register, 427, 427), check::always, EPERM},

    // Memory, descriptors and secrets of other processes.
    {CALL(ptrace, 101, 117), check::tracing, EPERM},
    {CALL(process_vm_readv, 310, 270), check::tracing, EPERM},
    {CALL(process_vm_writev, 311, 271), check::tracing, EPERM},
    {CALL(process_madvise, 440, 440), check::always, EPERM},
    {CALL(pidfd_getfd, 438, 438), check::always, EPERM},
    {CALL(kcmp, 312, 272), check::always, EPERM},
    {CALL(add_key, 248, 217), check::always, EPERM}, // keyrings are shared by user, not by process
    {CALL(request_key, 249, 218), check::always, EPERM},
    {CALL(keyctl, 250, 219), check::always, EPERM},

    // Kernel interfaces that exploits are made of and ordinary commands do without.
    {CALL(bpf, 321, 280), check::always, EPERM},
    {CALL(perf_event_open, 298, 241), check::always, EPERM},
    {CALL(userfaultfd, 323, 282), check::always, EPERM},

    // Other views of the file system, and namespaces in which the caller would be privileged.
    {CALL(mount, 165, 40), check::always, EPERM},
    {CALL(umount2, 166, 39), check::always, EPERM},
    {CALL(pivot_root, 155, 41), check::always, EPERM},
    {CALL(chroot, 161, 51), check::always, EPERM},
    {CALL(open_tree, 428, 428), check::always, EPERM},
    {CALL(move_mount, 429, 429), check::always, EPERM},
    {CALL(fsopen, 430, 430), check::always, EPERM},
    {CALL(fsconfig, 431, 431), check::always, EPERM},
    {CALL(fsmount, 432, 432), check::always, EPERM},
    {CALL(fspick, 433, 433), check::always, EPERM},
    {CALL(mount_setattr, 442, 442), check::always, EPERM},
    {CALL(open_tree_attr, 467, 467), check::always, EPERM},
    {CALL(unshare, 272, 97), check::always, EPERM},
    {CALL(setns, 308, 268), check::always, EPERM},

    // Files by their number instead of a path, and events of a whole file system.
    {CALL(name_to_handle_at, 303, 264), check::always, EPERM},
    {CALL(open_by_handle_at, 304, 265), check::always, EPERM},
    {CALL(fanotify_init, 300, 262), check::always, EPERM},

    // The machine as a whole: only ever for root, who may have kept capabilities.
    {CALL(kexec_load, 246, 104), check::always, EPERM},
    {CALL(kexec_file_load, 320, 294), check::always, EPERM},
    {CALL(init_module, 175, 105), check::always, EPERM},
    {CALL(finit_module, 313, 273), check::always, EPERM},
    {CALL(delete_module, 176, 106), check::always, EPERM},
    {CALL(reboot, 169, 142), check::always, EPERM},
    {CALL(swapon, 167, 224), check::always, EPERM},
    {CALL(swapoff, 168, 225), check::always, EPERM},
    {CALL(acct, 163, 89), check::always, EPERM},
    {CALL(quotactl, 179, 60), check::always, EPERM},
    {CALL(quotactl_fd, 443, 443), check::always, EPERM},
    {CALL(syslog, 103, 116), check::always, EPERM},
    {CALL(sethostname, 170, 161), check::always, EPERM},
    {CALL(setdomainname, 171, 162), check::always, EPERM},
    {CALL(settimeofday, 164, 170), check::always, EPERM},
    {CALL(clock_settime, 227, 112), check::always, EPERM},
    {CALL(adjtimex, 159, 171), check::always, EPERM},
    {CALL(clock_adjtime, 305, 266), check::always, EPERM},
    {CALL(iopl, 172, -1), check::always, EPERM},
    {CALL(ioperm, 173, -1), check::always, EPERM},
    {CALL(lookup_dcookie, 212, 18), check::always, EPERM},
    {CALL(nfsservctl, 180, 42), check::always, EPERM},
    {CALL(vhangup, 153, 58), check::always, EPERM},
};

/// Denied to nobody, but see filter_request::links.
inline constexpr call_numbers calls_that_link[] = {CALL(link, 86, -1), CALL(linkat, 265, 37)};

#undef CALL
#undef PADDOCK_VALUE_TEXT
#undef PADDOCK_TEXT

} // namespace paddock::confine::filter
