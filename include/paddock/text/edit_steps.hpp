// SPDX-License-Identifier: MIT
#pragma once

/// Several edits of one text, each made to the outcome of the one before, all or none. Nothing is
/// guessed: what to replace is found exactly, as text_edit.hpp finds it (CRLF and LF are the same),
/// and where it occurs more often than was said, nothing changes and every place is named. A step
/// may ask for more, see text_matching.hpp; what is not exact is told of the step that was made.
///
/// Lines count from 0. Those that are given, and those of a failure, count in the content before
/// all steps, which is what the caller has seen; those of the outcome count in the outcome.
///
/// Cost: a few linear passes for each step. Not guaranteed: memory below that of the content, the
/// outcome, and about 100 bytes for each place that is replaced. Thread-safety: pure functions.

#include <paddock/base/result.hpp>
#include <paddock/text/detail/indentation.hpp>
#include <paddock/text/detail/line_shifts.hpp>
#include <paddock/text/detail/text_matches.hpp>
#include <paddock/text/detail/white_space_matches.hpp>
#include <paddock/text/text_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

enum class edit_places : std::uint8_t { one, all };

struct edit_step {
  std::string_view old_text{}; ///< not empty
  std::string_view new_text{}; ///< literal
  edit_places places = edit_places::one;
  /// How often `old_text` has to occur. Without it: once, or, where all places are replaced or a
  /// line is given, at all.
  std::optional<std::uint64_t> occurrences{};
  /// Of several places the one nearest to this line is replaced; of two as near, none.
  std::optional<std::uint64_t> near_line_index{};
  text_matching matching = text_matching::exact;
};

struct edit_limits {
  std::size_t bytes_max = SIZE_MAX; ///< of the text, at any time
  std::size_t steps_max = 1000;
  std::uint64_t places_max = 1'000'000; ///< replaced by all steps
};

struct edited_place {
  std::uint64_t line_index = 0;  ///< of the first that was replaced
  std::uint64_t occurrences = 0; ///< how many were replaced
  text_matching matched = text_matching::exact;
  new_indentation indentation = new_indentation::as_given;
  /// Those that are not to the byte as in the old text, in the content before all steps; none of an
  /// exact match, and at most `edit_failure::lines_max`.
  std::vector<std::uint64_t> differing_line_indexes{};
};

struct edited_text {
  std::string text;
  std::vector<edited_place> steps; ///< one for each step
};

/// Why a step was not made; nothing was.
struct edit_failure : error {
  std::size_t step = 0;
  std::uint64_t occurrences = 0;                ///< of its old text, after the steps before
  std::vector<std::uint64_t> line_indexes{};    ///< of the first `lines_max` of them
  text_matching matched = text_matching::exact; ///< how it matches these
  static constexpr std::size_t lines_max = 100;
};

/// The content after all steps. Errors: invalid_argument (old text is empty), no_match, ambiguous
/// (the number of occurrences is not the one that was asked for, or no place is the nearest),
/// too_large, too_many (steps or places), cancelled when `wanted()`, asked before each step and
/// about every MiB, is false.
template <class Wanted>
[[nodiscard]] result<edited_text, edit_failure>
apply_edits(std::string_view content, std::span<const edit_step> steps, const edit_limits& limits,
            Wanted&& wanted);

/// The same, always wanted. Errors: the same but for cancelled.
[[nodiscard]] inline result<edited_text, edit_failure> apply_edits(std::string_view content,
                                                                   std::span<const edit_step> steps,
                                                                   const edit_limits& limits = {});

// --- inline --------------------------------------------------------------------------------------

namespace detail {

/// A place where the old text of a step stands.
struct edit_match {
  std::size_t offset = 0, size = 0;
  std::uint64_t line = 0;
};

/// Makes steps one after the other.
template <class Wanted> class step_editor {
public:
  step_editor(std::string_view content, const edit_limits& limits, Wanted& wanted)
      : text_(content), limits_(limits), wanted_(wanted), places_left_(limits.places_max) {}

  [[nodiscard]] result<void, edit_failure> make(const edit_step& step) {
    if (!wanted_()) return failed(error_code::cancelled);
    if (step.old_text.empty()) return failed(error_code::invalid_argument);
    PADDOCK_TRY(const auto matches, matches_of(step));
    if (matches.empty())
      return step.matching == text_matching::exact ? failed(error_code::no_match)
                                                   : make_but_for_white_space(step);
    const bool counts = step.occurrences ? *step.occurrences == matches.size()
                                         : matches.size() == 1 || step.near_line_index ||
                                               step.places == edit_places::all;
    const bool is_one = step.places == edit_places::one;
    if (!counts || (is_one && matches.size() > 1 && !step.near_line_index))
      return failed(error_code::ambiguous, matches);
    if (!is_one) return replace(step, matches);
    const auto nearest = nearest_of(matches, step.near_line_index.value_or(0));
    if (!nearest) return failed(error_code::ambiguous, matches);
    return replace(step, {&matches[*nearest], 1});
  }

  [[nodiscard]] edited_text outcome() && {
    for (std::size_t i = 0; i < places_.size(); ++i)
      for (std::size_t later = i + 1; later < shifts_.size(); ++later)
        places_[i].line_index = shifts_[later].forward(places_[i].line_index);
    return {shifts_.empty() ? std::string(text_) : std::move(owned_), std::move(places_)};
  }

private:
  [[nodiscard]] edit_failure failed(error_code code, std::span<const edit_match> matches = {},
                                    text_matching matched = text_matching::exact) {
    edit_failure out{{code, 0, "edit_steps"}, shifts_.size(), matches.size(), {}, matched};
    for (const edit_match& match : matches.first(std::min(matches.size(), out.lines_max)))
      out.line_indexes.push_back(line_before(match.line));
    return out;
  }

  /// In the content before all steps.
  [[nodiscard]] std::uint64_t line_before(std::uint64_t line) const {
    for (std::size_t i = shifts_.size(); i-- > 0;)
      line = shifts_[i].backward(line);
    return line;
  }

  [[nodiscard]] result<void, edit_failure> make_but_for_white_space(const edit_step& step) {
    const auto found = white_space_matches(text_, step.old_text, wanted_);
    if (!found) return failed(error_code::cancelled);
    if (found->empty()) return failed(error_code::no_match);
    std::vector<edit_match> matches;
    for (const white_space_match& match : *found)
      matches.push_back({match.offset, match.size, match.line});
    if (matches.size() > 1 || step.occurrences.value_or(1) != 1)
      return failed(error_code::ambiguous, matches, text_matching::white_space);
    if (places_left_ == 0) return failed(error_code::too_many);
    const std::vector<std::string_view> present = lines_of(text_);
    const auto fitted = std::span(present).subspan(matches.front().line);
    auto lines = detail::lines_that_differ(fitted, matches.front().line, step.old_text);
    lines.resize(std::min(lines.size(), edit_failure::lines_max));
    for (std::uint64_t& line : lines)
      line = line_before(line);
    const indented_text indented = indented_as(fitted, step.old_text, step.new_text);
    edit_step made = step;
    made.new_text = indented.text;
    PADDOCK_CHECK(replace(made, matches));
    places_.back().matched = text_matching::white_space;
    places_.back().indentation = indented.indentation;
    places_.back().differing_line_indexes = std::move(lines);
    return {};
  }

  [[nodiscard]] result<std::vector<edit_match>, edit_failure> matches_of(const edit_step& step) {
    std::vector<edit_match> matches;
    std::size_t counted = 0; // the breaks up to here
    std::uint64_t line = 0;
    const auto note = [&](std::size_t offset, std::size_t size) {
      if (matches.size() > places_left_) return;
      if (matches.empty() && offset >= known_.offset) {
        counted = known_.offset;
        line = known_.line;
      }
      line += count_breaks(text_.substr(counted, offset - counted)).all;
      counted = offset;
      matches.push_back({offset, size, line});
    };
    if (!for_each_match(text_, step.old_text, note, wanted_)) return failed(error_code::cancelled);
    if (matches.size() > places_left_) return failed(error_code::too_many);
    return matches;
  }

  /// Nothing when two are as near.
  [[nodiscard]] std::optional<std::size_t> nearest_of(std::span<const edit_match> matches,
                                                      std::uint64_t line) const {
    for (const line_shifts& shifts : shifts_)
      line = shifts.forward(line);
    const auto distance = [&](const edit_match& match) {
      return match.line > line ? match.line - line : line - match.line;
    };
    std::size_t nearest = 0;
    bool is_alone = true;
    for (std::size_t i = 1; i < matches.size(); ++i) {
      const std::uint64_t near = distance(matches[i]), nearest_yet = distance(matches[nearest]);
      if (near < nearest_yet) nearest = i;
      if (near <= nearest_yet) is_alone = near < nearest_yet;
    }
    return is_alone ? std::optional(nearest) : std::nullopt;
  }

  [[nodiscard]] result<void, edit_failure> replace(const edit_step& step,
                                                   std::span<const edit_match> matches) {
    const std::string with_lf = with_line_breaks(step.new_text, "\n");
    const std::string with_pairs = with_line_breaks(step.new_text, "\r\n");
    const auto replacement_of = [&](const edit_match& match) -> const std::string& {
      return line_break_at(text_, match.offset, match.size) == "\n" ? with_lf : with_pairs;
    };
    line_shifts shifts;
    std::size_t bytes = text_.size();
    for (const edit_match& match : matches) {
      const std::string& replacement = replacement_of(match);
      bytes += replacement.size() - match.size;
      shifts.add(match.line, count_breaks(text_.substr(match.offset, match.size)).all,
                 count_breaks(replacement).all);
    }
    if (bytes > limits_.bytes_max) return failed(error_code::too_large);
    if (matches.size() == 1 && !shifts_.empty())
      owned_.replace(matches.front().offset, matches.front().size, replacement_of(matches.front()));
    else
      write_anew(matches, replacement_of, bytes);
    text_ = owned_;
    known_ = matches.front(); // the text before stays
    places_.push_back(
        {.line_index = shifts.forward(matches.front().line), .occurrences = matches.size()});
    places_left_ -= matches.size();
    shifts_.push_back(std::move(shifts));
    return {};
  }

  /// Precondition: the outcome has that many bytes.
  template <class ReplacementOf>
  void write_anew(std::span<const edit_match> matches, const ReplacementOf& replacement_of,
                  std::size_t bytes) {
    spare_.clear();
    spare_.reserve(bytes);
    std::size_t copied = 0;
    for (const edit_match& match : matches) {
      spare_.append(text_.substr(copied, match.offset - copied)).append(replacement_of(match));
      copied = match.offset + match.size;
    }
    spare_.append(text_.substr(copied));
    owned_.swap(spare_);
  }

  std::string_view text_; ///< after the steps so far
  std::string owned_;     ///< holds it once a step was made
  std::string spare_;     ///< memory that was used: each new page of it costs more than its copy
  edit_match known_{};    ///< a place whose line is known: steps often follow one another
  const edit_limits& limits_;
  Wanted& wanted_;
  std::uint64_t places_left_;
  std::vector<line_shifts> shifts_; ///< of each step so far
  std::vector<edited_place> places_;
};

} // namespace detail

template <class Wanted>
result<edited_text, edit_failure> apply_edits(std::string_view content,
                                              std::span<const edit_step> steps,
                                              const edit_limits& limits, Wanted&& wanted) {
  detail::step_editor editor(content, limits, wanted);
  if (steps.size() > limits.steps_max)
    return edit_failure{{error_code::too_many, 0, "edit_steps"}, limits.steps_max, 0, {}, {}};
  for (const edit_step& step : steps)
    PADDOCK_CHECK(editor.make(step));
  return std::move(editor).outcome();
}

inline result<edited_text, edit_failure>
apply_edits(std::string_view content, std::span<const edit_step> steps, const edit_limits& limits) {
  return apply_edits(content, steps, limits, [] { return true; });
}

} // namespace paddock
