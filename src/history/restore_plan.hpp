// SPDX-License-Identifier: MIT
#pragma once

// What a restore has to do, and what is in its way. Nothing here changes anything.

#include "history/change_sets.hpp"
#include "history/path_tops.hpp"

#include <paddock/history/changes.hpp>

#include <string>
#include <vector>

namespace paddock::history {

struct restore_step {
  std::string path;
  known_state wanted{}, present{};
  bool is_above_rules = false; ///< a rule protects the path, and there is a reason to go on
};

/// What was moved and goes back with all in it, before the steps.
struct restore_move {
  std::string from; ///< where it was, and is to be
  std::string to;   ///< where it is now
  known_state object{};
};

struct restore_plan {
  std::vector<restore_step> steps{}; ///< by path; what is present takes the moves for made
  std::vector<restore_move> moves{}; ///< none within another
  std::vector<restore_conflict> conflicts{};
  std::uint64_t of_others = 0;          ///< of the conflicts: those that force is for
  std::vector<std::string> lost{};      ///< what goes and is not held
  std::vector<restore_conflict> left{}; ///< what stays, or does not come back whole, in any case
  std::uint64_t others = 0;             ///< paths that others alone have changed
  std::vector<std::string> unknown{};   ///< of what was asked for: nothing is or was there
};

/// `closed`: what is opened before the steps are made, and is not now.
[[nodiscard]] restore_plan plan_restore(const store::impl& of, const path_changes& all,
                                        const restore_request& request, const path_tops& closed);

} // namespace paddock::history
