// SPDX-License-Identifier: MIT
#include "exec/confinement_policy.hpp"

#include "exec/git_author.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

namespace paddock::confine {
namespace {

static_assert(sizeof(sys::exec_policy::wanted) >= layer_count);

constexpr error unusable{error_code::invalid_argument, 0, "policy"};

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

/// Absolute and without anything that means another path: ".", "..", "//", a slash at the end.
bool is_plain_path(const std::string& path) {
  if (path.size() < 2 || path[0] != '/' || has_nul(path)) return false;
  std::string_view rest(path);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view component = rest.substr(0, rest.find('/'));
    if (component.empty() || component == "." || component == "..") return false;
    rest.remove_prefix(component.size());
  }
  return true;
}

void append(std::string& bytes, std::span<const std::string> strings) {
  for (const std::string& text : strings)
    bytes.append(text.c_str(), text.size() + 1);
}

/// The names of the steps among `bits` that were taken, each once.
std::string names_of(std::uint32_t bits) {
  std::string names;
  for (unsigned i = 0; i < step_count; ++i) {
    if ((bits >> i & 1U) == 0 || names.ends_with(step_texts[i])) continue;
    if (!names.empty()) names += ", ";
    names += step_texts[i];
  }
  return names;
}

/// The path that the helper could not make visible, if it was one.
std::string unreachable_of(const confinement_policy& policy, const enforcement& taken) {
  std::size_t index = taken.unreachable;
  if (index < policy.read_paths.size()) return policy.read_paths[index];
  index -= policy.read_paths.size();
  return index < policy.write_paths.size() ? policy.write_paths[index] : std::string();
}

bool is_set_up_with_namespaces(step which, const enforcement& taken) {
  if (which == step::private_root || which == step::masks)
    return !taken.has(step::namespaces); // else it is the mounts that failed
  return which == step::locked_masks || which == step::pid_namespace ||
         which == step::network_namespace || which == step::loopback ||
         which == step::ipc_namespace;
}

std::string failure_of(step which, const confinement_policy& policy, const enforcement& taken) {
  const std::int32_t result = taken.results[static_cast<unsigned>(which)];
  std::string why = step_texts[static_cast<unsigned>(which)];
  if (which == step::paths) why.append(" ").append(unreachable_of(policy, taken));
  why += ": ";
  if (result == enforcement::not_tried) return why + "not tried";
  if (result == ENOSPC && is_set_up_with_namespaces(which, taken)) // nothing to do with a disk
    return why + "no more of them are allowed";
  return why + std::generic_category().message(result);
}

std::string remedy_for_namespaces(int os_errno) {
  constexpr unsigned set_file_capabilities = 31; // CAP_SETFCAP, without which root maps no root
  if (os_errno == ENOSPC)
    return "raise the limits of namespaces (sysctl user.max_user_namespaces and those like it)";
  if (os_errno == EINVAL || os_errno == ENOSYS) return "use a kernel with namespaces";
  if (sys::effective_uid() == 0 && !sys::has_capability(set_file_capabilities))
    return "run it as an ordinary user, because root without its capabilities can make no "
           "namespaces";
  return "allow user namespaces, which a setting of the system or the seccomp profile of a "
         "container refuses";
}

/// ENOENT means that paddock-egress is missing: no namespace fails with it. EOPNOTSUPP comes from
/// redirect_connections alone.
std::string remedy_for_loopback(int os_errno) {
  if (os_errno == EOPNOTSUPP) return "load the kernel modules nft_redir, nft_ct and nft_chain_nat";
  if (os_errno != ENOENT) return remedy_for_namespaces(os_errno);
  return "copy paddock-egress to where paddock-exec-helper is, from the build (tools/) or the "
         "package that this program came from";
}

std::string remedy_for_mounts(step which, const enforcement& taken, int os_errno) {
  if (os_errno == ENOSPC || os_errno == EDQUOT)
    return "free space in the workspace, or raise sysctl fs.mount-max";
  if (os_errno == ENOSYS) return "use Linux 5.12 or later for a mount namespace";
  if (which == step::masks) return "keep such entries outside the workspace";
  if (!taken.has(step::pid_namespace)) return "want the layer kill too, which it needs";
  return "allow mounts in user namespaces (in a container, by its security profile)";
}

struct step_remedy {
  step which;
  const char* text;
};

constexpr step_remedy step_remedies[] = {
    {step::paths, "name paths that exist and that this user can reach"},
    {step::session_scratch, "let this user make namespaces, or directories in /tmp"},
    {step::landlock_paths, "use a kernel with Landlock (5.13 or later; for MCP servers of skills 6.2 or later)"},
    {step::landlock_signals, "use a kernel with Landlock (6.12 or later)"},
    {step::signal_broker, "run it where no other program listens to its system calls"},
    {step::attributes, "use a kernel with seccomp filters"},
    {step::seccomp, "use a kernel with seccomp filters"},
    {step::capabilities,
     "run it as an ordinary user, because root without CAP_SETPCAP cannot give up its rights"},
    {step::bounds, "raise the hard limits (ulimit -H) of the calling process"},
};

/// What a person can do about a step that failed.
std::string remedy_for(step which, const enforcement& taken) {
  const std::int32_t result = taken.results[static_cast<unsigned>(which)];
  if (is_set_up_with_namespaces(which, taken)) return remedy_for_namespaces(result);
  if (which == step::private_root || which == step::masks)
    return remedy_for_mounts(which, taken, result);
  if (which == step::landlock_paths && result == EBUSY) // it needs the broker
    which = step::signal_broker;
  const auto* const found = std::ranges::find(step_remedies, which, &step_remedy::which);
  return found == std::end(step_remedies) ? "" : found->text;
}

/// What would close all that is lacking: one of the ways, or each of what is needed.
std::string remedy_of(layer which, const enforcement& taken) {
  const std::uint32_t lacking = lacking_of(which, taken);
  std::string remedies;
  for (unsigned i = 0; i < step_count; ++i) {
    const bool failed = taken.results[i] > 0;
    if ((lacking >> i & 1U) == 0 || !failed) continue;
    const std::string one = remedy_for(static_cast<step>(i), taken);
    if (one.empty() || remedies.find(one) != std::string::npos) continue;
    const bool is_a_way = (layer_rules[which].any >> i & 1U) != 0;
    if (!remedies.empty()) remedies += is_a_way ? ", or " : ", and ";
    remedies += one;
  }
  return remedies;
}

/// Why the layer is not, or not fully, there.
std::string missing_of(layer which, const confinement_policy& policy, const enforcement& taken) {
  const layer_rule& rule = layer_rules[which];
  const bool applied = is_applied(which, taken);
  if (applied && (taken.has(rule.strongest) || rule.opening == nullptr)) return {};
  const std::uint32_t lacking = lacking_of(which, taken);
  std::string missing;
  for (unsigned i = 0; i < step_count; ++i) {
    if ((lacking >> i & 1U) == 0) continue;
    if (static_cast<step>(i) == step::locked_masks && !taken.has(step::masks)) continue;
    if (!missing.empty()) missing += "; ";
    missing += failure_of(static_cast<step>(i), policy, taken);
  }
  if (!applied) return missing;
  std::string opening = rule.opening;
  if (which == layer::file_system && !taken.has(step::attribute_broker)) {
    opening += ", and attributes of no file can be changed";
    missing += "; " + failure_of(step::attribute_broker, policy, taken);
  }
  return opening + " (" + missing + ")";
}

/// Where no control group holds them, bounds of memory and processes are weaker than they sound.
void tell_of_tree_bounds(layer_report& row, const confinement_policy& policy,
                         const enforcement& taken) {
  const resource_limits& bounds = policy.bounds;
  const bool is_asked = bounds.memory_bytes != 0 || bounds.processes != 0;
  if (!is_asked || !row.applied || taken.has(step::tree_bounds)) return;
  if (bounds.memory_bytes != 0)
    row.missing = "memory is bounded for each process, and not for all of them together";
  // The kernel does not count what root starts.
  if (bounds.processes != 0)
    row.missing.append(row.missing.empty() ? "" : ", and ")
        .append(sys::effective_uid() == 0
                    ? "the bound of processes is not held for root without a control group"
                    : "processes are counted for all of this user");
  row.missing += " (" + failure_of(step::tree_bounds, policy, taken) + ")";
  row.remedy = "start it in a control group of its own (systemd-run --user --scope)";
}

/// What lets a command make sockets, or keeps it from that, may be missing.
network_reach reach_of(const confinement_policy& policy, const enforcement& taken) {
  if (policy.wanted(confinement_layer::network) == demand::off ||
      !is_applied(layer::network, taken))
    return network_reach::host_network;
  return taken.has(step::loopback) ? policy.reach : network_reach::none;
}

/// Told of a layer that gives commands directories of their own.
void tell_of_scratch(confinement_report& report, const confinement_policy& policy,
                     const enforcement& taken) {
  if (!report.of(confinement_layer::file_system).applied) return;
  const bool is_shared = taken.has(step::session_scratch);
  report.scratch = is_shared ? scratch_life::session : scratch_life::call;
  if (is_shared || !shares_scratch(policy)) return;
  if (taken.results[static_cast<unsigned>(step::session_scratch)] == EXDEV)
    report.no_session = "this command sees other paths, or another workspace, than the session "
                        "began with; start the server again";
  else
    report.no_session = failure_of(step::session_scratch, policy, taken) + "; " +
                        remedy_for(step::session_scratch, taken);
}

} // namespace

bool wants_loopback(const confinement_policy& policy) {
  return policy.wanted(confinement_layer::network) != demand::off &&
         (policy.reach == network_reach::loopback || policy.reach == network_reach::hosts);
}

bool shares_scratch(const confinement_policy& policy) {
  return policy.scratch != nullptr && policy.file_system != demand::off;
}

result<std::string> encode(const confinement_policy& policy, const entries_to_protect& entries,
                           const run_manner& manner, const shared_parts& shared) {
  if (!std::ranges::all_of(policy.read_paths, is_plain_path) ||
      !std::ranges::all_of(policy.write_paths, is_plain_path) ||
      !std::ranges::all_of(policy.cache_paths, is_plain_path) ||
      !std::ranges::all_of(policy.protected_names, is_valid) ||
      !std::ranges::all_of(policy.read_only_paths, is_plain_path) || has_nul(policy.search_path) ||
      has_nul(policy.home))
    return unusable;
  // Its way without one: each object would be linked to its name.
  const std::string git_configuration =
      git_configuration_of(policy.author) +
      (manner.watches_links ? "[core]\n\tcreateObject = rename\n" : "");
  std::string strings;
  append(strings, policy.read_paths);
  append(strings, policy.write_paths);
  append(strings, policy.cache_paths);
  for (const auto& [how, path, rule] : entries.list)
    (strings += static_cast<char>(how)).append(path.c_str(), path.size() + 1);
  append(strings, std::array{policy.search_path, policy.home, git_configuration,
                             std::string(shared.scratch_directory)});
  if (strings.size() > sys::exec_policy_bytes_max - sizeof(sys::exec_policy)) return unusable;
  sys::exec_policy fixed{.bytes = static_cast<std::uint32_t>(sizeof fixed + strings.size()),
                         .read_paths = static_cast<std::uint32_t>(policy.read_paths.size()),
                         .write_paths = static_cast<std::uint32_t>(policy.write_paths.size()),
                         .protected_entries = static_cast<std::uint32_t>(entries.list.size()),
                         .wanted = {},
                         .memory_bytes = policy.bounds.memory_bytes,
                         .processes = policy.bounds.processes,
                         .file_size_bytes = policy.bounds.file_size_bytes,
                         .cpu_seconds = policy.bounds.cpu_seconds,
                         .loopback_errno = shared.loopback_errno,
                         .scratch_errno = shared.scratch_errno,
                         .cache_paths = static_cast<std::uint32_t>(policy.cache_paths.size()),
                         .attended = manner.starts == run_manner::told::of_start_too,
                         .settings = policy.git_settings,
                         .traces = policy.tracing,
                         .terminal = manner.its == run_manner::streams::terminal,
                         .answers = manner.answers_calls,
                         .links = manner.watches_links};
  for (const confinement_layer which : confinement_layers)
    fixed.wanted[static_cast<std::size_t>(which)] = static_cast<std::uint8_t>(policy.wanted(which));
  std::string bytes(reinterpret_cast<const char*>(&fixed), sizeof fixed);
  return bytes + strings;
}

result<workspace_watch> watch(int workspace, const confinement_policy& policy,
                              const watch_options& options) {
  if (policy.protected_entries == demand::off) return workspace_watch::of_nothing();
  return workspace_watch::begin(workspace,
                                {.names = policy.protected_names,
                                 .write_paths = policy.write_paths,
                                 .read_only_paths = policy.read_only_paths,
                                 .git_settings = policy.git_settings,
                                 .read_paths = policy.read_paths},
                                options);
}

bool is_refused_for(const entries_to_protect& entries, const confinement_policy& policy) {
  return !entries.unseen.empty() && policy.protected_entries == demand::required;
}

confinement_report describe(const confinement_policy& policy, const enforcement& taken) {
  confinement_report report;
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    if (row.wanted == demand::off) continue;
    const auto which = static_cast<layer>(row.layer);
    const layer_rule& rule = layer_rules[which];
    row.applied = is_applied(which, taken);
    if (row.applied)
      row.mechanism =
          names_of((rule.any | rule.all | rule.also | rule.otherwise) & steps_done(taken));
    row.missing = missing_of(which, policy, taken);
    if (!row.missing.empty()) row.remedy = remedy_of(which, taken);
    if (row.layer == confinement_layer::limits) tell_of_tree_bounds(row, policy, taken);
  }
  report.reach = reach_of(policy, taken);
  tell_of_scratch(report, policy, taken);
  if (wants_loopback(policy) && report.reach == network_reach::none)
    report.no_loopback = failure_of(step::loopback, policy, taken) + "; " +
                         remedy_for_loopback(taken.results[static_cast<unsigned>(step::loopback)]);
  return report;
}

void tell_of_no_hosts(confinement_report& report, const host_list& hosts, int os_errno) {
  layer_report& row = report.of(confinement_layer::network);
  row.applied = false;
  row.mechanism.clear();
  const bool is_all = hosts.allows_all(0);
  row.missing = is_all ? "the Internet cannot be reached without the services of this machine: "
                       : "hosts cannot be reached by name: ";
  row.missing += std::generic_category().message(os_errno);
  row.remedy = remedy_for_loopback(os_errno);
  if (is_all) row.remedy += ", or let commands reach this machine, too (--network host)";
}

void tell_of_system_directory(confinement_report& report, const std::string& workspace) {
  layer_report& row = report.of(confinement_layer::file_system);
  if (row.wanted == demand::off) return;
  row.applied = false;
  row.mechanism.clear();
  row.missing = "the workspace is " + workspace + ", which belongs to the system";
  row.remedy = "choose another workspace, a folder that holds the work and neither the system nor "
               "these programs";
}

confinement_report describe_unknown(const confinement_policy& policy, std::string_view reason) {
  confinement_report report;
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    if (row.wanted != demand::off) row.missing = reason;
  }
  if (policy.wanted(confinement_layer::network) == demand::off)
    report.reach = network_reach::host_network;
  return report;
}

} // namespace paddock::confine
