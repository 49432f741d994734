// SPDX-License-Identifier: MIT
#include "sys/exec_protocol.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/command.hpp>
#include <paddock/confinement.hpp>

#include <fcntl.h>

#include <array>
#include <utility>

namespace paddock {
namespace {

/// A directory with a workspace that has a protected entry, and with a file outside the workspace.
class probe_site {
public:
  static result<probe_site> make() {
    std::array<char, 8> random;
    PADDOCK_CHECK(sys::getrandom(random));
    std::string name = "/tmp/paddock-probe-";
    for (const char byte : random) {
      name += static_cast<char>('a' + (byte & 15));
      name += static_cast<char>('a' + (byte >> 4 & 15));
    }
    PADDOCK_CHECK(sys::mkdirat(AT_FDCWD, name.c_str(), 0700));
    probe_site site(std::move(name));
    PADDOCK_CHECK(sys::mkdirat(AT_FDCWD, (site.path() + "/workspace").c_str(), 0700));
    PADDOCK_CHECK(sys::mkdirat(AT_FDCWD, (site.path() + "/workspace/protected").c_str(), 0700));
    for (const std::string& file : {site.secret(), site.protected_file()}) {
      constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
      PADDOCK_TRY(const auto made, sys::openat(AT_FDCWD, file.c_str(), flags, 0600));
    }
    return site;
  }
  probe_site(probe_site&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  probe_site& operator=(probe_site&&) = delete;
  probe_site(const probe_site&) = delete;
  probe_site& operator=(const probe_site&) = delete;
  ~probe_site() {
    if (path_.empty()) return;
    for (const std::string& file : {secret(), written(), protected_file()})
      (void)sys::unlinkat(AT_FDCWD, file.c_str(), 0).has_value();
    for (const char* directory : {"/workspace/protected", "/workspace", ""})
      (void)sys::unlinkat(AT_FDCWD, (path_ + directory).c_str(), AT_REMOVEDIR).has_value();
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string workspace() const { return path_ + "/workspace"; }
  [[nodiscard]] std::string secret() const { return path_ + "/secret"; }
  [[nodiscard]] std::string written() const { return path_ + "/written"; }
  [[nodiscard]] std::string protected_file() const { return path_ + "/workspace/protected/file"; }

private:
  explicit probe_site(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace

result<confinement_report> probe_confinement(const confinement_policy& policy,
                                             const std::string& helper) {
  PADDOCK_TRY(const std::string program,
              helper.empty() ? find_command_helper() : result<std::string>(helper));
  PADDOCK_TRY(const probe_site site, probe_site::make());
  PADDOCK_TRY(const auto workspace,
              sys::openat(AT_FDCWD, site.workspace().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  PADDOCK_TRY(const auto memory, sys::shared_memory::make());
  command trial{.argv = {program, sys::verify_option, site.secret(), site.written(),
                         site.protected_file(), std::to_string(sys::process_id()),
                         std::to_string(memory.key())},
                .environment = {"PATH=/usr/bin:/bin"},
                .working_directory = workspace.get(),
                .confinement = policy,
                .helper = program};
  for (const confinement_layer layer : confinement_layers)
    if (policy.wanted(layer) != demand::off) trial.confinement.wanted(layer) = demand::best_effort;
  trial.confinement.read_paths = {program};
  trial.confinement.write_paths = {};
  trial.confinement.protected_names = {"protected"};
  PADDOCK_TRY(command_outcome outcome, run(trial));
  confinement_report report = std::move(outcome.confinement);
  const bool wrote = sys::status_at(AT_FDCWD, site.written().c_str()).has_value();
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    const bool held = outcome.exit_code.has_value() &&
                      (*outcome.exit_code >> static_cast<int>(row.layer) & 1) == 0 &&
                      !(wrote && row.layer == confinement_layer::file_system);
    if (!row.applied || held) continue;
    row.applied = false;
    row.mechanism.clear();
    row.missing = "a trial showed that it does not hold";
  }
  return report;
}

} // namespace paddock
