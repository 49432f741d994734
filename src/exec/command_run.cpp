// SPDX-License-Identifier: MIT
#include "exec/command_run.hpp"

#include "base/later.hpp"
#include "exec/confinement_policy.hpp"
#include "path/name_rules.hpp"
#include "sys/process.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t read_buffer_bytes = 64UL * 1024;
/// What a process outside the tree that was handed a pipe may still write is not waited for longer
/// than this.
constexpr std::int64_t drain_ms_max = 300;
/// How much later than promised the helper may report before it counts as stuck.
constexpr std::int64_t helper_late_ms_max = 2'000;
constexpr std::int64_t tick_ms = 200;

static_assert(moved_aside_mark == sys::moved_aside_mark);

constexpr std::string_view in_repository = "/.git/";

bool has_entry(int workspace, const std::string& path) {
  return sys::status_at(workspace, path.c_str(), AT_SYMLINK_NOFOLLOW).has_value();
}

/// Of those with something protected. The workspace itself is none that a command could remove.
std::vector<std::string> whole_repositories(int workspace, const entries_to_protect& entries) {
  std::vector<std::string> found;
  for (const protected_entry& each : entries.list) {
    const auto at = each.path.rfind(in_repository);
    if (at == std::string::npos) continue;
    std::string repository = each.path.substr(0, at);
    if (found.empty() || found.back() != repository) found.push_back(std::move(repository));
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase_if(found, [&](const std::string& repository) {
    return !has_entry(workspace, repository + "/.git/HEAD");
  });
  return found;
}

} // namespace

command_run::command_run(const command& asked, const entries_to_protect& entries,
                         changed_settings& settings, started_command running, int cancel_fd,
                         std::int64_t began, std::shared_lock<std::shared_timed_mutex> starting,
                         command_driver* by)
    : asked_(asked), entries_(entries),
      workspace_(asked.workspace < 0 ? asked.working_directory : asked.workspace),
      repositories_(whole_repositories(workspace_, entries)), running_(std::move(running)), by_(by),
      cancel_fd_(cancel_fd), began_(began), starting_(std::move(starting)),
      wake_at_(later(began, asked.timeout_ms)),
      buffer_(std::make_unique_for_overwrite<char[]>(read_buffer_bytes)),
      out_(asked.out == capture::keep ? asked.output_bytes_max : 0),
      err_(asked.err == capture::keep ? asked.output_bytes_max : 0), settings_(settings),
      calls_(workspace_, entries, asked.confinement.write_paths) {}

/// Waits for the next thing to happen; false when there is nothing more to wait for.
bool command_run::step() {
  held_egress* const egress = running_.program.egress();
  std::array<pollfd, 8> events{
      {{running_.program.channel.get(), POLLIN, 0},
       {running_.out.get(), POLLIN, 0},
       {running_.err.get(), POLLIN, 0},
       {phase_ == phase::running ? cancel_fd_ : -1, POLLIN, 0},
       {by_ != nullptr && phase_ != phase::draining ? by_->news() : -1, POLLIN, 0},
       {input_ == input_state::more ? running_.in.get() : -1, POLLOUT, 0},
       {calls_.listener(), POLLIN, 0},
       {egress != nullptr ? egress->news() : -1, POLLIN, 0}}};
  std::int64_t wait_ms = std::max<std::int64_t>(0, wake_at_ - sys::monotonic_ms());
  if (asked_.on_tick) wait_ms = std::min(wait_ms, tick_ms);
  if (const auto ready = sys::poll(events, wait_ms); !ready) {
    give_up(ready.error());
    return false;
  }
  if (asked_.on_tick) asked_.on_tick();
  if (events[7].revents != 0) take_network_events(*egress);
  if (events[6].revents != 0) calls_.answer(events[6].revents);
  if (events[1].revents != 0) take_output(output_stream::out, running_.out, out_);
  if (events[2].revents != 0) take_output(output_stream::err, running_.err, err_);
  if (events[0].revents != 0) take_event();
  if (events[4].revents != 0) take_news();
  if (events[5].revents != 0) give_input();
  if (events[3].revents != 0 && phase_ == phase::running && !ended_) stop(ending::cancelled);
  if (sys::monotonic_ms() >= wake_at_) time_passed();
  return phase_ != phase::draining || running_.out || running_.err;
}

void command_run::time_passed() {
  switch (phase_) {
  case phase::running:
    stop(ending::timed_out);
    break;
  case phase::ending:
    running_.program.signal(SIGKILL); // then the channel ends
    wake_at_ = later(wake_at_, helper_late_ms_max);
    break;
  case phase::draining:
    running_.out.reset();
    running_.err.reset();
    break;
  }
}

void command_run::stop(ending why) {
  stopped_ = why;
  phase_ = phase::ending;
  wake_at_ = later(sys::monotonic_ms(),
                   later(sys::tree_end_ms_max + helper_late_ms_max, asked_.kill_grace_ms));
  running_.program.terminate();
}

void command_run::take_news() {
  const auto grace_ms = by_->take_stop();
  const bool sooner = grace_ms && (!grace_ms_ || *grace_ms < *grace_ms_);
  if (sooner && phase_ != phase::draining && !ended_) {
    grace_ms_ = grace_ms;
    stopped_ = stopped_.value_or(ending::cancelled);
    phase_ = phase::ending;
    wake_at_ =
        later(sys::monotonic_ms(), later(sys::tree_end_ms_max + helper_late_ms_max, *grace_ms));
    running_.program.terminate(*grace_ms);
  }
  give_input();
}

void command_run::give_input() {
  if (!running_.in) return;
  input_ = by_->write_input(running_.in.get());
  if (input_ == input_state::closed) running_.in.reset();
}

/// It is input and output in one.
void command_run::take_terminal(file_descriptor library_side) {
  auto input = sys::duplicate(library_side.get());
  if (!input) return give_up(input.error());
  if (const auto set = sys::set_nonblocking(library_side.get()); !set) return give_up(set.error());
  running_.in = *std::move(input);
  running_.out = std::move(library_side);
  give_input();
}

void command_run::take_passed(const sys::exec_message& message, file_descriptor passed) {
  if (message.event == sys::exec_event::settings)
    return settings_.take(static_cast<std::uint32_t>(message.first), std::move(passed));
  if (message.event == sys::exec_event::scratch) return calls_.take_scratch(std::move(passed));
  if (message.event != sys::exec_event::listener) return take_terminal(std::move(passed));
  watches_links_ = message.first != 0;
  calls_.take_listener(std::move(passed), running_.program.helper.id, message.second);
}

void command_run::take_event() {
  union {
    sys::exec_message message;
    sys::exec_confined confined;
    sys::exec_appeared appeared;
    sys::exec_appeared_elsewhere elsewhere;
  } received;
  static_assert(sizeof received.message != sizeof received.confined &&
                sizeof received.message != sizeof received.appeared &&
                sizeof received.confined != sizeof received.appeared &&
                sizeof received.elsewhere > sizeof received.confined &&
                sizeof received.elsewhere > sizeof received.message);
  const std::span<char> bytes(reinterpret_cast<char*>(&received), sizeof received);
  file_descriptor passed;
  const int channel = running_.program.channel.get();
  const auto size = sys::recv_nowait(channel, bytes, passed);
  if (!size && size.error().os_errno == EAGAIN) return;
  if (starting_) starting_.unlock();
  if (!size && size.error().os_errno != ECONNRESET) // it died without having read everything
    give_up(size.error());
  else if (size && *size == sizeof received.message && passed)
    take_passed(received.message, std::move(passed));
  else if (size && *size == sizeof received.message)
    apply(received.message);
  else if (size && *size == sizeof received.confined)
    note_confinement(received.confined);
  else if (size && *size == sizeof received.appeared)
    apply(received.appeared);
  else if (size && *size == sizeof received.elsewhere)
    apply(received.elsewhere);
  else
    supervisor_lost();
}

void command_run::note_confinement(const sys::exec_confined& told) {
  outcome_.confinement = confine::describe(asked_.confinement, told.taken);
  layer_report& row = outcome_.confinement.of(confinement_layer::protected_entries);
  if (row.applied && !entries_.unseen.empty()) {
    row.applied = false;
    row.missing = entries_.unseen;
    row.remedy.clear(); // what was not seen says what to do
  }
  if (row.applied && row.missing.empty() && told.unheld != 0)
    row.missing = "more repositories than this process may have files open: what appears in one "
                  "of the others is not found once the command has moved that one; raise the limit "
                  "(ulimit -n)";
  if (const std::string path = sys::name_of(workspace_); is_of_system(path))
    confine::tell_of_system_directory(outcome_.confinement, path);
}

void command_run::apply(const sys::exec_appeared& told) {
  if (told.index >= entries_.list.size()) return;
  const std::string path = entries_.list[told.index].path.substr(0, told.bytes);
  switch (told.how) {
  case sys::appearance::moved:
    return note_appeared(path, told);
  case sys::appearance::uncovered:
    return outcome_.uncovered.push_back(path);
  case sys::appearance::led_elsewhere:
    return outcome_.led_elsewhere.push_back(path);
  }
}

void command_run::apply(const sys::exec_appeared_elsewhere& told) {
  const std::string_view all(told.path, sizeof told.path);
  const std::string_view path = all.substr(0, all.find(char{}));
  note_appeared(std::string(path), told.what);
}

void command_run::note_appeared(const std::string& path, const sys::exec_appeared& told) {
  appeared_entry entry{.path = path, .moved_to = {}, .os_errno = told.os_errno, .rule = {}};
  const auto& rules = asked_.confinement.protected_names;
  const std::size_t rule =
      told.index < entries_.list.size() ? entries_.list[told.index].rule : SIZE_MAX;
  if (rule == rule_of_git)
    entry.rule.name = git_own_name;
  else if (rule < rules.size())
    entry.rule = rules[rule];
  if (told.os_errno == 0) {
    std::array<char, 17> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%08x%08x", told.suffix[0], told.suffix[1]);
    entry.moved_to = path + sys::moved_aside_mark + digits.data();
  }
  outcome_.moved_aside.push_back(std::move(entry));
}

void command_run::apply(const sys::exec_message& message) {
  switch (message.event) {
  case sys::exec_event::started:
    started_ = true;
    process_group_ = message.first;
    break;
  case sys::exec_event::failed:
    failed_ = supervised_program::start_error(message);
    break;
  case sys::exec_event::ended:
    ended_ = true;
    if (WIFEXITED(message.first))
      outcome_.exit_code = WEXITSTATUS(message.first);
    else
      outcome_.signal = WTERMSIG(message.first);
    outcome_.supervisor_killed = message.second != 0;
    if (phase_ == phase::running) { // the deadline was for the command; the tree has its own
      phase_ = phase::ending;
      wake_at_ = later(sys::monotonic_ms(), sys::tree_end_ms_max + helper_late_ms_max);
    }
    break;
  case sys::exec_event::strayed:
    outcome_.strayed =
        sys::name_of(workspace_).substr(0, static_cast<std::size_t>(std::max(0, message.first)));
    break;
  case sys::exec_event::confined:
  case sys::exec_event::appeared: // have sizes of their own
  case sys::exec_event::terminal: // and these a descriptor
  case sys::exec_event::settings:
  case sys::exec_event::listener:
  case sys::exec_event::scratch:
    break;
  case sys::exec_event::runs:
    if (by_ != nullptr && !failed_) by_->runs();
    break;
  case sys::exec_event::done:
    switch (static_cast<sys::tree_remains>(message.first)) {
    case sys::tree_remains::nothing:
      outcome_.kill = tree_kill::not_needed;
      break;
    case sys::tree_remains::nothing_killed:
      outcome_.kill = tree_kill::subreaper;
      break;
    case sys::tree_remains::namespace_killed:
      outcome_.kill = tree_kill::pid_namespace;
      break;
    case sys::tree_remains::group_killed:
      outcome_.kill = tree_kill::control_group;
      break;
    case sys::tree_remains::unknown:
      outcome_.kill = tree_kill::process_group;
      break;
    }
    outcome_.leftovers_killed = message.second != 0;
    start_draining();
    break;
  }
}

/// The helper was killed. Its death kills the command and the command's parent; daemons in other
/// groups are out of reach.
void command_run::supervisor_lost() {
  if (!started_) {
    if (!failed_) failed_ = error{error_code::unsupported, 0, "helper"};
  } else {
    if (process_group_ != 0) (void)sys::kill_group(process_group_, SIGKILL).has_value();
    outcome_.supervisor_killed = true;
    outcome_.kill = process_group_ == 0 ? tree_kill::pid_namespace : tree_kill::process_group;
    if (!ended_) outcome_.signal = SIGKILL;
  }
  start_draining();
}

/// This process cannot follow the command any more. Closing the channel makes the helper kill it.
void command_run::give_up(const error& reason) {
  failed_ = reason;
  running_.out.reset();
  running_.err.reset();
  start_draining();
}

void command_run::start_draining() {
  phase_ = phase::draining;
  running_.program.channel.reset();
  running_.in.reset();
  input_ = input_state::closed;
  wake_at_ = later(sys::monotonic_ms(), drain_ms_max);
}

void command_run::take_output(output_stream stream, file_descriptor& from, output_collector& into) {
  const auto size = sys::read(from.get(), {buffer_.get(), read_buffer_bytes});
  if (!size && size.error().os_errno == EAGAIN) return;
  if (!size || *size == 0) {
    from.reset();
    return;
  }
  const std::string_view bytes(buffer_.get(), *size);
  if (starting_) starting_.unlock();
  if (asked_.on_output) asked_.on_output(stream, bytes);
  into.append(bytes);
}

/// Reported once, by whichever command of the workspace comes first.
void command_run::take_network_events(held_egress& egress) {
  for (const network_event& each : egress.take_new())
    if (asked_.confinement.on_network) asked_.confinement.on_network(each);
}

result<command_outcome, command_error> command_run::finish() && {
  outcome_.confinement = confine::describe_unknown(asked_.confinement, "the helper did not say");
  if (by_ != nullptr) take_news(); // of before, and of an attempt that has failed
  while (step()) {
  }
  if (failed_) {
    if (const std::string path = sys::name_of(workspace_); is_of_system(path))
      confine::tell_of_system_directory(outcome_.confinement, path);
    return command_error(*failed_, std::move(outcome_.confinement));
  }
  outcome_.ended = stopped_.value_or(outcome_.exit_code ? ending::exited : ending::signalled);
  outcome_.made_no_links = watches_links_ && !calls_.met_link();
  outcome_.out = std::move(out_).finish();
  outcome_.err = std::move(err_).finish();
  for (const std::string& each : repositories_)
    if (has_entry(workspace_, each + "/.git") && !has_entry(workspace_, each + "/.git/HEAD"))
      outcome_.emptied.push_back(each);
  outcome_.unsaved_settings = settings_.carry_over();
  if (held_egress* const egress = running_.program.egress()) {
    outcome_.network = egress->since(running_.program.network_mark);
    take_network_events(*egress);
  }
  outcome_.duration_ms = sys::monotonic_ms() - began_;
  return std::move(outcome_);
}

} // namespace paddock
