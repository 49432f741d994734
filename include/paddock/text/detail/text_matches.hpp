// SPDX-License-Identifier: MIT
#pragma once

/// Where a text occurs in a content whose lines end with LF or CRLF, as text_edit.hpp says: a CRLF
/// pair is matched as LF, whole or not at all. Thread-safety: pure.
///
/// The functions call `found(offset, size)` for each match, in order and not overlapping, and ask
/// `wanted()` about every MiB, and every few thousand matches, whether to go on; they return
/// false where it is not.

#include <paddock/text/detail/line_breaks.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace paddock::detail {

/// How common a byte is in prose, code and their mixtures: 0 is rare.
[[nodiscard]] constexpr std::size_t commonness(char c) noexcept {
  constexpr std::string_view rare_first = "\"=-;:/()_0123456789jqzxkvbywgpfm\ncuhdlrsoniate ";
  const std::size_t at = rare_first.find(c);
  return at == std::string_view::npos ? 0 : at + 1;
}

/// Searches for one text, which is not empty and outlives the finder, at about the speed at which
/// memory is read.
///
/// The C library's memchr looks for a byte of the wanted text that is rare in ordinary text. Where
/// it turns out to be common, two bytes are compared at 64 places at a time, in loops of a fixed
/// length that compilers make vector instructions of. Only where they agree the whole text is
/// compared; a content in which they agree too often (a run of one byte, say) is left to the C
/// library's search, so the cost is linear whatever the content.
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

/// Each match costs a search of its own, and a MiB may hold as many as bytes.
inline constexpr std::uint64_t wanted_step_matches = 4096;

/// Byte for byte. Precondition: `text` is not empty; so it is of the others.
template <class Found, class Wanted>
[[nodiscard]] bool for_each_exact_match(std::string_view content, std::string_view text,
                                        Found&& found, Wanted& wanted) {
  const text_finder finder(text);
  std::uint64_t matches = 0;
  std::size_t from = 0;
  // Each step costs as much as the text is long, too.
  const std::size_t step_bytes = std::max(wanted_step_bytes, text.size());
  for (std::size_t begin = 0; begin < content.size(); begin += step_bytes) {
    if (begin > 0 && !wanted()) return false;
    // Matches that begin in this step may end behind it.
    const std::string_view step =
        content.substr(0, std::min(content.size() - begin, step_bytes + text.size() - 1) + begin);
    for (std::size_t at = finder.find(step, std::max(from, begin)); at != std::string_view::npos;
         at = finder.find(step, from)) {
      found(at, text.size());
      from = at + text.size();
      if (++matches % wanted_step_matches == 0 && !wanted()) return false;
    }
  }
  return true;
}

/// The end of a piece of `content` from `begin`, of about `bytes`, that does not part a CRLF pair.
[[nodiscard]] inline std::size_t end_of_piece(std::string_view content, std::size_t begin,
                                              std::size_t bytes) noexcept {
  const std::size_t end = begin + std::min(bytes, content.size() - begin);
  return end < content.size() && content[end] == '\n' && is_pair(content, end) ? end + 1 : end;
}

/// Turns offsets in the normalised form of a content, in rising order, into offsets in it.
class original_offsets {
public:
  explicit original_offsets(std::string_view content) noexcept
      : content_(content), break_(content.find('\n')) {}

  [[nodiscard]] std::size_t operator()(std::size_t normalised) noexcept {
    for (; break_ != std::string_view::npos; break_ = content_.find('\n', break_ + 1)) {
      const std::size_t pair = is_pair(content_, break_) ? 1 : 0;
      if (break_ - pair - pairs_ >= normalised) break;
      pairs_ += pair;
    }
    return normalised + pairs_;
  }

private:
  std::string_view content_;
  std::size_t break_;     ///< the first that is not before the last offset
  std::size_t pairs_ = 0; ///< before it
};

/// For `text`, in which LF is the only line break, and a content that has both. A piece of it at a
/// time is normalised, together with the end of the one before, where a match may begin.
template <class Found, class Wanted>
[[nodiscard]] bool for_each_mixed_match(std::string_view content, std::string_view text,
                                        Found&& found, Wanted& wanted) {
  constexpr std::size_t piece_bytes = std::size_t{512} * 1024;
  const text_finder finder(text);
  std::uint64_t matches = 0;
  for (std::size_t begin = 0, end = 0; end < content.size();) {
    if (begin > 0 && !wanted()) return false;
    end = end_of_piece(content, end, std::max(piece_bytes, text.size()));
    const std::string_view piece = content.substr(begin, end - begin);
    const std::string normalised = with_line_breaks(piece, "\n");
    original_offsets original(piece);
    std::size_t from = 0;
    for (std::size_t at = finder.find(normalised, 0); at != std::string_view::npos;
         at = finder.find(normalised, from)) {
      from = at + text.size();
      const std::size_t first = original(at);
      found(begin + first, original(from) - first);
      if (++matches % wanted_step_matches == 0 && !wanted()) return false;
    }
    const std::size_t kept = normalised.size() - std::min(normalised.size(), text.size() - 1);
    begin += original(std::max(from, kept));
  }
  return true;
}

template <class Found, class Wanted>
[[nodiscard]] bool for_each_match(std::string_view content, std::string_view old_text,
                                  Found&& found, Wanted& wanted) {
  // Without a break inside, and without a CR at the end that could be half of a pair, a match is a
  // run of equal bytes.
  const bool ends_in_cr = old_text.back() == '\r';
  if (!ends_in_cr && old_text.find('\n') == std::string_view::npos)
    return for_each_exact_match(content, old_text, found, wanted);
  const auto endings = line_endings_of(content, wanted);
  if (!endings) return false;
  if (endings == line_endings::no_pairs)
    return for_each_exact_match(content, with_line_breaks(old_text, "\n"), found, wanted);
  if (endings == line_endings::all_pairs && !ends_in_cr)
    return for_each_exact_match(content, with_line_breaks(old_text, "\r\n"), found, wanted);
  return for_each_mixed_match(content, with_line_breaks(old_text, "\n"), found, wanted);
}

/// The line break that new text in place of a match is to use, see text_edit.hpp.
[[nodiscard]] inline std::string_view line_break_at(std::string_view content, std::size_t offset,
                                                    std::size_t size) noexcept {
  std::size_t at = content.substr(0, offset + size).find('\n', offset);
  if (at == std::string_view::npos) {
    const void* before = offset == 0 ? nullptr : ::memrchr(content.data(), '\n', offset);
    at = before == nullptr
             ? content.find('\n', offset + size)
             : static_cast<std::size_t>(static_cast<const char*>(before) - content.data());
  }
  return at != std::string_view::npos && is_pair(content, at) ? "\r\n" : "\n";
}

} // namespace paddock::detail
