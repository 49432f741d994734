// SPDX-License-Identifier: MIT
#include "egress/public_address.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace paddock::egress {
namespace {

struct v4_network {
  std::array<std::uint8_t, 4> address;
  unsigned bits;
};

constexpr v4_network kept_v4[] = {
    {{0, 0, 0, 0}, 8},        {{10, 0, 0, 0}, 8},     {{100, 64, 0, 0}, 10},
    {{127, 0, 0, 0}, 8},      {{169, 254, 0, 0}, 16}, {{172, 16, 0, 0}, 12},
    {{192, 0, 0, 0}, 24},     {{192, 0, 2, 0}, 24},   {{192, 31, 196, 0}, 24},
    {{192, 52, 193, 0}, 24},  {{192, 88, 99, 0}, 24}, {{192, 168, 0, 0}, 16},
    {{192, 175, 48, 0}, 24},  {{198, 18, 0, 0}, 15},  {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24},   {{224, 0, 0, 0}, 4},    {{240, 0, 0, 0}, 4},
    {{168, 63, 129, 16}, 32}, // Azure's own services, in public space
};

struct v6_network {
  std::array<std::uint8_t, 16> address;
  unsigned bits;
};

/// Nothing outside 2000::/3 is public.
constexpr v6_network global = {{0x20}, 3};
constexpr v6_network kept_v6[] = {
    {{0x20, 0x01, 0x00}, 23},             // protocols, among them Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32},       // documentation
    {{0x20, 0x02}, 16},                   // 6to4
    {{0x26, 0x20, 0x00, 0x4f, 0x80}, 48}, // AS112
    {{0x3f, 0xff}, 20},                   // documentation
};

template <class Bytes>
bool is_in(const std::array<std::uint8_t, 16>& address, const Bytes& network, unsigned bits) {
  const unsigned bytes = bits / 8;
  if (!std::equal(address.begin(), address.begin() + bytes, network.begin())) return false;
  return bits % 8 == 0 || ((address[bytes] ^ network[bytes]) >> (8 - bits % 8)) == 0;
}

} // namespace

bool is_public(const sys::ip_address& address) noexcept {
  if (address.kind == sys::ip_address::family::v4)
    return std::none_of(std::begin(kept_v4), std::end(kept_v4), [&](const v4_network& each) {
      return is_in(address.bytes, each.address, each.bits);
    });
  return is_in(address.bytes, global.address, global.bits) &&
         std::none_of(std::begin(kept_v6), std::end(kept_v6), [&](const v6_network& each) {
           return is_in(address.bytes, each.address, each.bits);
         });
}

} // namespace paddock::egress
