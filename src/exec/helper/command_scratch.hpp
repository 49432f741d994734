// SPDX-License-Identifier: MIT
#pragma once

// The scratch directory of a command that has no root directory of its own.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"

namespace paddock::exec {

/// Without a private root there is no private /tmp either.
void make_scratch(const policy& wanted, shared_state& shared);
/// The home and temporary directories of the environment have to be there.
void point_to_scratch(const shared_state& shared);

} // namespace paddock::exec
