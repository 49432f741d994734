// SPDX-License-Identifier: MIT
#pragma once

/// The connections that a command made or was refused, where it reaches hosts by name
/// (network_reach::hosts).
///
/// Not guaranteed: which of several concurrent commands in one workspace made a connection; all of
/// them get the event.
///
/// Thread-safety: plain values.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// X(name, wire name): how a connection ended, or why there is none.
#define PADDOCK_NETWORK_OUTCOMES(X)                                                                \
  X(connected, "connected")            /* and still open */                                        \
  X(ended, "ended")                    /* after `sent` and `received` bytes */                     \
  X(name_refused, "nameRefused")       /* the name is not listed */                                \
  X(port_refused, "portRefused")       /* the name is, but not at this port */                     \
  X(address_refused, "addressRefused") /* an address without a name, which is not listed */        \
  X(not_public, "notPublic")           /* the name leads to `detail` */                            \
  X(other_host, "otherHost")           /* the connection asked for `detail` instead */             \
  X(not_tls, "notTls")                 /* at port 443 something other than TLS was sent */         \
  X(bad_request, "badRequest")         /* at port 80 an ambiguous request: `detail` */             \
  X(not_found, "notFound")             /* this machine finds no address for it */                  \
  X(unreachable, "unreachable")        /* no address answers; perhaps `detail` says why */         \
  X(too_many, "tooMany")               /* there are too many connections at once */                \
  X(gateway_ended, "gatewayEnded")     /* paddock-egress has ended: no host is reached any more */

struct network_event {
  enum class outcome : std::uint8_t {
#define PADDOCK_ENTRY(name, wire) name,
    PADDOCK_NETWORK_OUTCOMES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  };

  outcome what = outcome::connected;
  std::string host{};     ///< a name, as it was asked for, or an address
  std::uint16_t port = 0; ///< 0: of a name that was refused
  std::string detail{};
  std::uint64_t sent = 0; ///< bytes of the command
  std::uint64_t received = 0;
};

/// The stable name, as it appears in JSON.
[[nodiscard]] std::string_view wire_name(network_event::outcome what) noexcept;

/// One sentence for each kind of refusal, with its hosts and the next step.
[[nodiscard]] std::vector<std::string> notices_of(const std::vector<network_event>& events);

} // namespace paddock
