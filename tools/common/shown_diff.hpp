// SPDX-License-Identifier: MIT
#pragma once

// Differences of files, for people.

#include <string_view>

namespace paddock::cli {

/// Prints a unified diff of one file: in colours and without control characters where standard
/// output has colours, elsewhere byte for byte.
void print_diff(std::string_view diff);

} // namespace paddock::cli
