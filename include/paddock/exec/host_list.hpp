// SPDX-License-Identifier: MIT
#pragma once

/// The hosts that commands may reach by name: what `--network allow:LIST` says.
///
/// A list is entries between commas:
///   code.example.org      the host, at ports 80 and 443
///   code.example.org:22   the host, at that port alone
///   ssh://ssh.code.example.org:443   SSH there, too, where a TLS greeting is wanted otherwise
///   *.example.net         every name below it, not itself; * alone is every name
///   -pages.example.net    denied, whatever other entries allow
///   10.1.0.0/16           addresses, though they are not public; a name may lead there, too
///   all                   every name and public address, at every port, whatever is said there
///   local:5432            that port of this machine's 127.0.0.1, at the same port of the command's
///   `@npm`                a set of the table in exec/detail/host_sets.hpp
/// A name is letters, digits, hyphens, underscores and dots, in any case; other alphabets in their
/// ASCII form (xn--…). Numbers that stand for addresses are no names.
///
/// Not guaranteed: that a name leads to who one thinks; see docs/network.md for what a host that is
/// allowed can be used for.
///
/// Thread-safety: a plain value.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// One entry.
struct host_rule {
  enum class target : std::uint8_t {
    name,        ///< that host
    names_below, ///< every name that ends with a dot and `name`
    any_name,
    addresses,  ///< those with the first `prefix_bits` bits of `address`
    own_port,   ///< of this machine
    everything, ///< that is public
  };
  enum class verdict : std::uint8_t { allow, deny };

  target to = target::name;
  verdict says = verdict::allow;
  std::uint16_t port = 0; ///< 0: 80 and 443; in a denial, and of everything: every port
  bool is_ssh = false;    ///< at ports 80 and 443 the connection may be SSH
  std::string name{};
  std::array<std::uint8_t, 16> address{}; ///< IPv4 in its IPv6 form
  std::uint8_t prefix_bits = 0;           ///< of 128

  friend bool operator==(const host_rule&, const host_rule&) = default;
};

/// The entries of one policy.
class host_list {
public:
  /// Adds the entries of `list`, or none: then returns what to write instead of the first bad
  /// entry.
  [[nodiscard]] std::string add(std::string_view list);

  /// Nothing is allowed.
  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }
  /// In the order of the list, sets replaced by their entries.
  [[nodiscard]] const std::vector<host_rule>& rules() const noexcept { return rules_; }
  /// Whether a command that asks for the name, in folded form, gets an address.
  [[nodiscard]] bool knows(std::string_view name) const;
  /// Whether it may connect to that port there.
  [[nodiscard]] bool allows(std::string_view name, std::uint16_t port) const;
  /// Whether it may connect to the address itself, in 4 or 16 bytes, at that port.
  [[nodiscard]] bool allows(std::span<const std::uint8_t> address, std::uint16_t port) const;
  /// Whether a name may lead to the address though it is not public.
  [[nodiscard]] bool may_lead_to(std::span<const std::uint8_t> address, std::uint16_t port) const;
  /// Whether no name may lead to it at that port.
  [[nodiscard]] bool denies(std::span<const std::uint8_t> address, std::uint16_t port) const;
  /// Whether it is a `local:PORT`.
  [[nodiscard]] bool allows_own(std::uint16_t port) const;
  /// Whether it may connect to that port everywhere outside, and need not show what it means.
  [[nodiscard]] bool allows_all(std::uint16_t port) const;
  /// Whether what it allows there may be SSH, at a port of another protocol.
  [[nodiscard]] bool allows_ssh(std::string_view name, std::uint16_t port) const;
  /// The ports that commands may reach anywhere, with 22, 80 and 443, whose use is always noticed;
  /// sorted. 0 stands for all; then only those of this machine are beside it.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  /// Entries that add() understands, sets in full.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const host_list&, const host_list&) = default;

private:
  std::vector<host_rule> rules_;
};

/// The name in small letters, as it is compared; nothing when it is no name of a host: longer than
/// 253 bytes, an address in any spelling, with a dot at its end, or with other characters.
[[nodiscard]] std::optional<std::string> folded_host_name(std::string_view name);

} // namespace paddock
