// SPDX-License-Identifier: MIT
#pragma once

/// Patches as people and models write them, read into data: the unified format of `diff -u` with
/// git's headers (created, deleted, renamed and copied files, modes, names in quotes, no newline at
/// the end), and the format that begins with `*** Begin Patch`. `apply_hunks` makes the changes of
/// one file in its text.
///
/// Every line that a hunk shows as it was has to be there, byte for byte but for the CR of a line
/// end; nothing is tried that comes near, unless it is asked for (text_matching.hpp). A hunk
/// belongs where it says; if its lines are not there, then at the only other place that has them;
/// if several have, nowhere. A hunk with line numbers and no context before or after it says that
/// the file begins or ends there (`belongs_to_top`, `belongs_to_end`). Wrong counts in the head of
/// a hunk are ignored, for models count badly: a line behind the last counted one that begins like
/// a line of a hunk belongs to it, too. Only where a hunk shows no line of the file do the counts
/// say its place, and must be right. But a patch that was cut off is refused: its last hunk
/// has fewer lines than its head says, or the text ends within a line of one. A hunk with a foreign
/// line in its middle is refused, too, and so is a patch that changes nothing in a file: no part of
/// a patch is left out.
///
/// Not guaranteed: binary patches and those of symbolic links, submodules or other modes than
/// 100644 and 100755, which are refused; that the names are fit for use, which the path sandbox
/// decides. Thread-safety: pure functions.

#include <paddock/base/detail/function_view.hpp>
#include <paddock/base/result.hpp>
#include <paddock/text/text_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

enum class patch_action : std::uint8_t { edit, create, remove, move, copy };
enum class line_action : std::uint8_t { keep, remove, add };

struct hunk_line {
  line_action action = line_action::keep;
  std::string_view text{};    ///< without its LF
  bool has_line_break = true; ///< false: the file ends without one
};

struct patch_hunk {
  std::vector<hunk_line> lines;
  /// Where it begins in the file as it was, from 0, if the patch says so.
  std::optional<std::uint64_t> line_index{};
  /// Lines that precede the hunk, in this order (`@@ class X` of the second format).
  std::vector<std::string_view> anchors{};
  bool is_at_end = false;           ///< nothing follows in the file, as the patch says
  bool has_pairs = false;           ///< its head ends with CRLF, so its lines' ends say nothing
  bool has_crs = true;              ///< the patch has a CR somewhere; without, they may be lost
  std::size_t patch_line_index = 0; ///< from 0, for messages
};

struct file_patch {
  patch_action action = patch_action::edit;
  std::string path;                    ///< afterwards; of a removed file the one it has
  std::string from;                    ///< of a moved or copied file, else empty
  std::optional<bool> is_executable{}; ///< afterwards, if the patch says so
  bool shows_content = false;          ///< of a removed file: its hunks remove all of its lines
  std::vector<patch_hunk> hunks;
};

/// Why a text is no patch, and in which of its lines, from 0.
struct patch_fault : error {
  std::size_t line_index = 0;
  std::string head{}; ///< "@@ -1,2 +1,3 @@", where the last hunk has fewer lines than its head says
};
/// What is wrong, as a clause.
[[nodiscard]] std::string text_of(const patch_fault& fault);

struct patch_limits {
  std::size_t lines_max = 1'000'000; ///< what is read of each takes up to 300 bytes
};

/// The files of a patch, in its order; views are into `patch`. Text around it is passed over, such
/// as the message of a mail. Several patches of one format are one after the other. Errors:
/// invalid_argument (`operation` says what is wrong), unsupported_type (what is refused by its
/// kind, see above), too_large.
[[nodiscard]] result<std::vector<file_patch>, patch_fault>
parse_patch(std::string_view patch, const patch_limits& limits = {});

/// Why a hunk has no place.
struct hunk_failure : error {
  std::size_t hunk = 0;
  /// Of an ambiguous one: where it could begin, from 0, the first `lines_max` of them.
  std::vector<std::uint64_t> line_indexes{};
  text_matching matched = text_matching::exact; ///< how its lines match these
  static constexpr std::size_t lines_max = 100;
};

/// `content` with all hunks, which do not overlap. New lines end as their neighbours do. Errors:
/// no_match, ambiguous, too_large (to find the places of all hunks takes more work than any patch
/// that means something); nothing is changed then.
[[nodiscard]] result<std::string, hunk_failure> apply_hunks(std::string_view content,
                                                            std::span<const patch_hunk> hunks);

struct hunk_place {
  std::uint64_t line_index = 0; ///< where it began in the content before, from 0
  text_matching matched = text_matching::exact;
  new_indentation indentation = new_indentation::as_given;
  /// Those of the content before that are not to the byte as the hunk has them; they stay so where
  /// it keeps them. An anchor that was found but for white space is one of them.
  std::vector<std::uint64_t> differing_line_indexes{};
};

struct patched_text {
  std::string text;
  std::vector<hunk_place> hunks; ///< one for each
};

/// The same, saying where each hunk was applied and how its lines matched. Hunks that have no
/// exact place may have one but for white space, if `matching` says so. Errors: the same, and
/// cancelled when `wanted()`, asked at first and about every MiB, is false; without it, never.
[[nodiscard]] result<patched_text, hunk_failure>
apply_hunks(std::string_view content, std::span<const patch_hunk> hunks, text_matching matching,
            detail::function_view<bool()> wanted = {});

/// The hunks that take the same change back.
[[nodiscard]] std::vector<patch_hunk> inverse_of(std::span<const patch_hunk> hunks);

/// Whether the hunk has line numbers, begins at the first line and shows none before its change, so
/// that the file begins with its lines. A hunk that keeps no line (`-U0`) shows nothing at all.
[[nodiscard]] bool belongs_to_top(const patch_hunk& hunk);
/// Whether the file ends with the lines of the hunk: it says so, or shows no line behind its change
/// though it keeps others.
[[nodiscard]] bool belongs_to_end(const patch_hunk& hunk);

struct hunk_texts {
  std::string before, after;
};
/// What a hunk shows: the file's lines as they were, and as they are to be.
[[nodiscard]] hunk_texts texts_of(const patch_hunk& hunk);

} // namespace paddock
