// SPDX-License-Identifier: MIT
#pragma once

// Which addresses a client may connect to. The name in a URL is resolved once, every address it
// stands for is judged, and these very addresses are connected to afterwards: what the name says
// later does not matter.

#include "mcp/client/http/transfer/url.hpp"
#include "sys/socket.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/mcp/client.hpp>

#include <functional>
#include <string>
#include <vector>

namespace paddock::mcp {

using host_resolver = std::function<result<std::vector<sys::ip_address>>(const std::string& host)>;
/// Asks the system, for at most `timeout_ms`.
[[nodiscard]] host_resolver system_resolver(std::int64_t timeout_ms);

/// The addresses of `to`, all of them allowed. Errors: denied_by_policy when one is not, or the
/// scheme is not https; not_found, timed_out, io (the resolver).
[[nodiscard]] result<std::vector<sys::ip_address>, detailed_error>
allowed_addresses(const url& to, address_policy policy, const host_resolver& resolve);

} // namespace paddock::mcp
