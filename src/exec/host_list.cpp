// SPDX-License-Identifier: MIT
#include "sys/socket.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/exec/detail/host_sets.hpp>
#include <paddock/exec/host_list.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace paddock {
namespace {

constexpr std::size_t host_bytes_max = 253; // RFC 1035, without the dot at the end
constexpr std::size_t label_bytes_max = 63;
constexpr std::size_t entries_max = 1'000;
constexpr std::string_view own = "local";
constexpr std::string_view everything = "all";
constexpr std::string_view ssh_scheme = "ssh://";
constexpr std::uint16_t ssh_port = 22;
constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter_or_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= label_bytes_max && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, [](char c) {
           return c == '-' || c == '_' || is_letter_or_digit(c);
         });
}

/// A last label that makes the whole an IPv4 address, as in 127.1 and 0x7f.1.
bool ends_an_address(std::string_view label) {
  if (!label.starts_with("0x")) return std::ranges::all_of(label, is_digit);
  return std::ranges::all_of(label.substr(2),
                             [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::array<std::uint8_t, 16> as_v6(std::span<const std::uint8_t> address) {
  std::array<std::uint8_t, 16> out{};
  if (address.size() == 4) std::ranges::copy(mapped_prefix, out.begin());
  std::ranges::copy(address, address.size() == 4 ? out.begin() + 12 : out.begin());
  return out;
}

bool has_prefix(const std::array<std::uint8_t, 16>& address, const host_rule& rule) {
  // A network of IPv6 has no address of IPv4, though the form of all of them is in it.
  const bool is_v4 = std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.begin());
  if (is_v4 && rule.prefix_bits < mapped_prefix.size() * 8) return false;
  const unsigned bytes = rule.prefix_bits / 8U;
  const unsigned rest = rule.prefix_bits % 8U;
  if (!std::equal(address.begin(), address.begin() + bytes, rule.address.begin())) return false;
  return rest == 0 || ((address[bytes] ^ rule.address[bytes]) >> (8U - rest)) == 0;
}

bool matches_address(const host_rule& rule, const std::array<std::uint8_t, 16>& address,
                     host_rule::verdict says) {
  return rule.says == says &&
         (rule.to == host_rule::target::everything ||
          (rule.to == host_rule::target::addresses && has_prefix(address, rule)));
}

bool matches_name(const host_rule& rule, std::string_view name) {
  switch (rule.to) {
  case host_rule::target::name:
    return name == rule.name;
  case host_rule::target::names_below:
    return name.size() > rule.name.size() + 1 && name.ends_with(rule.name) &&
           name[name.size() - rule.name.size() - 1] == '.';
  case host_rule::target::any_name:
  case host_rule::target::everything:
    return true;
  case host_rule::target::addresses:
  case host_rule::target::own_port:
    break;
  }
  return false;
}

bool matches_port(const host_rule& rule, std::uint16_t port) {
  if (rule.port != 0) return rule.port == port;
  return rule.says == host_rule::verdict::deny || rule.to == host_rule::target::everything ||
         port == 80 || port == 443;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (why != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool is_own_host(std::string_view text) {
  return detail::equal_ignoring_ascii_case(text, "localhost") || text.starts_with("127.") ||
         text == "::1";
}

/// "ADDRESS", "ADDRESS/BITS": false when it is neither.
bool read_addresses(std::string_view text, host_rule& rule) {
  const auto slash = text.find('/');
  const auto address = sys::inet_pton(text.substr(0, slash));
  if (!address) return false;
  const bool is_v4 = address->kind == sys::ip_address::family::v4;
  const unsigned bits = is_v4 ? 32 : 128;
  unsigned prefix = bits;
  if (slash != std::string_view::npos) {
    const std::string_view number = text.substr(slash + 1);
    const auto [end, why] = std::from_chars(number.data(), number.data() + number.size(), prefix);
    if (why != std::errc() || end != number.data() + number.size() || prefix > bits) return false;
  }
  rule.to = host_rule::target::addresses;
  rule.address = as_v6({address->bytes.data(), bits / 8});
  rule.prefix_bits = static_cast<std::uint8_t>(prefix + (128 - bits));
  return true;
}

/// Moves the port from the text to the rule. False when it is no port.
bool take_port(std::string_view& text, host_rule& rule) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return false;
    port = text.substr(end + 1);
    text = text.substr(1, end - 1);
    if (port.empty()) return true;
    if (!port.starts_with(':')) return false;
    port.remove_prefix(1);
  } else {
    const auto colon = text.rfind(':');
    // More than one: an IPv6 address without a port.
    if (colon == std::string_view::npos || text.find(':') != colon) return true;
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  rule.port = port_of(port).value_or(0);
  return rule.port != 0;
}

std::string known_sets() {
  std::string names;
  for (const detail::host_set& each : detail::host_sets)
    names.append(names.empty() ? "@" : ", @").append(each.name);
  return names;
}

/// Fills `rule`, or returns the problem.
std::string read_entry(std::string_view entry, host_rule& rule) {
  std::string_view text = entry;
  if (text.starts_with('-')) {
    rule.says = host_rule::verdict::deny;
    text.remove_prefix(1);
  }
  if (text.starts_with(ssh_scheme)) {
    rule.is_ssh = true;
    text.remove_prefix(ssh_scheme.size());
  }
  const std::string shown = "\"" + std::string(entry.substr(0, 80)) + "\" ";
  const bool is_url = text.find("//") != std::string_view::npos;
  if (!is_url && !take_port(text, rule))
    return shown + "has no port from 1 to 65535 behind its colon";
  if (rule.is_ssh && rule.port == 0) rule.port = ssh_port;
  if (rule.port == 53) return shown + "names port 53, where commands ask for names: leave it out";
  if (detail::equal_ignoring_ascii_case(text, own)) {
    if (rule.port == 0) return shown + "names no port: write local:PORT";
    rule.to = host_rule::target::own_port;
    return {};
  }
  if (detail::equal_ignoring_ascii_case(text, everything)) {
    rule.to = host_rule::target::everything;
    return {};
  }
  if (is_own_host(text)) return shown + "is this machine: write local:PORT";
  if (read_addresses(text, rule)) return {};
  if (entry.find('[') != std::string_view::npos) return shown + "has brackets without an address";
  if (text == "*") {
    rule.to = host_rule::target::any_name;
    return {};
  }
  if (text.starts_with("*.")) {
    rule.to = host_rule::target::names_below;
    text.remove_prefix(2);
  }
  const auto name = folded_host_name(text);
  if (!name)
    return shown + "is no host: write a name in ASCII letters, digits, hyphens and dots, as "
                   "code.example.org, *.example.org or code.example.org:8443, without https:// "
                   "and without a path";
  rule.name = *name;
  return {};
}

std::string entry_text(const host_rule& rule) {
  std::string said(rule.says == host_rule::verdict::deny ? "-" : "");
  if (rule.is_ssh) said += ssh_scheme;
  switch (rule.to) {
  case host_rule::target::name:
    said += rule.name;
    break;
  case host_rule::target::names_below:
    said += "*." + rule.name;
    break;
  case host_rule::target::any_name:
    said += "*";
    break;
  case host_rule::target::everything:
    said += everything;
    break;
  case host_rule::target::own_port:
    said += own;
    break;
  case host_rule::target::addresses: {
    const bool is_v4 = rule.prefix_bits >= 96 &&
                       std::equal(mapped_prefix.begin(), mapped_prefix.end(), rule.address.begin());
    sys::ip_address address{.kind =
                                is_v4 ? sys::ip_address::family::v4 : sys::ip_address::family::v6};
    std::copy(rule.address.begin() + (is_v4 ? 12 : 0), rule.address.end(), address.bytes.begin());
    const std::string network =
        sys::inet_ntop(address) + "/" + std::to_string(rule.prefix_bits - (is_v4 ? 96 : 0));
    said += is_v4 ? network : "[" + network + "]";
    break;
  }
  }
  return rule.port == 0 ? said : said + ":" + std::to_string(rule.port);
}

} // namespace

std::optional<std::string> folded_host_name(std::string_view name) {
  if (name.empty() || name.size() > host_bytes_max) return std::nullopt;
  std::string small(name);
  std::ranges::transform(small, small.begin(), detail::ascii_lower);
  std::string_view rest = small;
  while (true) {
    const auto dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (!is_label(label)) return std::nullopt;
    if (dot == std::string_view::npos)
      return ends_an_address(label) ? std::nullopt : std::optional(small);
    rest.remove_prefix(dot + 1);
  }
}

std::string host_list::add(std::string_view list) {
  std::vector<host_rule> added;
  for (std::size_t begin = 0, comma = 0; comma != std::string_view::npos; begin = comma + 1) {
    comma = list.find(',', begin);
    const std::string_view entry = list.substr(begin, comma - begin);
    if (entry.starts_with('@')) {
      const auto set =
          std::ranges::find(detail::host_sets, entry.substr(1), &detail::host_set::name);
      if (set == std::end(detail::host_sets))
        return "there is no set " + std::string(entry.substr(0, 80)) + "; there are " +
               known_sets();
      host_list inner;
      (void)inner.add(set->entries);
      std::ranges::copy(inner.rules_, std::back_inserter(added));
      continue;
    }
    host_rule rule;
    if (std::string wrong = read_entry(entry, rule); !wrong.empty()) return wrong;
    added.push_back(std::move(rule));
  }
  if (std::ranges::none_of(
          added, [](const host_rule& rule) { return rule.says == host_rule::verdict::allow; }))
    return "the list allows nothing: write allow:HOST[:PORT],… before what it denies";
  if (rules_.size() + added.size() > entries_max)
    return "the list has more than " + std::to_string(entries_max) +
           " entries; name whole domains as *.example.org";
  for (host_rule& rule : added)
    if (std::ranges::find(rules_, rule) == rules_.end()) rules_.push_back(std::move(rule));
  return {};
}

bool host_list::knows(std::string_view name) const {
  bool allowed = false;
  for (const host_rule& rule : rules_) {
    if (!matches_name(rule, name)) continue;
    if (rule.says == host_rule::verdict::allow)
      allowed = true;
    else if (rule.port == 0)
      return false;
  }
  return allowed;
}

bool host_list::allows(std::string_view name, std::uint16_t port) const {
  bool allowed = false;
  for (const host_rule& rule : rules_) {
    if (!matches_port(rule, port) || !matches_name(rule, name)) continue;
    if (rule.says == host_rule::verdict::deny) return false;
    allowed = true;
  }
  return allowed;
}

bool host_list::allows(std::span<const std::uint8_t> address, std::uint16_t port) const {
  const auto wanted = as_v6(address);
  return !denies(address, port) && std::ranges::any_of(rules_, [&](const host_rule& rule) {
    return matches_address(rule, wanted, host_rule::verdict::allow) && matches_port(rule, port);
  });
}

bool host_list::may_lead_to(std::span<const std::uint8_t> address, std::uint16_t port) const {
  const auto wanted = as_v6(address);
  return !denies(address, port) && std::ranges::any_of(rules_, [&](const host_rule& rule) {
    return rule.to == host_rule::target::addresses &&
           matches_address(rule, wanted, host_rule::verdict::allow) &&
           (rule.port == 0 || rule.port == port);
  });
}

bool host_list::denies(std::span<const std::uint8_t> address, std::uint16_t port) const {
  const auto wanted = as_v6(address);
  return std::ranges::any_of(rules_, [&](const host_rule& rule) {
    return matches_address(rule, wanted, host_rule::verdict::deny) && matches_port(rule, port);
  });
}

bool host_list::allows_own(std::uint16_t port) const {
  const auto is_it = [&](const host_rule& rule) {
    return rule.to == host_rule::target::own_port && rule.port == port;
  };
  const auto is_denied = [&](const host_rule& rule) {
    return is_it(rule) && rule.says == host_rule::verdict::deny;
  };
  return std::ranges::any_of(rules_, is_it) && std::ranges::none_of(rules_, is_denied);
}

bool host_list::allows_all(std::uint16_t port) const {
  return std::ranges::any_of(rules_, [&](const host_rule& rule) {
    return rule.to == host_rule::target::everything && rule.says == host_rule::verdict::allow &&
           matches_port(rule, port);
  });
}

bool host_list::allows_ssh(std::string_view name, std::uint16_t port) const {
  return std::ranges::any_of(rules_, [&](const host_rule& rule) {
    return rule.is_ssh && rule.says == host_rule::verdict::allow && rule.port == port &&
           matches_name(rule, name);
  });
}

std::vector<std::uint16_t> host_list::ports() const {
  const bool is_all = allows_all(0);
  std::vector<std::uint16_t> all{22, 80, 443};
  if (is_all) all = {0};
  for (const host_rule& rule : rules_)
    if (rule.says == host_rule::verdict::allow && rule.port != 0 &&
        (!is_all || rule.to == host_rule::target::own_port))
      all.push_back(rule.port);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string host_list::text() const {
  std::string said;
  for (const host_rule& rule : rules_)
    said.append(said.empty() ? "" : ",").append(entry_text(rule));
  return said;
}

} // namespace paddock
