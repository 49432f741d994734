// SPDX-License-Identifier: MIT
#include "exec/confinement_policy.hpp"
#include "exec/held_helper.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "sys/process.hpp"
#include "sys/socket.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock {
namespace {

constexpr std::uint32_t victim_mode = 0600;

/// A directory that the command has no business in, with a file to read, one to change, and room
/// for a throw-away workspace.
class probe_site {
public:
  static result<probe_site> make(const std::string& parent) {
    std::array<char, 8> random;
    PADDOCK_CHECK(sys::getrandom(random));
    std::string name = parent + "/paddock-probe-";
    for (const char byte : random) {
      name += static_cast<char>('a' + (byte & 15));
      name += static_cast<char>('a' + (byte >> 4 & 15));
    }
    PADDOCK_CHECK(sys::mkdirat(AT_FDCWD, name.c_str(), 0700));
    probe_site site(std::move(name));
    PADDOCK_CHECK(sys::mkdirat(AT_FDCWD, site.workspace().c_str(), 0700));
    for (const std::string& file : {site.secret(), site.victim()}) {
      constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
      PADDOCK_TRY(const auto made, sys::openat(AT_FDCWD, file.c_str(), flags, victim_mode));
    }
    return site;
  }
  probe_site(probe_site&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  probe_site& operator=(probe_site&&) = delete;
  probe_site(const probe_site&) = delete;
  probe_site& operator=(const probe_site&) = delete;
  ~probe_site() {
    if (path_.empty()) return;
    for (const std::string& file : {secret(), written(), victim()})
      (void)sys::unlinkat(AT_FDCWD, file.c_str(), 0).has_value();
    for (const std::string& directory : {hidden_, workspace(), path_})
      if (!directory.empty())
        (void)sys::unlinkat(AT_FDCWD, directory.c_str(), AT_REMOVEDIR).has_value();
  }

  /// In the throw-away workspace.
  result<void> make_protected(const std::string& name) {
    hidden_ = workspace() + "/" + name;
    return sys::mkdirat(AT_FDCWD, hidden_.c_str(), 0700);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string workspace() const { return path_ + "/workspace"; }
  [[nodiscard]] std::string secret() const { return path_ + "/secret"; }
  [[nodiscard]] std::string written() const { return path_ + "/written"; }
  [[nodiscard]] std::string victim() const { return path_ + "/victim"; }
  /// What a command must not have done here.
  [[nodiscard]] bool was_changed() const {
    const auto status = sys::status_at(AT_FDCWD, victim().c_str());
    return sys::status_at(AT_FDCWD, written().c_str()).has_value() || !status ||
           status->mode != victim_mode || status->modified_ns == 0;
  }

private:
  explicit probe_site(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::string hidden_;
};

bool is_within(const std::string& path, const std::string& directory) {
  return directory == "/" || path == directory || path.starts_with(directory + "/");
}

/// Where neither the workspace nor a path of the policy is.
result<probe_site> make_site(const confinement_policy& policy, int workspace) {
  std::vector<std::string> taken;
  if (workspace >= 0) taken.push_back(sys::name_of(workspace));
  for (const auto* paths : {&policy.read_paths, &policy.write_paths})
    for (const std::string& path : *paths)
      taken.push_back(sys::canonical_name(path));
  std::erase(taken, std::string());
  error reason{error_code::unsupported, 0, "probe"};
  for (const char* parent : {"/tmp", "/var/tmp", "/dev/shm"}) {
    const std::string real = sys::canonical_name(parent);
    const bool is_free = !real.empty() && std::ranges::none_of(taken, [&](const auto& path) {
      return is_within(real, path);
    });
    if (!is_free) continue;
    auto made = probe_site::make(real);
    if (made) return made;
    reason = made.error();
  }
  return reason;
}

/// The first hidden entry that is there, and what it is outside of the confinement.
struct hidden_entry {
  std::string path;
  file_status status;
};
hidden_entry find_hidden(const confinement_policy& policy, int workspace) {
  for (const auto& [name, mode, asked] : policy.protected_names) {
    if (mode != protection::hidden) continue;
    if (const auto status = sys::status_at(workspace, name.c_str(), AT_SYMLINK_NOFOLLOW))
      return {sys::name_of(workspace) + "/" + name, *status};
  }
  return {};
}

/// Where nobody connects but a command that reaches this machine; nothing where that cannot be
/// asked.
struct listener {
  file_descriptor socket;
  std::uint16_t port = 0;
  std::uint64_t network = 0; ///< the namespace it is in

  static listener make() {
    constexpr sys::ip_address here{.kind = sys::ip_address::family::v4, .bytes = {127, 0, 0, 1}};
    auto socket = sys::listen_tcp(here, 0);
    if (!socket) return {};
    const auto port = sys::local_port(socket->get());
    if (!port) return {};
    const std::uint64_t network = sys::network_cookie(socket->get());
    return {*std::move(socket), *port, network};
  }
  [[nodiscard]] bool was_reached() const { return socket && sys::accept4(socket.get()); }
};

/// The policy as it is, with nothing refused, and run whatever is missing.
confinement_policy for_trial(confinement_policy policy, const held_helper& helper) {
  for (const confinement_layer layer : confinement_layers)
    if (policy.wanted(layer) != demand::off) policy.wanted(layer) = demand::best_effort;
  // In memory it needs no place among what is visible.
  if (helper.form() == helper_form::opened)
    policy.read_paths.push_back(sys::canonical_name(helper.path));
  return policy;
}

} // namespace

result<confinement_report> probe_confinement(const confinement_policy& policy,
                                             const std::string& helper, int workspace) {
  PADDOCK_TRY(const auto held, hold_helper(helper));
  const std::string system = workspace < 0 ? std::string() : sys::name_of(workspace);
  if (is_of_system(system)) { // the other layers are as they are elsewhere
    auto report = probe_confinement(policy, helper);
    if (report) confine::tell_of_system_directory(*report, system);
    return report;
  }
  PADDOCK_TRY(probe_site site, make_site(policy, workspace));
  file_descriptor own;
  if (workspace < 0) {
    const auto hidden =
        std::ranges::find(policy.protected_names, protection::hidden, &protected_name::mode);
    if (hidden != policy.protected_names.end()) PADDOCK_CHECK(site.make_protected(hidden->name));
    PADDOCK_TRY(own,
                sys::openat(AT_FDCWD, site.workspace().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    workspace = own.get();
  }
  PADDOCK_TRY(const auto memory, sys::shared_memory::make());
  const hidden_entry hidden = find_hidden(policy, workspace);
  const listener outside = listener::make();
  // The environment asks for what only the policy may give.
  const command trial{
      .argv = {"/proc/self/exe", sys::verify_option, site.secret(), site.written(), site.victim(),
               hidden.path, std::to_string(hidden.status.device % sys::verify_modulus),
               std::to_string(hidden.status.inode % sys::verify_modulus),
               std::to_string(sys::process_id()), std::to_string(memory.key()),
               std::to_string(outside.port), std::to_string(outside.network)},
      .environment = {"PATH=/usr/bin:/bin:" + site.path(), "HOME=" + site.path()},
      .working_directory = workspace,
      .confinement = for_trial(policy, *held),
      .helper = helper};
  auto ran = run(trial);
  if (!ran) return static_cast<const error&>(ran.error()); // what it reports is not the policy's
  const command_outcome& outcome = *ran;
  confinement_report report = std::move(ran->confinement);
  const bool changed = site.was_changed();
  const bool reached = outside.was_reached();
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    const bool held_up = outcome.exit_code.has_value() &&
                         (*outcome.exit_code >> static_cast<int>(row.layer) & 1) == 0 &&
                         !(changed && row.layer == confinement_layer::file_system) &&
                         !(reached && row.layer == confinement_layer::network);
    if (!row.applied || held_up) continue;
    row.applied = false;
    row.mechanism.clear();
    row.missing = "a trial showed that it does not hold";
    if (row.layer == confinement_layer::network) report.reach = network_reach::host_network;
    row.remedy.clear();
  }
  return report;
}

} // namespace paddock
