// SPDX-License-Identifier: MIT
#pragma once

#include "base/parallel_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace paddock::skill_manager {

inline constexpr std::size_t parallel_threads_max = 64;

/// Calls f(i) for every i below `count`, at the same time as far as the system has threads, and
/// waits for all of them. This thread does its part.
template <class F> void for_all_at_once(std::size_t count, F f) {
  const std::size_t threads = std::min(count, parallel_threads_max);
  parallel_blocks(count, static_cast<unsigned>(threads), std::move(f), 1).finish();
}

} // namespace paddock::skill_manager
