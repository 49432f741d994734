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
/// lone CR at the edge of a match or of the new text stays lone, when an LF comes next to it.
/// Thread-safety: pure functions.

#include <paddock/base/result.hpp>
#include <paddock/text/detail/text_matches.hpp>

#include <gsl/assert>

#include <cstddef>
#include <cstdint>
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
  std::uint64_t line_index = 0;  ///< 0-based line of the match; lines are separated by '\n'
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

inline result<edit_plan> plan_edit(std::string_view content, const text_edit& edit) {
  return plan_edit(content, edit, [] { return true; });
}

template <class Wanted>
result<edit_plan> plan_edit(std::string_view content, const text_edit& edit, Wanted&& wanted) {
  if (edit.old_text.empty()) return error{error_code::invalid_argument, 0, "text_edit"};
  const error cancelled{error_code::cancelled, 0, "text_edit"};
  edit_plan plan;
  const auto note = [&](std::size_t offset, std::size_t size) {
    if (plan.occurrences++ > 0) return;
    plan.offset = offset;
    plan.size = size;
  };
  if (!detail::for_each_match(content, edit.old_text, note, wanted)) return cancelled;
  if (plan.occurrences == 0) return error{error_code::no_match, 0, "text_edit"};
  const auto before = detail::count_breaks(content.substr(0, plan.offset), wanted);
  if (!before) return cancelled;
  plan.line_index = before->all;
  plan.replacement = detail::with_line_breaks(
      edit.new_text, detail::line_break_at(content, plan.offset, plan.size));
  return plan;
}

} // namespace paddock
