// SPDX-License-Identifier: MIT
#include "exec/command_driver.hpp"
#include "exec/command_run.hpp"
#include "exec/confinement_policy.hpp"
#include "path/directory_moves.hpp"
#include "path/name_rules.hpp"
#include "sys/cancellation.hpp"
#include "sys/process.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;

/// What somebody gives a command to read. It gets a pipe and never the descriptor itself, which
/// would lead out of its root directory: /proc/self/fd opens a file again, to be written.
class input_relay : public command_driver {
public:
  /// Borrows `from`.
  explicit input_relay(int from)
      : from_(from), buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

  [[nodiscard]] confine::run_manner::streams streams() const noexcept override {
    return confine::run_manner::streams::given;
  }
  /// Nothing more is read until the command has taken it.
  [[nodiscard]] int news() const noexcept override {
    const bool wants_more = runs_ && !ended_ && unwritten_.empty();
    return wants_more && !sys::is_background_of(from_) ? from_ : -1;
  }
  void runs() override { runs_ = true; }
  [[nodiscard]] std::optional<std::int64_t> take_stop() override { return std::nullopt; }
  [[nodiscard]] input_state write_input(int fd) override {
    if (unwritten_.empty()) read_more();
    while (!unwritten_.empty()) {
      const auto written = sys::write_quietly(fd, unwritten_);
      if (!written && written.error().os_errno == EAGAIN) return input_state::more;
      if (!written) { // nobody reads it any more
        ended_ = true;
        unwritten_ = {};
        return input_state::closed;
      }
      unwritten_.remove_prefix(*written);
    }
    return ended_ ? input_state::closed : input_state::idle;
  }

private:
  /// What cannot be read has ended.
  void read_more() {
    std::array<pollfd, 1> ready{{{news(), POLLIN, 0}}};
    const auto found = sys::poll(ready, 0);
    if (!found || ready[0].fd < 0 || ready[0].revents == 0) return;
    const auto size = sys::read(from_, {buffer_.get(), buffer_bytes});
    if (!size && size.error().os_errno == EAGAIN) return;
    ended_ = !size || *size == 0;
    if (size) unwritten_ = {buffer_.get(), *size};
  }

  const int from_;
  const std::unique_ptr<char[]> buffer_;
  std::string_view unwritten_; ///< of the buffer
  bool runs_ = false;          ///< an attempt that fails before has taken nothing
  bool ended_ = false;
};

result<void> check_directory(int fd, const char* operation) {
  if (fd < 0) return error{error_code::invalid_argument, 0, operation};
  const auto status = sys::status_at(fd, "");
  if (!status) {
    const int os_errno = status.error().os_errno;
    const bool unusable = os_errno == EBADF;
    return error{unusable ? error_code::invalid_argument : status.error().code, os_errno,
                 operation};
  }
  if (status->kind != entry_kind::directory)
    return error{error_code::not_a_directory, ENOTDIR, operation};
  if (status->links == 0) return error{error_code::not_found, ENOENT, operation};
  return {};
}

result<void> check_command(const command& asked) {
  if (asked.argv.empty() || asked.argv[0].empty() || std::ranges::any_of(asked.argv, has_nul))
    return error{error_code::invalid_argument, 0, "argv"};
  for (const std::string& variable : asked.environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0 || has_nul(variable))
      return error{error_code::invalid_argument, 0, "environment"};
  }
  if (asked.timeout_ms <= 0 || asked.kill_grace_ms < 0)
    return error{error_code::invalid_argument, 0, "timeout"};
  PADDOCK_CHECK(check_directory(asked.working_directory, "working_directory"));
  return asked.workspace < 0 ? result<void>() : check_directory(asked.workspace, "workspace");
}

/// Readable when the call is cancelled; -1: nobody can.
result<int> watched_for(const cancellation* cancel) {
  if (cancel == nullptr) return -1;
  if (cancel->requested()) return error{error_code::cancelled, 0, "cancellation"};
  const auto watched = cancellation_watch::descriptor(*cancel);
  if (!watched) return error{watched.error().code, watched.error().os_errno, "cancellation"};
  return *watched;
}

command_error not_started(const command& asked, const error& reason) {
  return {reason, confine::describe_unknown(asked.confinement, confine::not_started)};
}

std::vector<appeared_entry> described(std::vector<made_entry> made,
                                      const confinement_policy& policy) {
  std::vector<appeared_entry> all;
  for (made_entry& each : made)
    all.push_back({.path = std::move(each.path),
                   .moved_to = std::move(each.moved_to),
                   .os_errno = each.os_errno,
                   .rule = policy.protected_names[each.rule]});
  return all;
}

/// The command, with the watch told that it runs still.
command with_touches(const command& asked, const workspace_watch& watch) {
  command made = asked;
  made.on_tick = [&asked, &watch] {
    watch.touch();
    if (asked.on_tick) asked.on_tick();
  };
  return made;
}

result<command_outcome, command_error> attempt_command(const command& asked, int cancel_fd,
                                                       std::int64_t began, bool again,
                                                       command_driver* by,
                                                       std::vector<made_entry>& left) {
  const int workspace = asked.workspace < 0 ? asked.working_directory : asked.workspace;
  if (asked.confinement.file_system == demand::required)
    if (const std::string path = sys::name_of(workspace); is_of_system(path)) {
      auto refusal = not_started(asked, {error_code::confinement_unavailable, 0, "confinement"});
      confine::tell_of_system_directory(refusal.confinement, path);
      return refusal;
    }
  std::shared_lock starting(directory_moves());
  auto watch = confine::watch(workspace, asked.confinement,
                              {.whole = asked.confinement.protected_entries == demand::required,
                               .again = again,
                               .makes_own = by == nullptr || asked.input >= 0,
                               .state_directory = asked.state_directory});
  if (!watch) return not_started(asked, watch.error());
  std::ranges::move(watch->take_left(), std::back_inserter(left));
  if (confine::is_refused_for(watch->entries(), asked.confinement)) {
    auto refusal = not_started(asked, {error_code::confinement_unavailable, 0, "confinement"});
    refusal.confinement.of(confinement_layer::protected_entries).missing = watch->entries().unseen;
    return refusal;
  }
  changed_settings settings(workspace, watch->entries().list);
  auto running = start(asked, watch->entries(), by);
  if (!running) {
    auto refusal = not_started(asked, running.error());
    if (refusal.operation == std::string_view(hosts_unreachable))
      confine::tell_of_no_hosts(refusal.confinement, asked.confinement.hosts, refusal.os_errno);
    return refusal;
  }
  std::optional<command> touching;
  if (watch->is_noted()) touching = with_touches(asked, *watch);
  auto outcome = command_run(touching ? *touching : asked, watch->entries(), settings,
                             *std::move(running), cancel_fd, began, std::move(starting), by)
                     .finish();
  auto made = watch->sweep_repositories(workspace);
  if (!outcome) return outcome;
  outcome->repositories_unseen = !made.complete;
  outcome->repositories_contested = !made.alone;
  if (outcome->confinement.of(confinement_layer::protected_entries).applied)
    for (const protected_entry& each : watch->entries().list)
      if (each.how == sys::exec_entry::read_only_name) outcome->read_only.push_back(each.path);
  std::ranges::move(left, std::back_inserter(made.moved));
  std::ranges::move(described(std::move(made.moved), asked.confinement),
                    std::back_inserter(outcome->moved_aside));
  return outcome;
}

} // namespace

std::vector<appeared_entry> end_killed_commands(int workspace, const confinement_policy& policy,
                                                const std::string& state_directory) {
  if (policy.protected_entries == demand::off || !has_left_marks(workspace, state_directory))
    return {};
  auto watch = confine::watch(workspace, policy, {.state_directory = state_directory});
  if (!watch) return {};
  return described(watch->take_left(), policy);
}

void end_moves(int workspace, const std::vector<std::string>& places, std::string& said,
               const confinement_policy& policy) {
  const bool is_harmless = std::ranges::all_of(places, [&](const std::string& place) {
    const auto now = sys::status_at(workspace, place.c_str(), AT_SYMLINK_NOFOLLOW);
    return now && now->kind == entry_kind::file;
  });
  if (is_harmless) return;
  const auto watch = confine::watch(workspace, policy, {.makes_own = false});
  if (!watch) return;
  for (const appeared_entry& each : described(watch->sweep_repositories(workspace).moved, policy))
    said.append(said.empty() ? "" : "; ").append(describe(each));
}

result<command_outcome, command_error>
run_attended(const command& command, const cancellation* cancel, command_driver* by) {
  const std::int64_t began = sys::monotonic_ms();
  const auto cancel_fd = check_command(command).and_then([&] { return watched_for(cancel); });
  if (!cancel_fd) return not_started(command, cancel_fd.error());
  // What was to be protected may have been moved before it could be: then it is looked for again.
  constexpr unsigned attempts_max = 8;
  std::vector<made_entry> left; // of commands whose processes were killed
  for (unsigned count = 0; count < attempts_max; ++count) {
    auto outcome = attempt_command(command, *cancel_fd, began, count > 0, by, left);
    if (outcome || outcome.error().code != error_code::confinement_unavailable ||
        outcome.error().os_errno != ESTALE)
      return outcome;
  }
  return not_started(command, {error_code::conflict, ESTALE, "workspace"});
}

result<command_outcome, command_error> run(const command& command, const cancellation* cancel) {
  if (command.input < 0) return run_attended(command, cancel, nullptr);
  input_relay relay(command.input);
  return run_attended(command, cancel, &relay);
}

std::string explain(const command_error& e) {
  if (std::string_view(e.operation) == "helper")
    if (std::string missing = missing_helper_text(); !missing.empty()) return missing;
  std::string said(text(e.code));
  if (e.code != error_code::confinement_unavailable) return said + " (" + e.operation + ")";
  if (const std::string unmet = e.confinement.unmet(); !unmet.empty())
    said += ":" + unmet;
  else // it was refused all the same
    said += ": " + shortfall(e.confinement.of(confinement_layer::file_system));
  const std::string remedies = e.confinement.remedies();
  return remedies.empty() ? said : said + "; " + remedies;
}

} // namespace paddock
