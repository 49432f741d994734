// SPDX-License-Identifier: MIT
#pragma once

// The command-line options that serve a workspace over HTTP.

#include "common/option_parser.hpp"

#include <paddock/mcp/http_server.hpp>

#include <string>
#include <string_view>

namespace paddock::cli {

struct http_cli {
  mcp::http_server_options options; ///< but for the token
  std::string listen;               ///< empty: standard input and output are served
  std::string token_file;
};

/// Adds the options to `app`; they fill `target`, which must live as long.
void add_http_options(CLI::App& app, http_cli& target);

/// Serves until SIGTERM or SIGINT; complains about what is not usable. Returns the exit code.
[[nodiscard]] int serve_http(std::string_view program, const mcp::server& server, http_cli from);

} // namespace paddock::cli
