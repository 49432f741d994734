// SPDX-License-Identifier: MIT
#pragma once

// Why a command did not start, and whether exit code 1 is its normal result (grep, diff), and no
// failure. What a failure comes from is command_hint (workspace_tools.hpp).

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// What exit code 1 says, of programs that search, compare or test: it is their answer. Nothing for
/// any other end, which is a success or a failure.
[[nodiscard]] std::optional<std::string_view> answer_of(const command& run,
                                                        const command_outcome& o);

/// Why a command was not started because of its program: no such one, out of sight, a directory, no
/// executable file.
struct start_hint {
  std::string text{};         ///< and what can be done; without "; "; empty: another cause
  bool is_no_program = false; ///< nothing has this name or path
};
/// `directory` is where it was to run, relative to the root.
[[nodiscard]] start_hint start_hint_of(const root& root, const command_error& e, const command& run,
                                       std::string_view directory, hint_reader reader);

} // namespace paddock::mcp
