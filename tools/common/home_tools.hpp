// SPDX-License-Identifier: MIT
#pragma once

// Toolchains that a user has installed in the home directory: which parts of them commands may
// read. One table says it, and nothing of it is a place where a tool keeps credentials.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

struct home_tool {
  std::string name;
  std::vector<std::string> shown;    ///< absolute paths that exist, to be read
  std::vector<std::string> programs; ///< directories of PATH, among or below those
  std::vector<std::string> left_out; ///< "PATH: why"
};

/// Paths are relative to the home directory. A component that ends with an asterisk stands for each
/// directory whose name begins so, as those of versions do; as a place of programs for the newest.
struct home_row {
  std::string_view name;
  std::array<std::string_view, 6> shown;
  std::array<std::string_view, 2> programs;
};

/// Those of a table that are there, in its order. What another user could change, or what a link
/// leads to, is left out.
[[nodiscard]] std::vector<home_tool> find_in_home(const std::string& home,
                                                  std::span<const home_row> table);
/// Toolchains.
[[nodiscard]] std::vector<home_tool> find_home_tools(const std::string& home);

/// `search_path` with the directories of programs in front, in the order of the tools; but for
/// those of a tool that it leads to already. Entries that are not absolute are left out.
[[nodiscard]] std::string search_path_with(const std::vector<home_tool>& tools,
                                           const std::string& search_path);

/// "rustup, uv"; of nothing "none".
[[nodiscard]] std::string names_of(const std::vector<home_tool>& tools);
/// What is left out, as clauses: "PATH: why; …"; empty: nothing.
[[nodiscard]] std::string left_out_of(const std::vector<home_tool>& tools);

} // namespace paddock::cli
