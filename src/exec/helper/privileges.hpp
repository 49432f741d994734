// SPDX-License-Identifier: MIT
#pragma once

// What the command gives up for good just before its program runs. Each returns 0 or an errno.

#include "exec/protocol/exec_protocol.hpp"
#include "exec/protocol/seccomp_filter.hpp"

namespace paddock::exec {

/// No core dumps, and what the policy bounds.
/// Where a control group bounds memory and processes of the whole tree, they are left to it.
enum class bounds_held : bool { by_nobody, by_group };
int apply_bounds(const sys::exec_policy& policy, bounds_held held);
/// No capability now or later, not even for root.
int drop_capabilities();
/// Whether apply_seccomp can succeed here.
bool can_filter_system_calls();
/// Without the right to gain privileges, which has to be given up before. Where calls of the
/// request wait for an answer, `listener` is the place. If there can be none, `unanswered` says
/// why: then attributes are fixed, and the others as permitted.
int apply_seccomp(confine::filter_request request, int& listener, int& unanswered);

} // namespace paddock::exec
