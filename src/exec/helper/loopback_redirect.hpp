// SPDX-License-Identifier: MIT
#pragma once

// Leads the connections of a network namespace to one socket, whatever their port: a rule of
// nf_tables, whose messages are in linux/netfilter/nf_tables.h.

#include <cstdint>

namespace paddock::exec {

/// TCP to every IPv4 address but 127.0.0.0/8 arrives at that port of 127.0.0.1, where
/// SO_ORIGINAL_DST tells where it was to go. 0 or an errno: EOPNOTSUPP where the kernel has no
/// such rules.
int redirect_connections(std::uint16_t port_in_network_order);

} // namespace paddock::exec
