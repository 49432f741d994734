// SPDX-License-Identifier: MIT
#pragma once

// Where servers leave the sockets at which `paddock ps` finds their processes.

#include "workspace_cli.hpp"

#include <string>

namespace paddock::cli {

/// Beside the histories; empty: this user has no place for it.
[[nodiscard]] std::string process_sockets_directory();

/// That directory, for a server with these options; empty where an agent could reach it by its
/// tools or its commands.
[[nodiscard]] std::string process_sockets_of(const workspace_cli& from);

} // namespace paddock::cli
