// SPDX-License-Identifier: MIT
#pragma once

// Arguments of a tool as a shell likes them, key=value, with the types of the tool's own schema.

#include <paddock/mcp/tool.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::cli {

/// What a person gave: itself, or the content of a file for "@file" ("@-": standard input). "@@"
/// stands for a value that begins with "@". Nothing, and what is wrong in `problem`, where the file
/// cannot be read as text.
[[nodiscard]] std::optional<std::string> value_or_file(std::string_view given,
                                                       std::string& problem);

/// The JSON object that the pairs say: a parameter that takes text gets the value as it is, every
/// other one has it read as JSON; values may be files as in `value_or_file`. Nothing, and what is
/// wrong in `problem`, when that cannot be. Whether the arguments are complete is left to the tool.
[[nodiscard]] std::optional<std::string> arguments_from_pairs(const mcp::tool& tool,
                                                              std::span<const std::string> pairs,
                                                              std::string& problem);

/// The same call the other way round, for a person to paste: the arguments of a JSON object as
/// words of a POSIX shell, each after a blank: ` --arg path=. --arg 'text=a b'`.
[[nodiscard]] std::string pairs_for_shell(mcp::json_view arguments);

} // namespace paddock::cli
