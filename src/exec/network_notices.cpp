// SPDX-License-Identifier: MIT

// Sentences about the refused connections of a command.

#include <paddock/exec/network_event.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {
namespace {

constexpr std::string_view wire_names[] = {
#define PADDOCK_ENTRY(name, wire) wire,
    PADDOCK_NETWORK_OUTCOMES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

using outcome = network_event::outcome;

/// The words around the hosts.
struct sentence {
  std::string_view before;
  std::string_view after;
};

sentence sentence_for(outcome what) {
  switch (what) {
  case outcome::connected:
  case outcome::ended:
    break;
  case outcome::name_refused:
  case outcome::port_refused:
  case outcome::address_refused:
    return {"refused: ", "; a person can add it to the list of --network allow:"};
  case outcome::not_public:
    return {"refused, because the address is not public: ",
            "; a person can add the address to the list of --network allow:"};
  case outcome::other_host:
    return {"refused, because the request named another host: ", ""};
  case outcome::not_tls:
    return {"refused, because at port 443 the TLS greeting has to name the host: ",
            "; a person can list SSH there as ssh://HOST:443"};
  case outcome::bad_request:
    return {"refused an HTTP request: ", ""};
  case outcome::not_found:
    return {"this machine cannot resolve ", ""};
  case outcome::unreachable:
    return {"no answer from ", ""};
  case outcome::too_many:
    return {"refused, because commands have too many connections open: ", "; close some"};
  case outcome::gateway_ended:
    return {"no host can be reached any more, because ", " has ended; run the command again"};
  }
  return {};
}

std::string shown(const network_event& event) {
  std::string text = event.host;
  if (event.port != 0) text += ":" + std::to_string(event.port);
  if (!event.detail.empty()) text += " (" + event.detail + ")";
  return encode_name(text);
}

} // namespace

std::string_view wire_name(network_event::outcome what) noexcept {
  return wire_names[static_cast<std::size_t>(what)];
}

std::vector<std::string> notices_of(const std::vector<network_event>& events) {
  constexpr std::size_t hosts_shown_max = 10;
  std::vector<std::string> notices;
  for (std::size_t kind = 0; kind < std::size(wire_names); ++kind) {
    const auto what = static_cast<outcome>(kind);
    const sentence around = sentence_for(what);
    if (around.before.empty()) continue;
    std::vector<std::string> hosts;
    for (const network_event& each : events) {
      if (each.what != what) continue;
      if (std::string text = shown(each); std::ranges::find(hosts, text) == hosts.end())
        hosts.push_back(std::move(text));
    }
    if (hosts.empty()) continue;
    std::string notice = std::string("network: ").append(around.before);
    for (std::size_t i = 0; i < std::min(hosts.size(), hosts_shown_max); ++i)
      notice += (i == 0 ? "" : ", ") + hosts[i];
    if (hosts.size() > hosts_shown_max)
      notice += " and " + std::to_string(hosts.size() - hosts_shown_max) + " more";
    notices.push_back(notice.append(around.after));
  }
  return notices;
}

} // namespace paddock
