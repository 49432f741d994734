// SPDX-License-Identifier: MIT
#pragma once

#include <paddock/skill_manager/mcp_skill.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace paddock::skill_manager {

inline constexpr std::int64_t asked_pause_ms_max = 300'000;

/// The pause before attempt number `attempt`, which counts from 1. `random` is any number; all its
/// bits should be as likely as the others.
[[nodiscard]] inline std::int64_t pause_before(const reconnect_pauses& pauses, unsigned attempt,
                                               std::optional<std::int64_t> asked_ms,
                                               std::uint32_t random) {
  const std::int64_t max_ms = std::max<std::int64_t>(1, pauses.max_ms);
  std::int64_t longest_ms = std::clamp<std::int64_t>(pauses.first_ms, 1, max_ms);
  for (unsigned i = 1; i < attempt && longest_ms < max_ms; ++i)
    longest_ms = longest_ms > max_ms / 2 ? max_ms : longest_ms * 2;
  const std::int64_t shortest_ms = longest_ms - longest_ms / 2;
  const std::int64_t pause_ms =
      shortest_ms + static_cast<std::int64_t>(random) % (longest_ms - shortest_ms + 1);
  return std::max(pause_ms, std::clamp<std::int64_t>(asked_ms.value_or(0), 0, asked_pause_ms_max));
}

} // namespace paddock::skill_manager
