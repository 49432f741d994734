// SPDX-License-Identifier: MIT
#pragma once

// What a family of subcommands gives the command line that it is added to.

#include "common/workspace_cli.hpp"

#include <functional>
#include <string_view>

namespace paddock::cli {

inline constexpr std::string_view paddock_program = "paddock";

/// The group of those that the help of the program only names.
inline constexpr const char* named_only = "";

struct subcommand {
  CLI::App* parser = nullptr;
  std::function<int()> run; ///< returns the exit code; to be called when `parser` was chosen
};

} // namespace paddock::cli
