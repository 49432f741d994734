// SPDX-License-Identifier: MIT
#include "file/durable.hpp"

#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

namespace paddock {
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
    resolved = parent(resolved);
    PADDOCK_TRY(const auto holder,
                root.open_beneath(resolved.empty() ? "." : resolved, access::directory));
    PADDOCK_CHECK(sys::fsync(holder.fd.get()));
  }
  return {};
}

result<void> sync_made_parents(const root& root, const place& where) {
  return sync_path(root, parent(where.path), where.parents_made);
}

} // namespace paddock
