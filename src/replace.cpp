// SPDX-License-Identifier: MIT
#include "replace.hpp"

#include "durable.hpp"
#include "leftover.hpp"
#include "sys/syscall.hpp"

#include <gsl/util>

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

namespace paddock {
namespace {

struct temporary {
  file_descriptor fd;
  component name;
};

/// A new file takes the umask's mode; one that will replace another stays private until it has the
/// other's mode.
result<temporary> create_temporary(const place& where) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
  PADDOCK_TRY(component name, unused_name(temporary_prefix));
  PADDOCK_TRY(auto fd,
              sys::openat(where.parent.get(), name.c_str(), flags, where.existing ? 0600 : 0666));
  // Where the file system has no locks, nobody removes it as abandoned either.
  (void)sys::try_flock(fd.get()).has_value();
  return temporary{std::move(fd), name};
}

result<void> write_parts(int fd, std::span<const std::string_view> parts) {
  std::vector<iovec> rest;
  for (const auto part : parts)
    // writev does not write to the parts; iovec has no const.
    if (!part.empty()) rest.push_back({const_cast<char*>(part.data()), part.size()}); // NOLINT
  auto next = rest.begin();
  while (next != rest.end()) {
    PADDOCK_TRY(std::size_t n, sys::writev(fd, {next, rest.end()}));
    if (n == 0) return sys::failure(ENOSPC, "writev");
    while (next != rest.end() && n >= next->iov_len)
      n -= (next++)->iov_len;
    if (n > 0) {
      next->iov_base = static_cast<char*>(next->iov_base) + n;
      next->iov_len -= n;
    }
  }
  return {};
}

} // namespace

result<void> take_over_attributes(int fd, const file_status& old) {
  PADDOCK_TRY(const auto now, sys::status_at(fd, ""));
  if (now.uid != old.uid || now.gid != old.gid) {
    if (!sys::fchown(fd, old.uid, old.gid) && now.gid != old.gid)
      (void)sys::fchown(fd, now.uid, old.gid).has_value();
  }
  return sys::fchmod(fd, old.mode & 0777U);
}

bool same_content(const file_status& a, const file_status& b) {
  return a.same_object(b) && a.size == b.size && a.modified_ns == b.modified_ns &&
         a.changed_ns == b.changed_ns;
}

std::unique_lock<std::mutex> lock_content(const root& root, std::string_view resolved) {
  // One mutex for many files is fine: it is held for one file operation.
  static std::array<std::mutex, 64> stripes;
  const auto hash = std::hash<std::string>{}(root.absolute(resolved));
  return std::unique_lock(stripes[hash % stripes.size()]); // NOLINT: the index is in range
}

result<void> check_writable(const place& where) {
  if (!where.existing || where.existing->kind == entry_kind::symlink) return {};
  constexpr unsigned any_write_bit = 0222;
  if ((where.existing->mode & any_write_bit) == 0) return error{error_code::read_only, 0, "mode"};
  auto allowed = sys::faccessat(where.parent.get(), where.name.c_str(), W_OK);
  if (!allowed && allowed.error().os_errno != ENOSYS)
    return error{error_code::read_only, allowed.error().os_errno, "faccessat2"};
  return {};
}

result<void> write_all(int fd, std::string_view bytes) {
  return write_parts(fd, std::array{bytes});
}

result<void> replace_content(const place& where, std::span<const std::string_view> parts,
                             paddock::durability durability, const file_status* expected) {
  const int parent = where.parent.get();
  PADDOCK_TRY(const temporary fresh, create_temporary(where));
  bool renamed = false;
  const auto clean_up = gsl::finally([&] {
    if (!renamed) (void)sys::unlinkat(parent, fresh.name.c_str(), 0).has_value();
  });
  PADDOCK_CHECK(write_parts(fresh.fd.get(), parts));
  if (where.existing) PADDOCK_CHECK(take_over_attributes(fresh.fd.get(), *where.existing));
  PADDOCK_CHECK(sync_file(fresh.fd.get(), durability));
  PADDOCK_TRY(const file_descriptor directory, open_for_sync(parent, durability));
  if (expected != nullptr) {
    const auto now = sys::status_at(parent, where.name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (!now || !same_content(*now, *expected)) return error{error_code::conflict, 0, "replace"};
  }
  PADDOCK_CHECK(sys::renameat2(parent, fresh.name.c_str(), parent, where.name.c_str(), 0));
  renamed = true;
  return sync_directory(directory);
}

} // namespace paddock
