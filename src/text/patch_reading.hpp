// SPDX-License-Identifier: MIT
#pragma once

/// What the readers of both formats of patches share, and what they know of each other.
/// Thread-safety: as for any value.

#include <paddock/text/detail/lines.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

using patch_result = result<std::vector<file_patch>, patch_fault>;

/// Whether the text has a patch that begins with `*** Begin Patch`.
[[nodiscard]] bool has_begin_patch(std::string_view text);
/// All such patches of the text. Precondition: it has one.
[[nodiscard]] patch_result read_begin_patch(std::string_view text);

/// Whether a head of a unified hunk goes on so behind its first `@@ `.
[[nodiscard]] bool has_hunk_numbers(std::string_view head);

inline constexpr std::string_view no_file = "/dev/null";
/// A name in quotes as C writes it, and how many bytes it took; 0 where it is none.
[[nodiscard]] std::pair<std::string, std::size_t> unquoted_name(std::string_view text);
/// The name of a line `---` or `+++`, or of git's headers: in quotes, or up to a tab.
[[nodiscard]] std::string patch_name(std::string_view text);
/// Takes off the first component where it tells the sides apart, as in a/x and b/x.
void strip_sides(std::string& before, std::string& after);
/// Whether a time as in 1970-01-01 01:00:00.000000000 +0100 is the beginning of time.
[[nodiscard]] bool is_epoch(std::string_view stamp);

inline constexpr const char* unmarked_line = "a line of a hunk begins with a blank, + or -";
inline constexpr const char* unmarked_new_line = "each line of a new file begins with +";
inline constexpr const char* no_change = "the patch changes nothing in this file";

/// Whether there is neither a line that comes or goes nor a mode.
[[nodiscard]] inline bool changes_nothing(const file_patch& file) {
  const auto keeps = [](const patch_hunk& hunk) {
    return std::ranges::all_of(
        hunk.lines, [](const hunk_line& line) { return line.action == line_action::keep; });
  };
  return file.action == patch_action::edit && !file.is_executable &&
         std::ranges::all_of(file.hunks, keeps);
}

/// The lines of a patch, one after the other.
class patch_lines {
public:
  explicit patch_lines(std::string_view patch) : lines_(lines_of(patch)) {}

  [[nodiscard]] bool is_over() const noexcept { return at_ == lines_.size(); }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::size_t left() const noexcept { return lines_.size() - at_; }
  void skip() noexcept { ++at_; }
  /// Without its LF; empty behind the last one.
  [[nodiscard]] std::string_view unbroken(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < lines_.size() ? without_break(lines_[at_ + ahead]) : std::string_view();
  }
  /// Without its end.
  [[nodiscard]] std::string_view line(std::size_t ahead = 0) const noexcept {
    return without_end(unbroken(ahead));
  }
  [[nodiscard]] bool begins(std::string_view with) const noexcept {
    return line().starts_with(with);
  }
  /// Whether a file of the unified format begins here, or so many lines ahead.
  [[nodiscard]] bool begins_file(std::size_t ahead = 0) const noexcept {
    return line(ahead).starts_with("--- ") && line(ahead + 1).starts_with("+++ ");
  }
  [[nodiscard]] patch_fault fault(const char* what,
                                  error_code code = error_code::invalid_argument) const noexcept {
    return {{code, 0, what}, at_};
  }
  /// The same of the line before. Precondition: there is one.
  [[nodiscard]] patch_fault fault_before(const char* what) const noexcept {
    return {{error_code::invalid_argument, 0, what}, at_ - 1};
  }
  /// The last line of the text, where it has no end and was passed: it may be cut off. Else empty.
  [[nodiscard]] std::string_view line_without_end() const noexcept {
    return is_over() && !lines_.empty() && !lines_.back().ends_with('\n') ? lines_.back()
                                                                          : std::string_view();
  }

private:
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
};

} // namespace paddock
