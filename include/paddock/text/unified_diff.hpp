// SPDX-License-Identifier: MIT
#pragma once

/// What changed between two texts, line by line: as data, and in the unified format that `patch`
/// and `git apply` read (POSIX, `diff -u`; git's words for a missing newline at the end).
///
/// Lines end with LF; everything else, even a CR before it, belongs to the line, so a patch
/// restores texts with any line endings and encoding byte for byte. Changes are the fewest
/// possible, except between large texts that have little in common. Of equally good places the last
/// one is named, as other programs do.
///
/// Not guaranteed: a short answer; `bytes_max` bounds it, at a hunk. Cost: linear in the texts,
/// about 100 ms for a MB of lines in another order, with memory of about 80 bytes a
/// line. Thread-safety: pure functions.

#include <paddock/base/detail/function_view.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Some lines that stand where others stood. Lines count from 0; one of both counts may be 0.
struct line_change {
  std::size_t before_line_index = 0, before_count = 0; ///< gone
  std::size_t after_line_index = 0, after_count = 0;   ///< come in their place

  friend bool operator==(const line_change&, const line_change&) = default;
};

/// In order; between two changes at least one line is the same.
[[nodiscard]] std::vector<line_change> changed_lines(std::string_view before,
                                                     std::string_view after);

struct unified_diff_options {
  std::size_t context_lines = 3;
  /// Hunks from the one on that would make the text longer are left out.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
  /// What the lines `---` and `+++` say, such as "a/src/x.c"; without them the diff has no such
  /// lines. Names with quotes, backslashes, control characters or other than UTF-8 are
  /// quoted as git does it.
  std::string_view before_name = {}, after_name = {};
};

struct unified_diff_text {
  std::string text;        ///< empty when nothing changed
  std::uint64_t added = 0; ///< lines, those of the hunks that were left out too
  std::uint64_t removed = 0;
  std::size_t hunks = 0;
  std::size_t hunks_left_out = 0;
};

/// A name as git's headers have it: quoted as C does it where it could be misread, or is no UTF-8.
[[nodiscard]] std::string quoted_name(std::string_view name);

/// A file before or after a change, as git has it.
struct git_file {
  std::string_view name{};
  std::string_view mode{}; ///< "100644", "100755", "120000" of a link; empty: there is no file
};
/// What git says above the hunks: both names, and whether the file is new, gone, or has another
/// name or mode now. Precondition: one of both is there.
[[nodiscard]] std::string git_heading(const git_file& before, const git_file& after);

/// Never fails; what is not text in any encoding is compared by lines as well. When `wanted()`,
/// asked about every MiB, is false, one hunk is left out and nothing counted.
[[nodiscard]] unified_diff_text unified_diff(std::string_view before, std::string_view after,
                                             const unified_diff_options& options = {},
                                             detail::function_view<bool()> wanted = {});

} // namespace paddock
