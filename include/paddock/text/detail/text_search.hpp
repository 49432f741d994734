// SPDX-License-Identifier: MIT
#pragma once

/// Finding bytes in bytes, at about the speed at which memory is read.
///
/// The C library's memchr looks for a byte of the wanted text that is rare in ordinary text. Where
/// it turns out to be common, two bytes are compared at 64 places at a time, in loops of a fixed
/// length that compilers make vector instructions of. Only where they agree the whole text is
/// compared; a content in which they agree too often (a run of one byte, say) is left to the C
/// library's search, so the cost is linear whatever the content. Thread-safety: pure.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paddock::detail {

/// How common a byte is in prose, code and their mixtures: 0 is rare.
[[nodiscard]] constexpr std::size_t commonness(char c) noexcept {
  constexpr std::string_view rare_first = "\"=-;:/()_0123456789jqzxkvbywgpfm\ncuhdlrsoniate ";
  const std::size_t at = rare_first.find(c);
  return at == std::string_view::npos ? 0 : at + 1;
}

/// Searches for one text, which is not empty and outlives the finder.
class text_finder {
public:
  explicit constexpr text_finder(std::string_view text) noexcept
      : text_(text), rare_(rarest(text, 0, 0)),
        other_(rarest(text, rare_, looked_at(text).size() / 2)) {}

  /// std::string_view::find.
  [[nodiscard]] std::size_t find(std::string_view content, std::size_t from) const noexcept {
    if (from > content.size() || content.size() - from < text_.size())
      return std::string_view::npos;
    const std::size_t end = content.size() - text_.size() + 1; // of the places to look at
    std::size_t wasted = 0;
    unsigned short_jumps = 0;
    std::size_t at = from;
    for (; end - at >= block && wasted <= at - from + patience; at += block) {
      if (short_jumps < short_jumps_max) {
        const void* next = std::memchr(content.data() + at + rare_, text_[rare_], end - at);
        if (next == nullptr) return std::string_view::npos;
        const auto there =
            static_cast<std::size_t>(static_cast<const char*>(next) - content.data());
        short_jumps += there - rare_ - at < jump_worthwhile ? 1U : 0U;
        at = there - rare_;
        if (end - at < block) break;
      }
      const std::size_t found = find_in_block(content.data() + at, wasted);
      if (found < block) return at + found;
    }
    const void* found =
        ::memmem(content.data() + at, content.size() - at, text_.data(), text_.size());
    if (found == nullptr) return std::string_view::npos;
    return static_cast<std::size_t>(static_cast<const char*>(found) - content.data());
  }

private:
  static constexpr std::size_t block = 64;
  static constexpr std::size_t jump_worthwhile = 512;
  static constexpr unsigned short_jumps_max = 16;
  /// Bytes that may be compared in vain before the content counts as unfit.
  static constexpr std::size_t patience = 4096;

  /// Only the beginning of a long text is looked at for rare bytes.
  static constexpr std::string_view looked_at(std::string_view text) noexcept {
    return text.substr(0, 256);
  }

  /// Where the rarest byte is, at a distance from `place`: bytes side by side go together too often
  /// for the second to say much. Half of the text is always possible.
  static constexpr std::size_t rarest(std::string_view text, std::size_t place,
                                      std::size_t distance) noexcept {
    std::size_t best = place >= distance ? 0 : place + distance;
    for (std::size_t i = best + 1; i < looked_at(text).size(); ++i)
      if ((i < place ? place - i : i - place) >= distance &&
          commonness(text[i]) < commonness(text[best]))
        best = i;
    return best;
  }

  /// The first of 64 places where the text begins; 64 when there is none.
  [[nodiscard]] std::size_t find_in_block(const char* places, std::size_t& wasted) const noexcept {
    using word = std::uint64_t;
    const char* const rare = places + rare_;
    const char* const other = places + other_;
    const char a = text_[rare_];
    const char b = text_[other_];
    std::array<std::uint8_t, block> agree; // NOLINT: every element is written
    for (std::size_t i = 0; i < block; ++i)
      agree[i] = static_cast<std::uint8_t>((rare[i] == a ? 1 : 0) & (other[i] == b ? 1 : 0));
    const auto words = std::bit_cast<std::array<word, block / sizeof(word)>>(agree);
    word any = 0;
    for (const word w : words)
      any |= w;
    if (any == 0) return block;
    for (std::size_t w = 0; w < words.size(); ++w) {
      if (words[w] == 0) continue; // NOLINT: in range, here and below
      for (std::size_t i = w * sizeof(word); i < (w + 1) * sizeof(word); ++i) {
        if (agree[i] == 0) continue; // NOLINT
        if (std::memcmp(places + i, text_.data(), text_.size()) == 0) return i;
        wasted += text_.size();
      }
    }
    wasted += block / 2;
    return block;
  }

  std::string_view text_;
  std::size_t rare_;  ///< where the rarest byte is
  std::size_t other_; ///< where the next one is; the same place in a text of one byte
};

} // namespace paddock::detail
