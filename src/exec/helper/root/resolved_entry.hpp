// SPDX-License-Identifier: MIT
#pragma once

#include <limits.h>

#include <cstddef>
#include <cstdint>

namespace paddock::exec {

/// The directories on the way to a path, kept open for the next one: paths that are looked at one
/// after the other mostly share them. A directory stays the one that it was when it was come by;
/// what is mounted on it later is to be entered, and what is mounted elsewhere makes it forgotten.
class trail {
public:
  /// `top` stays the caller's.
  explicit trail(int top) : top_(top) {}
  trail(const trail&) = delete;
  trail& operator=(const trail&) = delete;
  ~trail() { forget(); }

  [[nodiscard]] int top() const { return top_; }
  void forget() { leave_all_but(0); }
  /// A directory in the last one, to which `path` leads with so many bytes. Takes the descriptor;
  /// false: it does not, because the way is too long to be kept.
  [[nodiscard]] bool enter(int directory, const char* path, std::size_t bytes);

private:
  friend class resolved_entry;
  static constexpr unsigned levels_max = 16;
  struct level {
    int directory;
    std::uint32_t bytes; ///< of the path that leads here
  };

  /// Leaves what does not lead to the path. Returns how many of its bytes lead to the nearest.
  std::size_t turn_to(const char* path);
  void leave_all_but(unsigned kept);
  [[nodiscard]] int nearest() const { return depth_ == 0 ? top_ : levels_[depth_ - 1].directory; }

  const int top_;
  unsigned depth_ = 0;
  level levels_[levels_max];
  char path_[PATH_MAX]; ///< of the last level
};

/// Where a relative path leads in a tree that others may be changing, without following a link: its
/// last entry, or the first one on the way that is no directory.
class resolved_entry {
public:
  /// `top` stays the caller's; `path` has no dots and no empty components.
  resolved_entry(int top, const char* path);
  /// The same from the top of a trail, which outlives this and is not turned elsewhere meanwhile.
  resolved_entry(trail& along, const char* path);
  resolved_entry(const resolved_entry&) = delete;
  resolved_entry& operator=(const resolved_entry&) = delete;
  ~resolved_entry();

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
  void walk(const char* path, const char* from);
  bool look();
  void descend(const char* path);

  trail* const along_ = nullptr;
  const int top_;
  int parent_;
  bool owns_parent_ = false;
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
