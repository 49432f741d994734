// SPDX-License-Identifier: MIT

// Unified patches: POSIX `diff -u`; git's "Generating patch text with -p" (git-diff).

#include "text/patch_reading.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// No text has so many lines, and sums of them are still numbers.
constexpr std::uint64_t line_max = std::uint64_t{1} << 60;

/// `12,3` or `12`: where, and how many.
[[nodiscard]] bool read_range(std::string_view& text, std::uint64_t& first, std::uint64_t& count) {
  const auto number = [&](std::uint64_t& value) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || value > line_max) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  count = 1;
  if (!number(first)) return false;
  if (!text.starts_with(',')) return true;
  text.remove_prefix(1);
  return number(count);
}

/// The unified format.
class unified_reader {
public:
  explicit unified_reader(std::string_view patch)
      : lines_(patch), has_crs_(patch.find('\r') != std::string_view::npos) {}

  [[nodiscard]] patch_result read() {
    std::vector<file_patch> files;
    while (!lines_.is_over()) {
      if (!lines_.begins("diff --git ") && !is_head()) {
        if (lines_.begins("@@ -")) return lines_.fault("a hunk without the name of its file");
        const std::string_view line = lines_.line();
        lines_.skip();
        if (!files.empty() && is_cut_head(line)) return lines_.fault_before(cut_off);
        continue;
      }
      PADDOCK_TRY(files.emplace_back(), read_file());
      if (const std::string_view last = lines_.line_without_end();
          !last.empty() && !is_whole(last, files.back()))
        return lines_.fault_before(cut_off);
    }
    if (files.empty())
      return lines_.fault(
          "there is no patch in the input: a unified one has lines --- and +++ with "
          "the file's names and then hunks such as @@ -12,3 +12,4 @@; one of the "
          "other format begins with *** Begin Patch");
    return files;
  }

private:
  patch_lines lines_;
  bool has_crs_;
  std::string before_, after_; ///< names on both sides
  bool has_sides_ = true;      ///< such as a/ and b/
  bool changes_text_ = false;  ///< as git's line `index` says

  static constexpr const char* cut_off =
      "the patch ends inside this line; write it to its end, with a newline after its last line";
  static constexpr const char* not_shown =
      "the head of this hunk counts lines of the file, but the hunk shows none; show the line "
      "before the added ones, or write -12,0 to add after line 12";
  static constexpr const char* cut_hunk =
      "the patch ends here, and its last hunk has fewer lines than its head says; write it to its "
      "end, or correct the head";

  /// Whether the last line, which has no end, is complete: a cut line of the file would not match.
  /// A cut line that is added would show nowhere.
  [[nodiscard]] static bool is_whole(std::string_view line, const file_patch& file) {
    if (file.hunks.empty()) return false;
    return line.front() == '\\' ? line == "\\ No newline at end of file"
                                : file.hunks.back().lines.back().action != line_action::add;
  }

  /// Whether the line, which was passed, begins a file or a hunk, and nothing else of it follows.
  [[nodiscard]] bool is_cut_head(std::string_view line) const {
    constexpr std::string_view heads[] = {"--- ", "diff --git ", "@@ -", "index "}, other = "+++ ";
    if (line.starts_with("--- ") && lines_.left() == 1 && other.starts_with(lines_.line()))
      return true;
    return lines_.is_over() && !line.empty() &&
           std::ranges::any_of(heads, [&](std::string_view head) {
             return line.starts_with(head) ||
                    (!lines_.line_without_end().empty() && head.starts_with(line));
           });
  }

  /// Whether a line such as `index 12..34` says that the text of the file is another one.
  [[nodiscard]] static bool tells_of_text(std::string_view index) {
    // What git calls a file that is empty, with either of its sums.
    constexpr std::string_view empty_files[] = {"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
                                                "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f77"
                                                "49120a303721813"};
    const auto is_empty = [&](std::string_view sum) {
      return sum.find_first_not_of('0') == std::string_view::npos ||
             std::ranges::any_of(empty_files,
                                 [&](std::string_view empty) { return empty.starts_with(sum); });
    };
    const std::string_view sums = index.substr(0, index.find(' '));
    const std::size_t dots = sums.find("..");
    if (dots == std::string_view::npos) return false;
    const std::string_view before = sums.substr(0, dots), after = sums.substr(dots + 2);
    return before != after && !(is_empty(before) && is_empty(after));
  }

  [[nodiscard]] bool is_head() const { return lines_.begins_file(); }
  /// What follows the name in a line `---` or `+++`.
  [[nodiscard]] static std::string_view stamp_in(std::string_view line) {
    const std::size_t tab = line.find('\t');
    return tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1);
  }
  /// Whether a side is no file, as `diff -N` says it. Files of 1970 have lines.
  [[nodiscard]] bool is_absent(std::string_view stamp, std::string_view range) const {
    return is_epoch(stamp) && lines_.begins("@@ ") &&
           lines_.line().find(range) != std::string_view::npos;
  }

  /// The lines between `diff --git` and the hunks.
  [[nodiscard]] result<void, patch_fault> read_headers(file_patch& file) {
    set_names(lines_.line().substr(11));
    for (lines_.skip(); !lines_.is_over() && !is_head(); lines_.skip()) {
      const std::string_view line = lines_.line();
      const auto value = [&](std::string_view name) -> std::optional<std::string_view> {
        if (!line.starts_with(name)) return std::nullopt;
        return line.substr(name.size());
      };
      if (line.starts_with("GIT binary patch") || line.starts_with("Binary files "))
        return lines_.fault("a binary patch", error_code::unsupported_type);
      if (const char* const what = strange_in(mode_in(line)))
        return lines_.fault(what, error_code::unsupported_type);
      if (const auto name = value("rename from "))
        file.from = patch_name(*name);
      else if (const auto copied = value("copy from "))
        file.from = patch_name(*copied);
      else if (const auto to = value("rename to "))
        set_moved(file, patch_action::move, *to);
      else if (const auto copy = value("copy to "))
        set_moved(file, patch_action::copy, *copy);
      else if (value("new file mode "))
        set_mode(file, patch_action::create, line);
      else if (value("deleted file mode "))
        file.action = patch_action::remove;
      else if (value("new mode "))
        set_mode(file, file.action, line);
      else if (const auto sums = value("index "))
        changes_text_ = tells_of_text(*sums);
      else if (!value("old mode ") && !value("similarity index ") && !value("dissimilarity index "))
        break;
    }
    return {};
  }

  /// The mode that a line of git's headers says, if it is one that does.
  [[nodiscard]] static std::optional<std::string_view> mode_in(std::string_view line) {
    for (const std::string_view head :
         {"old mode ", "new mode ", "new file mode ", "deleted file mode ", "index "}) {
      if (!line.starts_with(head)) continue;
      line.remove_prefix(head.size());
      const std::size_t blank = line.find(' ');
      if (head != "index ") return line.substr(0, blank);
      if (blank == std::string_view::npos) break;
      return line.substr(blank + 1, line.find(' ', blank + 1) - blank - 1);
    }
    return std::nullopt;
  }
  static constexpr std::string_view executable_mode = "100755";

  /// What it is the mode of, unless it is a file's as git has them, and had once.
  [[nodiscard]] static const char* strange_in(std::optional<std::string_view> mode) {
    if (!mode || mode == "100644" || mode == executable_mode || mode == "100664") return nullptr;
    if (mode == "120000") return "a patch of a symbolic link (mode 120000)";
    if (mode == "160000") return "a patch of a submodule (mode 160000)";
    return "a mode that is neither 100644 nor 100755";
  }

  static void set_mode(file_patch& file, patch_action action, std::string_view line) {
    file.action = action;
    file.is_executable = mode_in(line) == executable_mode;
  }
  void set_moved(file_patch& file, patch_action action, std::string_view to) {
    file.action = action;
    before_ = file.from;
    after_ = patch_name(to);
  }

  /// Both names of `diff --git`, which are the same but for the sides; those of other lines win.
  void set_names(std::string_view both) {
    before_.clear();
    after_.clear();
    if (both.starts_with('"')) {
      auto [name, size] = unquoted_name(both);
      if (size == 0) return;
      before_ = std::move(name);
      after_ = patch_name(both.substr(std::min(both.size(), size + 1)));
    } else if (both.size() % 2 == 1 && both[both.size() / 2] == ' ') {
      before_ = both.substr(0, both.size() / 2);
      after_ = patch_name(both.substr(both.size() / 2 + 1));
    }
    has_sides_ = before_ != after_;
    if (has_sides_) strip_sides(before_, after_);
  }

  /// Whether a name of `---` or `+++` is the one of git's lines, if these have one; the first
  /// component may tell the side.
  [[nodiscard]] static bool agrees(std::string_view name, std::string_view of_git) {
    return of_git.empty() || name == no_file || name == of_git ||
           (name.ends_with(of_git) && name.find('/') == name.size() - of_git.size() - 1);
  }
  static constexpr const char* other_name =
      "--- and +++ name another file than the lines of git above them; correct the name, or begin "
      "another file with diff --git";

  [[nodiscard]] result<file_patch, patch_fault> read_file() {
    file_patch file;
    before_.clear();
    after_.clear();
    has_sides_ = true;
    changes_text_ = false;
    if (lines_.begins("diff --git ")) PADDOCK_CHECK(read_headers(file));
    if (is_head()) {
      const std::string_view old_stamp = stamp_in(lines_.line()),
                             new_stamp = stamp_in(lines_.line(1));
      std::string before = patch_name(lines_.line().substr(4));
      std::string after = patch_name(lines_.line(1).substr(4));
      const bool is_same_before = agrees(before, before_), is_same_after = agrees(after, after_);
      if (has_sides_) strip_sides(before, after);
      if (before == no_file && !file.from.empty())
        return lines_.fault(
            "a renamed or copied file was not nowhere before; begin a new file with "
            "diff --git");
      if (!is_same_before) return lines_.fault(other_name);
      lines_.skip();
      if (!is_same_after) return lines_.fault(other_name);
      lines_.skip();
      if (before == no_file && file.action == patch_action::edit)
        file.action = patch_action::create;
      if (after == no_file) file.action = patch_action::remove;
      if (file.from.empty() && before_.empty()) {
        before_ = std::move(before);
        after_ = std::move(after);
        if (is_absent(old_stamp, " -0,0 ")) file.action = patch_action::create;
        if (is_absent(new_stamp, " +0,0 ")) file.action = patch_action::remove;
      }
      while (lines_.begins("@@")) {
        PADDOCK_TRY(file.hunks.emplace_back(), read_hunk(file.action));
      }
      if (file.hunks.empty())
        return lines_.fault("a hunk was expected, whose head is as in @@ -12,3 +12,4 @@");
    }
    file.shows_content = file.action == patch_action::remove;
    file.path = file.action == patch_action::remove ? before_ : after_;
    if (file.path.empty() || file.path == no_file)
      return lines_.fault("the name of a file is missing");
    const bool has_two_names =
        file.action == patch_action::move || file.action == patch_action::copy;
    const bool is_cut = file.hunks.empty() && !has_two_names && before_ != after_;
    if (has_two_names == file.from.empty() || is_cut)
      return lines_.fault("a file that is renamed or copied has a line for both of its names");
    if (changes_nothing(file)) return lines_.fault(no_change);
    if (changes_text_ && file.hunks.empty() && lines_.is_over() &&
        file.action != patch_action::remove)
      return lines_.fault_before("the hunks of this file are missing, though git's lines say that "
                                 "its text changes; write the patch to its end");
    return file;
  }

  [[nodiscard]] result<patch_hunk, patch_fault> read_hunk(patch_action of_file) {
    if (!lines_.begins("@@ -")) return bad_head();
    patch_hunk hunk;
    hunk.patch_line_index = lines_.at();
    hunk.has_crs = has_crs_;
    hunk.has_pairs = lines_.unbroken().ends_with('\r');
    std::string_view head = lines_.line().substr(4);
    std::uint64_t first = 0, before = 0, first_after = 0, after = 0;
    if (!read_range(head, first, before) || !head.starts_with(" +")) return bad_head();
    head.remove_prefix(2);
    if (!read_range(head, first_after, after) || !head.starts_with(" @@")) return bad_head();
    const bool counts_old_lines = before > 0 && of_file != patch_action::create;
    for (lines_.skip(); !lines_.is_over(); lines_.skip()) {
      if (!is_of_hunk(before, after)) break;
      const std::string_view raw = lines_.unbroken();
      if (raw.starts_with('\\')) {
        if (!hunk.lines.empty()) hunk.lines.back().has_line_break = false;
        continue;
      }
      const line_action action = raw.starts_with('+')   ? line_action::add
                                 : raw.starts_with('-') ? line_action::remove
                                                        : line_action::keep;
      if (action != line_action::add && of_file == patch_action::create)
        return lines_.fault(unmarked_new_line);
      if (action != line_action::add && before > 0) --before;
      if (action != line_action::remove && after > 0) --after;
      // A blank in front of an empty line gets lost on the way.
      hunk.lines.push_back({action, lines_.line().empty() ? raw : raw.substr(1)});
    }
    const char* const unmarked =
        of_file == patch_action::create ? unmarked_new_line : unmarked_line;
    if (hunk.lines.empty()) return lines_.fault(is_torn(true) ? unmarked : "the hunk has no lines");
    const bool only_adds = std::ranges::all_of(
        hunk.lines, [](const hunk_line& line) { return line.action == line_action::add; });
    // Then whether its line is the one before or the one behind depends on the count.
    if (only_adds && counts_old_lines)
      return patch_fault{{error_code::invalid_argument, 0, not_shown}, hunk.patch_line_index};
    hunk.line_index = only_adds || first == 0 ? first : first - 1;
    if (lines_.is_over() && (before > 0 || after > 0)) {
      patch_fault fault = lines_.fault_before(cut_hunk);
      fault.head = "@@ -" + range_of(first, hunk, line_action::add) + " +" +
                   range_of(first_after, hunk, line_action::remove) + " @@";
      return fault;
    }
    if (is_torn(before > 0 || after > 0)) return lines_.fault(unmarked);
    return hunk;
  }

  /// "12,3": from where, and how many lines without those of `other`.
  [[nodiscard]] static std::string range_of(std::uint64_t first, const patch_hunk& hunk,
                                            line_action other) {
    const auto others = std::ranges::count(hunk.lines, other, &hunk_line::action);
    return std::to_string(first) + "," +
           std::to_string(hunk.lines.size() - static_cast<std::size_t>(others));
  }

  [[nodiscard]] patch_fault bad_head() const {
    return lines_.fault("the head of a hunk is not as in @@ -12,3 +12,4 @@, with numbers of lines");
  }

  /// Whether the line so far ahead is where a patch or the text around it goes on.
  [[nodiscard]] bool is_outside(std::size_t ahead) const {
    const std::string_view line = lines_.line(ahead);
    return lines_.begins_file(ahead) || line == "-- " || line.starts_with("diff ") ||
           line.starts_with("Index: ") || line.starts_with("From ") || line.starts_with("```") ||
           line.starts_with("Property changes on: ");
  }

  /// Whether the hunk goes on behind a line that is none of a hunk: its head counts more lines, or
  /// what looks like such follows. What a person writes below a patch does not.
  [[nodiscard]] bool is_torn(bool is_counted) const {
    if (lines_.is_over() || is_outside(0) || lines_.begins("@@")) return false;
    if (is_counted) return true;
    for (std::size_t ahead = 0; ahead < lines_.left() && !is_outside(ahead); ++ahead) {
      const std::string_view line = lines_.line(ahead);
      if (line.starts_with('+') || line.starts_with('-') || line.starts_with("@@")) return true;
    }
    return false;
  }

  /// Whether the line is of the hunk, of which so many are left if its counts are right: what looks
  /// like the next file may be a line that was removed and one that was added.
  [[nodiscard]] bool is_of_hunk(std::uint64_t before, std::uint64_t after) const {
    const std::string_view line = lines_.line();
    const bool is_counted = before > 0 || after > 0;
    if (line.empty()) return is_counted;
    if (is_head() &&
        (!is_counted || (lines_.line(2).starts_with("@@ -") && !(before == 1 && after == 1))))
      return false;
    if (!is_counted && line == "-- ") return false; // the end of a mail
    return std::string_view(" +-\\").find(line.front()) != std::string_view::npos;
  }
};

} // namespace

bool has_hunk_numbers(std::string_view head) {
  std::uint64_t ignored = 0;
  const auto takes_range = [&](std::string_view mark) {
    if (!head.starts_with(mark)) return false;
    head.remove_prefix(mark.size());
    return read_range(head, ignored, ignored);
  };
  return takes_range("-") && takes_range(" +") && head.starts_with(" @@");
}

std::string text_of(const patch_fault& fault) {
  return fault.head.empty() ? fault.operation : fault.operation + (" to " + fault.head);
}

result<std::vector<file_patch>, patch_fault> parse_patch(std::string_view patch,
                                                         const patch_limits& limits) {
  if (detail::count_breaks(patch).all > limits.lines_max)
    return patch_fault{{error_code::too_large, 0, "the patch has too many lines"},
                       limits.lines_max};
  return has_begin_patch(patch) ? read_begin_patch(patch) : unified_reader(patch).read();
}

} // namespace paddock
