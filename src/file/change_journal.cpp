// SPDX-License-Identifier: MIT
#include "file/change_journal.hpp"

#include "file/durable.hpp"
#include "file/replace.hpp"
#include "path/own_names.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace paddock {
namespace {

constexpr const char* record_operation = "change record";
constexpr std::size_t stages_bytes_max = 4096; // more than a recovery that is killed often writes

bool is_held(const error& e) {
  return e.os_errno == EAGAIN;
}

} // namespace

/// Nothing: the file has gone, or another one has its name.
result<std::optional<change_journal>> change_journal::try_open(const root& root, absent what) {
  std::optional<change_journal> none;
  const int top = root.descriptor();
  // Looked at first, because opening a device may have effects.
  const auto there = sys::status_at(top, change_record_name, AT_SYMLINK_NOFOLLOW);
  if (!there && there.error().code != error_code::not_found) return there.error();
  if (!there && what == absent::nothing) return none;
  if (there && there->kind != entry_kind::file)
    return error{error_code::not_regular, 0, record_operation};
  auto fd = sys::openat(
      top, change_record_name,
      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (there ? 0 : O_CREAT | O_EXCL), 0600);
  const bool has_changed =
      !fd && fd.error().code == (there ? error_code::not_found : error_code::already_exists);
  if (has_changed) return none;
  if (!fd) return fd.error();
  PADDOCK_CHECK(sys::try_flock(fd->get()));
  // Whoever had the lock before may have removed the file.
  PADDOCK_TRY(const auto mine, sys::status_at(fd->get(), ""));
  const auto named = sys::status_at(top, change_record_name, AT_SYMLINK_NOFOLLOW);
  if (!named && named.error().code != error_code::not_found) return named.error();
  if (!named || !named->same_object(mine)) return none;
  return std::optional(change_journal(root, *std::move(fd)));
}

result<change_journal> change_journal::open(const root& root, std::uint64_t wait_ms,
                                            const work_bounds& bounds) {
  const auto deadline = wait_ms == 0 ? sys::monotonic_ms() : deadline_in(wait_ms);
  for (;;) {
    auto opened = try_open(root, absent::make);
    if (opened && *opened) return **std::move(opened);
    if (!opened && !is_held(opened.error())) return opened.error();
    PADDOCK_CHECK(bounds.check());
    if (sys::monotonic_ms() >= deadline)
      return error{error_code::conflict, EAGAIN, record_operation};
    sys::pause_ms(1);
  }
}

result<std::optional<change_journal>> change_journal::open_existing(const root& root) {
  auto opened = try_open(root, absent::nothing);
  if (!opened && is_held(opened.error()))
    return error{error_code::conflict, EAGAIN, record_operation};
  return opened;
}

result<std::optional<change_record>> change_journal::read() const {
  std::optional<change_record> none;
  PADDOCK_TRY(const auto status, sys::status_at(fd_.get(), ""));
  if (status.kind != entry_kind::file) return error{error_code::not_regular, 0, record_operation};
  if (status.links != 1) return error{error_code::hard_linked, 0, record_operation};
  if (status.size == 0) return none;
  // Others may not have this process do what they could not do themselves.
  if (status.uid != sys::effective_uid())
    return error{error_code::permission_denied, 0, record_operation};
  PADDOCK_TRY(const bool is_ours, begins_as_record());
  if (!is_ours) return error{error_code::not_regular, 0, record_operation};
  if (status.size > change_record_bytes_max) return none;
  PADDOCK_TRY(const std::string bytes, read_first(static_cast<std::size_t>(status.size)));
  return parse_change_record(bytes);
}

result<std::string> change_journal::read_first(std::size_t count) const {
  std::string bytes(count, '\0');
  PADDOCK_TRY(const std::size_t used, read_all(fd_.get(), bytes, 0));
  bytes.resize(used);
  return bytes;
}

result<bool> change_journal::begins_as_record() const {
  PADDOCK_TRY(const std::string head, read_first(change_record_magic.size()));
  // A write that was broken off leaves a part of it; a power cut, zeroes.
  return change_record_magic.starts_with(head) || head.find_first_not_of('\0') == head.npos;
}

result<void> change_journal::begin(const change_record& record) {
  // What is written can be read again.
  PADDOCK_CHECK(check_extent(record));
  const std::string bytes = render(record);
  if (bytes.size() > change_record_bytes_max - stages_bytes_max)
    return error{error_code::too_many, 0, record_operation};
  PADDOCK_CHECK(sys::ftruncate(fd_.get(), 0));
  PADDOCK_CHECK(sys::seek(fd_.get(), 0));
  PADDOCK_CHECK(write_all(fd_.get(), bytes));
  if (!record.is_durable) return {};
  PADDOCK_CHECK(sync());
  PADDOCK_TRY(const auto top, open_for_sync(root_->descriptor(), durability::full));
  return sync_directory(top);
}

result<void> change_journal::write_stage(change_stage stage) {
  // Behind what an earlier process has written, too.
  PADDOCK_TRY(const auto status, sys::fstat(fd_.get()));
  PADDOCK_CHECK(sys::seek(fd_.get(), static_cast<std::int64_t>(status.size)));
  return write_all(fd_.get(), stage_line(stage));
}

result<void> change_journal::sync() const {
  return sys::fsync(fd_.get());
}

void change_journal::end() {
  // Where it cannot be removed, it says nothing any more.
  if (!sys::unlinkat(root_->descriptor(), change_record_name, 0))
    (void)sys::ftruncate(fd_.get(), 0).has_value();
}

} // namespace paddock
