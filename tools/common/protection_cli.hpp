// SPDX-License-Identifier: MIT
#pragma once

// The options that change what is protected in a workspace, shared by every program that runs tools
// or commands.

#include "option_parser.hpp"

#include <paddock/path/protected_names.hpp>

#include <string>
#include <vector>

namespace paddock::cli {

/// --protect and --unprotect, as they were given.
struct protection_cli {
  std::vector<protected_name> kept = usual_protected_names(); ///< without these options
  std::vector<std::string> protect;
  std::vector<std::string> unprotect;

  [[nodiscard]] std::vector<protected_name> names() const;
  /// Why a name cannot be taken off, and what to do; empty: each can.
  [[nodiscard]] std::string mistake() const;
};

/// Adds both options to `app`; they fill `target`, which must live as long.
void add_protection_options(CLI::App& app, protection_cli& target);

} // namespace paddock::cli
