// SPDX-License-Identifier: MIT
#include "sys/process_facts.hpp"

#include "sys/call.hpp"
#include "sys/syscall.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

namespace paddock::sys {
namespace {

constexpr const char* procfs = "procfs";

result<std::string> read_of_proc(const std::string& name) {
  const auto file = openat(AT_FDCWD, ("/proc/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (!file) return failure(ESRCH, procfs);
  std::string text(8192, '\0');
  const auto size = read(file->get(), text);
  if (!size) return failure(ESRCH, procfs);
  text.resize(*size);
  return text;
}

/// Of the line that begins with the name; no process can write one.
result<int> number_in(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == text.npos) return failure(ESRCH, procfs);
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
    return failure(ESRCH, procfs);
  return number;
}

} // namespace

result<process_facts> facts_of(int process_or_thread) {
  PADDOCK_TRY(const std::string text, read_of_proc(std::to_string(process_or_thread) + "/status"));
  process_facts facts;
  PADDOCK_TRY(facts.process, number_in(text, "\nTgid:"));
  PADDOCK_TRY(facts.parent, number_in(text, "\nPPid:"));
  PADDOCK_TRY(facts.group, number_in(text, "\nNSpgid:"));
  return facts;
}

result<std::vector<int>> all_processes() {
  DIR* const proc = ::opendir("/proc");
  if (proc == nullptr) return failure(errno, "opendir");
  std::vector<int> found;
  while (const dirent* entry = ::readdir(proc)) {
    const std::string_view name(entry->d_name);
    int number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && end == name.data() + name.size()) found.push_back(number);
  }
  ::closedir(proc);
  return found;
}

result<file_descriptor> open_process(int process) {
  auto opened = descriptor(::syscall(SYS_pidfd_open, process, 0), "pidfd_open");
  if (!opened) return failure(ESRCH, "pidfd_open");
  return opened;
}

result<int> process_of(int pidfd) {
  PADDOCK_TRY(const std::string text, read_of_proc("self/fdinfo/" + std::to_string(pidfd)));
  const auto process = number_in(text, "\nPid:");
  if (!process) return failure(EBADF, procfs);
  if (*process <= 0) return failure(ESRCH, procfs);
  return *process;
}

result<void> send_signal(int pidfd, int signal, std::span<const char> info) {
  return none(
      ::syscall(SYS_pidfd_send_signal, pidfd, signal, info.empty() ? nullptr : info.data(), 0),
      "pidfd_send_signal");
}

result<void> send_to_thread(int process, int thread, int signal) {
  return none(::syscall(SYS_tgkill, process, thread, signal), "tgkill");
}

} // namespace paddock::sys
