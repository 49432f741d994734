// SPDX-License-Identifier: MIT
#include "mcp/tools/refusals.hpp"

#include "crypto/crypto.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/detail/lines.hpp>
#include <paddock/text/detail/white_space_matches.hpp>
#include <paddock/text/unified_diff.hpp>

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr std::size_t searched_bytes_max = std::size_t{32} * 1024 * 1024;
constexpr std::string_view no_time_left =
    "; there was no time left to look for similar text; search the file for the place";

/// A line of text, with what cannot be seen in it escaped as in JSON.
std::string quoted(std::string_view line) {
  return json_writer().string(detail::excerpt(line)).take();
}

/// The line of `place` that stands where the first line of the old text is that differs.
std::string_view line_found(const near_miss& place) {
  std::string_view rest = place.found;
  for (std::uint64_t line = place.line_index; line < place.wanted_line_index && !rest.empty();
       ++line) {
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return rest.substr(0, rest.find('\n'));
}

std::string line_there(const near_miss& place) {
  return ": line " + std::to_string(place.wanted_line_index + 1) + " is " +
         quoted(line_found(place));
}
std::string line_wanted(const near_miss& place) {
  return " has " + quoted(place.wanted);
}

/// The line of `before` that became the line of `after`, or stood where that stands.
std::uint64_t line_before(std::span<const line_change> changes, std::uint64_t line) {
  std::uint64_t shifted = line;
  for (const line_change& change : changes) {
    if (line < change.after_line_index) break;
    if (line < change.after_line_index + change.after_count) {
      const std::uint64_t last = std::max<std::uint64_t>(change.before_count, 1) - 1;
      return change.before_line_index +
             std::min<std::uint64_t>(line - change.after_line_index, last);
    }
    shifted = line - change.after_line_index - change.after_count + change.before_line_index +
              change.before_count;
  }
  return shifted;
}

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

std::string advice_on_places(const edit_step& step, const edit_failure& failure) {
  if (failure.matched == text_matching::white_space)
    return " but for white space, which has to be one place; give more of the text around the one "
           "that is meant, or its text exactly as it is there";
  if (step.near_line_index && failure.occurrences > 1)
    return ", and none of them is nearest to line " + std::to_string(*step.near_line_index + 1) +
           "; give the line of the one that is meant, or more of the text around it";
  return "; give more of the text around the one that is meant, or its line, or all: true to "
         "replace every one";
}

/// What is wrong with the number of places, and what to do.
std::string words_of_places(const edit_step& step, const edit_failure& failure) {
  std::string words = " occurs " + times(failure.occurrences) + " (" +
                      lines_text(failure.line_indexes, failure.occurrences) + ")";
  const bool is_as_said = step.occurrences == failure.occurrences;
  if (step.occurrences && !is_as_said)
    words += ", not " + times(*step.occurrences) +
             " as occurrences says; look at these places, "
             "then correct occurrences";
  if (is_as_said) words += ", as occurrences says; add all: true to replace every one";
  if (!step.occurrences) words += advice_on_places(step, failure);
  return words;
}

/// Where an edit that did not fit would have.
void look_around(refusal& out, std::string_view content, std::span<const edit_step> steps,
                 const edit_failure& failure, const work_bounds& bounds) {
  const auto is_wanted = [&] { return bounds.check().has_value(); };
  const edit_step& step = steps[failure.step];
  const auto earlier = apply_edits(content, steps.first(failure.step), {}, is_wanted);
  if (!is_wanted()) {
    out.words += no_time_left;
    return;
  }
  const std::string_view present = earlier ? std::string_view(earlier->text) : content;
  out.nearest = nearest_in(present, step.old_text, step.new_text, bounds);
  if (failure.step > 0 && plan_edit(content, {step.old_text, step.new_text}, is_wanted)) {
    out.words += " any more: an edit before it in this call has changed that text; edits are made "
                 "one after the other, so give the text as it is by then";
    out.nearest.reset();
    return;
  }
  if (out.nearest && failure.step > 0) {
    const auto changes = changed_lines(content, present);
    const std::uint64_t below = out.nearest->wanted_line_index -
                                std::min(out.nearest->wanted_line_index, out.nearest->line_index);
    const bool has_wanted = !out.nearest->wanted.empty();
    out.nearest->line_index = line_before(changes, out.nearest->line_index);
    if (has_wanted) out.nearest->wanted_line_index = out.nearest->line_index + below;
  }
  const std::string cause = plain_cause(present, step.old_text, "oldText");
  out.words += cause.empty() ? words_of(out.nearest, present, "oldText", bounds) : cause;
  if (!cause.empty() || !out.nearest || out.nearest->kind != near_miss_kind::white_space ||
      step.matching == text_matching::white_space)
    return;
  const auto loose = detail::white_space_matches(present, step.old_text, is_wanted);
  if (loose && loose->size() == 1)
    out.words += ", or let applyChanges match it with matching: \"whitespace\"";
}

} // namespace

void say_also(refusal& why, std::string_view clause) {
  if (why.words.ends_with(unchanged)) why.words.resize(why.words.size() - unchanged.size());
  why.words.append(clause).append(unchanged);
}

std::string plain_cause(std::string_view text, std::string_view old_text, std::string_view given) {
  const std::string_view line = without_end(old_text);
  if (line.size() < old_text.size() && !line.empty() && !text.ends_with('\n') &&
      (text.ends_with(line) || text.ends_with(detail::with_line_breaks(line, "\r\n"))))
    return " with a newline after it: it is the end of the file, which has none; " +
           (given == "the hunk" ? R"(write "\ No newline at end of file" below that line)"
                                : "leave the last newline off " + std::string(given));
  if (std::ranges::any_of(old_text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) &&
      !detail::is_valid_utf8(text) && detail::is_valid_utf8(old_text))
    return ": the file is not UTF-8, so characters beyond ASCII have other bytes there; leave "
           "lines "
           "with such characters out of " +
           std::string(given) + ", or change the file with exec";
  return {};
}

std::string lines_text(std::span<const std::uint64_t> lines, std::uint64_t all) {
  constexpr std::size_t told_max = 10;
  std::string out = lines.size() == 1 && all == 1 ? "line" : "lines";
  for (const std::uint64_t line : lines.first(std::min(lines.size(), told_max)))
    out.append(out.ends_with('e') || out.ends_with('s') ? " " : ", ")
        .append(std::to_string(line + 1));
  return all > told_max ? out + ", …" : out;
}

std::optional<near_miss> nearest_in(std::string_view text, std::string_view old_text,
                                    std::string_view new_text, const work_bounds& bounds) {
  if (text.size() > searched_bytes_max) return std::nullopt;
  return nearest(text, old_text, new_text, [&] { return bounds.check().has_value(); });
}

std::string words_of(const std::optional<near_miss>& nearest, std::string_view text,
                     std::string_view given, const work_bounds& bounds) {
  if (!nearest && !bounds.check()) return std::string(no_time_left);
  if (!nearest && text.size() > searched_bytes_max)
    return "; the file is too large to look for similar text; search the file for the place";
  if (!nearest)
    return ", and nothing resembles it; read the file again, or search the file for the place";
  const std::string line = std::to_string(nearest->line_index + 1);
  if (nearest->kind == near_miss_kind::already_applied)
    return ", but the new text is at line " + line +
           ": the change seems to have been made already; leave it out";
  std::string words =
      "; the nearest place is line " + line +
      (nearest->kind == near_miss_kind::white_space ? ", where only white space differs"
       : nearest->looks_alike ? ", where only look-alike or invisible characters differ, such "
                                "as quotes, dashes and blanks beyond ASCII"
                              : ", which is similar");
  if (!nearest->wanted.empty())
    words += line_there(*nearest) + " and " + std::string(given) + line_wanted(*nearest);
  return words + "; copy the text as it is there, if that place is meant";
}

refusal refusal_of(std::string_view text, std::span<const edit_step> steps,
                   const edit_failure& failure, std::string_view list, const work_bounds& bounds) {
  refusal out{.code = failure.code,
              .words = std::string(list) + "[" + std::to_string(failure.step) + "]",
              .edit = failure.step,
              .lines = failure.line_indexes,
              .nearest = {},
              .hash = {}};
  if (failure.code == error_code::no_match) {
    out.words += ".oldText does not occur";
    look_around(out, text, steps, failure, bounds);
  } else if (failure.code == error_code::ambiguous) {
    out.words += ".oldText" + words_of_places(steps[failure.step], failure);
  } else {
    out.words += ": " + failure_text(failure, "");
  }
  out.words += unchanged;
  return out;
}

tool_result refused(const refusal& why, std::string_view path) {
  const std::string_view code = wire_name(why.code);
  std::string words = path.empty() ? why.words : shown(decode_name(path)) + ": " + why.words;
  if (why.nearest && !why.nearest->wanted.empty()) { // both lines are told beneath
    const std::string end = line_wanted(*why.nearest);
    const std::size_t begin = words.find(line_there(*why.nearest));
    if (const std::size_t at = words.find(end, begin); at != std::string::npos)
      words.erase(begin, at + end.size() - begin);
  }
  json_writer out;
  out.begin_object().member("error", code).member("message", words);
  if (!path.empty()) out.member("path", path);
  if (why.edit) out.key("edit").unsigned_integer(*why.edit);
  if (!why.lines.empty()) {
    out.key("occurrencesAt").begin_array();
    for (const std::uint64_t line : why.lines)
      out.unsigned_integer(line + 1);
    out.end_array();
  }
  if (why.nearest) {
    out.key("nearest").begin_object();
    out.key("line").unsigned_integer(why.nearest->line_index + 1);
    out.member("kind", wire_name(why.nearest->kind));
    if (!why.nearest->wanted.empty()) out.member("wanted", why.nearest->wanted);
    out.member("found", why.nearest->found).end_object();
  }
  if (!why.hash.empty()) out.member("hash", why.hash);
  out.end_object();
  return {.json = out.take(), .error = std::string(code)};
}

refusal refusal_of(const error& e, std::string_view hint) {
  return {.code = e.code,
          .words = failure_text(e, "", hint),
          .edit = {},
          .lines = {},
          .nearest = {},
          .hash = {}};
}

bool wanted_hash::operator()(std::string_view content) {
  if (given_.empty()) return true;
  const std::string whole = sha256_hex(content);
  seen_ = whole.substr(0, hash_digits);
  return given_.size() >= hash_digits && whole.starts_with(given_);
}

bool wanted_hash::explains(const error& e) const {
  using enum error_code;
  return is_given() && (e.code == stale || e.code == not_found || e.code == is_a_directory ||
                        e.code == not_regular);
}

refusal wanted_hash::why(const error& e) const {
  refusal out{.code = e.code, .words = {}, .edit = {}, .lines = {}, .nearest = {}, .hash = seen_};
  const bool is_hash = given_.size() >= hash_digits && detail::is_lower_hex(given_);
  if (e.code == error_code::stale && !is_hash) {
    out.code = error_code::invalid_argument;
    out.words = "ifHash is not a hash, which has at least " + std::to_string(hash_digits) +
                " characters of 0-9 and a-f; give the hash of an earlier result, or leave ifHash "
                "out";
  } else if (e.code == error_code::stale)
    out.words = "the file is not as it was when it was read: its hash is now " + seen_ + ", not " +
                detail::excerpt(given_, 2 * echo_characters_max / 5) +
                "; read it again and make the change to what is there now";
  else if (e.code == error_code::not_found)
    out.words = "there is no such file any more, and ifHash is of one that exists; look where it "
                "is now, or leave ifHash out";
  else
    out.words =
        std::string(text(e.code)) + ", and ifHash is the hash of a file's content; leave it out";
  out.words += unchanged;
  return out;
}

tool_result wanted_hash::refuse(const error& e, const call& c, std::string_view name) const {
  return refused(why(e), text_argument(c, name));
}

} // namespace paddock::mcp
