// SPDX-License-Identifier: MIT

// The format of apply_patch of OpenAI's Codex.

#include "text/patch_reading.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// The format that begins with `*** Begin Patch`.
class begin_patch_reader {
public:
  explicit begin_patch_reader(std::string_view patch) : lines_(patch) {}

  /// Whether the text has such a patch.
  [[nodiscard]] static bool is_in(std::string_view patch) {
    // A line of its own; prose before it may mention it.
    const std::size_t first = patch.find_first_not_of(" \t\r\n");
    for (std::size_t at = patch.find(begin); at != std::string_view::npos;
         at = patch.find(begin, at + 1)) {
      const std::string_view rest = patch.substr(at + begin.size());
      const bool is_line = at == first || patch[at - 1] == '\n';
      if (is_line && without_blanks(rest.substr(0, rest.find('\n'))).empty()) return true;
    }
    return false;
  }

  /// All that are in the text. Precondition: one is.
  [[nodiscard]] patch_result read() {
    std::vector<file_patch> files;
    bool is_first = true; // only white space may precede it, also in its own line
    for (; !lines_.is_over(); lines_.skip()) {
      if (lines_.begins("diff --git ") ||
          (lines_.begins_file() && lines_.line(2).starts_with("@@ -")))
        return lines_.fault("patches of two formats; give them one by one");
      const std::string_view line = without_blanks(lines_.line());
      if (line == begin && (is_first || lines_.begins(begin))) PADDOCK_CHECK(read_block(files));
      is_first = is_first && line.empty();
    }
    return files;
  }

private:
  static constexpr std::string_view begin = "*** Begin Patch", end = "*** End Patch";
  patch_lines lines_;

  [[nodiscard]] static std::string_view without_blanks(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(blanks)));
    return line.substr(0, line.find_last_not_of(blanks) + 1);
  }

  /// Behind a blank it is the end only where nothing else follows: it may be a line that is kept.
  [[nodiscard]] bool is_end() const {
    if (lines_.begins(end)) return true;
    if (lines_.is_over() || without_blanks(lines_.line()) != end) return false;
    for (std::size_t ahead = 1; ahead < lines_.left(); ++ahead)
      if (!lines_.line(ahead).empty()) return false;
    return true;
  }

  /// From its first line to its last, which is not passed.
  [[nodiscard]] result<void, patch_fault> read_block(std::vector<file_patch>& files) {
    const std::size_t before = files.size();
    lines_.skip();
    while (!is_end()) {
      if (lines_.is_over()) return lines_.fault("*** End Patch is missing");
      if (trim_empty()) continue;
      if (files.size() > before && files.back().action == patch_action::create &&
          !lines_.begins("***"))
        return lines_.fault(unmarked_new_line);
      PADDOCK_TRY(files.emplace_back(), read_file());
    }
    if (files.size() == before) return lines_.fault("the patch names no file");
    return {};
  }

  [[nodiscard]] bool trim_empty() {
    if (!lines_.line().empty()) return false;
    lines_.skip();
    return true;
  }
  /// What follows `head` in this line, which is passed. Blanks around it are none of it.
  [[nodiscard]] std::optional<std::string> take(std::string_view head) {
    const std::string_view line = without_blanks(lines_.line());
    if (!line.starts_with(head)) return std::nullopt;
    std::string rest(line.substr(head.size()));
    lines_.skip();
    return rest;
  }

  [[nodiscard]] result<file_patch, patch_fault> read_file() {
    file_patch file;
    if (auto added = take("*** Add File: ")) {
      file.action = patch_action::create;
      file.path = *std::move(added);
      patch_hunk whole{.lines = {}, .line_index = 0, .patch_line_index = lines_.at()};
      for (; lines_.begins("+"); lines_.skip())
        whole.lines.push_back({line_action::add, lines_.unbroken().substr(1)});
      if (whole.lines.empty() && !lines_.line().empty() && !lines_.begins("***"))
        return lines_.fault(unmarked_new_line);
      if (!whole.lines.empty()) file.hunks.push_back(std::move(whole));
      return file;
    }
    if (auto deleted = take("*** Delete File: ")) {
      file.action = patch_action::remove;
      file.path = *std::move(deleted);
      return file;
    }
    auto updated = take("*** Update File: ");
    if (!updated)
      return lines_.fault("*** Add File: , *** Delete File: or *** Update File: was expected");
    file.path = *std::move(updated);
    if (auto moved = take("*** Move to: ")) {
      file.action = patch_action::move;
      file.from = std::exchange(file.path, *std::move(moved));
    }
    while (!lines_.is_over() && !lines_.begins("***") && !is_end()) {
      PADDOCK_TRY(file.hunks.emplace_back(), read_hunk());
    }
    if (file.hunks.empty() && file.action == patch_action::edit)
      return lines_.fault("an updated file has no hunk, which begins with @@");
    if (changes_nothing(file)) return lines_.fault(no_change);
    return file;
  }

  [[nodiscard]] result<patch_hunk, patch_fault> read_hunk() {
    patch_hunk hunk;
    hunk.patch_line_index = lines_.at();
    for (; lines_.begins("@@"); lines_.skip()) {
      std::string_view anchor = lines_.line().substr(2);
      if (anchor.starts_with(' ')) anchor.remove_prefix(1);
      // Numbers of the unified format are in no file, and models count badly.
      if (!anchor.empty() && !has_hunk_numbers(anchor)) hunk.anchors.push_back(anchor);
    }
    for (; !lines_.is_over() && !lines_.begins("@@") && !lines_.begins("*** ") && !is_end();
         lines_.skip()) {
      const std::string_view raw = lines_.unbroken();
      const char mark = lines_.line().empty() ? ' ' : raw.front();
      if (mark != ' ' && mark != '+' && mark != '-') return lines_.fault(unmarked_line);
      hunk.lines.push_back({mark == '+'   ? line_action::add
                            : mark == '-' ? line_action::remove
                                          : line_action::keep,
                            lines_.line().empty() ? raw : raw.substr(1)});
    }
    hunk.is_at_end = take("*** End of File").has_value();
    if (hunk.lines.empty()) return lines_.fault("the hunk has no lines");
    return hunk;
  }
};

} // namespace

bool has_begin_patch(std::string_view text) {
  return begin_patch_reader::is_in(text);
}

patch_result read_begin_patch(std::string_view text) {
  return begin_patch_reader(text).read();
}

} // namespace paddock
