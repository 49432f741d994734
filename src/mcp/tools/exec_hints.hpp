// SPDX-License-Identifier: MIT
#pragma once

// Whether exit code 1 is the command's normal result (grep, diff), and no failure. What a failure
// comes from is command_hint (workspace_tools.hpp).

#include <paddock/exec/command.hpp>

#include <optional>
#include <string_view>

namespace paddock::mcp {

/// What exit code 1 says, of programs that search, compare or test: it is their answer. Nothing for
/// any other end, which is a success or a failure.
[[nodiscard]] std::optional<std::string_view> answer_of(const command& run,
                                                        const command_outcome& o);

} // namespace paddock::mcp
