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

/// The rest of the sentence after the hosts.
std::string_view common_text(outcome what) {
  switch (what) {
  case outcome::connected:
  case outcome::ended:
    break;
  case outcome::name_refused:
  case outcome::port_refused:
  case outcome::address_refused:
    return "may not be reached by commands; a person can allow it by adding it to the list of "
           "--network allow:";
  case outcome::not_public:
    return "leads to an address that is not public; a person can allow it by adding the address "
           "to the list of --network allow:";
  case outcome::other_host:
    return "was connected to but another host was asked for: the connection was closed";
  case outcome::not_tls:
    return "was sent no TLS greeting that names it: the connection was closed; list another port "
           "for another protocol";
  case outcome::bad_request:
    return "was refused a request: the connection was closed";
  case outcome::not_found:
    return "has no address that this machine can find";
  case outcome::unreachable:
    return "does not answer";
  case outcome::too_many:
    return "was refused because commands have 1,024 connections open; close some";
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
    const std::string_view common = common_text(what);
    std::vector<std::string> hosts;
    for (const network_event& each : events)
      if (std::string text = shown(each);
          each.what == what && std::ranges::find(hosts, text) == hosts.end())
        hosts.push_back(std::move(text));
    if (hosts.empty() || common.empty()) continue;
    std::string notice = "network: ";
    for (std::size_t i = 0; i < std::min(hosts.size(), hosts_shown_max); ++i)
      notice += (i == 0 ? "" : ", ") + hosts[i];
    if (hosts.size() > hosts_shown_max)
      notice += " and " + std::to_string(hosts.size() - hosts_shown_max) + " more";
    notices.push_back(notice.append(" ").append(common));
  }
  return notices;
}

} // namespace paddock
