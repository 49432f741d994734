// SPDX-License-Identifier: MIT
#pragma once

#include "policy.hpp"

#include <cstddef>

namespace paddock::exec {

/// Makes missing protected names empty directories, so that there is something to cover, and
/// removes them again. A command that finds a directory of another one keeps it from being removed
/// by a lock.
class placeholders {
public:
  void make(const policy& wanted, int workspace);
  void remove(const policy& wanted, int workspace) const;

private:
  static constexpr std::size_t capacity = 64;
  bool made_[capacity] = {};
  int locks_[capacity] = {}; ///< 0: none
};

} // namespace paddock::exec
