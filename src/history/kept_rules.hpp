// SPDX-License-Identifier: MIT
#pragma once

// Which names the servers of a workspace protect, kept in its store: a person's command, which is
// started without their options, has to know them, too. The rules of servers that have the store
// open, or had it last, are in force; the rules of earlier ones are past, and kept as long as
// checkpoints.

#include "history/store_directory.hpp"

#include <paddock/history/history.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace paddock::history {

struct ruled_workspace {
  /// Under its own rules and the ones in force. A person's look also obeys the past ones, which
  /// hide nothing any more: what the agent changed since then can be undone.
  std::shared_ptr<const root> workspace;
  /// Hidden until this server began.
  std::vector<protected_name> shown_anew{};
};
/// A server adds its own rules to the kept ones. Errors: root_gone, those of opening; those of
/// reading and writing the rules: without them nothing may be done.
[[nodiscard]] result<ruled_workspace, detailed_error>
under_kept_rules(std::shared_ptr<const root> workspace, store_directory& store, session by,
                 std::uint64_t age_days_max);

} // namespace paddock::history
