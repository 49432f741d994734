// SPDX-License-Identifier: MIT
#pragma once

// What a person gives in a file or on standard input.

#include <cstddef>
#include <optional>
#include <string>

namespace paddock::cli {

inline constexpr std::size_t input_bytes_max = std::size_t{64} * 1024 * 1024;

/// All of the file, of standard input for "-": at most input_bytes_max, so that what never ends is
/// not read for ever. Nothing, and the end of a sentence about it in `problem`, when it cannot be
/// had.
[[nodiscard]] std::optional<std::string> read_input(const std::string& name, std::string& problem);

} // namespace paddock::cli
