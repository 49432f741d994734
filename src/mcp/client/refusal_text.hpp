// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// What is read and kept of the body of a refusal.
inline constexpr std::size_t refusal_bytes_max = std::size_t{64} * 1024;

/// What a server's refusal says, for people: its message where the body is JSON that has one, else
/// the beginning of the body. One line of visible characters, at most 300 of them; empty where
/// there is nothing to show.
[[nodiscard]] std::string refusal_text(std::string_view body);

} // namespace paddock::mcp
