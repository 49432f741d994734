// SPDX-License-Identifier: MIT
#pragma once

// What matching names costs, and when it is time to look at the bounds.

#include <paddock/base/work_bounds.hpp>

#include <cstdint>

namespace paddock {

/// Counts steps, each a byte of a pattern tried on a byte of a path, and looks at the bounds every
/// so many.
class match_work {
public:
  explicit match_work(const work_bounds& bounds) noexcept : bounds_(bounds) {}

  /// Before so many steps more; whether they may be done.
  bool operator()(std::uint64_t steps) noexcept {
    if ((steps_ += steps) >= look_steps) {
      steps_ = 0;
      if (within_) within_ = bounds_.check();
    }
    return within_.has_value();
  }
  /// Errors: those of the bounds, from when they were met on.
  [[nodiscard]] const result<void>& within() const noexcept { return within_; }

private:
  static constexpr std::uint64_t look_steps = 4 * 1024 * 1024;

  const work_bounds& bounds_;
  std::uint64_t steps_ = 0;
  result<void> within_;
};

} // namespace paddock
