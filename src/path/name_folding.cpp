// SPDX-License-Identifier: MIT
#include "path/name_folding.hpp"

#include "path/name_folding_table.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace paddock {
namespace {

/// The code point of a complete sequence.
char32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]));
  };
  if (sequence.size() == 1) return byte(0);
  char32_t point = byte(0) & (0x7FU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i)
    point = (point << 6U) | (byte(i) & 0x3FU);
  return point;
}

void encode(char32_t point, std::string& out) {
  const auto put = [&](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0U | (point >> 6U));
  } else {
    if (point < 0x10000) {
      put(0xE0U | (point >> 12U));
    } else {
      put(0xF0U | (point >> 18U));
      put(0x80U | ((point >> 12U) & 0x3FU));
    }
    put(0x80U | ((point >> 6U) & 0x3FU));
  }
  put(0x80U | (point & 0x3FU));
}

const decomposition* find_decomposition(char32_t point) {
  const auto* found =
      std::lower_bound(std::begin(decompositions), std::end(decompositions), point,
                       [](const decomposition& d, char32_t p) { return d.composed < p; });
  return found != std::end(decompositions) && found->composed == point ? found : nullptr;
}

constexpr bool between(char32_t point, char32_t first, char32_t last) {
  return point >= first && point <= last;
}

/// Small letters of the alphabets whose capitals stand in rows of their own, and of those where
/// capital and small letter alternate.
char32_t small_letter(char32_t c) {
  if (between(c, 'A', 'Z') || between(c, 0xC0, 0xDE)) return c == 0xD7 ? c : c + 0x20;
  if (c == 0x1E9E) return 0xDF;
  if (between(c, 0x391, 0x3A9)) return c + 0x20;
  if (c == 0x3C2) return 0x3C3; // a sigma at the end of a word
  if (between(c, 0x410, 0x42F)) return c + 0x20;
  if (between(c, 0x400, 0x40F)) return c + 0x50;
  const bool even_capitals = between(c, 0x100, 0x137) || between(c, 0x14A, 0x177) ||
                             between(c, 0x460, 0x481) || between(c, 0x48A, 0x4BF) ||
                             between(c, 0x4D0, 0x52F) || between(c, 0x1E00, 0x1EFF);
  const bool odd_capitals =
      between(c, 0x139, 0x148) || between(c, 0x179, 0x17E) || between(c, 0x4C1, 0x4CE);
  if (even_capitals && c != 0x130 && c != 0x131) return c | 1U;
  if (odd_capitals && c % 2 == 1) return c + 1;
  return c;
}

void fold(char32_t point, std::string& out) {
  if (const auto* d = find_decomposition(point)) {
    fold(d->base, out); // which may be composed itself
    encode(d->mark, out);
    return;
  }
  encode(small_letter(point), out);
}

} // namespace

std::string folded_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    const auto next = detail::first_sequence(name);
    if (next.state == detail::utf8_state::complete)
      fold(decode(name.substr(0, next.size)), out);
    else
      out += name.front();
    name.remove_prefix(next.size);
  }
  return out;
}

} // namespace paddock
