// SPDX-License-Identifier: MIT
#pragma once

// How to wait for a lock that another process may hold.

#include "sys/syscall.hpp"

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>

#include <cerrno>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace paddock::sys {

/// Calls `try_once` until it gives something else than EAGAIN, and gives that. Most locks are held
/// for a moment, so the first calls follow each other at once. Errors: conflict with EAGAIN and
/// `operation` after `wait_ms`; those of the bounds.
template <class Try>
std::invoke_result_t<Try&> wait_for_lock(std::uint64_t wait_ms, const char* operation,
                                         const work_bounds& bounds, Try try_once) {
  constexpr int yields = 20;
  std::int64_t began = 0;
  for (int tries = 0;; ++tries) {
    auto tried = try_once();
    if (tried || tried.error().os_errno != EAGAIN) return tried;
    PADDOCK_CHECK(bounds.check());
    if (tries == 0) began = monotonic_ms();
    if (static_cast<std::uint64_t>(monotonic_ms() - began) >= wait_ms)
      return error{error_code::conflict, EAGAIN, operation};
    if (tries < yields)
      std::this_thread::yield();
    else
      pause_ms(1);
  }
}

} // namespace paddock::sys
