// SPDX-License-Identifier: MIT
#pragma once

// Calls that take several rounds (2026-07-28): what the server may ask this client, and the state
// that travels through the client and back. The state is signed and dated, and good for the call it
// was given for, so that a handler may trust it; the client can read it.

#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Which of the protocol's own methods besides tools may need input.
[[nodiscard]] bool may_need_input(std::string_view method) noexcept;

/// Whether this is as input_needed demands it: an object of requests with known methods.
[[nodiscard]] bool are_requests(std::string_view requests);

/// What the client would have to declare for `requests` (input_needed) and did not:
/// {"requiredCapabilities": …}, or empty. Precondition: `requests` is empty, or
/// are_requests.
[[nodiscard]] std::string undeclared_capabilities(std::string_view requests, json_view declared);

/// What tells this call from others: its name and its params, but for what rounds add; the same
/// whatever the order of members.
[[nodiscard]] std::string purpose_of(std::string_view name, json_view params);

inline constexpr std::int64_t state_lifetime_s = 3600;
[[nodiscard]] std::string seal_state(std::string_view key, std::string_view purpose,
                                     std::string_view state, std::int64_t now_s);
/// Nothing when it was not sealed with this key for this purpose within the last hour.
[[nodiscard]] std::optional<std::string> open_state(std::string_view key, std::string_view purpose,
                                                    std::string_view sealed, std::int64_t now_s);

} // namespace paddock::mcp
