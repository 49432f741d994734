// SPDX-License-Identifier: MIT
#pragma once

/// The revisions of the Model Context Protocol that servers and clients of this toolkit speak.
///
/// Thread-safety: constants.

#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view revision_modern = "2026-07-28";
/// Newest first; an `initialize` that asks for another one is answered with the first.
inline constexpr std::string_view revisions_legacy[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};

} // namespace paddock::mcp
