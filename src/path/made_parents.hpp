// SPDX-License-Identifier: MIT
#pragma once

// Directories that were made for an operation which then failed.

#include <paddock/path/root.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Removes the parents that `locate` made for a place, at the end of its own life, unless they are
/// kept: the deepest first, up to one that somebody else has begun to use.
class made_parents {
public:
  made_parents(const root& root, const place& where);
  explicit made_parents(const root& root) : root_(root) {} ///< nothing is made yet
  made_parents(const made_parents&) = delete;
  made_parents& operator=(const made_parents&) = delete;
  ~made_parents();

  /// One directory, or several, further down. What this operation has not made is not removed, and
  /// neither is what lies above it.
  void enter(std::string_view path, const std::optional<file_status>& made);
  unsigned keep() noexcept; ///< how many there were

private:
  const root& root_;
  std::string deepest_;
  std::vector<file_status> made_; ///< the deepest last; without an inode, not known
};

} // namespace paddock
