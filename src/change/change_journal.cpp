// SPDX-License-Identifier: MIT
#include "change/change_journal.hpp"

#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

namespace paddock {
namespace {

constexpr const char* record_operation = "change record";
constexpr const char* record_name = "record";
constexpr const char* lock_name = "lock";
constexpr std::size_t stages_bytes_max = 4096; // more than a recovery that is killed often writes

/// Of a workspace, by its path and the directory there.
std::string name_of_state(const root& root) {
  const std::string key = root.path() + '\0' + std::to_string(root.status().device) + '\0' +
                          std::to_string(root.status().inode);
  std::array<char, 17> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), content_sum(key), 16).ptr;
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

result<std::optional<change_journal>> change_journal::open(const root& root,
                                                           std::string_view state_directory,
                                                           missing_directories missing,
                                                           std::uint64_t wait_ms,
                                                           const work_bounds& bounds) {
  std::optional<change_journal> none;
  if (state_directory.empty()) return none;
  const auto deadline = wait_ms == 0 ? sys::monotonic_ms() : deadline_in(wait_ms);
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
    if (locked) return std::optional(change_journal(std::move(directory), *std::move(lock)));
    if (locked.error().os_errno != EAGAIN) return locked.error();
    PADDOCK_CHECK(bounds.check());
    if (sys::monotonic_ms() >= deadline)
      return error{error_code::conflict, EAGAIN, record_operation};
    sys::pause_ms(1);
  }
}

result<std::optional<change_record>> change_journal::read() const {
  std::optional<change_record> none;
  const auto fd = sys::openat(directory_.get(), record_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error().code == error_code::not_found) return none;
  if (!fd) return fd.error();
  PADDOCK_TRY(const auto status, sys::fstat(fd->get()));
  if (status.size > change_record_bytes_max) return none;
  std::string bytes(static_cast<std::size_t>(status.size), '\0');
  PADDOCK_TRY(const std::size_t used, read_all(fd->get(), bytes, 0));
  bytes.resize(used);
  return parse_change_record(bytes);
}

result<void> change_journal::begin(const change_record& record) {
  // What is written can be read again.
  PADDOCK_CHECK(check_extent(record));
  const std::string bytes = render(record);
  if (bytes.size() > change_record_bytes_max - stages_bytes_max)
    return error{error_code::too_many, 0, record_operation};
  PADDOCK_TRY(fd_, sys::openat(directory_.get(), record_name,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND, 0600));
  PADDOCK_CHECK(write_all(fd_.get(), bytes));
  if (!record.is_durable) return {};
  PADDOCK_CHECK(sync());
  return sys::fsync(directory_.get());
}

result<void> change_journal::write_stage(change_stage stage) {
  if (!fd_) {
    // Behind what an earlier process has written.
    PADDOCK_TRY(fd_, sys::openat(directory_.get(), record_name,
                                 O_WRONLY | O_NOFOLLOW | O_APPEND | O_NONBLOCK));
  }
  return write_all(fd_.get(), stage_line(stage));
}

result<void> change_journal::sync() const {
  return sys::fsync(fd_.get());
}

void change_journal::end() {
  // Where it cannot be removed, it says nothing any more.
  if (!sys::unlinkat(directory_.get(), record_name, 0) && fd_)
    (void)sys::ftruncate(fd_.get(), 0).has_value();
}

} // namespace paddock
