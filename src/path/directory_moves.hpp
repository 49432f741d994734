// SPDX-License-Identifier: MIT
#pragma once

// Moves of directories by this process, kept apart from starts of commands. A command is told what
// it has to find protected, and its helper mounts over that: a directory that is moved in between
// would not be seen at its old place, nor at its new one.

#include <shared_mutex>

namespace paddock {

/// Shared by starts of commands, held alone by a move. Thread-safe.
inline std::shared_timed_mutex& directory_moves() {
  static auto& guard = *new std::shared_timed_mutex; // outlives every thread
  return guard;
}

inline constexpr int directory_move_wait_ms = 10'000;

} // namespace paddock
