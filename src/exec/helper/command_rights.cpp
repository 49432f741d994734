// SPDX-License-Identifier: MIT
#include "exec/helper/command_rights.hpp"

#include "exec/helper/privileges.hpp"
#include "exec/helper/root/landlock.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

using namespace paddock::sys;

namespace paddock::exec {
namespace {

using confine::step;

/// Which sockets the command can make. By a path it may reach any service of this machine, unless
/// only those paths are there that it is to see.
confine::network_access sockets_for(const command_setup& setup, root_kind root) {
  const policy& wanted = setup.wanted;
  const bool all_of_network = !wanted.wants(confine::network);
  if (!all_of_network && !setup.shared.taken.has(step::loopback))
    return confine::network_access::none;
  const bool paths_are_meant =
      root == root_kind::own || (all_of_network && !wanted.wants(confine::file_system));
  return paths_are_meant ? confine::network_access::all : confine::network_access::internet;
}

/// In a PID namespace the one process beside the command's own that it can name is the init, which
/// is not dumpable: only a capability would reach into that one.
bool traces_its_own(const command_setup& setup) {
  return setup.wanted.fixed->traces != 0 && setup.shared.taken.has(step::pid_namespace) &&
         setup.shared.taken.has(step::capabilities);
}

/// From now on some calls wait for the library.
void hand_over_calls(const command_setup& setup, const confine::filter_request& filter,
                     int listener) {
  const int channel = setup.given.channel;
  const char* scratch = setup.shared.scratch;
  if (scratch[0] != '\0')
    hand_over(channel, {exec_event::scratch, 0, 0}, ::open(scratch, O_PATH | O_CLOEXEC));
  const bool links = filter.links == confine::link_calls::reported;
  hand_over(channel, {exec_event::listener, links, ::getppid()}, listener);
}

/// Where files outside have names, Landlock keeps their content and the filter the rest.
bool fixes_attributes(const command_setup& setup, root_kind root) {
  return setup.wanted.wants(confine::file_system) && root == root_kind::shared &&
         setup.shared.taken.has(step::landlock_paths);
}

confine::filter_request request_for(const command_setup& setup, root_kind root,
                                    const left_by_landlock& left) {
  const policy& wanted = setup.wanted;
  const bool answers = wanted.fixed->answers != 0;
  confine::filter_request filter;
  filter.network = sockets_for(setup, root);
  if (setup.shared.taken.has(step::pid_namespace))
    filter.processes = confine::process_view::own;
  else if (answers && left.signals)
    filter.sends = confine::signals::asked_for;
  if (fixes_attributes(setup, root))
    filter.attributes =
        answers ? confine::file_attributes::asked_for : confine::file_attributes::fixed;
  if (left.truncation) filter.truncates = confine::truncation::asked_for;
  if (traces_its_own(setup)) filter.tracing = confine::process_tracing::as_permitted;
  if (wanted.fixed->links != 0) filter.links = confine::link_calls::reported;
  return filter;
}

void filter_calls(const command_setup& setup, root_kind root, const left_by_landlock& left) {
  const policy& wanted = setup.wanted;
  confine::enforcement& taken = setup.shared.taken;
  const bool asked = wanted.wants(confine::privileges) || wanted.wants(confine::network);
  const confine::filter_request filter = request_for(setup, root, left);
  const bool fixed = filter.attributes != confine::file_attributes::as_permitted;
  const bool signals = filter.sends == confine::signals::asked_for;
  if (!fixed && !asked && !signals) return;
  int listener = -1;
  int unanswered = ENOTSUP;
  const int failed = apply_seccomp(filter, listener, unanswered);
  if (failed != 0) unanswered = failed;
  if (asked) taken.set(step::seccomp, failed);
  if (fixed) {
    taken.set(step::attributes, failed);
    taken.set(step::attribute_broker, unanswered);
  }
  if (left.truncation && unanswered != 0) taken.set(step::landlock_paths, unanswered);
  if (signals) taken.set(step::signal_broker, unanswered);
  if (listener >= 0) hand_over_calls(setup, filter, listener);
}

} // namespace

void give_up_rights(const command_setup& setup) {
  const policy& wanted = setup.wanted;
  confine::enforcement& taken = setup.shared.taken;
  const root_kind root = taken.has(step::private_root) ? root_kind::own : root_kind::shared;
  const auto held = taken.has(step::tree_bounds) ? bounds_held::by_group : bounds_held::by_nobody;
  if (wanted.wants(confine::limits)) taken.set(step::bounds, apply_bounds(*wanted.fixed, held));
  const left_by_landlock left =
      apply_landlock(wanted, setup.visible, root, setup.shared.scratch, taken);
  if (wanted.wants(confine::privileges)) {
    taken.set(step::no_new_privileges, ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EPERM);
    taken.set(step::capabilities, drop_capabilities());
  }
  // With them it could take away what covers the processes of other PID namespaces.
  if (setup.shared.has_foreign_proc && !taken.has(step::capabilities))
    fail(setup.given.channel, exec_stage::confinement, EPERM);
  // With rights over the network namespace it could be made to lead somewhere.
  if (taken.has(step::loopback) && !taken.has(step::capabilities)) taken.set(step::loopback, EPERM);
  filter_calls(setup, root, left);
}

void check_required(const command_setup& setup) {
  for (unsigned i = 0; i < confine::layer_count; ++i) {
    const auto which = static_cast<confine::layer>(i);
    if (setup.wanted.requires_layer(which) && !confine::is_applied(which, setup.shared.taken))
      fail(setup.given.channel, exec_stage::confinement, 0);
  }
}

} // namespace paddock::exec
