// SPDX-License-Identifier: MIT
#pragma once

// Which addresses are of the Internet at large.

#include "sys/socket.hpp"

namespace paddock::egress {

/// False for special-purpose addresses: private networks, loopback, link-local, cloud metadata,
/// multicast, documentation, and IPv6 forms that embed any IPv4 address. Sources: the IANA IPv4 and
/// IPv6 Special-Purpose Address Registries.
[[nodiscard]] bool is_public(const sys::ip_address& address) noexcept;

} // namespace paddock::egress
