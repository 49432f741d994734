// SPDX-License-Identifier: MIT
#include "exec/piped_program.hpp"

#include "base/later.hpp"
#include "exec/confinement_policy.hpp"
#include "exec/held_helper.hpp"
#include "exec/search_path.hpp"
#include "sys/process.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

/// How much later than promised a supervisor may end before it counts as stuck.
constexpr std::int64_t supervisor_late_ms_max = 2'000;

result<void, detailed_error> check_start(const piped_start& asked) {
  const auto refuse = [&](const char* operation, const char* text) {
    return detailed_error({error_code::invalid_argument, 0, operation}, text);
  };
  if (asked.argv.empty() || asked.argv.front().empty())
    return refuse("argv", "no program is given");
  if (std::ranges::any_of(asked.argv, has_nul))
    return refuse("argv", "an argument of the program contains a NUL byte");
  for (const std::string& variable : asked.environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0 || has_nul(variable))
      return refuse("environment", "a variable of the environment is not NAME=value");
  }
  return {};
}

std::string_view variable(const std::vector<std::string>& environment, std::string_view name) {
  std::string_view value;
  for (const std::string_view entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      value = entry.substr(name.size() + 1);
  return value;
}

result<std::string> find_program(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) return name;
  for (const std::string_view entry : absolute_entries(path)) {
    std::string candidate = std::string(entry) + "/" + name;
    if (is_runnable(candidate)) return candidate;
  }
  return error{error_code::not_found, ENOENT, "execve"};
}

std::string start_text(const std::string& program, error reason) {
  std::string text = program + " cannot be started: ";
  if (reason.code == error_code::confinement_unavailable)
    text += paddock::text(reason.code);
  else
    text += reason.os_errno != 0 ? std::strerror(reason.os_errno) : paddock::text(reason.code);
  return text;
}

/// What the kernel says of a program without saying what of it.
std::string advice(error reason) {
  if (reason.os_errno == ENOENT)
    return "; check its path, the program after #! in its first line, and that its confinement "
           "lets it see both";
  return reason.os_errno == EACCES ? "; check that it may be executed (chmod +x)" : "";
}

/// Of `helper`, which is empty where it is looked for.
std::string helper_text(const std::string& helper, error reason) {
  std::string missing = helper.empty() ? missing_helper_text() : std::string();
  return missing.empty() ? start_text("paddock-exec-helper", reason) : missing;
}

result<std::string, detailed_error> find_or_explain(const piped_start& asked) {
  auto found = find_program(asked.argv.front(), variable(asked.environment, "PATH"));
  if (found) return *std::move(found);
  return detailed_error(found.error(),
                        "there is no program " + asked.argv.front() + " in the PATH it is given");
}

/// The helper that can supervise a program which nobody asked to confine; nothing where there is
/// none.
std::optional<std::string> helper_for(const piped_start& asked) {
  if (!asked.helper.empty()) return asked.helper;
  auto found = find_command_helper();
  return found ? std::optional(*std::move(found)) : std::nullopt;
}

} // namespace

result<piped_program, detailed_error> piped_program::start(const piped_start& asked) {
  PADDOCK_CHECK(check_start(asked));
  PADDOCK_TRY(auto in, sys::socketpair(SOCK_STREAM));
  PADDOCK_TRY(auto out, sys::pipe2(0));
  PADDOCK_TRY(auto err, sys::pipe2(0));
  PADDOCK_CHECK(sys::set_nonblocking(out.first.get()));
  PADDOCK_CHECK(sys::set_nonblocking(err.first.get()));
  piped_program program;
  program.grace_ms_ = asked.kill_grace_ms;
  program.name_ = asked.argv.front();
  const int streams[] = {in.second.get(), out.second.get(), err.second.get()};
  const auto supervise = [&](const confinement_policy& confinement, const std::string& helper) {
    return program.start_supervised(asked, confinement, helper, streams[0], streams[1], streams[2]);
  };
  if (asked.confinement) {
    PADDOCK_CHECK(supervise(*asked.confinement, asked.helper));
  } else if (const auto helper = helper_for(asked)) {
    PADDOCK_CHECK(find_or_explain(asked)); // what is plainly wrong is said at once
    PADDOCK_CHECK(supervise(confinement_policy::host(), *helper));
  } else {
    PADDOCK_CHECK(program.start_alone(asked, streams[0], streams[1], streams[2]));
  }
  program.input = std::move(in.first);
  program.output = std::move(out.first);
  program.errors = std::move(err.first);
  return program;
}

result<void, detailed_error> piped_program::start_alone(const piped_start& asked, int in, int out,
                                                        int err) {
  PADDOCK_TRY(const std::string path, find_or_explain(asked));
  file_descriptor directory;
  if (!asked.working_directory.empty()) {
    auto opened = sys::openat(AT_FDCWD, asked.working_directory.c_str(), O_PATH | O_DIRECTORY);
    if (!opened)
      return detailed_error(opened.error(), start_text("the working directory", opened.error()));
    directory = *std::move(opened);
  }
  auto child = sys::spawn_standalone({.path = path.c_str(),
                                      .argv = pointers_to(asked.argv).data(),
                                      .envp = pointers_to(asked.environment).data(),
                                      .in = in,
                                      .out = out,
                                      .err = err,
                                      .working_directory = directory.get()});
  if (!child) return detailed_error(child.error(), start_text(path, child.error()));
  alone_ = *std::move(child);
  return {};
}

result<void, detailed_error> piped_program::start_supervised(const piped_start& asked,
                                                             const confinement_policy& confinement,
                                                             const std::string& helper, int in,
                                                             int out, int err) {
  const char* where = asked.working_directory.empty() ? "." : asked.working_directory.c_str();
  const auto directory = sys::openat(AT_FDCWD, where, O_PATH | O_DIRECTORY);
  if (!directory)
    return detailed_error(directory.error(),
                          start_text("the working directory", directory.error()));
  const auto refused = [&](const std::string& why) {
    return detailed_error({error_code::confinement_unavailable, 0, "confinement"},
                          start_text(asked.argv.front(), {error_code::confinement_unavailable}) +
                              ": " + why);
  };
  if (confinement.file_system == demand::required)
    if (const std::string path = sys::name_of(directory->get()); is_of_system(path))
      return refused("the working directory is " + path +
                     ", which belongs to the system; choose another one");
  auto watch = confine::watch(directory->get(), confinement,
                              {.whole = true, .makes_own = false, .sweeps = false});
  if (!watch)
    return detailed_error(watch.error(), start_text("the working directory", watch.error()));
  if (confine::is_refused_for(watch->entries(), confinement))
    return refused(watch->entries().unseen);
  watch_.emplace(*std::move(watch));
  auto started = supervised_program::start({.argv = asked.argv,
                                            .environment = asked.environment,
                                            .in = in,
                                            .out = out,
                                            .err = err,
                                            .working_directory = directory->get(),
                                            .workspace = directory->get(),
                                            .confinement = confinement,
                                            .entries = watch_->entries(),
                                            .kill_grace_ms = asked.kill_grace_ms,
                                            .helper = helper});
  if (!started) return detailed_error(started.error(), helper_text(asked.helper, started.error()));
  supervised_.emplace(*std::move(started));
  return {};
}

piped_program::~piped_program() {
  if (process().handle) kill();
}

/// What a supervisor has told so far.
void piped_program::take_events() {
  if (!supervised_ || !supervised_->channel) return;
  char bytes[256];
  static_assert(sizeof bytes > sizeof(sys::exec_message) &&
                sizeof bytes > sizeof(sys::exec_confined));
  for (;;) {
    const auto size = sys::recv_nowait(supervised_->channel.get(), bytes);
    if (!size || *size == 0) return;
    if (*size != sizeof(sys::exec_message)) continue;
    sys::exec_message message;
    std::memcpy(&message, bytes, sizeof message);
    if (message.event == sys::exec_event::failed)
      start_failure_ = supervised_program::start_error(message);
    if (message.event == sys::exec_event::ended) wait_status_ = message.first;
  }
}

std::optional<error> piped_program::start_failure() {
  take_events();
  return start_failure_;
}

std::string piped_program::describe_end() {
  take_events();
  if (!supervised_) return sys::describe_end(alone_);
  if (start_failure_)
    return "did not start: " + start_text(name_, *start_failure_) + advice(*start_failure_);
  if (!wait_status_) return {};
  return sys::describe_wait_status(*wait_status_);
}

/// The number of a group whose leader has been forgotten may be another's by now.
void piped_program::signal_group(int number) const noexcept {
  if (!sys::pidfd_send_signal(alone_.handle.get(), 0)) return;
  (void)sys::kill_group(alone_.id, number).has_value();
}

void piped_program::terminate() {
  if (supervised_) return supervised_->terminate();
  signal_group(SIGTERM);
  signal_group(SIGCONT); // a stopped process takes the other one only when it goes on
}

std::int64_t piped_program::terminate_ms_max() const noexcept {
  return supervised_ ? later(sys::tree_end_ms_max + supervisor_late_ms_max, grace_ms_) : grace_ms_;
}

void piped_program::kill() noexcept {
  if (supervised_) {
    supervised_.reset();
  } else if (alone_.handle) {
    signal_group(SIGKILL); // before the leader is reaped, while its number is surely its own
    sys::wait(alone_);
    alone_.handle.reset();
  }
}

} // namespace paddock
