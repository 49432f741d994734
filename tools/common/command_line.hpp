// SPDX-License-Identifier: MIT
#pragma once

// A program's command line as data, from which its manual page and completion are made.

#include "option_parser.hpp"

#include <string>
#include <string_view>

namespace paddock::cli {

/// Not an option for people, so it is in no help: it is alone on the command line.
inline constexpr std::string_view describe_word = "--describe-command-line";

/// The program's commands and options with their texts, as one JSON object.
[[nodiscard]] std::string describe_command_line(const CLI::App& app);

} // namespace paddock::cli
