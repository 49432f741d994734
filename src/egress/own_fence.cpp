// SPDX-License-Identifier: MIT
#include "egress/own_fence.hpp"

#include "exec/protocol/filter_program.hpp"
#include "exec/protocol/seccomp_filter.hpp"
#include "sys/gateway_fence.hpp"
#include "sys/process.hpp"

#include <paddock/path/lexical_path.hpp>

#include <sys/syscall.h>

#include <array>
#include <iterator>
#include <string>
#include <vector>

namespace paddock::egress {
namespace {

using confine::filter::eperm;
using confine::filter::filter_program;
using confine::filter::next;

/// In addition to the calls denied to commands.
constexpr std::uint32_t denied[] = {
    SYS_execve,
    SYS_execveat,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_send_signal,
    SYS_truncate,
};

/// The other filter has looked at the architecture.
bool deny_programs_and_signals() {
  std::array<sock_filter, std::size(denied) + 16> program{};
  filter_program to(program.data(), program.size());
  to.load_number();
  for (const std::uint32_t call : denied)
    to.if_equal(call, eperm, next);
  to.if_at_least(0, confine::filter::allow, confine::filter::allow);
  const std::size_t size = to.end();
  return size != 0 && sys::filter_system_calls({program.data(), size});
}

bool deny_calls_of_commands() {
  std::array<sock_filter, confine::seccomp_filter_max> program{};
  const confine::filter_request request{.network = confine::network_access::all,
                                        .attributes = confine::file_attributes::fixed};
  const std::size_t size = confine::build_seccomp_filter(request, program.data(), program.size());
  return size != 0 && sys::filter_system_calls({program.data(), size});
}

/// The configuration of name resolution, wherever it lies, its modules and their sockets.
std::vector<std::string> readable() {
  std::vector<std::string> paths{"/etc", "/lib", "/lib64", "/run", "/usr", "/var/lib/sss"};
  for (const char* const link : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"})
    paths.emplace_back(parent(sys::canonical_name(link)));
  return paths;
}

} // namespace

bool give_up_all_but_sockets() {
  const std::vector<std::string> paths = readable();
  if (!sys::drop_privileges()) return false;
  sys::allow_only_reading(paths);
  return deny_programs_and_signals() && deny_calls_of_commands();
}

} // namespace paddock::egress
