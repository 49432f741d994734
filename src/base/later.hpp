// SPDX-License-Identifier: MIT
#pragma once

// Points in time that a caller's wish leads to.

#include <cstdint>
#include <limits>

namespace paddock {

/// `by_ms` after `time_ms`, which is not negative; the end of time instead of an overflow.
constexpr std::int64_t later(std::int64_t time_ms, std::int64_t by_ms) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  return by_ms > never - time_ms ? never : time_ms + by_ms;
}

static_assert(later(1, 2) == 3);
static_assert(later(1, std::numeric_limits<std::int64_t>::max()) ==
              std::numeric_limits<std::int64_t>::max());

} // namespace paddock
