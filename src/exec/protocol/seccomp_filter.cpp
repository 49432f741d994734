// SPDX-License-Identifier: MIT

#include "exec/protocol/seccomp_filter.hpp"

#include "exec/protocol/denied_calls.hpp"
#include "exec/protocol/filter_program.hpp"

#include <linux/audit.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace paddock::confine::filter {
namespace {

// Values of the kernel's interface; they are the same on both architectures.
constexpr std::uint32_t af_unix = 1, af_inet = 2, af_inet6 = 10, af_netlink = 16;
constexpr std::uint32_t netlink_route = 0;
constexpr std::uint32_t sock_stream = 1, sock_dgram = 2, sock_seqpacket = 5;
constexpr std::uint32_t sock_type_mask = 0xf; // above it SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr std::uint32_t prio_process = 0, ioprio_who_process = 1;
constexpr std::uint32_t tiocsti = 0x5412, tioclinux = 0x541c, tiocsetd = 0x5423;
// FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION and that of ext4,
// FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY, FAT_IOCTL_SET_ATTRIBUTES, EXT4_IOC_MIGRATE,
// EXT4_IOC_SWAP_BOOT
constexpr std::uint32_t attribute_ioctls[] = {0x4008'6602, 0x4004'6602, 0x401c'5820, 0x4008'7602,
                                              0x4008'6604, 0x4080'6685, 0x800c'6613, 0x4004'7211,
                                              0x0000'6609, 0x0000'6611};
// File systems with requests of their own that copy and remove trees beneath all mounts: a snapshot
// shows what is covered, and destroying one asks no mount. Bits 8 to 15 of a request: btrfs,
// bcachefs, ocfs2 (reflink by path), nilfs2.
constexpr std::uint32_t ioctl_type_mask = 0xff00;
constexpr std::uint32_t tree_ioctl_types[] = {0x9400, 0xbc00, 0x6f00, 0x6e00};
// Those of btrfs that became everyone's: FICLONE, FICLONERANGE, FIDEDUPERANGE.
constexpr std::uint32_t clone_ioctls[] = {0x4004'9409, 0x4020'940d, 0xc018'9436};
constexpr std::uint32_t set_id_bits = 06000, device_bit = 0020000; // in S_IFCHR, S_IFBLK alone
constexpr std::uint32_t rename_whiteout = 4, f_setown = 8, f_setown_ex = 15;
constexpr std::uint32_t f_setlease = 1024, f_setdeleg = 1040; // the second since Linux 6.19
constexpr std::uint32_t owner_ioctls[] = {0x8901, 0x8902}; // FIOSETOWN, SIOCSPGRP
constexpr std::uint32_t new_file_flags = 0100 | 020000000; // O_CREAT, O_TMPFILE
constexpr std::uint32_t truncate_flag = 01000, access_mask = 3, write_only = 1, read_write = 2;
constexpr std::uint32_t personality_default = 0, personality_query = 0xffff'ffff,
                        personality_unrandomised = 0x0004'0000;
// NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME shares its bit with the
// exit signal: clone does not take it.
constexpr std::uint32_t clone_new_mask = 0x7e02'0000;

// The second ABI of x86_64 kernels marks its calls by a bit. 512 to 547 are its own variants of
// calls (ptrace, process_vm_readv, ...); before Linux 5.4 they worked without that bit, too.
constexpr std::uint32_t x32_bit = 0x4000'0000, x32_first = 512, x32_end = 548;
// --- the checks ---------------------------------------------------------------------------------

/// socket(family, type, protocol). What is not listed is denied, since families are where unused
/// kernel code is reached: AF_PACKET and raw sockets see the traffic of others, AF_VSOCK reaches
/// the hypervisor, AF_ALG and most netlink protocols are parsers in the kernel. The type is looked
/// at because of SOCK_RAW and because AF_INET with SOCK_PACKET makes an AF_PACKET socket.
constexpr void check_socket(filter_program& to, network_access network, target denied) {
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
constexpr void check_socket_pair(filter_program& to, network_access network, target denied) {
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
constexpr void check_caller(filter_program& to, std::uint32_t which, target denied) {
  to.load_argument(0);
  to.if_equal(which, next, denied);
  to.load_argument(1);
  to.if_equal(0, allow, denied);
}

/// Allowed when no bit is set in an argument.
constexpr void check_mode(filter_program& to, std::size_t index, std::uint32_t bits,
                          target denied) {
  to.load_argument(index);
  to.if_any_bit(bits, denied, allow);
}

/// A mode means something only where a file may be made. Opened for nothing, it is not judged by
/// Landlock, and cut all the same.
constexpr void check_open(filter_program& to, std::size_t flags_index, truncation truncates,
                          target denied) {
  to.load_argument(flags_index);
  if (truncates == truncation::asked_for) {
    to.if_any_bit(truncate_flag, next, 3);
    to.mask(access_mask);
    to.if_equal(write_only, 1, next);
    to.if_equal(read_write, next, denied);
    to.load_argument(flags_index);
  }
  to.if_any_bit(new_file_flags, next, allow);
  check_mode(to, flags_index + 1, set_id_bits, denied);
}

constexpr void check_ioctl(filter_program& to, const filter_request& asked, target denied) {
  to.load_argument(1);
  if (asked.attributes != file_attributes::as_permitted)
    for (const std::uint32_t request : attribute_ioctls)
      to.if_equal(request, denied, next);
  if (asked.sends == signals::asked_for)
    for (const std::uint32_t request : owner_ioctls)
      to.if_equal(request, denied, next);
  for (const std::uint32_t request : {tiocsti, tioclinux, tiocsetd})
    to.if_equal(request, denied, next);
  for (const std::uint32_t request : clone_ioctls)
    to.if_equal(request, allow, next);
  to.mask(ioctl_type_mask);
  for (const std::uint32_t type : tree_ioctl_types)
    to.if_equal(type, denied, type == tree_ioctl_types[3] ? allow : next);
}

/// Decides about a call whose number is known.
constexpr void add_check(filter_program& to, check when, const filter_request& request,
                         target denied) {
  switch (when) {
  case check::always:
  case check::attribute:
  case check::tracing:
  case check::truncate:
  case check::signal:
    break;
  case check::creat:
  case check::chmod:
    check_mode(to, 1, set_id_bits, denied);
    break;
  case check::chmodat:
    check_mode(to, 2, set_id_bits, denied);
    break;
  case check::open:
    check_open(to, 1, request.truncates, denied);
    break;
  case check::openat:
    check_open(to, 2, request.truncates, denied);
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
    for (const std::uint32_t command : {f_setlease, f_setown, f_setown_ex})
      if (command == f_setlease || request.sends == signals::asked_for)
        to.if_equal(command, denied, next);
    to.if_equal(f_setdeleg, denied, allow);
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
  case check::device_request:
    check_ioctl(to, request, denied);
    break;
  case check::new_personality:
    to.load_argument(0);
    to.if_equal(personality_default, allow, next);
    if (request.tracing == process_tracing::as_permitted)
      to.if_equal(personality_unrandomised, allow, next);
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
  const bool fixed = request.attributes != file_attributes::as_permitted;
  if (when == check::attribute && !fixed) return false;
  if (when == check::truncate && request.truncates == truncation::as_permitted) return false;
  if (when == check::signal && request.sends == signals::as_permitted) return false;
  if (when == check::tracing && request.tracing == process_tracing::as_permitted) return false;
  const bool never_allowed = when == check::attribute || when == check::tracing ||
                             when == check::truncate || when == check::signal ||
                             (fixed && (when == check::chmod || when == check::chmodat)) ||
                             (when == check::socket && request.network == network_access::none);
  if (never_allowed) when = check::always;
  return true;
}

/// The others are newer, and programs do without.
constexpr bool is_answered(const denied_call& call, const filter_request& request) {
  constexpr int setxattrat = 463, removexattrat = 466, file_setattr = 469;
  if (call.when == check::truncate || call.when == check::signal) return true;
  if (request.attributes != file_attributes::asked_for) return false;
  const int number = call.number.x86_64 >= 0 ? call.number.x86_64 : call.number.aarch64;
  return (call.when == check::attribute && number != setxattrat && number != removexattrat &&
          number != file_setattr) ||
         call.when == check::chmod || call.when == check::chmodat;
}

/// The calls with this check that the architecture has.
template <class Action>
constexpr void for_each_call(check when, const filter_request& request, Action action) {
  for (const denied_call& call : denied_calls) {
    const int number =
        request.arch == filter_arch::x86_64 ? call.number.x86_64 : call.number.aarch64;
    check settled = call.when;
    if (number < 0 || !settle(settled, request) || settled != when) continue;
    action(static_cast<std::uint32_t>(number),
           is_answered(call, request) ? report : answer_of(call.error));
  }
}

/// The numbers of all calls with this check, then the check once.
constexpr void add_checked_calls(filter_program& to, check when, const filter_request& request) {
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
constexpr void search(filter_program& to, const numbered_answer* first, std::size_t count) {
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

constexpr void add_always_denied(filter_program& to, const filter_request& request) {
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
    check::openat,          check::fcntl,          check::rename,          check::open,
    check::creat,           check::mknod,          check::mknodat,         check::chmod,
    check::chmodat,         check::device_request, check::new_namespace,   check::socket,
    check::socket_pair,     check::other_process,  check::others_priority, check::others_io,
    check::new_personality,
};

constexpr std::size_t build(const filter_request& request, sock_filter* out, std::size_t capacity) {
  const bool is_x86_64 = request.arch == filter_arch::x86_64;
  filter_program to(out, capacity);
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
  if (request.links == link_calls::reported)
    for (const call_numbers& call : calls_that_link)
      if (const int number = is_x86_64 ? call.x86_64 : call.aarch64; number >= 0)
        to.if_equal(static_cast<std::uint32_t>(number), report, next);
  add_always_denied(to, request);
  return to.end();
}

constexpr bool fits(const filter_request& request) {
  sock_filter instructions[seccomp_filter_max]{};
  return build(request, instructions, seccomp_filter_max) != 0;
}
constexpr bool fits_everywhere(network_access network) {
  for (const filter_arch arch : {filter_arch::x86_64, filter_arch::aarch64})
    for (const file_attributes attributes :
         {file_attributes::as_permitted, file_attributes::asked_for})
      for (const process_tracing traced : {process_tracing::none, process_tracing::as_permitted})
        if (!fits({arch, network, process_view::all, attributes, traced, link_calls::reported,
                   truncation::asked_for, signals::asked_for}))
          return false;
  return true;
}
static_assert(fits_everywhere(network_access::none));
static_assert(fits_everywhere(network_access::internet));
static_assert(fits_everywhere(network_access::all));
static_assert(seccomp_filter_max < first_answer, "a jump over the whole program is no answer");

} // namespace
} // namespace paddock::confine::filter

namespace paddock::confine {

std::size_t build_seccomp_filter(const filter_request& request, sock_filter* out,
                                 std::size_t capacity) noexcept {
  return filter::build(request, out, capacity);
}

} // namespace paddock::confine
