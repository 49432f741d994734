// SPDX-License-Identifier: MIT
#pragma once

// Directories that were made for an operation which then failed.

#include <paddock/path/root.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

/// Removes the parents that `locate` made for a place, at the end of its own life, unless they are
/// kept: the deepest first, up to one that somebody else has begun to use.
class made_parents {
public:
  made_parents(const root& root, const place& where)
      : root_(root),
        deepest_(where.parents_made == 0 ? "" : where.path.substr(0, where.path.rfind('/'))),
        count_(where.parents_made) {}
  explicit made_parents(const root& root) : root_(root) {} ///< nothing is made yet
  made_parents(const made_parents&) = delete;
  made_parents& operator=(const made_parents&) = delete;
  ~made_parents();

  /// One directory, or several, further down. What somebody else has made is not removed, and
  /// neither is what lies above it.
  enum class maker : std::uint8_t { somebody_else, this_operation };
  void enter(std::string_view path, maker by);
  unsigned keep() noexcept { return std::exchange(count_, 0); } ///< how many there were

private:
  const root& root_;
  std::string deepest_;
  unsigned count_ = 0;
};

} // namespace paddock
