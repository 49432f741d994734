// SPDX-License-Identifier: MIT
#pragma once

// What editFile and applyChanges have in common: the edits of a call, and what they changed.

#include "mcp/tools/refusals.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/text/edit_steps.hpp>
#include <paddock/text/unified_diff.hpp>
#include <paddock/text/utf16.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// The byte order mark of UTF-8, which some programs write, and nobody sees.
inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
/// Whether such a mark is a part of the text.
enum class mark_of_utf8 : std::uint8_t { is_text, is_apart };

/// A content as the text that edits and diffs are of.
struct file_text {
  std::string_view content; ///< without what is apart
  std::string decoded;      ///< of UTF-16
  utf16_mark mark = utf16_mark::none;
  std::string_view apart{}; ///< what the file begins with

  [[nodiscard]] std::string_view text() const noexcept {
    return mark == utf16_mark::none ? content : decoded;
  }
  /// A text as the bytes of the same file. Errors: not_text (it is not UTF-8).
  [[nodiscard]] result<std::string, text_fault> bytes_of(std::string text) const;
};
/// `content` has to outlive it. Errors: not_text (utf16.hpp).
[[nodiscard]] result<file_text, text_fault> text_of(std::string_view content,
                                                    mark_of_utf8 how = mark_of_utf8::is_text);
/// Whether a text has characters beyond ASCII, in UTF-8.
[[nodiscard]] bool has_utf8(std::string_view text);
/// Whether a content has bytes beyond ASCII, and no character of UTF-8 among them: it is of another
/// encoding, in which what is added as UTF-8 would be read as something else.
[[nodiscard]] bool is_of_other_encoding(std::string_view content);
/// Why it is not added; `added` is what the caller named it.
[[nodiscard]] refusal refusal_of_encoding(std::string_view added);
/// A text as the content of a file that had `content` before: in UTF-16 if that was, else as it is.
/// An empty one has no bytes. Errors: not_text (it is not UTF-8).
[[nodiscard]] result<std::string, text_fault> encoded_as(std::string_view content,
                                                         std::string text);
/// What is wrong with a content that has no text, and what can be done.
[[nodiscard]] refusal refusal_of_text(const text_fault& fault);

/// The steps of an array of edits that fits the table; views are of the call.
[[nodiscard]] std::vector<edit_step> steps_of(json_view edits,
                                              text_matching matching = text_matching::exact);

/// The first step that says two things at once. `list` as in refusal_of.
[[nodiscard]] std::optional<refusal> contradiction_in(std::span<const edit_step> steps,
                                                      std::string_view list);

struct edited_content {
  std::string bytes;
  std::vector<edited_place> places; ///< one for each step
};
/// `content` with all steps made in its text, in its encoding. Errors: those of apply_edits and of
/// the bounds, which `refusal` tells in words.
[[nodiscard]] result<edited_content, failed_change>
edit_content(std::string_view content, std::span<const edit_step> steps, std::string_view list,
             std::uint64_t bytes_max, const work_bounds& bounds);

/// What changed in a file, as far as it fits. Names as in unified_diff_options. Of what is no text,
/// or too much to be compared within the bounds, nothing but that something was left out.
[[nodiscard]] unified_diff_text diff_of(std::string_view before, std::string_view after,
                                        const unified_diff_options& options,
                                        const work_bounds& bounds = {});
/// Whether it was compared: without a comparison there are no counts.
[[nodiscard]] bool is_counted(const unified_diff_text& diff);
/// The members `added` and `removed`, where they are known.
void write_counts(json_writer& out, const unified_diff_text& diff);

} // namespace paddock::mcp
