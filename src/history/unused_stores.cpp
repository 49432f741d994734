// SPDX-License-Identifier: MIT
#include "history/unused_stores.hpp"

#include "file/directory_stream.hpp"
#include "history/store_directory.hpp"
#include "history/work_marks.hpp"
#include "path/private_directory.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/ascii.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace paddock::history {
namespace {

constexpr std::size_t removed_max = 4; ///< at a time: nobody waits for long
constexpr std::int64_t day_ns = std::int64_t{24} * 3600 * 1'000'000'000;
/// What a store is called from the moment on when it is being removed.
constexpr std::string_view removed_suffix = ".removed";

bool is_store_name(std::string_view name) {
  constexpr std::size_t digits = 16;
  return name.size() == digits && detail::is_lower_hex(name);
}

/// Whether a store has files of that name. Not `intent`: what a restore has set aside is needed.
bool is_file_of_store(std::string_view name) {
  constexpr std::array<std::string_view, 12> names{head_name,
                                                   "head.new",
                                                   "lock",
                                                   "journal",
                                                   "journal.new",
                                                   "journal.damaged",
                                                   "journal.damaged.new",
                                                   "intent.failed",
                                                   rules_name,
                                                   ended_rules_name,
                                                   kept_rules_name,
                                                   "rules.new"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("pack-") ||
         name.starts_with(mark_prefix) || name.starts_with(start_prefix);
}

result<std::vector<std::string>> names_in(int directory) {
  std::vector<std::string> names;
  PADDOCK_TRY(const auto list, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(for_each_entry(list.get(), [&](std::string_view name, unsigned char) {
    names.emplace_back(name);
    return true;
  }));
  return names;
}

/// The directory, if it is one of this user's alone and no link.
result<file_descriptor> open_own(int all, const std::string& name) {
  PADDOCK_TRY(auto fd, sys::openat(all, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PADDOCK_TRY(const auto status, sys::fstat(fd.get()));
  if (status.uid != sys::effective_uid() || (status.mode & 077U) != 0)
    return error{error_code::denied_by_policy, 0, "history store"};
  return fd;
}

/// An exclusive lock on a file of it that nobody else has locked in any way.
result<file_descriptor> lock_file(int directory, const char* name) {
  PADDOCK_TRY(auto fd, sys::openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  PADDOCK_CHECK(sys::try_flock(fd.get()));
  return fd;
}

/// The names of all that is in it, if it is a whole store and nothing else.
result<std::vector<std::string>> files_of_store(int directory) {
  PADDOCK_TRY(const std::string head, read_store_file(directory, head_name, head_bytes_max));
  PADDOCK_TRY(std::vector<std::string> names, names_in(directory));
  const auto is_own = [&](const std::string& name) {
    const auto status = sys::entry_status_at(directory, name.c_str());
    return status && status->kind == entry_kind::file && is_file_of_store(name);
  };
  if (!is_whole_head(head) || !std::ranges::all_of(names, is_own))
    return error{error_code::unsupported, 0, "history store"};
  return names;
}

/// `head` last: what is left of a removal that was cut short is a store still, and goes then.
result<void> remove_files(int all, const std::string& name, int directory,
                          const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (file != head_name) PADDOCK_CHECK(sys::unlinkat(directory, file.c_str(), 0));
  PADDOCK_CHECK(sys::unlinkat(directory, head_name, 0));
  return sys::unlinkat(all, name.c_str(), AT_REMOVEDIR);
}

/// By its name it goes at once, and for whoever opens it there is a new one.
result<void> remove_store(int all, const std::string& name, std::int64_t oldest_ns) {
  PADDOCK_TRY(const auto directory, open_own(all, name));
  PADDOCK_TRY(const auto lock, lock_file(directory.get(), "lock"));
  PADDOCK_TRY(const auto use, lock_file(directory.get(), head_name));
  PADDOCK_TRY(const auto files, files_of_store(directory.get()));
  if (last_used_ns(directory.get()) >= oldest_ns)
    return error{error_code::conflict, 0, "history store"};
  const std::string passing = name + std::string(removed_suffix);
  PADDOCK_CHECK(sys::renameat2(all, name.c_str(), all, passing.c_str(), RENAME_NOREPLACE));
  return remove_files(all, passing, directory.get(), files);
}

/// What a removal that was cut short has left.
result<void> finish_removal(int all, const std::string& name) {
  if (sys::unlinkat(all, name.c_str(), AT_REMOVEDIR)) return {}; // all but that was done
  PADDOCK_TRY(const auto directory, open_own(all, name));
  PADDOCK_TRY(const auto use, lock_file(directory.get(), head_name));
  PADDOCK_TRY(const auto files, files_of_store(directory.get()));
  return remove_files(all, name, directory.get(), files);
}

/// The changes of several files of a workspace; what has a record is needed.
result<void> remove_changes(int all, const std::string& name, std::int64_t oldest_ns) {
  PADDOCK_TRY(const auto directory, open_own(all, name));
  PADDOCK_TRY(const auto lock, lock_file(directory.get(), "lock"));
  PADDOCK_TRY(const auto names, names_in(directory.get()));
  PADDOCK_TRY(const auto status, sys::fstat(directory.get()));
  if (names.size() != 1 || status.modified_ns >= oldest_ns)
    return error{error_code::conflict, 0, "history store"};
  PADDOCK_CHECK(sys::unlinkat(directory.get(), "lock", 0));
  return sys::unlinkat(all, name.c_str(), AT_REMOVEDIR);
}

/// What a killed process has noted for a workspace in which nobody runs a command any more, or for
/// skills that nobody changes.
result<void> remove_mark(int all, const std::string& name, std::int64_t oldest_ns) {
  PADDOCK_TRY(const auto mark, lock_file(all, name.c_str()));
  PADDOCK_TRY(const auto status, sys::fstat(mark.get()));
  if (status.modified_ns >= oldest_ns) return error{error_code::conflict, 0, "history store"};
  return sys::unlinkat(all, name.c_str(), 0);
}

struct store_beside {
  std::string name;
  std::int64_t used_ns = 0;
};

} // namespace

void remove_unused_stores(int all, const store_in_use& own, std::uint64_t days_max) {
  const auto names = names_in(all);
  if (!names) return;
  std::vector<store_beside> found;
  std::int64_t newest_ns = own.used_before_ns;
  for (const std::string& name : *names) {
    if (name.ends_with(removed_suffix) &&
        is_store_name(std::string_view(name).substr(0, name.size() - removed_suffix.size())))
      (void)finish_removal(all, name);
    if (!is_store_name(name) || name == own.name) continue;
    const auto directory = open_own(all, name);
    const std::int64_t used_ns = directory ? last_used_ns(directory->get()) : 0;
    if (used_ns == 0) continue;
    newest_ns = std::max(newest_ns, used_ns);
    found.push_back({name, used_ns});
  }
  // Age counts from the last use of any store before this one: a clock that is set ahead once, or
  // a long pause, makes nothing old.
  const auto days = static_cast<std::int64_t>(std::min<std::uint64_t>(days_max, 36'500));
  const std::int64_t oldest_ns = std::min(sys::file_clock_ns(), newest_ns) - days * day_ns;
  for (const std::string& name : *names) {
    if (name.starts_with(change_state_prefix)) (void)remove_changes(all, name, oldest_ns);
    if (name.starts_with(command_mark_prefix) || name.starts_with(staging_prefix))
      (void)remove_mark(all, name, oldest_ns);
  }
  std::ranges::sort(found, {}, &store_beside::used_ns);
  std::size_t removed = 0;
  for (const store_beside& each : found) {
    if (removed == removed_max || each.used_ns >= oldest_ns) return;
    removed += remove_store(all, each.name, oldest_ns) ? 1U : 0U;
  }
}

} // namespace paddock::history
