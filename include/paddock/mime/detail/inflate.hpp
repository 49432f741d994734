// SPDX-License-Identifier: MIT
#pragma once

/// The beginning of what a deflated entry of an archive holds. Part of mime.hpp: an Office document
/// says in a deflated list which of its many kinds it is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace paddock::mime::detail {

/// Unpacks a raw deflate stream (RFC 1951) as far as its bytes, its correctness and the room allow.
/// Takes no memory of its own, reads nothing beyond its input, ends after at most
/// `room` bytes of output.
class inflater {
public:
  static constexpr std::size_t room = 4096;

  constexpr explicit inflater(std::string_view packed) noexcept : packed_(packed) {}

  /// Valid as long as this object.
  [[nodiscard]] constexpr std::string_view unpack() noexcept {
    for (bool last = false; !last && !stopped_;) {
      last = bits(1) != 0;
      switch (bits(2)) {
      case 0:
        stored();
        break;
      case 1:
        fixed_codes();
        compressed();
        break;
      case 2:
        if (transmitted_codes()) compressed();
        break;
      default:
        stopped_ = true;
      }
    }
    return {out_.data(), size_};
  }

private:
  static constexpr std::size_t length_codes_max = 288;
  static constexpr std::size_t code_bits_max = 15;
  static constexpr unsigned no_symbol = 0xFFFF;

  /// A canonical Huffman code: how many codes have a length, and their symbols in order.
  struct code {
    std::array<std::uint16_t, code_bits_max + 1> counts{};
    std::array<std::uint16_t, length_codes_max> symbols{};

    constexpr void build(const std::uint8_t* lengths, std::size_t size) noexcept {
      counts = {};
      for (std::size_t i = 0; i < size; ++i)
        if (lengths[i] != 0) ++counts[lengths[i]];
      std::array<std::uint16_t, code_bits_max + 2> next{};
      for (std::size_t bits = 1; bits <= code_bits_max; ++bits)
        next[bits + 1] = static_cast<std::uint16_t>(next[bits] + counts[bits]);
      for (std::size_t i = 0; i < size; ++i)
        if (lengths[i] != 0) symbols[next[lengths[i]]++] = static_cast<std::uint16_t>(i);
    }
  };

  constexpr unsigned bits(unsigned count) noexcept {
    unsigned value = 0;
    for (unsigned i = 0; i < count; ++i, ++at_) {
      if (at_ / 8 >= packed_.size()) {
        stopped_ = true;
        return 0;
      }
      value |= (static_cast<unsigned char>(packed_[at_ / 8]) >> at_ % 8 & 1U) << i;
    }
    return value;
  }

  constexpr unsigned symbol(const code& from) noexcept {
    unsigned value = 0;
    unsigned first = 0; // of the codes of this length
    unsigned before = 0;
    for (std::size_t length = 1; length <= code_bits_max && !stopped_; ++length) {
      value = value << 1 | bits(1);
      const unsigned count = from.counts[length];
      if (value >= first && value - first < count) return from.symbols[before + value - first];
      before += count;
      first = (first + count) << 1;
    }
    stopped_ = true;
    return no_symbol;
  }

  constexpr void put(char c) noexcept {
    if (size_ == room) {
      stopped_ = true;
      return;
    }
    out_[size_++] = c;
  }

  constexpr void stored() noexcept {
    at_ = (at_ + 7) / 8 * 8;
    const unsigned size = bits(16);
    if (bits(16) != (~size & 0xFFFFU)) stopped_ = true;
    for (unsigned i = 0; i < size && !stopped_; ++i) {
      const char c = static_cast<char>(bits(8));
      if (!stopped_) put(c);
    }
  }

  constexpr void fixed_codes() noexcept {
    std::array<std::uint8_t, length_codes_max> lengths{};
    for (std::size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    literals_.build(lengths.data(), lengths.size());
    lengths.fill(5);
    distances_.build(lengths.data(), 30);
  }

  constexpr bool transmitted_codes() noexcept {
    constexpr std::uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    const std::size_t literals = bits(5) + 257;
    const std::size_t distances = bits(5) + 1;
    const std::size_t sent = bits(4) + 4;
    std::array<std::uint8_t, 320> lengths{};
    for (std::size_t i = 0; i < sent; ++i)
      lengths[order[i]] = static_cast<std::uint8_t>(bits(3));
    code of_lengths;
    of_lengths.build(lengths.data(), std::size(order));
    lengths.fill(0);
    if (literals > length_codes_max || stopped_) return !(stopped_ = true);
    for (std::size_t i = 0; i < literals + distances && !stopped_;) {
      const unsigned what = symbol(of_lengths);
      if (what < 16) {
        lengths[i++] = static_cast<std::uint8_t>(what);
        continue;
      }
      if (stopped_ || (what == 16 && i == 0)) return !(stopped_ = true);
      const std::uint8_t again = what == 16 ? lengths[i - 1] : std::uint8_t{0};
      std::size_t times = what == 16 ? 3 + bits(2) : what == 17 ? 3 + bits(3) : 11 + bits(7);
      if (times > literals + distances - i) return !(stopped_ = true);
      for (; times > 0; --times)
        lengths[i++] = again;
    }
    literals_.build(lengths.data(), literals);
    distances_.build(lengths.data() + literals, distances);
    return !stopped_;
  }

  constexpr void compressed() noexcept {
    constexpr std::uint16_t size_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr std::uint8_t size_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!stopped_) {
      const unsigned what = symbol(literals_);
      if (stopped_ || what == 256) return;
      if (what < 256) {
        put(static_cast<char>(what));
        continue;
      }
      if (what - 257 >= std::size(size_base)) break;
      unsigned size = size_base[what - 257];
      size += bits(size_bits[what - 257]);
      const unsigned far = symbol(distances_);
      if (stopped_ || far >= 30) break;
      const unsigned extra = far < 4 ? 0 : far / 2 - 1;
      std::size_t distance = far < 4 ? far + 1 : ((2 + far % 2) << extra) + 1;
      distance += bits(extra);
      if (stopped_ || distance > size_) break;
      for (; size > 0 && !stopped_; --size)
        put(out_[size_ - distance]);
    }
    stopped_ = true;
  }

  std::string_view packed_;
  std::size_t at_ = 0; // in bits
  bool stopped_ = false;
  std::array<char, room> out_{};
  std::size_t size_ = 0;
  code literals_;
  code distances_;
};

} // namespace paddock::mime::detail
