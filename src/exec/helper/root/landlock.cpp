// SPDX-License-Identifier: MIT
#include "exec/helper/root/landlock.hpp"

#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

namespace paddock::exec {
namespace {

// Documentation/userspace-api/landlock.rst; the headers of many systems know only the first ones.
// ABI 1 (Linux 5.13)
constexpr std::uint64_t execute = 1U << 0;
constexpr std::uint64_t write_file = 1U << 1;
constexpr std::uint64_t read_file = 1U << 2;
constexpr std::uint64_t read_directory = 1U << 3;
constexpr std::uint64_t make_character_device = 1U << 6;
constexpr std::uint64_t make_block_device = 1U << 11;
constexpr std::uint64_t all_of_abi_1 = (1U << 13) - 1;
constexpr std::uint64_t refer = 1U << 13;                // ABI 2 (5.19)
constexpr std::uint64_t truncate = 1U << 14;             // ABI 3 (6.2)
constexpr std::uint64_t ioctl_device = 1U << 15;         // ABI 5 (6.10)
constexpr std::uint64_t tcp = (1U << 0) | (1U << 1);     // bind, connect; ABI 4 (6.7)
constexpr std::uint64_t abstract_unix_sockets = 1U << 0; // ABI 6 (6.12)
constexpr std::uint64_t signals = 1U << 1;

constexpr std::uint64_t for_files = execute | write_file | read_file | truncate | ioctl_device;
constexpr std::uint64_t reading = execute | read_file | read_directory;
constexpr std::uint64_t device_use = read_file | write_file | truncate;
constexpr std::uint64_t terminal_use = device_use | ioctl_device; // modes, sizes, who is in front
constexpr std::uint64_t anything_but_devices =
    (all_of_abi_1 | refer | truncate) & ~(make_character_device | make_block_device);

struct ruleset_attributes { // struct landlock_ruleset_attr
  std::uint64_t paths;
  std::uint64_t network;
  std::uint64_t scopes;
};
struct __attribute__((packed)) path_rule { // struct landlock_path_beneath_attr
  std::uint64_t allowed;
  std::int32_t parent;
};
constexpr unsigned ask_version = 1;
constexpr int rule_for_path = 1;

long create_ruleset(const ruleset_attributes* attributes, std::size_t size, unsigned flags) {
  return ::syscall(SYS_landlock_create_ruleset, attributes, size, flags);
}

std::size_t size_for(long abi) {
  if (abi >= 6) return sizeof(ruleset_attributes);
  return abi >= 4 ? offsetof(ruleset_attributes, scopes) : offsetof(ruleset_attributes, network);
}

std::uint64_t path_rights_of(long abi) {
  std::uint64_t rights = all_of_abi_1;
  if (abi >= 2) rights |= refer;
  if (abi >= 3) rights |= truncate;
  if (abi >= 5) rights |= ioctl_device;
  return rights;
}

enum class presence : bool { optional, required };

/// 0 or an errno; what is not there, or out of reach without a rule, needs none.
int allow(int ruleset, const char* path, std::uint64_t rights, std::uint64_t known,
          presence there = presence::required) {
  const int fd = ::open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    return absent && there == presence::optional ? 0 : errno;
  }
  struct stat status{};
  if (::fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode)) rights &= for_files;
  const path_rule rule{rights & known, fd};
  const int failed =
      ::syscall(SYS_landlock_add_rule, ruleset, rule_for_path, &rule, 0) == 0 ? 0 : errno;
  ::close(fd);
  return failed;
}

std::uint64_t rights_of(use as, root_kind root) {
  switch (as) {
  case use::read:
    return reading;
  case use::device:
    return device_use;
  case use::cache: // the command's own only where it is a mount of its own
    return root == root_kind::own ? anything_but_devices : reading;
  case use::scratch:
  case use::write:
  case use::workspace:
    break;
  }
  return anything_but_devices;
}

int allow_paths(int ruleset, const visible_paths& visible, root_kind root, const char* scratch,
                std::uint64_t known) {
  int failed = 0;
  if (root == root_kind::own) failed = allow(ruleset, "/", reading, known);
  for (const visible_path& entry : visible) {
    if (root == root_kind::own ? entry.as == use::read : entry.as == use::scratch) continue;
    const presence there = entry.named ? presence::required : presence::optional;
    if (failed == 0) failed = allow(ruleset, entry.path, rights_of(entry.as, root), known, there);
  }
  constexpr const char* terminals[] = {"/dev/pts", "/dev/tty"};
  if (root == root_kind::own && visible.terminals() != need::none)
    for (const char* terminal : terminals)
      if (failed == 0) failed = allow(ruleset, terminal, terminal_use, known, presence::optional);
  if (failed == 0 && root == root_kind::own)
    failed =
        allow(ruleset, sys::settings_directory, anything_but_devices, known, presence::optional);
  // A root of the command's own has others in their place.
  constexpr const char* shared_tables[] = {"/etc/group", "/etc/hosts", "/etc/passwd"};
  if (root == root_kind::shared)
    for (const char* table : shared_tables)
      if (failed == 0) failed = allow(ruleset, table, reading, known, presence::optional);
  if (failed == 0 && scratch[0] != '\0')
    failed = allow(ruleset, scratch, anything_but_devices, known);
  return failed;
}

} // namespace

left_by_landlock apply_landlock(const policy& wanted, const visible_paths& visible, root_kind root,
                                const char* scratch, confine::enforcement& taken) {
  const long abi = create_ruleset(nullptr, 0, ask_version);
  const int unknown = abi < 0 ? errno : EOPNOTSUPP;
  const bool paths = wanted.wants(confine::file_system);
  const bool sockets = wanted.wants(confine::network) || wanted.wants(confine::ipc);
  const bool processes = wanted.wants(confine::kill);
  ruleset_attributes handled{};
  const bool truncates = abi >= 3;
  const bool is_alone = root == root_kind::shared && wanted.fixed->answers != 0;
  if (paths && abi >= 1 && (truncates || is_alone)) handled.paths = path_rights_of(abi);
  const bool loopback = taken.has(confine::step::loopback); // then what TCP reaches is its own
  if (wanted.wants(confine::network) && !loopback && abi >= 4) handled.network = tcp;
  if (sockets && abi >= 6) handled.scopes |= abstract_unix_sockets;
  if (processes && abi >= 6) handled.scopes |= signals;
  int failed = unknown;
  if ((handled.paths | handled.network | handled.scopes) != 0) {
    const auto ruleset = static_cast<int>(create_ruleset(&handled, size_for(abi), 0));
    failed = ruleset < 0 ? errno : 0;
    if (failed == 0 && handled.paths != 0)
      failed = allow_paths(ruleset, visible, root, scratch, handled.paths);
    if (failed == 0 && ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) failed = errno;
    if (ruleset >= 0) ::close(ruleset);
  }
  const auto note = [&](confine::step step, bool asked, bool can) {
    if (asked) taken.set(step, can ? failed : unknown);
  };
  note(confine::step::landlock_paths, paths, handled.paths != 0);
  note(confine::step::landlock_sockets, sockets, (handled.scopes & abstract_unix_sockets) != 0);
  note(confine::step::landlock_signals, processes, (handled.scopes & signals) != 0);
  return {.truncation = failed == 0 && handled.paths != 0 && !truncates,
          .signals = failed == 0 && processes && !taken.has(confine::step::landlock_signals)};
}

} // namespace paddock::exec
