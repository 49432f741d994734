// SPDX-License-Identifier: MIT

#include "text/line_diff.hpp"
#include "text/text_pace.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/unified_diff.hpp>

#include <gsl/assert>

#include <algorithm>

namespace paddock {
namespace {

/// Of a run of changed lines that could as well be further down, the last place.
void slide_down(const std::vector<std::uint32_t>& numbers, std::vector<bool>& is_changed,
                const std::vector<bool>& is_changed_there) {
  std::size_t there = 0; // the line of the other text beside `end`
  const auto skip = [&] {
    while (there < is_changed_there.size() && is_changed_there[there])
      ++there;
  };
  for (std::size_t end = 0; end < numbers.size();) {
    if (!is_changed[end]) {
      skip();
      ++end;
      ++there;
      continue;
    }
    std::size_t begin = end;
    while (end < numbers.size() && is_changed[end])
      ++end;
    // Only where nothing of the other text is beside: an exchange of lines has its place.
    while (end < numbers.size() && numbers[begin] == numbers[end] &&
           !(there < is_changed_there.size() && is_changed_there[there])) {
      is_changed[begin++] = false;
      is_changed[end++] = true;
      ++there;
      while (end < numbers.size() && is_changed[end])
        ++end; // it has met the next one
    }
  }
}

/// The changes of the marked lines.
[[nodiscard]] std::vector<line_change> changes_of(const std::vector<bool>& is_removed,
                                                  const std::vector<bool>& is_added) {
  std::vector<line_change> changes;
  std::size_t before = 0;
  std::size_t after = 0;
  while (before < is_removed.size() || after < is_added.size()) {
    line_change change{before, 0, after, 0};
    for (; before < is_removed.size() && is_removed[before]; ++before)
      ++change.before_count;
    for (; after < is_added.size() && is_added[after]; ++after)
      ++change.after_count;
    if (change.before_count + change.after_count > 0) changes.push_back(change);
    ++before;
    ++after;
  }
  return changes;
}

/// Two texts by lines, and what changed between them.
struct compared_lines {
  std::vector<std::string_view> before, after;
  std::vector<line_change> changes;
};

/// Once `pace` is over, the changes mean nothing.
[[nodiscard]] compared_lines compare_lines(std::string_view before, std::string_view after,
                                           text_pace& pace) {
  compared_lines out{lines_of(before), lines_of(after), {}};
  const auto [before_numbers, after_numbers] = number_lines(out.before, out.after, pace);
  line_comparison compared(before_numbers, after_numbers, pace);
  if (pace.is_over()) return out;
  slide_down(before_numbers, compared.is_removed, compared.is_added);
  slide_down(after_numbers, compared.is_added, compared.is_removed);
  out.changes = changes_of(compared.is_removed, compared.is_added);
  return out;
}

/// `name` as the lines `---` and `+++` have it: a tab ends one with blanks.
[[nodiscard]] std::string diff_name(std::string_view name) {
  std::string out = quoted_name(name);
  if (!out.starts_with('"') && name.find(' ') != std::string_view::npos) out += '\t';
  return out;
}

/// Writes hunks: changes that are near each other, and the lines around them.
class hunk_writer {
public:
  hunk_writer(const compared_lines& lines, const unified_diff_options& options)
      : lines_(lines), context_(std::min(options.context_lines, lines.before.size())),
        bytes_max_(options.bytes_max) {}

  /// The change behind the hunk that begins with the change `first`.
  [[nodiscard]] std::size_t behind(std::size_t first) const {
    const std::vector<line_change>& changes = lines_.changes;
    const auto is_near = [&](std::size_t at) {
      const line_change& above = changes[at - 1];
      return changes[at].before_line_index - above.before_line_index - above.before_count <=
             2 * context_;
    };
    std::size_t at = first + 1;
    while (at < changes.size() && is_near(at))
      ++at;
    return at;
  }

  /// The hunk of the changes from `first` to before `last`; of one that is too long, too much.
  [[nodiscard]] std::string text(std::size_t first, std::size_t last) const {
    const line_change& begin = lines_.changes[first];
    const std::size_t above = std::min(begin.before_line_index, context_);
    std::string body;
    std::size_t before = begin.before_line_index - above;
    std::size_t after_count = 0;
    const auto add = [&](char mark, std::string_view line) {
      if (mark != '-') ++after_count;
      if (mark != '+') ++before;
      if (body.size() > bytes_max_) return;
      body += mark;
      body += line;
      if (!line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    };
    for (std::size_t at = first; at < last; ++at) {
      const line_change& change = lines_.changes[at];
      while (before < change.before_line_index)
        add(' ', lines_.before[before]);
      for (std::size_t i = 0; i < change.before_count; ++i)
        add('-', lines_.before[before]);
      for (std::size_t i = 0; i < change.after_count; ++i)
        add('+', lines_.after[change.after_line_index + i]);
    }
    for (std::size_t i = 0; i < context_ && before < lines_.before.size(); ++i)
      add(' ', lines_.before[before]);
    const std::size_t first_line = begin.before_line_index - above;
    return "@@ -" + place(first_line, before - first_line) + " +" +
           place(begin.after_line_index - above, after_count) + " @@\n" + body;
  }

private:
  /// Lines count from 1; of none the line before is named.
  [[nodiscard]] static std::string place(std::size_t begin, std::size_t count) {
    const std::string first = std::to_string(count == 0 ? begin : begin + 1);
    return count == 1 ? first : first + "," + std::to_string(count);
  }

  const compared_lines& lines_;
  std::size_t context_;
  std::size_t bytes_max_;
};

} // namespace

std::string quoted_name(std::string_view name) {
  constexpr std::string_view letters = "abtnvfr"; // from \a, 7, to \r, 13
  const bool is_utf8 = detail::is_valid_utf8(name);
  std::string quoted = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (byte >= '\a' && byte <= '\r') {
      quoted.append({'\\', letters[byte - std::size_t{'\a'}]});
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
      const auto digit = [](unsigned value) { return static_cast<char>('0' + value % 8); };
      quoted.append({'\\', digit(byte / 64U), digit(byte / 8U), digit(byte)});
    } else {
      quoted += c;
    }
  }
  // patch takes blanks at the end for none.
  if (quoted.size() > name.size() + 1 || name.ends_with(' ')) return quoted + '"';
  return std::string(name);
}

std::string git_heading(const git_file& before, const git_file& after) {
  Expects(!before.mode.empty() || !after.mode.empty());
  const std::string old_name(before.mode.empty() ? after.name : before.name);
  const std::string new_name(after.mode.empty() ? before.name : after.name);
  std::string out =
      "diff --git " + quoted_name("a/" + old_name) + ' ' + quoted_name("b/" + new_name) + '\n';
  const auto say = [&](std::string_view what, std::string_view value) {
    out.append(what).append(value) += '\n';
  };
  if (before.mode.empty()) {
    say("new file mode ", after.mode);
  } else if (after.mode.empty()) {
    say("deleted file mode ", before.mode);
  } else if (before.mode != after.mode) {
    say("old mode ", before.mode);
    say("new mode ", after.mode);
  }
  if (old_name != new_name) {
    say("rename from ", quoted_name(old_name));
    say("rename to ", quoted_name(new_name));
  }
  return out;
}

std::vector<line_change> changed_lines(std::string_view before, std::string_view after) {
  text_pace pace({});
  return compare_lines(before, after, pace).changes;
}

unified_diff_text unified_diff(std::string_view before, std::string_view after,
                               const unified_diff_options& options,
                               detail::function_view<bool()> wanted) {
  unified_diff_text out;
  if (before == after) return out;
  text_pace pace(wanted);
  const compared_lines lines = compare_lines(before, after, pace);
  if (!pace.ask()) return {.text = {}, .added = 0, .removed = 0, .hunks = 1, .hunks_left_out = 1};
  for (const line_change& change : lines.changes) {
    out.removed += change.before_count;
    out.added += change.after_count;
  }
  std::string names;
  if (!options.before_name.empty() || !options.after_name.empty())
    names =
        "--- " + diff_name(options.before_name) + "\n+++ " + diff_name(options.after_name) + "\n";
  const hunk_writer hunks(lines, options);
  for (std::size_t first = 0; first < lines.changes.size(); ++out.hunks) {
    const std::size_t last = hunks.behind(first);
    std::string piece;
    if (out.hunks_left_out == 0) piece = (first == 0 ? names : "") + hunks.text(first, last);
    if (out.hunks_left_out > 0 || piece.size() > options.bytes_max - out.text.size())
      ++out.hunks_left_out;
    else
      out.text += piece;
    first = last;
  }
  return out;
}

} // namespace paddock
