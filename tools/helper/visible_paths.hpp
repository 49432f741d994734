// SPDX-License-Identifier: MIT
#pragma once

// Which paths a confined command sees, and what it may do with them. One list, used to build a
// private root and, where that cannot be had, for the rules of Landlock.

#include "policy.hpp"

#include <cstddef>

namespace paddock::exec {

enum class use : unsigned char {
  read,      ///< read and run
  device,    ///< read and write, a device
  scratch,   ///< an empty directory that exists for this command only
  write,     ///< everything but making devices
  workspace, ///< the same, and it has to be there
};

struct visible_path {
  const char* path; ///< absolute, as the command spells it
  use as;
};

class visible_paths {
public:
  /// From the policy, the environment (PATH, HOME) and the program. `workspace` is absolute and
  /// canonical and stays valid. False when the list is full or there is no memory.
  bool collect(const policy& wanted, const char* workspace, const char* program);

  [[nodiscard]] const visible_path* begin() const { return entries_; }
  [[nodiscard]] const visible_path* end() const { return entries_ + size_; }
  /// The home directory of the command; null: it has none.
  [[nodiscard]] const char* home() const { return home_; }

private:
  void add(const char* path, use as);
  void add_if_directory(const char* prefix, const char* name);
  void add_search_path(const char* search_path);
  void add_program_directory(const char* directory);
  void add_program(const char* search_path, const char* program);
  [[nodiscard]] bool is_private(const char* directory) const;
  void sort();

  static constexpr std::size_t capacity = 512;
  visible_path entries_[capacity];
  std::size_t size_ = 0;
  bool complete_ = true;
  const char* workspace_ = nullptr;
  const char* home_ = nullptr;
};

/// Whether `path` is `directory` or below it; both absolute and without dots.
bool is_within(const char* path, const char* directory);

} // namespace paddock::exec
