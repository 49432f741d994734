// SPDX-License-Identifier: MIT
#pragma once

// Whether commands would see where histories are kept: those hold what files of every workspace of
// this user held.

#include <paddock/exec/confinement.hpp>

#include <string>
#include <vector>

namespace paddock::cli {

/// Why commands under the policy would see one of the places, by whatever name or mount, and what
/// to do, as a sentence without a full stop; empty: they see none. Places that do not exist hold
/// nothing.
[[nodiscard]] std::string state_shown_by(const confinement_policy& policy,
                                         const std::string& workspace,
                                         const std::vector<std::string>& places);

} // namespace paddock::cli
