// SPDX-License-Identifier: MIT
#pragma once

// Which paths a confined command sees, and what it may do with them. One list, used to build a
// private root and, where that cannot be had, for the rules of Landlock.

#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/canonical.hpp"

#include <cstddef>

namespace paddock::exec {

enum class use : unsigned char {
  read,      ///< read and run
  device,    ///< read and write, a device
  cache,     ///< read, and changed for this command only
  scratch,   ///< an empty directory that exists for this command only
  write,     ///< everything but making devices
  workspace, ///< the same, and it has to be there
};

struct visible_path {
  const char* path; ///< absolute and plain, as the command spells it
  use as;
  bool named; ///< by the operator: it has to be there
};

inline constexpr unsigned no_path = ~0U;

/// Whether a command goes without something that cannot be had.
enum class need : unsigned char { none, optional, required };

/// Why something that the operator named cannot be made visible.
struct unreachable_path {
  int os_errno = 0;         ///< 0: all can
  unsigned index = no_path; ///< among the read paths and after them the write paths
};

/// What decides is the policy alone, never the environment of the command; and what the command
/// could change decides about nothing else.
class visible_paths {
public:
  /// From the policy, and for the program that the search path of the policy leads to.
  /// `workspace` is absolute and canonical and stays valid.
  void collect(const policy& wanted, const char* workspace, const char* program);

  [[nodiscard]] const visible_path* begin() const { return entries_; }
  [[nodiscard]] const visible_path* end() const { return entries_ + size_; }
  /// The home directory of the command; null: it has none.
  [[nodiscard]] const char* home() const { return home_; }
  [[nodiscard]] const unreachable_path& unreachable() const { return unreachable_; }
  /// Whether the command sees terminals of its own in /dev/pts.
  [[nodiscard]] need terminals() const { return terminals_; }
  /// Whether the command can change what is in a directory, of which this is the canonical name.
  [[nodiscard]] bool is_changeable(const char* directory) const;
  /// Whether the name leads somewhere as part of something that is visible.
  [[nodiscard]] bool is_shown(const char* path) const;

private:
  enum class origin : bool { system, named };

  void add(const char* path, use as, origin from = origin::system);
  void add_kept(const char* path, use as, origin from = origin::system);
  void add_named_paths(const policy& wanted);
  void add_named(const char* path, use as, unsigned index);
  void remove(const char* path);
  void add_caches(const policy& wanted);
  void add_home(const char* home);
  void add_if_there(const char* prefix, const char* name);
  void add_beside(const char* installation, const char* name);
  void add_search_path(const char* search_path);
  void add_search_alias(const char* entry);
  void add_program_directory(const char* directory);
  void add_program(const char* search_path, const char* program);
  void note_unreachable(int os_errno, unsigned index);
  [[nodiscard]] int canonical(const char* path, kind_wanted kind, char (&into)[PATH_MAX]) const;
  [[nodiscard]] bool is_private(const char* directory) const;
  void sort();

  static constexpr std::size_t capacity = 512;
  visible_path entries_[capacity];
  std::size_t size_ = 0;
  unreachable_path unreachable_;
  const char* workspace_ = nullptr;
  const char* home_ = nullptr;
  const char* real_home_ = nullptr;
  need terminals_ = need::none;
};

} // namespace paddock::exec
