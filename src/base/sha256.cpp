// SPDX-License-Identifier: MIT
#include "base/sha256.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace paddock {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t rounds = 64;
using state = std::array<std::uint32_t, 8>;

/// The first 32 bits of the fractional part of the `degree`th root of a prime.
constexpr std::uint32_t fraction_of_root(std::uint64_t prime, int degree) {
  // The largest r with r^degree <= prime * 2^(32 * degree), bit by bit; its low half is sought.
  std::uint64_t root = 0;
  for (int bit = 35; bit >= 0; --bit) {
    const std::uint64_t candidate = root | (std::uint64_t{1} << bit);
    // candidate^degree in 128 bits: at most 36 * 3 = 108 of them are used.
    __extension__ using wide = unsigned __int128;
    wide power = candidate;
    for (int i = 1; i < degree; ++i)
      power *= candidate;
    if (power <= static_cast<wide>(prime) << (32 * degree)) root = candidate;
  }
  return static_cast<std::uint32_t>(root);
}

template <std::size_t N> constexpr std::array<std::uint32_t, N> fractions_of_roots(int degree) {
  std::array<std::uint32_t, N> out{};
  std::size_t found = 0;
  for (std::uint64_t n = 2; found < N; ++n) {
    bool prime = true;
    for (std::uint64_t d = 2; d * d <= n; ++d)
      prime = prime && n % d != 0;
    if (prime) out[found++] = fraction_of_root(n, degree);
  }
  return out;
}

constexpr state initial = fractions_of_roots<8>(2);
constexpr auto constants = fractions_of_roots<rounds>(3);
static_assert(initial[0] == 0x6A09E667 && constants[0] == 0x428A2F98 &&
              constants[63] == 0xC67178F2);

std::uint32_t big_endian(const unsigned char* p) {
  return (std::uint32_t{p[0]} << 24) | (std::uint32_t{p[1]} << 16) | (std::uint32_t{p[2]} << 8) |
         p[3];
}

void add_block(state& h, const unsigned char* block) {
  std::array<std::uint32_t, rounds> w;
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < rounds; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  state s = h;
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto [a, b, c, d, e, f, g, last] = s;
    const std::uint32_t t1 = last + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const std::uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    s = {t1 + t2, a, b, c, d + t1, e, f, g};
  }
  for (std::size_t i = 0; i < h.size(); ++i)
    h[i] += s[i];
}

} // namespace

std::string sha256_hex(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  state h = initial;
  std::size_t at = 0;
  for (; bytes.size() - at >= block_bytes; at += block_bytes)
    add_block(h, data + at);
  // The rest, a one bit, zeros, and the length in bits: one block or two.
  std::array<unsigned char, 2 * block_bytes> tail{};
  const std::size_t rest = bytes.size() - at;
  for (std::size_t i = 0; i < rest; ++i)
    tail[i] = data[at + i];
  tail[rest] = 0x80;
  const std::size_t end = rest + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i)
    tail[end - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (std::size_t i = 0; i < end; i += block_bytes)
    add_block(h, tail.data() + i);

  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const std::uint32_t word : h)
    for (int shift = 28; shift >= 0; shift -= 4)
      hex += digits[(word >> shift) & 0xF];
  return hex;
}

} // namespace paddock
