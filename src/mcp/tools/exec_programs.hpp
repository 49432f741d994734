// SPDX-License-Identifier: MIT
#pragma once

// What a command line says about the program it names: whether it is installed out of the
// command's sight, and whether it is a whole command line by mistake.

#include <paddock/exec/command.hpp>
#include <paddock/path/root.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Where the search path of the policy, which is the server's, leads for a name that the command's
/// own PATH did not find there. Nothing for a path: what lies elsewhere on this machine is not
/// told.
[[nodiscard]] std::optional<std::string> installed_at(const command& run, std::string_view name);

/// Whether the word is nothing but a command of shells, such as `cd`, or an assignment such as
/// `CC=gcc`.
[[nodiscard]] bool is_for_shell(std::string_view word);

/// What to write instead of a command line in the place of the program; empty where its first word
/// is no program either. `directory` is where the command was to run, relative to the root.
[[nodiscard]] std::string as_arguments(const root& root, const command& run,
                                       std::string_view directory);

} // namespace paddock::mcp
