// SPDX-License-Identifier: MIT
#pragma once

#include <limits.h>

#include <cstddef>
#include <cstdint>

namespace paddock::exec {

/// Where a relative path leads in a tree that others may be changing, without following a link: its
/// last entry, or the first one on the way that is no directory.
class spot {
public:
  /// `top` stays the caller's; `path` has no dots and no empty components.
  spot(int top, const char* path);
  spot(const spot&) = delete;
  spot& operator=(const spot&) = delete;
  ~spot();

  [[nodiscard]] bool found() const { return entry_ >= 0; }
  [[nodiscard]] int os_errno() const { return errno_; } ///< why nothing was found
  /// Whether what was found is the last entry of the path.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] int entry() const { return entry_; }   ///< O_PATH, on the entry itself
  [[nodiscard]] int parent() const { return parent_; } ///< of the entry, or of what is missing
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; } ///< of the path, up to the entry
  [[nodiscard]] unsigned kind() const { return mode_; }        ///< S_IFMT bits
  [[nodiscard]] bool is_directory() const;
  [[nodiscard]] bool is_link() const;
  [[nodiscard]] std::uint64_t device() const { return device_; }
  [[nodiscard]] std::uint64_t inode() const { return inode_; }

private:
  bool look();

  const int top_;
  int parent_;
  int entry_ = -1;
  int errno_ = 0;
  bool whole_ = false;
  std::uint32_t bytes_ = 0;
  unsigned mode_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  char name_[NAME_MAX + 1];
};

} // namespace paddock::exec
