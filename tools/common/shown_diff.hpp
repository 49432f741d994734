// SPDX-License-Identifier: MIT
#pragma once

// Differences of files, for people.

#include <string_view>

namespace paddock::cli {

/// Prints a unified diff of one file as content, in colours where standard output has them. False
/// as by `print_content`.
bool print_diff(std::string_view diff);

} // namespace paddock::cli
