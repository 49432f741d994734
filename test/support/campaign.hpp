// SPDX-License-Identifier: MIT
#pragma once

// How much of a campaign runs. Whole, it is for a build that is optimised; every day and under the
// sanitizers, where each case takes five to ten times as long, one case of eleven runs.

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace paddock::test {

inline std::size_t number_from_environment(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Memory and speed of an instrumented program say nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool instrumented = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif
#else
inline constexpr bool instrumented = false;
#endif

/// Every how many cases one runs; PADDOCK_CAMPAIGN_STEP=1 runs all.
inline std::size_t campaign_step() {
  static const std::size_t step =
      number_from_environment("PADDOCK_CAMPAIGN_STEP", instrumented ? 11 : 1);
  return std::max<std::size_t>(step, 1);
}

/// Of `whole` cases those that run.
inline std::size_t campaign_part(std::size_t whole) {
  return std::max<std::size_t>(whole / campaign_step(), 1);
}

/// How many a control has to count at least, where the whole campaign counts more than `whole`.
inline std::size_t campaign_met(std::size_t whole) {
  return whole / campaign_step();
}

/// The number that the variable `name` gives, or `whole` as far as it runs.
inline std::size_t campaign_size(const char* name, std::size_t whole) {
  return number_from_environment(name, campaign_part(whole));
}

} // namespace paddock::test
