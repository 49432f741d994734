// SPDX-License-Identifier: MIT
#pragma once

// paddock-mcp --check: whether the server would do its work with the options it was given.

#include "common/workspace_cli.hpp"

namespace paddock::cli {

/// Tries the workspace, the protocol, the tools and the confinement of commands, and prints a line
/// for each. In the workspace it makes one directory and removes it again, unless the options allow
/// no writing. Returns the exit code: `failed` when something does not work.
[[nodiscard]] int self_test(const workspace_cli& from, mcp::server& server);

} // namespace paddock::cli
