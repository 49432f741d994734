// SPDX-License-Identifier: MIT
#pragma once

// Landlock: rules that a process puts on itself and on everything it starts.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/visible_paths.hpp"

namespace paddock::exec {

/// Whether the paths have been made the only ones by a private root.
enum class root_kind : bool { shared, own };

/// Calls that this kernel's Landlock leaves to others to judge, though the policy asks for it.
struct left_by_landlock {
  bool truncation = false; ///< it was applied all the same, as somebody answers calls
  bool signals = false;    ///< it was applied, and keeps the memory of other processes
};

/// Restricts this process as far as the policy asks and the kernel can, and notes what it did.
left_by_landlock apply_landlock(const policy& wanted, const visible_paths& visible, root_kind root,
                                const char* scratch, confine::enforcement& taken);

} // namespace paddock::exec
