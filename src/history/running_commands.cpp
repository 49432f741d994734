// SPDX-License-Identifier: MIT
#include "history/running_commands.hpp"

#include "file/leftover.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::string_view mark_prefix = "command-";
constexpr std::size_t told_bytes_max = 4096; ///< of the command line
constexpr std::uint64_t mark_bytes_max = 64 * 1024;

std::string_view first_of(std::string_view text) {
  if (text.size() <= told_bytes_max) return text;
  return detail::truncate_to_valid_prefix(text.substr(0, told_bytes_max));
}

} // namespace

result<running_commands::mark> running_commands::put(const journal_record& command,
                                                     std::uint64_t room) {
  const std::string bytes = render({.kind = record_kind::operation,
                                    .time_ms = command.time_ms,
                                    .by = command.by,
                                    .tool = std::string(first_of(command.tool)),
                                    .command = std::string(first_of(command.command))});
  if (bytes.size() > room) return error{error_code::no_space, 0, budget_operation};
  PADDOCK_TRY(const component name, unused_name(mark_prefix));
  mark made{.name = std::string(name.view())};
  PADDOCK_TRY(made.lock, sys::openat(directory_, made.name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  result<void> done = sys::try_flock(made.lock.get());
  if (done) done = write_all(made.lock.get(), bytes);
  if (!done) {
    (void)sys::unlinkat(directory_, made.name.c_str(), 0);
    return done.error();
  }
  own_.push_back(made.name);
  return made;
}

void running_commands::remove(const mark& ended) {
  if (ended.name.empty()) return;
  (void)sys::unlinkat(directory_, ended.name.c_str(), 0);
  std::erase(own_, ended.name);
}

void running_commands::leave(mark&& ended) {
  std::erase(own_, ended.name);
  ended = {};
}

result<running_commands::state> running_commands::look(std::span<const store_file> files) const {
  state seen;
  for (const store_file& each : files) {
    const std::string& name = each.name;
    if (!name.starts_with(mark_prefix) || std::ranges::find(own_, name) != own_.end()) continue;
    PADDOCK_TRY(const auto fd,
                sys::openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    const auto locked = sys::try_flock(fd.get());
    if (!locked && locked.error().os_errno != EAGAIN) return locked.error();
    const auto bytes = read_store_file(directory_, name.c_str(), mark_bytes_max);
    auto command = bytes ? parse_record(*bytes) : std::nullopt;
    // Of a mark that says nothing is known that it is a command's.
    if (!command) command = journal_record{.by = author::exec};
    if (locked) {
      seen.cut_short = std::move(command);
      seen.left.push_back(name);
      continue;
    }
    const bool is_first = !seen.living || command->time_ms < seen.first_began_ms;
    if (is_first) seen.first_began_ms = command->time_ms;
    seen.living = std::move(command);
  }
  return seen;
}

void running_commands::remove_left(const state& seen) {
  for (const std::string& name : seen.left)
    (void)sys::unlinkat(directory_, name.c_str(), 0);
}

} // namespace paddock::history
