// SPDX-License-Identifier: MIT
#pragma once

// `paddock review`: a web page for people, served to this machine only, that shows what was done in
// a workspace since a checkpoint, while it is done, and takes it back.

#include "two_sides.hpp"

#include <cstdint>

namespace paddock::review_page {

/// Serves the page until SIGINT, SIGTERM or SIGHUP; port 0 stands for any that is free. The address
/// is the first and only line on standard output. Returns the exit code (workspace_cli.hpp).
[[nodiscard]] int serve_review(reviewed of, std::uint16_t port);

} // namespace paddock::review_page
