// SPDX-License-Identifier: MIT
#include "sys/special_address.hpp"

#include <cstdint>
#include <span>

namespace paddock::sys {
namespace {

using bytes = std::span<const std::uint8_t>;

struct v4_range {
  std::uint8_t first[4];
  unsigned bits;
  std::string_view what;
};
struct v6_range {
  std::uint8_t first[16];
  unsigned bits;
  std::string_view what;
};

// The special-purpose registries of IANA; what is globally reachable is left out.
constexpr v4_range special_v4[] = {
    {{0, 0, 0, 0}, 8, "\"this network\""},
    {{10, 0, 0, 0}, 8, "private"},
    {{100, 64, 0, 0}, 10, "shared by a carrier"},
    {{127, 0, 0, 0}, 8, "loopback"},
    {{169, 254, 0, 0}, 16, "link-local"},
    {{172, 16, 0, 0}, 12, "private"},
    {{192, 0, 0, 0}, 24, "for protocol assignments"},
    {{192, 0, 2, 0}, 24, "for documentation"},
    {{192, 88, 99, 0}, 24, "a relay of 6to4"},
    {{192, 168, 0, 0}, 16, "private"},
    {{168, 63, 129, 16}, 32, "for services of Azure"}, // in public space
    {{198, 18, 0, 0}, 15, "for benchmarks"},
    {{198, 51, 100, 0}, 24, "for documentation"},
    {{203, 0, 113, 0}, 24, "for documentation"},
    {{224, 0, 0, 0}, 4, "multicast"},
    {{240, 0, 0, 0}, 4, "reserved"},
};

// Only 2000::/3 is routed at all; these are the exceptions in it, and names for what is outside.
constexpr v6_range special_v6[] = {
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation"},
    {{0x20, 0x01}, 23, "for protocol assignments"},
    {{0x3f, 0xff}, 20, "for documentation"},
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "site-local"},
    {{0xff}, 8, "multicast"},
};
constexpr std::uint8_t routed_v6[] = {0x20};
constexpr unsigned routed_v6_bits = 3;

constexpr std::uint8_t v6_loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::uint8_t v6_unspecified[16] = {};

// Prefixes behind which an IPv4 address stands, and where.
constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t compatible[12] = {};
constexpr std::uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
constexpr std::uint8_t six_to_four[2] = {0x20, 0x02};
constexpr std::uint8_t teredo[4] = {0x20, 0x01, 0, 0};

constexpr bool in_prefix(bytes address, bytes prefix, unsigned bits) {
  unsigned i = 0;
  for (; bits >= 8; bits -= 8, ++i)
    if (address[i] != prefix[i]) return false;
  if (bits == 0) return true;
  const unsigned shift = 8 - bits;
  return address[i] >> shift == prefix[i] >> shift;
}

constexpr bool begins_with(bytes address, bytes prefix) {
  return in_prefix(address, prefix, static_cast<unsigned>(prefix.size()) * 8);
}

std::string_view judge_v4(bytes address) {
  for (const v4_range& range : special_v4)
    if (in_prefix(address, range.first, range.bits)) return range.what;
  return {};
}

/// A tunnel that goes through a server and ends at a client, whose bits are inverted.
std::string_view judge_teredo(bytes address) {
  if (const std::string_view what = judge_v4(address.subspan(4, 4)); !what.empty()) return what;
  std::uint8_t client[4];
  for (std::size_t i = 0; i < 4; ++i)
    client[i] = static_cast<std::uint8_t>(address[12 + i] ^ 0xff);
  return judge_v4(client);
}

std::string_view judge_v6(bytes address) {
  if (begins_with(address, v6_loopback)) return "loopback";
  if (begins_with(address, v6_unspecified)) return "unspecified";
  for (const bytes prefix : {bytes(mapped), bytes(compatible), bytes(nat64)})
    if (begins_with(address, prefix)) return judge_v4(address.subspan(12, 4));
  if (begins_with(address, six_to_four)) return judge_v4(address.subspan(2, 4));
  if (begins_with(address, teredo)) return judge_teredo(address);
  for (const v6_range& range : special_v6)
    if (in_prefix(address, range.first, range.bits)) return range.what;
  return in_prefix(address, routed_v6, routed_v6_bits) ? std::string_view() : "reserved";
}

} // namespace

std::string_view special_purpose_of(const ip_address& address) noexcept {
  return address.kind == ip_address::family::v4 ? judge_v4(bytes(address.bytes).first(4))
                                                : judge_v6(address.bytes);
}

} // namespace paddock::sys
