// SPDX-License-Identifier: MIT
#pragma once

// The subcommands that look into a workspace: search, find, map.

#include "common/subcommand.hpp"

#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>
#include <paddock/search/glob.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::cli {

/// Lines of text that match a pattern.
[[nodiscard]] subcommand add_search(CLI::App& app);
/// Files and directories by their names.
[[nodiscard]] subcommand add_find(CLI::App& app);
/// A compact directory tree with sizes.
[[nodiscard]] subcommand add_map(CLI::App& app);

/// The workspace that a command is about: the one named, or else one that the current directory is
/// in.
struct found_workspace {
  std::shared_ptr<const root> workspace;
  std::string current{};    ///< the path of the current directory in it
  bool has_history = false; ///< it has one already
};

void add_workspace_option(CLI::App& parser, std::string& target,
                          const std::string& names = "-w,--workspace");
/// The nearest directory with a `.git`, from this one up; empty: there is none.
[[nodiscard]] std::string repository_around(const std::string& directory);
/// What is looked through: the directory named, or else, because rules of ignore files above the
/// current directory count, the repository or the workspace with a history that it is in. Nothing
/// after the program has complained.
[[nodiscard]] std::optional<found_workspace> open_workspace(std::string_view program,
                                                            const std::string& directory);
/// A path of the workspace as a person in the current directory would give it.
[[nodiscard]] std::string from_current(std::string_view current, std::string_view path);
/// The same of all paths in it.
void see_from_current(std::string_view current, search_coverage& coverage);
/// Says of a path what is wrong with it, and what to do.
void complain_of_path(std::string_view program, const found_workspace& in, const std::string& path,
                      const error& e);
/// A glob that `option` gave; nothing after the program has complained of one that is none, or that
/// begins with what stands for nothing here: !, or the path of the current directory.
[[nodiscard]] std::optional<glob> glob_of(std::string_view program,
                                          const found_workspace& workspace, std::string_view text,
                                          std::string_view option = "");
/// As many as this machine has processors, within reason.
[[nodiscard]] unsigned search_threads();

/// "1 file", "3 files".
[[nodiscard]] std::string count_of(std::uint64_t number, const char* one, const char* many);
/// "; 3 entries are ignored (node_modules/ in .gitignore:2 …)": what an answer leaves out; empty
/// when that is nothing.
[[nodiscard]] std::string left_out(const search_coverage& coverage);

} // namespace paddock::cli
