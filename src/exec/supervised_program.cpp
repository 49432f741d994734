// SPDX-License-Identifier: MIT
#include "exec/supervised_program.hpp"

#include "exec/confinement_policy.hpp"
#include "exec/held_helper.hpp"
#include "exec/held_scratch.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#ifndef PADDOCK_HELPER_DIRECTORY
#error "define PADDOCK_HELPER_DIRECTORY: where paddock-exec-helper is installed"
#endif

namespace paddock {
namespace {

constexpr const char* helper_name = "paddock-exec-helper";

/// Where it is looked for, in order.
std::vector<std::string> helper_directories() {
  const auto program = sys::executable_path();
  return helper_directories_of(program ? *program : "");
}

} // namespace

std::vector<std::string> helper_directories_of(std::string_view program) {
  std::vector<std::string> directories;
  // Nothing relative: the current directory must not decide what confines.
  if (is_absolute(program)) {
    const std::string_view own = parent(program);
    directories.emplace_back(own);
    directories.push_back(join(parent(own), "libexec/paddock"));
  }
  if (is_absolute(PADDOCK_HELPER_DIRECTORY)) directories.emplace_back(PADDOCK_HELPER_DIRECTORY);
  return directories;
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

result<std::string> find_command_helper() {
  for (const std::string& directory : helper_directories()) {
    std::string place = join(directory, helper_name);
    if (sys::faccessat(AT_FDCWD, place.c_str(), X_OK)) return place;
  }
  return error{error_code::unsupported, ENOENT, "helper"};
}

std::string missing_helper_text() {
  if (find_command_helper()) return {};
  std::string places;
  for (const std::string& directory : helper_directories())
    places += (places.empty() ? "" : ", ") + ("not in " + directory);
  return std::string(helper_name) + " is missing: it is " + places +
         "; copy it to one of them from the build (tools/) or the package that this program came "
         "from, or compile it there from paddock_exec_helper.cpp";
}

error supervised_program::start_error(const sys::exec_message& failed) {
  const int os_errno = failed.second;
  switch (static_cast<sys::exec_stage>(failed.first)) {
  case sys::exec_stage::working_directory:
    return {sys::code_of(os_errno), os_errno, "working_directory"};
  case sys::exec_stage::confinement:
    return {error_code::confinement_unavailable, os_errno, "confinement"};
  case sys::exec_stage::interpreter:
    return {error_code::not_found, os_errno, "interpreter"};
  case sys::exec_stage::terminal:
    return {error_code::unsupported, os_errno, "terminal"};
  case sys::exec_stage::execve:
    if (os_errno == ENOEXEC) return {error_code::unsupported_type, os_errno, "execve"};
    if (os_errno == ETXTBSY) return {error_code::conflict, os_errno, "execve"};
    return {sys::code_of(os_errno), os_errno, "execve"};
  case sys::exec_stage::helper:
    break;
  }
  const error_code code = sys::code_of(os_errno);
  return {code == error_code::too_many ? code : error_code::unsupported, os_errno, "helper"};
}

result<supervised_program> supervised_program::start(const supervised_start& asked) {
  PADDOCK_TRY(const auto program, hold_helper(asked.helper));
  PADDOCK_TRY(auto channel, sys::socketpair(SOCK_SEQPACKET));
  PADDOCK_TRY(const auto directory, sys::duplicate(asked.working_directory));
  PADDOCK_TRY(const auto workspace, sys::duplicate(asked.workspace));
  const auto loopback = confine::wants_loopback(asked.confinement)
                            ? loopback_of(asked.confinement, asked.workspace, asked.helper)
                            : std::make_shared<const own_loopback>();
  if (asked.confinement.reach == network_reach::hosts && !loopback->egress &&
      asked.confinement.wanted(confinement_layer::network) == demand::required)
    return error{error_code::confinement_unavailable, loopback->os_errno, hosts_unreachable};
  const session_mounts scratch = session_mounts_of(asked.confinement, asked.workspace);
  PADDOCK_TRY(const std::string policy_bytes,
              confine::encode(asked.confinement, asked.entries, asked.manner,
                              {loopback->os_errno, scratch.os_errno, scratch.directory}));
  PADDOCK_TRY(const auto policy, sys::sealed_memory(policy_bytes));
  file_descriptor in;
  if (asked.in < 0) {
    PADDOCK_TRY(const auto nothing, sys::openat(AT_FDCWD, "/dev/null", O_RDONLY));
    PADDOCK_TRY(in, sys::duplicate(nothing.get()));
  }

  std::vector<int> inherited{channel.second.get(), in ? in.get() : asked.in, asked.out,   asked.err,
                             directory.get(),      workspace.get(),          policy.get()};
  std::vector<std::string> options{helper_name};
  for (const int fd : inherited)
    options.push_back(std::to_string(fd));
  const auto number_of = [](const file_descriptor* fd) { return fd && *fd ? fd->get() : -1; };
  for (const int fd : {number_of(&loopback->user), number_of(&loopback->network),
                       number_of(scratch.user), number_of(scratch.mounts), asked.lock}) {
    if (fd >= 0) inherited.push_back(fd);
    options.push_back(std::to_string(std::max(fd, 0)));
  }
  options.push_back(std::to_string(asked.kill_grace_ms));
  std::vector<char*> argv = pointers_to(options);
  argv.pop_back();
  for (char* argument : pointers_to(asked.argv))
    argv.push_back(argument);

  const std::uint64_t mark = loopback->egress ? loopback->egress->mark() : 0;
  const std::vector<char*> environment = pointers_to(asked.environment);
  auto helper = spawn(*program, argv.data(), environment.data(), inherited);
  if (!helper) {
    const error failed = helper.error();
    const bool exhausted =
        failed.code == error_code::too_large || failed.code == error_code::too_many;
    if (exhausted) return failed;
    return error{error_code::unsupported, failed.os_errno, "helper"};
  }
  supervised_program running;
  running.helper = std::move(*helper);
  running.channel = std::move(channel.first);
  running.loopback_ = loopback;
  running.network_mark = mark;
  running.scratch_ = asked.confinement.scratch;
  return running;
}

supervised_program::~supervised_program() {
  if (!helper.handle) return;
  channel.reset();
  signal(SIGCONT);
  sys::wait(helper);
}

void supervised_program::terminate() const {
  (void)sys::send_nowait(channel.get(), {&sys::terminate_request, 1}).has_value();
  signal(SIGCONT); // the program may have stopped its supervisor
}

void supervised_program::terminate(std::int64_t grace_ms) const {
  const sys::exec_stop request{grace_ms};
  const std::string_view bytes(reinterpret_cast<const char*>(&request), sizeof request);
  (void)sys::send_nowait(channel.get(), bytes).has_value();
  signal(SIGCONT);
}

void supervised_program::signal(int number) const {
  (void)sys::pidfd_send_signal(helper.handle.get(), number).has_value();
}

} // namespace paddock
