// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// ISO 8601 in UTC with milliseconds, rounded down: "2024-01-01T00:00:00.000Z".
[[nodiscard]] std::string iso8601_ms(std::int64_t unix_ns);
using iso8601_buffer = std::array<char, 24>;
[[nodiscard]] std::string_view iso8601_ms(std::int64_t unix_ns, iso8601_buffer& buffer);

} // namespace paddock::mcp
