// SPDX-License-Identifier: MIT
#include "exec/held_helper.hpp"

#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace paddock {
namespace {

struct held_helpers {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<held_helper>, std::less<>> all;
};

/// Never destroyed: threads may run commands while the process ends.
held_helpers& helpers() {
  static auto* const held = new held_helpers;
  return *held;
}

error unusable(const error& reason) {
  if (reason.code == error_code::too_many) return reason;
  return {error_code::unsupported, reason.os_errno, "helper"};
}

/// One that may be run but not read is held by its descriptor.
result<file_descriptor> open_program(const std::string& path) {
  PADDOCK_CHECK(sys::faccessat(AT_FDCWD, path.c_str(), X_OK));
  auto readable = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (readable || readable.error().os_errno != EACCES) return readable;
  return sys::openat(AT_FDCWD, path.c_str(), O_PATH | O_CLOEXEC);
}

result<std::shared_ptr<held_helper>> load(const std::string& path) {
  auto held = std::make_shared<held_helper>();
  held->path = path;
  if (path.empty()) {
    PADDOCK_TRY(held->path, find_command_helper());
  }
  auto opened = open_program(held->path);
  if (!opened) return unusable(opened.error());
  const auto status = sys::status_at(opened->get(), "");
  if (!status) return unusable(status.error());
  if (status->kind != entry_kind::file) return error{error_code::unsupported, EACCES, "helper"};
  held->opened = *std::move(opened);
  return held;
}

/// Whether a copy in memory will never be had, in contrast to one that cannot be had now.
bool is_refusal(const error& reason) {
  constexpr int refusals[] = {EACCES, EPERM, ENOSYS, EINVAL, // of this system
                              EBADF,  EFBIG};                // of a file not to be read, or of none
  return std::ranges::find(refusals, reason.os_errno) != std::end(refusals);
}

result<void> settle(held_helper& held) {
  if (held.settled) return {};
  if (auto sealed = sys::sealed_program(held.opened.get()))
    held.sealed = *std::move(sealed);
  else if (!is_refusal(sealed.error()))
    return unusable(sealed.error());
  held.settled = true;
  return {};
}

} // namespace

result<std::shared_ptr<held_helper>> hold_helper(const std::string& path) {
  held_helpers& held = helpers();
  const std::lock_guard guard(held.lock);
  auto found = held.all.find(path);
  if (found == held.all.end()) {
    PADDOCK_TRY(auto loaded, load(path));
    found = held.all.emplace(path, std::move(loaded)).first;
  }
  PADDOCK_CHECK(settle(*found->second)); // before anybody else has it
  return found->second;
}

result<sys::child_process> spawn(held_helper& helper, char* const* argv, char* const* envp,
                                 std::span<const int> inherited) {
  auto started = sys::spawn(helper.program(), argv, envp, inherited);
  if (started || started.error().os_errno != EACCES || helper.form() != helper_form::sealed)
    return started;
  helper.sealed_runs = false; // a policy of this system
  return sys::spawn(helper.program(), argv, envp, inherited);
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

result<loaded_helper> load_command_helper(const std::string& helper) {
  PADDOCK_TRY(const auto held, hold_helper(helper));
  return loaded_helper{held->path, held->form()};
}

std::string own_program_in(const std::string& directory, const std::string& helper) {
  const std::string place = sys::canonical_name(directory);
  if (place.empty()) return {};
  std::vector<std::string> programs;
  if (auto own = sys::executable_path()) programs.push_back(*std::move(own));
  if (const auto held = hold_helper(helper)) programs.push_back(sys::canonical_name((*held)->path));
  for (std::string& program : programs)
    if (place == "/" || place == program || program.starts_with(place + "/"))
      return std::move(program);
  return {};
}

} // namespace paddock
