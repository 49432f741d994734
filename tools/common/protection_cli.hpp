// SPDX-License-Identifier: MIT
#pragma once

// The options that change what is protected in a workspace, shared by every program that runs tools
// or commands, and the files that belong to the program itself.

#include <paddock/path/protected_names.hpp>

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// --protect and --unprotect, as they were given.
struct protection_cli {
  std::vector<std::string> protect;
  std::vector<std::string> unprotect;

  [[nodiscard]] std::vector<protected_name> names() const;
};

/// Adds both options to `app`; they fill `target`, which must live as long.
void add_protection_options(CLI::App& app, protection_cli& target);

/// What an agent must never change, or it would decide what the next start of the program does: its
/// executable, the libraries it runs with, its helper, and the files named in `others` (the empty
/// string is none). Only those that lie beneath one of `places`; canonical; what does not exist is
/// left out.
[[nodiscard]] std::vector<std::string> own_files(std::span<const std::string> others,
                                                 std::span<const std::string> places);

} // namespace paddock::cli
