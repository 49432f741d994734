// SPDX-License-Identifier: MIT
#pragma once

/// Exact search and replace on text that may use LF or CRLF line endings, mixed or not, and that
/// need not be valid UTF-8.
///
/// Matching is done as if every CRLF pair in the content and in the edit were LF; a CR that is not
/// directly before an LF is an ordinary byte. A match covers a pair whole or not at all. Every byte
/// outside the match stays as it was.
///
/// Line breaks of the new text take the form of the place: that of the first break inside the
/// match; without one, of the nearest break before the match; without one, of the first break after
/// it; LF in a content of one line.
///
/// Cost: a few linear passes, and memory for a MiB of the content at most. Not guaranteed: that a
/// lone CR at the edge of a match or of the new text stays lone, when what comes to stand beside it
/// is an LF. Thread-safety: pure functions.

#include <paddock/base/result.hpp>
#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/detail/text_search.hpp>

#include <gsl/assert>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

struct text_edit {
  std::string_view old_text{}; ///< not empty
  std::string_view new_text{}; ///< literal: `$&` means `$&`
};

/// Where a text_edit applies in a content, and the bytes to put there.
struct edit_plan {
  std::size_t offset = 0;        ///< of the match in the content, in bytes
  std::size_t size = 0;          ///< of the match in the content, in bytes (CRLF counts two)
  std::string replacement;       ///< new_text with the line endings of the place
  std::uint64_t occurrences = 0; ///< of old_text in the content, not overlapping
  std::uint64_t line = 0;        ///< 0-based line of the match; lines are separated by '\n'
};

/// Finds the first occurrence. Errors: invalid_argument (empty old_text), no_match.
[[nodiscard]] inline result<edit_plan> plan_edit(std::string_view content, const text_edit& edit);

/// The same, asking `wanted()` about every MiB, and every few thousand matches, whether to go on.
/// Errors: cancelled when it is false.
template <class Wanted>
[[nodiscard]] result<edit_plan> plan_edit(std::string_view content, const text_edit& edit,
                                          Wanted&& wanted);

/// The content after the edit. Precondition: `plan` was made for this content.
[[nodiscard]] inline std::string apply_edit(std::string_view content, const edit_plan& plan) {
  Expects(plan.offset <= content.size() && plan.size <= content.size() - plan.offset);
  std::string edited;
  edited.reserve(content.size() - plan.size + plan.replacement.size());
  edited.append(content.substr(0, plan.offset));
  edited.append(plan.replacement);
  edited.append(content.substr(plan.offset + plan.size));
  return edited;
}

// --- inline --------------------------------------------------------------------------------------

namespace detail {

struct text_match {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::uint64_t occurrences = 0;
};

/// Each match costs a search of its own, and a MiB may hold as many as bytes.
inline constexpr std::uint64_t wanted_step_matches = 4096;

/// Whether to go on after a match.
template <class Wanted> [[nodiscard]] bool still_wanted(const text_match& match, Wanted& wanted) {
  return match.occurrences % wanted_step_matches != 0 || wanted();
}

/// First occurrence and number of occurrences, byte for byte; nothing when it is not wanted.
template <class Wanted>
[[nodiscard]] std::optional<text_match> find_exactly(std::string_view content,
                                                     std::string_view text, Wanted& wanted) {
  text_match match;
  const text_finder finder(text);
  std::size_t from = 0;
  // Each step costs as much as the text is long, too.
  const std::size_t step_bytes = std::max(wanted_step_bytes, text.size());
  for (std::size_t begin = 0; begin < content.size(); begin += step_bytes) {
    if (begin > 0 && !wanted()) return std::nullopt;
    // Matches that begin in this step may end behind it.
    const std::string_view step =
        content.substr(0, std::min(content.size() - begin, step_bytes + text.size() - 1) + begin);
    for (std::size_t at = finder.find(step, std::max(from, begin)); at != std::string_view::npos;
         at = finder.find(step, from)) {
      if (match.occurrences++ == 0) match = {at, text.size(), 1};
      from = at + text.size();
      if (!still_wanted(match, wanted)) return std::nullopt;
    }
  }
  return match;
}

/// The end of a piece of `content` from `begin`, of about `bytes`, that does not part a CRLF pair.
[[nodiscard]] inline std::size_t end_of_piece(std::string_view content, std::size_t begin,
                                              std::size_t bytes) noexcept {
  const std::size_t end = begin + std::min(bytes, content.size() - begin);
  return end < content.size() && content[end] == '\n' && is_pair(content, end) ? end + 1 : end;
}

/// The offset in `content` of an offset in its normalised form.
[[nodiscard]] inline std::size_t original_offset(std::string_view content,
                                                 std::size_t normalised) noexcept {
  std::size_t pairs = 0; // before the offset
  for (std::size_t at = content.find('\n'); at != std::string_view::npos;
       at = content.find('\n', at + 1)) {
    const std::size_t pair = is_pair(content, at) ? 1 : 0;
    if (at - pair - pairs >= normalised) break;
    pairs += pair;
  }
  return normalised + pairs;
}

/// Finds `text`, in which LF is the only line break, in a content that has both. A piece of it at a
/// time is normalised, together with the end of the one before, where a match may begin.
template <class Wanted>
[[nodiscard]] std::optional<text_match> find_mixed(std::string_view content, std::string_view text,
                                                   Wanted& wanted) {
  constexpr std::size_t piece_bytes = std::size_t{512} * 1024;
  text_match match;
  const text_finder finder(text);
  for (std::size_t begin = 0, end = 0; end < content.size();) {
    if (begin > 0 && !wanted()) return std::nullopt;
    end = end_of_piece(content, end, std::max(piece_bytes, text.size()));
    const std::string_view piece = content.substr(begin, end - begin);
    const std::string normalised = with_line_breaks(piece, "\n");
    std::size_t from = 0;
    for (std::size_t at = finder.find(normalised, 0); at != std::string_view::npos;
         at = finder.find(normalised, from)) {
      from = at + text.size();
      if (match.occurrences++ > 0) {
        if (!still_wanted(match, wanted)) return std::nullopt;
        continue;
      }
      match.offset = begin + original_offset(piece, at);
      match.size = begin + original_offset(piece, from) - match.offset;
    }
    const std::size_t kept = normalised.size() - std::min(normalised.size(), text.size() - 1);
    begin += original_offset(piece, std::max(from, kept));
  }
  return match;
}

/// Finds `old_text` as the top of this header says; nothing when it is not wanted. Precondition:
/// not empty.
template <class Wanted>
[[nodiscard]] std::optional<text_match> find_normalised(std::string_view content,
                                                        std::string_view old_text, Wanted& wanted) {
  // Without a break inside, and without a CR at the end that could be half of a pair, a match is a
  // run of equal bytes.
  const bool ends_in_cr = old_text.back() == '\r';
  if (!ends_in_cr && old_text.find('\n') == std::string_view::npos)
    return find_exactly(content, old_text, wanted);
  const auto endings = line_endings_of(content, wanted);
  if (!endings) return std::nullopt;
  if (endings == line_endings::no_pairs)
    return find_exactly(content, with_line_breaks(old_text, "\n"), wanted);
  if (endings == line_endings::all_pairs && !ends_in_cr)
    return find_exactly(content, with_line_breaks(old_text, "\r\n"), wanted);
  return find_mixed(content, with_line_breaks(old_text, "\n"), wanted);
}

/// The line break that new text at this place is to use, see the top of this header.
[[nodiscard]] inline std::string_view line_break_at(std::string_view content,
                                                    const text_match& match) noexcept {
  std::size_t at = content.substr(0, match.offset + match.size).find('\n', match.offset);
  if (at == std::string_view::npos) {
    const void* before =
        match.offset == 0 ? nullptr : ::memrchr(content.data(), '\n', match.offset);
    at = before == nullptr
             ? content.find('\n', match.offset + match.size)
             : static_cast<std::size_t>(static_cast<const char*>(before) - content.data());
  }
  return at != std::string_view::npos && is_pair(content, at) ? "\r\n" : "\n";
}

} // namespace detail

inline result<edit_plan> plan_edit(std::string_view content, const text_edit& edit) {
  return plan_edit(content, edit, [] { return true; });
}

template <class Wanted>
result<edit_plan> plan_edit(std::string_view content, const text_edit& edit, Wanted&& wanted) {
  if (edit.old_text.empty()) return error{error_code::invalid_argument, 0, "text_edit"};
  const auto found = detail::find_normalised(content, edit.old_text, wanted);
  if (!found) return error{error_code::cancelled, 0, "text_edit"};
  const detail::text_match& match = *found;
  if (match.occurrences == 0) return error{error_code::no_match, 0, "text_edit"};
  const auto before = detail::count_breaks(content.substr(0, match.offset), wanted);
  if (!before) return error{error_code::cancelled, 0, "text_edit"};
  return edit_plan{
      .offset = match.offset,
      .size = match.size,
      .replacement = detail::with_line_breaks(edit.new_text, detail::line_break_at(content, match)),
      .occurrences = match.occurrences,
      .line = before->all,
  };
}

} // namespace paddock
