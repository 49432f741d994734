// SPDX-License-Identifier: MIT
#include "change/change_state.hpp"

#include "change/change_record.hpp"
#include "file/replace.hpp"
#include "sys/lock_wait.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <string>

namespace paddock {
namespace {

constexpr const char* lock_name = "lock";

/// Of a workspace, by its path and the directory there.
std::string name_of_state(const root& root) {
  const std::string key = root.path() + '\0' + std::to_string(root.status().device) + '\0' +
                          std::to_string(root.status().inode);
  std::array<char, 17> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), record_sum(key), 16).ptr;
  return std::string(change_state_prefix).append(digits.data(), end);
}

/// Nothing where it cannot be had.
file_descriptor open_state(const root& root, std::string_view state_directory,
                           missing_directories missing) {
  const auto all = open_private_directory(root.status(), state_directory,
                                          "the directory of the history", missing);
  if (!all) return {};
  const std::string name = name_of_state(root);
  if (missing == missing_directories::make && sys::mkdirat(all->fd.get(), name.c_str(), 0700))
    sync_names(all->fd.get());
  auto fd = sys::openat(all->fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto status = fd ? sys::fstat(fd->get()) : result<file_status>(fd.error());
  const bool is_private =
      status && status->uid == sys::effective_uid() && (status->mode & 077U) == 0;
  return is_private ? *std::move(fd) : file_descriptor();
}

} // namespace

result<std::optional<change_state>>
change_state::open(const root& root, std::string_view state_directory, missing_directories missing,
                   std::uint64_t wait_ms, const work_bounds& bounds) {
  if (state_directory.empty()) return std::optional<change_state>();
  return sys::wait_for_lock(wait_ms, "change lock", bounds,
                            [&] { return try_open(root, state_directory, missing); });
}

result<std::optional<change_state>> change_state::try_open(const root& root,
                                                           std::string_view state_directory,
                                                           missing_directories missing) {
  std::optional<change_state> none;
  for (;;) {
    file_descriptor directory = open_state(root, state_directory, missing);
    if (!directory) return none;
    auto lock =
        sys::openat(directory.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (!lock && lock.error().code == error_code::not_found) continue; // removed just now
    if (!lock) return none;
    const auto locked = sys::try_flock(lock->get());
    PADDOCK_TRY(const auto status, sys::fstat(lock->get()));
    if (status.links == 0) continue; // the same: who ages states out was faster
    if (locked) return std::optional(change_state(std::move(directory), *std::move(lock)));
    return locked.error();
  }
}

} // namespace paddock
