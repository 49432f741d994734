// SPDX-License-Identifier: MIT
#pragma once

// Mistakes on a command line, in words that help. The option parser says what it did not expect; a
// person wants to know what to write instead.

#include "option_parser.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

inline constexpr std::string_view needs_value = "needs a value: ";

/// Before parsing: refuses values that are missing, and paths that only a shell expands. `words`
/// are those behind the program's name, and stay until the line is parsed.
void check_values(CLI::App& app, const std::vector<std::string>& words);

/// After parsing, the innermost command that was named; and "paddock skills show".
[[nodiscard]] const CLI::App& innermost_parsed(const CLI::App& app);
[[nodiscard]] std::string path_of(const CLI::App& app);
/// The first option, command or argument that nobody takes, and what may be meant; empty: none.
[[nodiscard]] std::string unknown_word(const CLI::App& app);
[[nodiscard]] bool is_unknown_command(const CLI::App& app);
/// An option behind the command of `paddock exec` without -- before it; empty: there is none.
[[nodiscard]] std::string missing_separator(const CLI::App& app,
                                            const std::vector<std::string>& words);
/// How the command is used, "paddock call TOOL [JSON]".
[[nodiscard]] std::string usage_of(const CLI::App& app);

} // namespace paddock::cli
