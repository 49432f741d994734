// SPDX-License-Identifier: MIT
#pragma once

// Landlock: rules that a process puts on itself and on everything it starts.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/visible_paths.hpp"

namespace paddock::exec {

/// Whether the paths have been made the only ones by a private root.
enum class root_kind : bool { shared, own };

/// Restricts this process as far as the policy asks and the kernel can, and notes what it did.
void apply_landlock(const policy& wanted, const visible_paths& visible, root_kind root,
                    const char* scratch, confine::enforcement& taken);

} // namespace paddock::exec
