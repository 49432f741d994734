// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace paddock {

/// What of a workspace is not protected from a command.
struct omissions {
  static constexpr std::size_t repositories_max = 1024; ///< each is some mounts for every command
  static constexpr std::size_t hidden_max = 1024;       ///< each is a mount

  std::size_t hidden = 0;       ///< more than can be covered
  std::size_t repositories = 0; ///< more than can be protected
  std::string too_deep;         ///< a path that is longer than can be protected; empty: none
  bool unlisted = false;        ///< there was no time or room for all directories
  bool unreadable = false;      ///< some cannot be listed
};

/// In words, with what a person can do about each; empty: nothing.
[[nodiscard]] std::string describe(const omissions& without);

} // namespace paddock
