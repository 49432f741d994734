// SPDX-License-Identifier: MIT
#pragma once

// What a restore would put where programs outside run or obey it: that comes back where a person
// wrote it last, or where it is known to run nothing.

#include "history/change_sets.hpp"
#include "history/git_keeping.hpp"

#include <functional>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paddock::history {

/// By path: what is to come back.
using wanted_states = std::map<std::string, known_state, std::less<>>;

/// Whether programs outside would run or obey what is at the path, be it a protected name or what
/// git reads in a repository of any name.
[[nodiscard]] bool is_obeyed(const store::impl& of, const std::string& path, const was_there& has);

struct written_by_agents {
  wanted_states all;   ///< that an agent wrote last
  wanted_states unfit; ///< of these, what may run something
  /// Of all that was asked: the inodes of the directories above it, the nearest first, when it was
  /// there last. 0: not known.
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> homes;
};
/// What was there before the oldest checkpoint counts as a person's, but for what past_of_agents
/// has kept.
[[nodiscard]] written_by_agents written_by_agents_among(const store::impl& of, wanted_states asked,
                                                        const was_there& has);

/// What of the journal before an offset is needed when it goes: which contents an agent wrote last
/// where something may be obeyed, among those that are kept. A record for the beginning of the next
/// journal; without transitions there are none. Errors: those of reading.
[[nodiscard]] result<journal_record>
past_of_agents(const store::impl& of, std::uint64_t until,
               const std::function<bool(const content_id&)>& is_kept);

} // namespace paddock::history
