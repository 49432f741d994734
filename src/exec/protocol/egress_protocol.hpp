// SPDX-License-Identifier: MIT
#pragma once

// What the library and paddock-egress say to each other, over one SOCK_SEQPACKET pair. The library
// starts it with
//   paddock-egress CHANNEL HOSTS PROXY LISTENER...
// where HOSTS is sealed memory with host_list::text(), PROXY is HOST:PORT or empty, and the others
// are descriptors, too. It sends an egress_event for each connection and refusal, until the library
// closes the channel. It answers an egress_flush after all earlier ones.

#include <cstdint>

namespace paddock::sys {

/// In the order of network_event::outcome, which documents them.
enum class egress_kind : std::uint32_t {
  connected,
  ended,
  name_refused,
  port_refused,
  address_refused,
  not_public,
  other_host,
  not_tls,
  bad_request,
  not_found,
  unreachable,
  too_many,
  gateway_ended, ///< never sent
  flushed,
};

struct egress_event {
  egress_kind kind = egress_kind::flushed;
  std::uint16_t port = 0;
  char host[254] = {};    ///< a name or an address, with a NUL
  char detail[164] = {};  ///< the other host, or the problem; with a NUL
  std::uint64_t sent = 0; ///< bytes
  std::uint64_t received = 0;
  /// The number of the last flush before the connection or question; of `flushed`, its own.
  std::uint64_t began = 0;
};

/// Asks for an event of kind `flushed` with the same number.
struct egress_flush {
  std::uint64_t number = 0;
};

} // namespace paddock::sys
