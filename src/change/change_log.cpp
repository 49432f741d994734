// SPDX-License-Identifier: MIT
#include "change/change_log.hpp"

#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <string>

namespace paddock {

result<std::optional<change_record>> change_log::read() {
  std::optional<change_record> none;
  const auto fd = sys::openat(directory_, name_, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error().code == error_code::not_found) return none;
  if (!fd) return fd.error();
  PADDOCK_TRY(const auto status, sys::fstat(fd->get()));
  if (status.size > change_record_bytes_max) return none;
  std::string bytes(static_cast<std::size_t>(status.size), '\0');
  PADDOCK_TRY(const std::size_t used, read_all(fd->get(), bytes, 0));
  bytes.resize(used);
  PADDOCK_TRY(auto record, parse_change_record(bytes));
  if (!record) (void)end().has_value();
  return record;
}

result<void> change_log::begin(const change_plan& plan) {
  is_durable_ = plan.how.is_durable;
  const std::string bytes = render(plan);
  if (bytes.size() > bytes_max_) return error{error_code::too_many, 0, record_operation};
  PADDOCK_TRY(fd_, sys::openat(directory_, name_,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND, 0600));
  PADDOCK_CHECK(add(bytes));
  return is_durable_ ? sys::fsync(directory_) : result<void>();
}

result<void> change_log::add(std::string_view section) {
  if (!fd_) {
    // Behind what an earlier process has written as a whole.
    PADDOCK_TRY(fd_, sys::openat(directory_, name_, O_WRONLY | O_NOFOLLOW | O_APPEND | O_NONBLOCK));
    PADDOCK_CHECK(sys::ftruncate(fd_.get(), whole_bytes_));
  }
  PADDOCK_CHECK(write_all(fd_.get(), section));
  return is_durable_ ? sys::fsync(fd_.get()) : result<void>();
}

result<void> change_log::add_staged(std::span<const entry_stamp> staged) {
  return add(render_staged(staged));
}

result<void> change_log::add_made(std::span<const known_directory> made) {
  return add(render_made(made));
}

result<void> change_log::add_way_back() {
  return add(render_way_back());
}

result<void> change_log::end() {
  auto gone = sys::unlinkat(directory_, name_, 0);
  if (!gone && gone.error().code == error_code::not_found) gone = {};
  // Where it cannot be removed, it says nothing any more.
  if (!gone && fd_) gone = sys::ftruncate(fd_.get(), 0);
  fd_ = {};
  // Or a power cut brings it back, and with it what somebody has taken back since.
  if (is_durable_) (void)sys::fsync(directory_).has_value();
  return gone;
}

void change_log::put_aside(const char* name) {
  (void)sys::renameat2(directory_, name_, directory_, name, 0).has_value();
  (void)sys::fsync(directory_).has_value();
}

} // namespace paddock
