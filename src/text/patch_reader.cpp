// SPDX-License-Identifier: MIT

// Formats: POSIX `diff -u`; git's "Generating patch text with -p" (git-diff); apply_patch of
// OpenAI's Codex.

#include <paddock/text/detail/lines.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

using patch_result = result<std::vector<file_patch>, patch_fault>;

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

private:
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
};

/// A name in quotes as C writes it, and how many bytes it took; 0 where it is none.
[[nodiscard]] std::pair<std::string, std::size_t> quoted_name(std::string_view text) {
  constexpr std::string_view letters = "abtnvfr\"\\", meanings = "\a\b\t\n\v\f\r\"\\";
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return {std::move(name), i + 1};
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) break;
    if (const std::size_t letter = letters.find(text[i]); letter != std::string_view::npos) {
      name += meanings[letter];
      continue;
    }
    unsigned value = 0;
    const auto [end, fault] =
        std::from_chars(text.data() + i, text.data() + std::min(i + 3, text.size()), value, 8);
    if (fault != std::errc() || end != text.data() + i + 3 || value > 0xff) break;
    name += static_cast<char>(value);
    i += 2;
  }
  return {};
}

/// The name of a line `---` or `+++`, or of git's headers: in quotes, or up to a tab.
[[nodiscard]] std::string patch_name(std::string_view text) {
  if (text.starts_with('"'))
    if (auto [name, size] = quoted_name(text); size != 0) return name;
  return std::string(text.substr(0, text.find('\t')));
}

constexpr std::string_view no_file = "/dev/null";

constexpr const char* unmarked_line = "a line of a hunk begins with a blank, + or -";
constexpr const char* unmarked_new_line = "each line of a new file begins with +";
constexpr const char* no_change = "the patch changes nothing in this file";

/// Whether there is neither a line that comes or goes nor a mode.
[[nodiscard]] bool changes_nothing(const file_patch& file) {
  const auto keeps = [](const patch_hunk& hunk) {
    return std::ranges::all_of(
        hunk.lines, [](const hunk_line& line) { return line.action == line_action::keep; });
  };
  return file.action == patch_action::edit && !file.is_executable &&
         std::ranges::all_of(file.hunks, keeps);
}

/// Takes off the first component where it tells the sides apart, as in a/x and b/x.
void strip_sides(std::string& before, std::string& after) {
  const auto rest = [](const std::string& name) {
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? std::string() : name.substr(slash + 1);
  };
  const bool are_usual = (before.starts_with("a/") || before == no_file) &&
                         (after.starts_with("b/") || after == no_file);
  const bool are_sides = before != after && !rest(before).empty() && rest(before) == rest(after);
  if (!are_usual && !are_sides) return;
  if (before != no_file) before = rest(before);
  if (after != no_file) after = rest(after);
}

/// The unified format.
class unified_reader {
public:
  explicit unified_reader(std::string_view patch) : lines_(patch) {}

  [[nodiscard]] patch_result read() {
    std::vector<file_patch> files;
    while (!lines_.is_over()) {
      if (!lines_.begins("diff --git ") && !is_head()) {
        if (lines_.begins("@@ -")) return lines_.fault("a hunk without the name of its file");
        lines_.skip();
        continue;
      }
      PADDOCK_TRY(files.emplace_back(), read_file());
    }
    if (files.empty())
      return lines_.fault("there is no patch in the text: a unified one has lines --- and +++ with "
                          "the file's names and then hunks such as @@ -12,3 +12,4 @@; one of the "
                          "other format begins with *** Begin Patch");
    return files;
  }

  /// Whether a head of a hunk goes on so behind its first `@@ `.
  [[nodiscard]] static bool has_numbers(std::string_view head) {
    std::uint64_t ignored = 0;
    const auto takes_range = [&](std::string_view mark) {
      if (!head.starts_with(mark)) return false;
      head.remove_prefix(mark.size());
      return read_range(head, ignored, ignored);
    };
    return takes_range("-") && takes_range(" +") && head.starts_with(" @@");
  }

private:
  patch_lines lines_;
  std::string before_, after_; ///< names on both sides
  bool has_sides_ = true;      ///< such as a/ and b/

  [[nodiscard]] bool is_head() const { return lines_.begins_file(); }

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
      else if (!value("old mode ") && !value("index ") && !value("similarity index ") &&
               !value("dissimilarity index "))
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
      auto [name, size] = quoted_name(both);
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
    if (lines_.begins("diff --git ")) PADDOCK_CHECK(read_headers(file));
    if (is_head()) {
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
      }
      while (lines_.begins("@@")) {
        PADDOCK_TRY(file.hunks.emplace_back(), read_hunk(file.action));
      }
      if (file.hunks.empty())
        return lines_.fault("a hunk was expected, whose head is as in @@ -12,3 +12,4 @@");
    }
    file.path = file.action == patch_action::remove ? before_ : after_;
    if (file.path.empty() || file.path == no_file)
      return lines_.fault("the name of a file is missing");
    const bool has_two_names =
        file.action == patch_action::move || file.action == patch_action::copy;
    if (has_two_names == file.from.empty())
      return lines_.fault("a file that is renamed or copied has a line for both of its names");
    if (changes_nothing(file)) return lines_.fault(no_change);
    return file;
  }

  /// No text has so many lines, and sums of them are still numbers.
  static constexpr std::uint64_t line_max = std::uint64_t{1} << 60;

  /// `12,3` or `12`: where, and how many.
  [[nodiscard]] static bool read_range(std::string_view& text, std::uint64_t& first,
                                       std::uint64_t& count) {
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

  [[nodiscard]] result<patch_hunk, patch_fault> read_hunk(patch_action of_file) {
    if (!lines_.begins("@@ -")) return bad_head();
    patch_hunk hunk;
    hunk.line_of_patch = lines_.at();
    hunk.has_pairs = lines_.unbroken().ends_with('\r');
    std::string_view head = lines_.line().substr(4);
    std::uint64_t first = 0, before = 0, ignored = 0, after = 0;
    if (!read_range(head, first, before) || !head.starts_with(" +")) return bad_head();
    head.remove_prefix(2);
    if (!read_range(head, ignored, after) || !head.starts_with(" @@")) return bad_head();
    hunk.line = before == 0 || first == 0 ? first : first - 1;
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
    if (hunk.lines.empty()) return lines_.fault("the hunk has no lines");
    if (is_torn(before > 0 || after > 0))
      return lines_.fault(of_file == patch_action::create ? unmarked_new_line : unmarked_line);
    return hunk;
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
    bool is_first = true; // what stands before it may be white space, also in its own line
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
      patch_hunk whole{.lines = {}, .line = 0, .line_of_patch = lines_.at()};
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
    hunk.line_of_patch = lines_.at();
    for (; lines_.begins("@@"); lines_.skip()) {
      std::string_view anchor = lines_.line().substr(2);
      if (anchor.starts_with(' ')) anchor.remove_prefix(1);
      // Numbers of the unified format stand in no file, and models count badly.
      if (!anchor.empty() && !unified_reader::has_numbers(anchor)) hunk.anchors.push_back(anchor);
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

result<std::vector<file_patch>, patch_fault> parse_patch(std::string_view patch,
                                                         const patch_limits& limits) {
  if (detail::count_breaks(patch).all > limits.lines_max)
    return patch_fault{{error_code::too_large, 0, "the patch has too many lines"},
                       limits.lines_max};
  return begin_patch_reader::is_in(patch) ? begin_patch_reader(patch).read()
                                          : unified_reader(patch).read();
}

} // namespace paddock
