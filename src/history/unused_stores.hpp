// SPDX-License-Identifier: MIT
#pragma once

// Histories of workspaces that nobody opens any more.

#include <cstdint>
#include <string_view>

namespace paddock::history {

/// The store that is opened, beside which is looked.
struct store_in_use {
  std::string_view name;
  std::int64_t used_before_ns = 0; ///< 0: it is new
};

/// Removes stores from the directory of all stores that nobody has used for so many days, a few at
/// a time, the oldest first. Stays: what is in use, of another version, not whole, or of another
/// user; one with a restore under way; and everything that is no store. A failure is for the next
/// one to open a store.
void remove_unused_stores(int all, const store_in_use& own, std::uint64_t days_max);

} // namespace paddock::history
