// SPDX-License-Identifier: MIT
#pragma once

// The second half of the demonstration: an agent that tries to leave. Each attack goes through the
// tools, and what became of it is looked up outside them. One that comes to nothing without a fence
// either is reported as skipped.

#include <paddock/mcp/client.hpp>

#include <string>

namespace paddock::cli {

/// Attacks the fence of a server whose workspace is `workspace`, a directory that nobody needs, and
/// prints what each attack met. True when at least one was tried and all of it held; complains when
/// none could be.
[[nodiscard]] bool attack_fence(mcp::client& server, const std::string& workspace);

} // namespace paddock::cli
