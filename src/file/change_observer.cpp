// SPDX-License-Identifier: MIT
#include "file/change_observer.hpp"

#include "file/leftover.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/fs.h>

#include <cerrno>
#include <vector>

namespace paddock {
namespace {

std::vector<change_observer*>& observers() noexcept {
  static thread_local std::vector<change_observer*> all;
  return all;
}

} // namespace

change_observer::~change_observer() {
  std::erase(observers(), this);
}

void change_observer::start() {
  observers().push_back(this);
}

bool is_observed() noexcept {
  return !observers().empty();
}

void report_change(const std::string& path, const displaced_entry& before,
                   const std::optional<file_status>& after) {
  for (change_observer* each : observers())
    each->changed(path, before, after);
}

void report_moved_directory(const std::string& from, const std::string& to) {
  for (change_observer* each : observers())
    each->moved_directory(from, to);
}

void report_unknown_change(const std::string& path) {
  for (change_observer* each : observers())
    each->changed_somehow(path);
}

result<void> unlink_reported(int directory, const char* name, const std::string& path,
                             const file_status* expected) {
  if (!is_observed() && expected == nullptr) return sys::unlinkat(directory, name, 0);
  PADDOCK_TRY(const component aside, unused_name(temporary_prefix));
  const name_in_use passing(aside);
  const auto rename = [&](const char* from, const char* to) {
    return sys::renameat2(directory, from, directory, to, RENAME_NOREPLACE);
  };
  if (const auto moved = rename(name, aside.c_str()); !moved) {
    if (moved.error().os_errno != EINVAL) return moved;
    report_change(path, {directory, name}, std::nullopt); // this file system cannot do better
    return sys::unlinkat(directory, name, 0);
  }
  const auto status = sys::status_at(directory, aside.c_str(), AT_SYMLINK_NOFOLLOW);
  if (status && expected != nullptr && !same_but_for_name(*status, *expected)) {
    const auto back = rename(aside.c_str(), name);
    if (!back && back.error().os_errno == EEXIST) // saved over once more
      (void)sys::unlinkat(directory, aside.c_str(), 0).has_value();
    return error{error_code::conflict, 0, "remove"};
  }
  if (status && status->kind != entry_kind::directory)
    report_change(path, {directory, aside.c_str()}, std::nullopt);
  auto removed = sys::unlinkat(directory, aside.c_str(), 0);
  const bool is_back = !removed && rename(aside.c_str(), name).has_value();
  return is_back ? removed : result<void>(); // by its name it is gone in any case
}

} // namespace paddock
