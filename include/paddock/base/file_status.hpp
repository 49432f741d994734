// SPDX-License-Identifier: MIT
#pragma once

/// What the kernel says about an entry of a directory: its kind, size, times and identity. A copy
/// of what was so at one moment; nothing keeps it true.
///
/// Thread-safety: values.

#include <cstdint>

namespace paddock {

enum class entry_kind : std::uint8_t {
  file, ///< regular file
  directory,
  symlink,
  other, ///< FIFO, socket, device
};

/// What the kernel says about an entry. Times are nanoseconds since 1970-01-01 UTC.
struct file_status {
  entry_kind kind = entry_kind::other;
  std::uint32_t mode = 0; ///< permission bits, 07777
  std::uint32_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size = 0; ///< bytes
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t mount = 0;     ///< mount id; 0 where the kernel does not tell
  std::int64_t created_ns = 0; ///< birth time; the change time where the file system has none
  bool has_birth_time = false;
  std::int64_t modified_ns = 0;
  std::int64_t accessed_ns = 0;
  std::int64_t changed_ns = 0;

  /// Whether both are of one inode; names and links do not matter.
  [[nodiscard]] bool same_object(const file_status& other) const noexcept {
    return device == other.device && inode == other.inode;
  }
};

} // namespace paddock
