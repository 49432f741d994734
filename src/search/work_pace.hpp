// SPDX-License-Identifier: MIT
#pragma once

// When work on what was met is to look at its bounds.

#include <paddock/base/work_bounds.hpp>

#include <cstdint>

namespace paddock {

/// Steps of matching names, each a byte of a pattern tried on a byte of a path, between two looks.
inline constexpr std::uint64_t look_match_steps = 4 * 1024 * 1024;
/// Entries between two looks.
inline constexpr std::uint64_t look_entries = 1024;

/// Counts steps of work and looks at the bounds every so many.
class work_pace {
public:
  work_pace(const work_bounds& bounds, std::uint64_t look_steps) noexcept
      : bounds_(bounds), look_steps_(look_steps) {}

  /// Before so many steps more; whether they may be done.
  bool operator()(std::uint64_t steps = 1) noexcept {
    return (steps_ += steps) < look_steps_ ? within_.has_value() : look();
  }
  /// The same, looking now.
  bool look() noexcept {
    steps_ = 0;
    if (within_) within_ = bounds_.check();
    return within_.has_value();
  }
  /// Errors: those of the bounds, from when they were met on.
  [[nodiscard]] const result<void>& within() const noexcept { return within_; }
  [[nodiscard]] bool is_late() const noexcept {
    return !within_ && within_.error().code == error_code::timed_out;
  }

private:
  const work_bounds& bounds_;
  std::uint64_t look_steps_;
  std::uint64_t steps_ = 0;
  result<void> within_;
};

} // namespace paddock
