// SPDX-License-Identifier: MIT
#pragma once

#include "start_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace paddock::skill_manager {

inline constexpr std::size_t parallel_threads_max = 64;

/// Calls f(i) for every i below `count`, at the same time as far as the system has threads, and
/// waits for all of them. This thread does its part.
template <class F> void for_all_at_once(std::size_t count, F f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      f(i);
  };
  std::vector<std::thread> threads(std::min(count, parallel_threads_max));
  for (std::size_t t = 1; t < threads.size(); ++t)
    if (!mcp::start_thread(threads[t], work)) break;
  work();
  for (std::thread& each : threads)
    if (each.joinable()) each.join();
}

} // namespace paddock::skill_manager
