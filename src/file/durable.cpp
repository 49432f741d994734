// SPDX-License-Identifier: MIT
#include "file/durable.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

#include <string>

namespace paddock {
namespace {

/// What is before the last component; empty for the root.
std::string_view parent_of(std::string_view resolved) {
  const auto slash = resolved.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : resolved.substr(0, slash);
}

} // namespace

result<void> sync_file(int fd, durability wanted) {
  switch (wanted) {
  case durability::none:
    return {};
  case durability::data:
    return sys::fdatasync(fd);
  case durability::full:
    break;
  }
  return sys::fsync(fd);
}

result<file_descriptor> open_for_sync(int directory, durability wanted) {
  if (wanted != durability::full) return file_descriptor();
  return sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
}

result<void> sync_directory(const file_descriptor& directory) {
  if (!directory) return {};
  return sys::fsync(directory.get());
}

result<void> sync_path(const root& root, std::string_view resolved, unsigned count) {
  for (; count > 0; --count) {
    resolved = parent_of(resolved);
    PADDOCK_TRY(const auto holder,
                root.open_beneath(resolved.empty() ? "." : resolved, access::directory));
    PADDOCK_CHECK(sys::fsync(holder.fd.get()));
  }
  return {};
}

result<void> sync_made_parents(const root& root, const place& where) {
  return sync_path(root, parent_of(where.path), where.parents_made);
}

} // namespace paddock
