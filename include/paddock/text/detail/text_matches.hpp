// SPDX-License-Identifier: MIT
#pragma once

/// Where a text occurs in a content whose lines end with LF or CRLF, as text_edit.hpp says: a CRLF
/// pair is matched as LF, whole or not at all. Thread-safety: pure.
///
/// The functions call `found(offset, size)` for each match, in order and not overlapping, and ask
/// `wanted()` about every MiB, and every few thousand matches, whether to go on; they return
/// false where it is not.

#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/detail/text_search.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace paddock::detail {

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
