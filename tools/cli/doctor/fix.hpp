// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace paddock::cli {

enum class fix_outcome : std::uint8_t { nothing_known, made, not_made };

/// Looks for a setting of this machine that keeps user namespaces from this user, shows the commands
/// that change it, and runs them as root once a person at the terminal agrees.
[[nodiscard]] fix_outcome fix_namespaces();

} // namespace paddock::cli
