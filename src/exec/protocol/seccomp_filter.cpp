// SPDX-License-Identifier: MIT

#include "exec/protocol/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>

namespace paddock::confine {
namespace {

// --- what is denied -----------------------------------------------------------------------------

/// When a call is denied. Only values in registers can be looked at.
enum class check : std::uint8_t {
  always,
  new_namespace,     ///< argument 0 has a CLONE_NEW* bit
  other_process,     ///< argument 0 is not 0, the caller itself
  others_priority,   ///< unless which is PRIO_PROCESS and who is 0
  others_io,         ///< unless which is IOPRIO_WHO_PROCESS and who is 0
  terminal_takeover, ///< the ioctl is TIOCSTI, TIOCLINUX or TIOCSETD
  new_personality,   ///< unless the default one is set or the current one asked for
  socket,            ///< as network_access says
  socket_pair,       ///< as network_access says
  attribute,         ///< as file_attributes says
  creat,             ///< argument 1 is a mode with a set-ID bit
  chmod,             ///< the same, or as file_attributes says
  chmodat,           ///< argument 2 is such a mode, or as file_attributes says
  open,              ///< argument 1 asks for a new file and argument 2 is such a mode
  openat,            ///< the same of arguments 2 and 3
  mknod,             ///< argument 1 is such a mode, or says that it is a device
  mknodat,           ///< the same of argument 2
  rename,            ///< argument 4 asks for a device in place of what is renamed
  fcntl,             ///< argument 1 asks for a lease, which others would wait for
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

void a_number_differs_from_the_system_headers() {} // no constexpr: a compile error when reached

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
constexpr denied_call denied_calls[] = {
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

    {CALL(ioctl, 16, 29), check::terminal_takeover, EPERM},
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

    // Makes sockets and opens files without a system call that a filter could see.
    {CALL(io_uring_setup, 425, 425), check::always, EPERM},
    {CALL(io_uring_enter, 426, 426), check::always, EPERM},
    {CALL(io_uring_register, 427, 427), check::always, EPERM},

    // Memory, descriptors and secrets of other processes.
    {CALL(ptrace, 101, 117), check::always, EPERM},
    {CALL(process_vm_readv, 310, 270), check::always, EPERM},
    {CALL(process_vm_writev, 311, 271), check::always, EPERM},
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

#undef CALL
#undef PADDOCK_VALUE_TEXT
#undef PADDOCK_TEXT

// Values of the kernel's interface; they are the same on both architectures.
constexpr std::uint32_t af_unix = 1, af_inet = 2, af_inet6 = 10, af_netlink = 16;
constexpr std::uint32_t netlink_route = 0;
constexpr std::uint32_t sock_stream = 1, sock_dgram = 2, sock_seqpacket = 5;
constexpr std::uint32_t sock_type_mask = 0xf; // above it SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr std::uint32_t prio_process = 0, ioprio_who_process = 1;
constexpr std::uint32_t tiocsti = 0x5412, tioclinux = 0x541c, tiocsetd = 0x5423;
// FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION and that of ext4,
// FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY, BTRFS_IOC_SUBVOL_SETFLAGS
constexpr std::uint32_t attribute_ioctls[] = {0x4008'6602, 0x4004'6602, 0x401c'5820, 0x4008'7602,
                                              0x4008'6604, 0x4080'6685, 0x800c'6613, 0x4008'941a};
constexpr std::uint32_t set_id_bits = 06000, device_bit = 0020000; // in S_IFCHR, S_IFBLK alone
constexpr std::uint32_t rename_whiteout = 4, f_setlease = 1024;
constexpr std::uint32_t new_file_flags = 0100 | 020000000; // O_CREAT, O_TMPFILE
constexpr std::uint32_t personality_default = 0, personality_query = 0xffff'ffff;
// NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME shares its bit with the
// exit signal: clone does not take it.
constexpr std::uint32_t clone_new_mask = 0x7e02'0000;

// The second ABI of x86_64 kernels marks its calls by a bit. 512 to 547 are its own variants of
// calls (ptrace, process_vm_readv, ...); before Linux 5.4 they worked without that bit, too.
constexpr std::uint32_t x32_bit = 0x4000'0000, x32_first = 512, x32_end = 548;

// --- the program --------------------------------------------------------------------------------

/// Where a jump goes: to the next instruction, over a few, or to one of the answers, which stand
/// at the end of the program. Until `end` the latter are written as their place in this list.
enum target : std::uint8_t {
  next = 0,
  first_answer = 0xf0,
  allow = 0xf0,
  eperm,
  eacces,
  enosys,
  enotsup,
  kill
};

constexpr std::uint32_t answers[] = {
    SECCOMP_RET_ALLOW,          SECCOMP_RET_ERRNO | EPERM,      SECCOMP_RET_ERRNO | EACCES,
    SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ERRNO | EOPNOTSUPP, SECCOMP_RET_KILL_PROCESS,
};

constexpr target answer_of(std::uint16_t error) {
  if (error == EOPNOTSUPP) return enotsup;
  return error == EACCES ? eacces : error == ENOSYS ? enosys : eperm;
}

class program {
public:
  constexpr program(sock_filter* out, std::size_t capacity) : out_(out), capacity_(capacity) {}

  constexpr void load_architecture() { load(offsetof(seccomp_data, arch)); }
  constexpr void load_number() { load(offsetof(seccomp_data, nr)); }
  /// The low half, for every argument that matters is an int to the kernel (both architectures
  /// are little-endian): what is in the high half must not make a difference.
  constexpr void load_argument(std::size_t index) {
    load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
  }
  constexpr void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, next, next); }

  constexpr void if_equal(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
  }
  constexpr void if_at_least(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
  }
  constexpr void if_any_bit(std::uint32_t bits, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no);
  }

  constexpr std::size_t size() const { return size_; }
  /// Lets the instruction at `from` go to the place reached now when its condition does not hold.
  constexpr void land_otherwise(std::size_t from) {
    if (from < capacity_) out_[from].jf = static_cast<std::uint8_t>(size_ - from - 1);
  }

  /// Adds the answers and lets the jumps find them. The number of instructions, 0 when they do
  /// not fit.
  constexpr std::size_t end() {
    const std::size_t first = size_;
    for (const std::uint32_t answer : answers)
      add(BPF_RET | BPF_K, answer, next, next);
    if (size_ > capacity_) return 0;
    for (std::size_t at = 0; at < first; ++at) {
      out_[at].jt = resolved(out_[at].jt, first - at - 1);
      out_[at].jf = resolved(out_[at].jf, first - at - 1);
    }
    return size_;
  }

private:
  constexpr void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), next, next);
  }
  constexpr void add(int code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    if (size_ < capacity_) out_[size_] = {static_cast<std::uint16_t>(code), yes, no, value};
    ++size_;
  }
  static constexpr std::uint8_t resolved(std::uint8_t place, std::size_t distance) {
    if (place < first_answer) return place;
    return static_cast<std::uint8_t>(distance + (place - first_answer));
  }

  sock_filter* out_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

/// socket(family, type, protocol). What is not listed is denied, since families are where unused
/// kernel code is reached: AF_PACKET and raw sockets see the traffic of others, AF_VSOCK reaches
/// the hypervisor, AF_ALG and most netlink protocols are parsers in the kernel. The type is looked
/// at because of SOCK_RAW and because AF_INET with SOCK_PACKET makes an AF_PACKET socket.
constexpr void check_socket(program& to, network_access network, target denied) {
  to.load_argument(0);
  if (network == network_access::all) to.if_equal(af_unix, allow, next);
  to.if_equal(af_inet, 4, next);
  to.if_equal(af_inet6, 3, next);
  to.if_equal(af_netlink, next, denied);
  to.load_argument(2);
  to.if_equal(netlink_route, allow, denied);
  to.load_argument(1);
  to.mask(sock_type_mask);
  to.if_equal(sock_stream, allow, next);
  to.if_equal(sock_dgram, allow, denied);
}

/// socketpair(family, type, ...). A datagram socket of a pair can be connected to somewhere else,
/// so it is as good as socket(); stream and seqpacket sockets stay with their peer.
constexpr void check_socket_pair(program& to, network_access network, target denied) {
  to.load_argument(0);
  if (network == network_access::all) {
    to.if_equal(af_unix, allow, denied);
    return;
  }
  to.if_equal(af_unix, next, denied);
  to.load_argument(1);
  to.mask(sock_type_mask);
  to.if_equal(sock_stream, allow, next);
  to.if_equal(sock_seqpacket, allow, denied);
}

/// Allowed when argument 0 is `which` and argument 1 is 0, the caller.
constexpr void check_caller(program& to, std::uint32_t which, target denied) {
  to.load_argument(0);
  to.if_equal(which, next, denied);
  to.load_argument(1);
  to.if_equal(0, allow, denied);
}

/// Allowed when no bit is set in an argument.
constexpr void check_mode(program& to, std::size_t index, std::uint32_t bits, target denied) {
  to.load_argument(index);
  to.if_any_bit(bits, denied, allow);
}

/// A mode means something only where a file may be made.
constexpr void check_open(program& to, std::size_t flags_index, target denied) {
  to.load_argument(flags_index);
  to.if_any_bit(new_file_flags, next, allow);
  check_mode(to, flags_index + 1, set_id_bits, denied);
}

constexpr void check_ioctl(program& to, file_attributes attributes, target denied) {
  to.load_argument(1);
  if (attributes == file_attributes::fixed)
    for (const std::uint32_t request : attribute_ioctls)
      to.if_equal(request, denied, next);
  to.if_equal(tiocsti, denied, next);
  to.if_equal(tioclinux, denied, next);
  to.if_equal(tiocsetd, denied, allow);
}

/// Decides about a call whose number is known.
constexpr void add_check(program& to, check when, const filter_request& request, target denied) {
  switch (when) {
  case check::always:
  case check::attribute:
    break;
  case check::creat:
  case check::chmod:
    check_mode(to, 1, set_id_bits, denied);
    break;
  case check::chmodat:
    check_mode(to, 2, set_id_bits, denied);
    break;
  case check::open:
    check_open(to, 1, denied);
    break;
  case check::openat:
    check_open(to, 2, denied);
    break;
  case check::mknod:
    check_mode(to, 1, set_id_bits | device_bit, denied);
    break;
  case check::mknodat:
    check_mode(to, 2, set_id_bits | device_bit, denied);
    break;
  case check::rename:
    check_mode(to, 4, rename_whiteout, denied);
    break;
  case check::fcntl:
    to.load_argument(1);
    to.if_equal(f_setlease, denied, allow);
    break;
  case check::new_namespace:
    to.load_argument(0);
    to.if_any_bit(clone_new_mask, denied, allow);
    break;
  case check::other_process:
    to.load_argument(0);
    to.if_equal(0, allow, denied);
    break;
  case check::others_priority:
    check_caller(to, prio_process, denied);
    break;
  case check::others_io:
    check_caller(to, ioprio_who_process, denied);
    break;
  case check::terminal_takeover:
    check_ioctl(to, request.attributes, denied);
    break;
  case check::new_personality:
    to.load_argument(0);
    to.if_equal(personality_default, allow, next);
    to.if_equal(personality_query, allow, denied);
    break;
  case check::socket:
    check_socket(to, request.network, denied);
    break;
  case check::socket_pair:
    check_socket_pair(to, request.network, denied);
    break;
  }
}

/// What a check comes to under a request; false: there is nothing to check.
constexpr bool settle(check& when, const filter_request& request) {
  const bool fixed = request.attributes == file_attributes::fixed;
  if (when == check::attribute && !fixed) return false;
  const bool never_allowed = when == check::attribute ||
                             (fixed && (when == check::chmod || when == check::chmodat)) ||
                             (when == check::socket && request.network == network_access::none);
  if (never_allowed) when = check::always;
  return true;
}

/// The calls with this check that the architecture has.
template <class Action>
constexpr void for_each_call(check when, const filter_request& request, Action action) {
  for (const denied_call& call : denied_calls) {
    const int number =
        request.arch == filter_arch::x86_64 ? call.number.x86_64 : call.number.aarch64;
    check settled = call.when;
    if (number >= 0 && settle(settled, request) && settled == when)
      action(static_cast<std::uint32_t>(number), answer_of(call.error));
  }
}

/// The numbers of all calls with this check, then the check once.
constexpr void add_checked_calls(program& to, check when, const filter_request& request) {
  std::uint8_t left = 0;
  target denied = allow;
  for_each_call(when, request, [&](std::uint32_t, target answer) {
    ++left;
    denied = answer;
  });
  if (left == 0) return;
  for_each_call(when, request,
                [&](std::uint32_t number, target) { to.if_equal(number, --left, next); });
  const std::size_t last = to.size() - 1;
  add_check(to, when, request, denied);
  to.land_otherwise(last);
}

struct numbered_answer {
  std::uint32_t number;
  target answer;
};

/// What is left to look at, by halves: the kernel runs the program once for every system call when
/// it takes the filter in, to find out which ones are always allowed.
constexpr void search(program& to, const numbered_answer* first, std::size_t count) {
  constexpr std::size_t few = 4;
  if (count > few) {
    const std::size_t half = count / 2;
    to.if_at_least(first[half].number, next, next);
    const std::size_t branch = to.size() - 1;
    search(to, first + half, count - half);
    to.land_otherwise(branch);
    search(to, first, half);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    to.if_equal(first[i].number, first[i].answer, i + 1 == count ? allow : next);
}

constexpr void add_always_denied(program& to, const filter_request& request) {
  numbered_answer denied[std::size(denied_calls)] = {};
  std::size_t count = 0;
  for_each_call(check::always, request,
                [&](std::uint32_t number, target answer) { denied[count++] = {number, answer}; });
  std::sort(denied, denied + count,
            [](const numbered_answer& a, const numbered_answer& b) { return a.number < b.number; });
  search(to, denied, count);
}

constexpr bool is_about_processes(check when) {
  return when == check::other_process || when == check::others_priority || when == check::others_io;
}

constexpr check checks_of_arguments[] = {
    check::openat,          check::fcntl,
    check::rename,          check::open,
    check::creat,           check::mknod,
    check::mknodat,         check::chmod,
    check::chmodat,         check::terminal_takeover,
    check::new_namespace,   check::socket,
    check::socket_pair,     check::other_process,
    check::others_priority, check::others_io,
    check::new_personality,
};

constexpr std::size_t build(const filter_request& request, sock_filter* out, std::size_t capacity) {
  const bool is_x86_64 = request.arch == filter_arch::x86_64;
  program to(out, capacity);
  // A number means nothing without its architecture, and a 32-bit program that hears ENOSYS from
  // every call cannot even exit: the one case for a signal.
  to.load_architecture();
  to.if_equal(is_x86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64, next, kill);
  to.load_number();
  if (is_x86_64) {
    to.if_at_least(x32_bit, enosys, next);
    to.if_at_least(x32_end, 1, next);
    to.if_at_least(x32_first, enosys, next);
  }
  for (const check when : checks_of_arguments)
    if (request.processes == process_view::all || !is_about_processes(when))
      add_checked_calls(to, when, request);
  add_always_denied(to, request);
  return to.end();
}

constexpr bool fits(const filter_request& request) {
  sock_filter instructions[seccomp_filter_max]{};
  return build(request, instructions, seccomp_filter_max) != 0;
}
constexpr bool fits_everywhere(network_access network) {
  for (const filter_arch arch : {filter_arch::x86_64, filter_arch::aarch64})
    for (const file_attributes attributes : {file_attributes::as_permitted, file_attributes::fixed})
      if (!fits({arch, network, process_view::all, attributes})) return false;
  return true;
}
static_assert(fits_everywhere(network_access::none));
static_assert(fits_everywhere(network_access::internet));
static_assert(fits_everywhere(network_access::all));
static_assert(seccomp_filter_max < first_answer, "a jump over the whole program is no answer");

} // namespace

std::size_t build_seccomp_filter(const filter_request& request, sock_filter* out,
                                 std::size_t capacity) noexcept {
  return build(request, out, capacity);
}

} // namespace paddock::confine
