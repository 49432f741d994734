// SPDX-License-Identifier: MIT
#pragma once

// Which of what a scan has met a restore has brought about, and what others did meanwhile.

#include "history/restore_plan.hpp"
#include "history/scan.hpp"

namespace paddock::history {

struct restore_share {
  scan_outcome own{}, others{};
};
[[nodiscard]] restore_share share_of(const file_index& index, const restore_plan& plan,
                                     scan_outcome&& found);

} // namespace paddock::history
