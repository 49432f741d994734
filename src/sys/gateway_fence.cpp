// SPDX-License-Identifier: MIT
#include "sys/gateway_fence.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

namespace paddock::sys {
namespace {

constexpr unsigned nobody = 65534;

// Documentation/userspace-api/landlock.rst.
constexpr std::uint64_t read_file = 1U << 2U;
constexpr std::uint64_t read_directory = 1U << 3U;
constexpr std::uint64_t all_scopes = 3;
constexpr unsigned long ask_version = 1;

struct ruleset_attributes {
  std::uint64_t paths;
  std::uint64_t network;
  std::uint64_t scopes;
};

std::uint64_t path_rights_of(long abi) {
  const unsigned bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi == 2 ? 14 : 13;
  return (std::uint64_t{1} << bits) - 1;
}

std::size_t size_for(long abi) {
  if (abi >= 6) return sizeof(ruleset_attributes);
  return abi >= 4 ? offsetof(ruleset_attributes, scopes) : offsetof(ruleset_attributes, network);
}

} // namespace

void name_this_process(const char* name) noexcept {
  (void)::prctl(PR_SET_NAME, name, 0, 0, 0);
}

bool drop_privileges() noexcept {
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  // Where the user namespace has no such user, root stays root, without capabilities.
  if (::geteuid() == 0 && ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0)
    (void)!::setresuid(nobody, nobody, nobody);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  const bool has_none = ::syscall(SYS_capset, &header, none) == 0;
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // the change of the user has set it
  return has_none && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool allow_only_reading(std::span<const std::string> paths) noexcept {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version);
  if (abi < 1) return false;
  const ruleset_attributes handled{path_rights_of(abi), 0, abi >= 6 ? all_scopes : 0};
  const file_descriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, size_for(abi), 0)));
  if (!ruleset) return false;
  struct __attribute__((packed)) {
    std::uint64_t rights;
    std::int32_t parent;
  } rule{};
  for (const std::string& path : paths) {
    const file_descriptor place(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!place) continue;
    rule = {read_file | read_directory, place.get()};
    (void)::syscall(SYS_landlock_add_rule, ruleset.get(), 1, &rule, 0);
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

bool filter_system_calls(std::span<sock_filter> program) noexcept {
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace paddock::sys
