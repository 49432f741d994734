// SPDX-License-Identifier: MIT
#pragma once

// Mistakes on a command line, in words that help. The option parser says what it did not expect; a
// person wants to know what to write instead.

#include "option_parser.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::cli {

/// What is wrong with the command line, where this knows more than the parser: an option or a
/// command that does not exist, an argument that nobody takes, a command of `paddock exec` without
/// -- before it, an option without its value or given twice, a path that a shell would have had to
/// expand. Nothing when all of that is in order.
struct mistake {
  std::string text;
  bool is_misread = false; ///< the parser would take it for something else and go on
  bool is_command = false; ///< the command is what does not exist
};
[[nodiscard]] std::optional<mistake> mistake_in(const CLI::App& app, int argc, char** argv);
/// The program and the commands that the line names, "paddock skills show".
[[nodiscard]] std::string path_in(const CLI::App& app, int argc, char** argv);
/// How the command is used, "paddock call TOOL [JSON]"; `path` is as path_in has it.
[[nodiscard]] std::string usage_of(const CLI::App& app, const std::string& path);

} // namespace paddock::cli
