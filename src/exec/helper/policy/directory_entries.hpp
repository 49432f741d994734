// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace paddock::exec {

/// The names in a directory, as the kernel tells them.
class directory_entries {
public:
  /// The descriptor stays the caller's.
  explicit directory_entries(int directory) : directory_(directory) {}

  /// Valid until the next call; null at the end, or where the directory cannot be read on.
  const char* next() {
    if (at_ >= size_) {
      at_ = 0;
      size_ = ::syscall(SYS_getdents64, directory_, records_, sizeof records_);
      if (size_ <= 0) return nullptr;
    }
    const char* entry = records_ + at_;
    std::uint16_t size;
    std::memcpy(&size, entry + offsetof(record, size), sizeof size);
    at_ += size;
    return entry + offsetof(record, name);
  }
  /// After the end: whether it was the end.
  [[nodiscard]] bool complete() const { return size_ == 0; }

private:
  struct record { // linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };

  int directory_;
  long at_ = 0;
  long size_ = 0;
  alignas(record) char records_[8 * 1024];
};

} // namespace paddock::exec
