// SPDX-License-Identifier: MIT
#pragma once

// Which addresses belong to the public Internet.

#include "sys/socket.hpp"

#include <string_view>

namespace paddock::sys {

/// What kind of address this is, if it is not one of the public Internet ("loopback"); empty if it
/// is. Addresses that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo) are what that one
/// is. Sources: IANA's registries of special-purpose addresses.
[[nodiscard]] std::string_view special_purpose_of(const ip_address& address) noexcept;

} // namespace paddock::sys
