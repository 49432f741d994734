// SPDX-License-Identifier: MIT
#include "mcp/tools/change_words.hpp"

#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>
#include <paddock/text/detail/lines.hpp>
#include <paddock/text/detail/text_matches.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace paddock::mcp {

refusal plain(error_code code, std::string words) {
  return {.code = code,
          .words = std::move(words.append(unchanged)),
          .edit = {},
          .lines = {},
          .nearest = {},
          .hash = {}};
}

failed_change named(failed_change failed, std::string_view given) {
  failed.path = given;
  return failed;
}

namespace {

/// The first line behind @@ that stands nowhere in the text; null: there is none, or no time is
/// left to look for it. Both may be many, so the text is passed once.
const std::string_view* missing_anchor(std::string_view text, const patch_hunk& hunk,
                                       const work_bounds& bounds) {
  if (hunk.anchors.empty()) return nullptr;
  constexpr std::size_t lines_between_questions = 65'536;
  std::map<std::string_view, bool> is_there; // hostile lines could collide in a table of hashes
  for (const std::string_view anchor : hunk.anchors)
    is_there.emplace(anchor, false);
  for (std::size_t begin = 0, lines = 1; begin < text.size(); ++lines) {
    if (lines % lines_between_questions == 0 && !bounds.check()) return nullptr;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const auto found = is_there.find(without_end(text.substr(begin, end - begin)));
    if (found != is_there.end()) found->second = true;
    begin = end + 1;
  }
  const auto missing = std::ranges::find_if(
      hunk.anchors, [&](std::string_view anchor) { return !is_there[anchor]; });
  return missing != hunk.anchors.end() ? &*missing : nullptr;
}

/// Where `shown` is in `text`: as whole lines if it does so anywhere, else the first place.
struct shown_place {
  std::uint64_t line = 0;
  bool is_whole = false;
};
std::optional<shown_place> place_of(std::string_view text, std::string_view shown,
                                    const work_bounds& bounds) {
  std::optional<std::size_t> first, whole;
  const auto note = [&](std::size_t offset, std::size_t size) {
    if (!first) first = offset;
    const bool begins = offset == 0 || text[offset - 1] == '\n';
    const std::string_view rest = text.substr(offset + size);
    const bool ends = shown.ends_with('\n') || rest.empty() || rest.front() == '\n';
    if (begins && ends && !whole) whole = offset;
  };
  auto wanted = [&] { return !whole && bounds.check().has_value(); };
  (void)detail::for_each_match(text, shown, note, wanted);
  if (!first) return std::nullopt;
  const std::size_t at = whole.value_or(*first);
  return shown_place{detail::count_breaks(text.substr(0, at)).all, whole.has_value()};
}

/// The line after those that the hunk shows, which begin in line `first`.
std::string_view line_after(std::string_view text, const patch_hunk& hunk, std::uint64_t first) {
  const auto added = std::ranges::count(hunk.lines, line_action::add, &hunk_line::action);
  std::uint64_t lines = first + hunk.lines.size() - static_cast<std::uint64_t>(added);
  for (; lines > 0 && !text.empty(); --lines)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return without_end(text.substr(0, text.find('\n')));
}

/// What is wrong with a hunk whose lines have no place, as the rest of a sentence about it.
std::string misplaced(std::string_view text, const patch_hunk& hunk, const shown_place& where,
                      const work_bounds& bounds) {
  const std::string line = std::to_string(where.line + 1);
  if (!where.is_whole) return " shows what is only a part of line " + line + "; show whole lines";
  if (const std::string_view* const anchor = missing_anchor(text, hunk, bounds))
    return " follows @@ " + shown(*anchor) +
           ", which is no line of the file; copy a whole line that is there, or leave it out";
  const bool ends_file = std::ranges::any_of(hunk.lines, [](const hunk_line& each) {
    return each.action != line_action::add && !each.has_line_break;
  });
  if (ends_file)
    return " says that the file ends without a newline there, which it does not; leave the line "
           "\\ No newline at end of file out";
  if (belongs_to_top(hunk) && where.line != 0)
    return " begins at line 1 and shows no line before its change, so it belongs to the beginning "
           "of the file, but its lines are at line " +
           line + "; show the line before them, if it belongs there";
  if (belongs_to_end(hunk))
    return " shows no line after its change, so it belongs to the end of the file, but its lines "
           "are at line " +
           line + " with others after them; if it belongs there, show the next line, too: \"" +
           shown(line_after(text, hunk, where.line)) + "\"";
  return " shows lines that are at line " + line +
         ", but not after the hunk before it and the lines after @@; give hunks in the order of "
         "the file";
}

/// Where the lines of the hunk stand as they are to be: where it says, or in one place with a word
/// that it keeps.
std::optional<near_miss> applied_place(std::string_view text, std::span<const patch_hunk> hunks,
                                       std::size_t number, std::string_view after,
                                       const work_bounds& bounds) {
  const auto wanted = [&] { return bounds.check().has_value(); };
  const auto back = inverse_of(hunks).at(number);
  const auto undone = apply_hunks(text, std::span(&back, 1), text_matching::exact, wanted);
  if (after.empty() || !undone) return std::nullopt;
  const std::uint64_t line = undone->hunks.front().line_index;
  const bool keeps_word = std::ranges::any_of(back.lines, [](const hunk_line& each) {
    return each.action == line_action::keep &&
           each.text.find_first_not_of(" \t\r{}()[];,") != std::string_view::npos;
  });
  if (back.line_index != line && !keeps_word) return std::nullopt;
  near_miss out{.kind = near_miss_kind::already_applied,
                .line_index = line,
                .found = {},
                .wanted = {},
                .wanted_line_index = 0};
  out.found = detail::truncate_to_valid_prefix(after.substr(0, out.found_bytes_max));
  return out;
}

} // namespace

refusal refusal_of(std::string_view text, std::span<const patch_hunk> hunks,
                   const hunk_failure& failure, text_matching matching, const work_bounds& bounds) {
  const patch_hunk& hunk = hunks[failure.hunk];
  refusal out = plain(failure.code, "");
  out.words = "hunk " + std::to_string(failure.hunk + 1) + " (line " +
              std::to_string(hunk.patch_line_index + 1) + " of the patch)";
  out.edit = failure.hunk;
  out.lines = failure.line_indexes;
  const auto [before, after] = texts_of(hunk);
  const auto applied = [&] {
    out.words = "hunk " + std::to_string(failure.hunk + 1) + " is already applied (line " +
                std::to_string(out.nearest->line_index + 1) + ")" + std::string(unchanged);
    return out;
  };
  if (failure.code == error_code::no_match)
    if ((out.nearest = applied_place(text, hunks, failure.hunk, after, bounds))) return applied();
  if (failure.code == error_code::too_large) {
    out.words += " and those before it take too much work to place: their lines occur nearly "
                 "everywhere; show lines that occur once, or give fewer hunks in a call";
  } else if (failure.code == error_code::ambiguous && !before.empty()) {
    out.words += " shows lines that occur in several places (" +
                 lines_text(failure.line_indexes, failure.line_indexes.size()) +
                 "); show more of the lines around the change";
  } else if (before.empty() && missing_anchor(text, hunk, bounds) != nullptr) {
    out.words += misplaced(text, hunk, {.is_whole = true}, bounds);
  } else if (before.empty()) {
    out.words += " does not say where its lines belong; show a line of the file beside them";
  } else if (const auto where = place_of(text, before, bounds)) {
    out.words += misplaced(text, hunk, *where, bounds);
  } else {
    out.nearest = nearest_in(text, before, after, bounds);
    const std::string cause = plain_cause(text, before, "the hunk");
    if (cause.empty() && out.nearest && out.nearest->kind == near_miss_kind::already_applied)
      return applied();
    out.words += " shows lines that do not occur";
    out.words += cause.empty() ? words_of(out.nearest, text, "the hunk", bounds) : cause;
    const auto wanted = [&] { return bounds.check().has_value(); };
    if (cause.empty() && out.nearest && out.nearest->kind == near_miss_kind::white_space &&
        matching == text_matching::exact &&
        apply_hunks(text, hunks, text_matching::white_space, wanted))
      out.words += ", or allow it with matching: \"whitespace\"";
  }
  out.words += unchanged;
  return out;
}

failed_change refused_plan(const change_failure& failure, const planned_changes& plan) {
  refusal why = refusal_of(failure);
  const bool is_about_record = failure.change == change_failure::no_change && !failure.path.empty();
  const bool is_torn = failure.made == change_extent::some;
  if (is_about_record || failure.made != change_extent::none)
    why.words = (is_torn ? "some of it is changed: " : "") + failure.detail; // says what helps
  else if (!failure.detail.empty())
    why.words =
        failure.detail + "; " +
        (failure.code == error_code::write_protected ? how_to_allow({.name = failure.operation})
                                                     : std::string(advice(failure.code)));
  if (failure.made == change_extent::none) why.words += unchanged;
  if (failure.change >= plan.files.size())
    return failed_change(std::move(why), encode_name(failure.path));
  const file_change& change = plan.changes[failure.change];
  if (failure.code == error_code::already_exists)
    return failed_change(std::move(why), encode_name(change.path));
  const bool is_about_source =
      failure.code == error_code::not_found || failure.code == error_code::stale;
  if (change.action == change_action::move && failure.code == error_code::is_a_directory)
    why.words = "a directory is there; give " + shown(join(change.path, file_name(change.from))) +
                " to move it in there" + std::string(unchanged);
  if (change.action == change_action::move && !is_about_source)
    why.words = "to move it to " + shown(change.path) + ": " + why.words;
  return failed_change(std::move(why), plan.files[failure.change].given);
}

std::string_view matched_with(new_indentation indentation) {
  switch (indentation) {
  case new_indentation::as_in_file:
    return "whitespace; new lines are indented as the file is";
  case new_indentation::not_known:
    return "whitespace; new lines are indented as they were given, for the lines that matched do "
           "not tell how the file would have them: look at them";
  case new_indentation::as_given:
    break;
  }
  return "whitespace";
}

void write_matched(json_writer& out, const loose_lines& loose) {
  out.member("matchedWith", matched_with(loose.indentation)).key("matchedLines").begin_array();
  for (const std::uint64_t line : loose.lines)
    out.unsigned_integer(line + 1);
  out.end_array();
}

} // namespace paddock::mcp
