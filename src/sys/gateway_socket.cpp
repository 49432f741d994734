// SPDX-License-Identifier: MIT
#include "sys/gateway_socket.hpp"

#include "sys/call.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <resolv.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

namespace paddock::sys {

result<endpoint> local_endpoint(int fd) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  auto* const any = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, any, &bytes) != 0) return failure(errno, "getsockname");
  const auto address = address_of(*any);
  if (!address) return error{error_code::unsupported, EAFNOSUPPORT, "getsockname"};
  PADDOCK_TRY(const std::uint16_t port, local_port(fd));
  return endpoint{*address, port};
}

bool is_datagram_socket(int fd) noexcept {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_DGRAM;
}

result<void> tell_destinations(int fd) {
  const int yes = 1;
  return none(::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof yes), "setsockopt");
}

result<std::size_t> receive_datagram(int fd, std::span<char> into, datagram_way& way) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
  sockaddr_in from{};
  iovec bytes{into.data(), into.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto size = retried([&] { return ::recvmsg(fd, &message, MSG_DONTWAIT); });
  if (size < 0) return failure(errno, "recvmsg");
  way.from = from.sin_addr.s_addr;
  way.from_port = from.sin_port;
  for (const cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(each))) {
    if (each->cmsg_level != IPPROTO_IP || each->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(each), sizeof info);
    way.to = info.ipi_addr.s_addr;
  }
  return static_cast<std::size_t>(size);
}

result<void> answer_datagram(int fd, std::string_view bytes, const datagram_way& way) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = way.from;
  to.sin_port = way.from_port;
  iovec out{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &out;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_spec_dst.s_addr = way.to;
  std::memcpy(CMSG_DATA(header), &info, sizeof info);
  return none(retried([&] { return ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); }),
              "sendmsg");
}

namespace {

int connect_socket(int fd, const endpoint& to) {
  if (to.address.kind == ip_address::family::v4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(to.port);
    std::memcpy(&in.sin_addr, to.address.bytes.data(), sizeof in.sin_addr);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&in), sizeof in);
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(to.port);
  in.sin6_scope_id = to.address.scope;
  std::memcpy(&in.sin6_addr, to.address.bytes.data(), sizeof in.sin6_addr);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&in), sizeof in);
}

int family_of(const ip_address& address) {
  return address.kind == ip_address::family::v4 ? AF_INET : AF_INET6;
}

} // namespace

/// The kernel answers from the address itself only where it is its own.
bool leads_to_this_machine(const ip_address& address) noexcept {
  constexpr std::uint16_t any_port = 9;
  const file_descriptor fd(::socket(family_of(address), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || connect_socket(fd.get(), {address, any_port}) != 0) return false;
  const auto own = local_endpoint(fd.get());
  return own && own->address.bytes == address.bytes;
}

result<file_descriptor> begin_connect(const endpoint& to) {
  PADDOCK_TRY(file_descriptor fd, stream_socket(family_of(to.address)));
  if (connect_socket(fd.get(), to) != 0 && errno != EINPROGRESS && errno != EINTR)
    return failure(errno, "connect");
  return fd;
}

result<void> end_connect(int fd) {
  int os_errno = 0;
  socklen_t bytes = sizeof os_errno;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &os_errno, &bytes) != 0)
    return failure(errno, "getsockopt");
  if (os_errno != 0) return failure(os_errno, "connect");
  return {};
}

void make_lively(int fd) noexcept {
  const int yes = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

void reset_on_close(int fd) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#else
#error "which architecture of the kernel's filters is this?"
#endif

/// A gateway never needs these; an attacker inside it would.
constexpr std::uint32_t denied_calls[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_pidfd_send_signal,
    SYS_mount,
    SYS_open_by_handle_at,
    SYS_bpf,
    SYS_setns,
    SYS_unshare,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_perf_event_open,
    SYS_userfaultfd,
    425 /* io_uring_setup */,
};
constexpr std::size_t denied_count = sizeof denied_calls / sizeof *denied_calls;

bool deny_calls() noexcept {
  sock_filter program[denied_count + 6];
  std::size_t at = 0;
  const auto add = [&](std::uint16_t code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    program[at++] = {code, yes, no, value};
  };
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch), 0, 0);
  add(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 0, denied_count + 2);
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0, 0);
  for (std::size_t i = 0; i < denied_count; ++i)
    add(BPF_JMP | BPF_JEQ | BPF_K, denied_calls[i], static_cast<std::uint8_t>(denied_count - i), 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  const sock_fprog filter{static_cast<unsigned short>(at), program};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Documentation/userspace-api/landlock.rst: of the first version, all but execute, read a file and
/// read a directory.
constexpr std::uint64_t landlock_all = (1U << 13U) - 1;
constexpr std::uint64_t landlock_reading = (1U << 2U) | (1U << 3U);
constexpr const char* system_files[] = {"/etc", "/lib", "/lib64", "/run", "/usr", "/var/lib/sss"};

void deny_files() noexcept {
  struct __attribute__((packed)) path_rule {
    std::uint64_t rights;
    std::int32_t parent;
  };
  const std::uint64_t handled = landlock_all;
  const auto ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0));
  if (ruleset < 0) return;
  for (const char* path : system_files) {
    const int fd = ::open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    const path_rule rule{landlock_reading, fd};
    (void)::syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0);
    ::close(fd);
  }
  (void)::syscall(SYS_landlock_restrict_self, ruleset, 0);
  ::close(ruleset);
}

} // namespace

void take_names_as_they_are() noexcept {
  (void)::res_init();
  _res.options &= ~static_cast<unsigned long>(RES_DNSRCH);
}

void name_this_process(const char* name) noexcept {
  (void)::prctl(PR_SET_NAME, name, 0, 0, 0);
}

bool give_up_all_but_sockets() noexcept {
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  deny_files();
  return deny_calls();
}

} // namespace paddock::sys
