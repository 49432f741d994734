// SPDX-License-Identifier: MIT
#pragma once

// What package managers have fetched before, in the home directory: one row for each of them.
// Commands use it as their own copy, and nothing of it is a place where one keeps credentials.

#include "home_tools.hpp"

#include <paddock/exec/confinement.hpp>

#include <string>
#include <vector>

namespace paddock::cli {

/// Those that are there, in the order of the table.
[[nodiscard]] std::vector<home_tool> find_package_caches(const std::string& home);

/// "NAME=value": what makes their managers do with the cache alone, for commands that do not reach
/// the network.
[[nodiscard]] std::vector<std::string> environment_of_caches(const std::vector<home_tool>& caches,
                                                             network_reach reach);

} // namespace paddock::cli
