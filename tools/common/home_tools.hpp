// SPDX-License-Identifier: MIT
#pragma once

// What a user has in the home directory that commands may see: toolchains, which they read, and what
// package managers have fetched before, of which they use a copy of their own. One table of each
// says it, and nothing of them is a place where credentials are kept.

#include <paddock/exec/confinement.hpp>

#include <string>
#include <vector>

namespace paddock::cli {

struct home_tool {
  std::string name;
  std::vector<std::string> shown;    ///< absolute paths that exist, to be read
  std::vector<std::string> programs; ///< directories of PATH, among or below those
  std::vector<std::string> left_out; ///< "PATH: why"
};

/// Toolchains that are there, in the order of their table. What another user could change, or what a
/// link leads to, is left out.
[[nodiscard]] std::vector<home_tool> find_home_tools(const std::string& home);

/// `search_path` with the directories of programs in front, in the order of the tools; but for
/// those of a tool that it leads to already. Entries that are not absolute are left out.
[[nodiscard]] std::string search_path_with(const std::vector<home_tool>& tools,
                                           const std::string& search_path);

/// "rustup, uv"; of nothing "none".
[[nodiscard]] std::string names_of(const std::vector<home_tool>& tools);
/// What is left out, as clauses: "PATH: why; …"; empty: nothing.
[[nodiscard]] std::string left_out_of(const std::vector<home_tool>& tools);

/// Package caches that are there, likewise.
[[nodiscard]] std::vector<home_tool> find_package_caches(const std::string& home);

/// "NAME=value": what makes their managers do with the cache alone, for commands that do not reach
/// the network.
[[nodiscard]] std::vector<std::string> environment_of_caches(const std::vector<home_tool>& caches,
                                                             network_reach reach);

} // namespace paddock::cli
