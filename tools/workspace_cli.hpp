// SPDX-License-Identifier: MIT
#pragma once

// The command-line options that choose a workspace and its tools, shared by every program that
// serves them, and the conventions of the programs: one line per error on standard error, the exit
// codes below.

#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/root.hpp>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace paddock::cli {

enum exit_code : int {
  success = 0,
  failed = 1, ///< a tool reported an error, or the work could not be done
  usage = 2,  ///< the command line or the workspace is not usable
};

inline constexpr const char* exit_codes_help =
    "Exit codes: 0 success, 1 failure (a tool reported an error), 2 unusable options or workspace.";

struct workspace_cli {
  std::string workspace = ".";
  root_options root;
  mcp::workspace_options tools;
};

/// Adds the options to `app`; they fill `target`, which must live as long.
void add_workspace_options(CLI::App& app, workspace_cli& target);

/// "program: message" on standard error.
void complain(std::string_view program, std::string_view message);

/// Parses the command line. A value: the program is to exit with it at once (after --help,
/// --version or a mistake).
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// The server that the options describe; complains and returns nothing when they cannot be used.
[[nodiscard]] std::optional<mcp::server>
make_server(std::string_view program, const workspace_cli& from, mcp::server_options options);

} // namespace paddock::cli
