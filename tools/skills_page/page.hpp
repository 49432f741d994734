// SPDX-License-Identifier: MIT
#pragma once

// `paddock skills ui`: a web page for people, served to this machine only, that lists, adds,
// imports, edits and deletes the skills beneath a directory.

#include <cstdint>
#include <string>

namespace paddock::skills_page {

struct page_options {
  std::string root = "."; ///< the directory that has, or will have, `.agents`
  std::uint16_t port = 0; ///< 0: any that is free
};

/// Serves the page until SIGINT, SIGTERM or SIGHUP. The address is the first and only line on
/// standard output. Returns the exit code (workspace_cli.hpp).
[[nodiscard]] int run_skills_page(const page_options& options);

} // namespace paddock::skills_page
