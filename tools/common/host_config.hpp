// SPDX-License-Identifier: MIT
#pragma once

// What a person pastes into an MCP host so that it starts this server.

#include "option_parser.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// The server as a host is to start it.
struct server_command {
  std::string program;                  ///< absolute
  std::optional<std::string> workspace; ///< absolute; none: the host's own project, or else here
  std::vector<std::string> options;     ///< all others
};

/// What `argv` says, with absolute paths in it; `app` has parsed it, and the options named in
/// `left_out` are not carried over. Complains and returns nothing when the server cannot tell where
/// it is.
[[nodiscard]] std::optional<server_command>
server_command_from(const CLI::App& app, int argc, char** argv,
                    const std::vector<std::string>& left_out);

/// The hosts' names, and "all".
[[nodiscard]] std::vector<std::string> host_names();

/// The snippet for a host on standard output, and where it belongs on standard error; for "all"
/// both on standard output. Returns the exit code.
[[nodiscard]] int print_host_config(std::string_view host, const server_command& command);

} // namespace paddock::cli
