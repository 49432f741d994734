// SPDX-License-Identifier: MIT
#pragma once

// What the end of a command means: an answer, or a failure and perhaps its cause.

#include <paddock/exec/command.hpp>
#include <paddock/path/root.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// What exit code 1 says, of programs that search, compare or test: it is their answer. Nothing for
/// any other end, which is a success or a failure.
[[nodiscard]] std::optional<std::string_view> answer_of(const command& run,
                                                        const command_outcome& o);

/// What a command that failed or met its deadline has run into, as far as its standard error, its
/// exit code and its name tell: advice for a person or a model, empty when nothing speaks for
/// anything. Programs say such things in their own words, so this is never the reason given. What
/// they print to standard output is content and tells nothing.
[[nodiscard]] std::string hint_of(const root& root, const command& run, const command_outcome& o);

} // namespace paddock::mcp
