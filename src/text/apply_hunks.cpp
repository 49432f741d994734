// SPDX-License-Identifier: MIT

#include "text/line_index.hpp"
#include "text/text_pace.hpp"

#include <paddock/text/detail/indentation.hpp>
#include <paddock/text/detail/lines.hpp>
#include <paddock/text/detail/white_space_matches.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

bool is_blank_line(const hunk_line& line) {
  return detail::white_space_form(without_end(line.text)).empty();
}

class hunk_applier {
public:
  hunk_applier(std::string_view content, std::span<const patch_hunk> hunks, text_matching matching,
               text_pace& pace)
      : lines_(lines_of(content)), hunks_(hunks), matching_(matching), pace_(pace) {}

  /// The next one.
  [[nodiscard]] result<void, hunk_failure> make() {
    const patch_hunk& hunk = hunks_[made_.size()];
    if (!pace_.go_on(hunk.lines.size() * sizeof(hunk_line))) return failed(error_code::cancelled);
    const std::vector<hunk_line> before = lines_before(hunk);
    PADDOCK_TRY(hunk_place made, find(hunk, before));
    const auto place = static_cast<std::size_t>(made.line_index);
    const line_ends ends = ends_of(hunk, before, place);
    const auto indentation = made.matched == text_matching::exact
                                 ? std::vector<std::string>()
                                 : indentation_of_new(hunk, before, made);
    std::size_t added = 0;
    copy_until(place);
    for (const hunk_line& line : hunk.lines) {
      if (line.action == line_action::add)
        add(line, ends, indentation.empty() ? nullptr : &indentation[added++]);
      else if (line.action == line_action::keep)
        copy_until(at_ + 1);
      else
        ++at_;
    }
    if (hunk.line_index)
      shift_ = static_cast<std::int64_t>(place) - static_cast<std::int64_t>(*hunk.line_index);
    wanted_begin_ += hunk.anchors.size() + before.size();
    made_.push_back(std::move(made));
    return {};
  }

  [[nodiscard]] patched_text outcome() && {
    copy_until(lines_.size());
    return {std::move(out_), std::move(made_)};
  }

private:
  std::vector<std::string_view> lines_;
  std::span<const patch_hunk> hunks_;
  text_matching matching_;
  text_pace& pace_;
  std::optional<line_index> exact_, loose_;       ///< of all hunks, once one is looked for
  std::size_t wanted_begin_ = 0;                  ///< where the next hunk is in its lines
  std::size_t exact_begin_ = 0, loose_begin_ = 0; ///< and where they begin
  std::size_t at_ = 0;                  ///< the first line that is neither copied nor removed
  std::optional<bool> has_pairs_alone_; ///< whether each line of the file ends with CRLF
  std::int64_t shift_ = 0;              ///< by how much the last hunk stood elsewhere than it said
  std::vector<hunk_place> made_;
  std::string out_;

  [[nodiscard]] static std::vector<hunk_line> lines_before(const patch_hunk& hunk) {
    std::vector<hunk_line> before;
    for (const hunk_line& line : hunk.lines)
      if (line.action != line_action::add) before.push_back(line);
    return before;
  }

  void copy_until(std::size_t line) {
    for (; at_ < line; ++at_)
      out_ += lines_[at_];
  }

  /// Whose ends new lines have: on the way CRs get lost, or come. The lines that are there tell.
  enum class line_ends : std::uint8_t { of_patch, of_neighbours };
  [[nodiscard]] line_ends ends_of(const patch_hunk& hunk, std::span<const hunk_line> before,
                                  std::size_t place) {
    if (!hunk.line_index) return line_ends::of_neighbours; // a model wrote it, which sees no CR
    if (before.empty() && !lines_.empty() && (hunk.has_pairs || has_lost_pairs(hunk)))
      return line_ends::of_neighbours;
    bool are_lost = false, are_added = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool is_there = without_break(lines_[place + i]).ends_with('\r');
      const bool is_in_patch = before[i].text.ends_with('\r');
      are_lost = are_lost || (is_there && !is_in_patch);
      are_added = are_added || (!is_there && is_in_patch);
    }
    return are_lost != are_added ? line_ends::of_neighbours : line_ends::of_patch;
  }

  /// Of a hunk that only adds: whether the patch lost the CRs that all lines of the file have.
  [[nodiscard]] bool has_lost_pairs(const patch_hunk& hunk) {
    if (hunk.has_crs) return false;
    if (!has_pairs_alone_)
      has_pairs_alone_ = lines_.front().ends_with("\r\n") &&
                         std::ranges::all_of(lines_, [](std::string_view line) {
                           return line.ends_with("\r\n") || !line.ends_with('\n');
                         });
    return *has_pairs_alone_;
  }

  /// That of the text before, or else behind.
  [[nodiscard]] std::string_view break_of_neighbours() const {
    const std::size_t before = out_.rfind('\n');
    bool is_pair = before != std::string::npos && before > 0 && out_[before - 1] == '\r';
    // At the beginning the text behind decides, and without any, what was removed.
    if (before == std::string::npos && !lines_.empty())
      is_pair = lines_[at_ < lines_.size() ? at_ : 0].ends_with("\r\n");
    return is_pair ? "\r\n" : "\n";
  }

  /// That of each line that comes; none when it is as the hunk has it.
  [[nodiscard]] std::vector<std::string> indentation_of_new(const patch_hunk& hunk,
                                                            std::span<const hunk_line> before,
                                                            hunk_place& made) const {
    std::vector<detail::fitted_line> fitted;
    for (std::size_t i = 0; i < before.size(); ++i)
      fitted.push_back({without_end(before[i].text),
                        without_end(lines_[static_cast<std::size_t>(made.line_index) + i])});
    const detail::indentation_change change(fitted);
    std::vector<std::string> out;
    if (!change.differs()) return out;
    bool is_other = false;
    for (const hunk_line& line : hunk.lines) {
      if (line.action != line_action::add) continue;
      const std::string_view given = detail::indentation_of(line.text);
      const bool is_bare = given.size() == without_end(line.text).size();
      auto known = is_bare ? std::optional<std::string>(given) : change.of(given);
      if (!known) {
        made.indentation = new_indentation::not_known;
        return {};
      }
      is_other = is_other || *known != given;
      out.push_back(*std::move(known));
    }
    if (is_other) made.indentation = new_indentation::as_in_file;
    return out;
  }

  /// `indentation` is instead of its own.
  void add(const hunk_line& line, line_ends ends, const std::string* indentation) {
    const std::string_view line_break = break_of_neighbours();
    if (!out_.empty() && !out_.ends_with('\n')) out_ += line_break; // it is no longer the last
    const bool is_exact = ends == line_ends::of_patch;
    std::string_view text = is_exact ? line.text : without_end(line.text);
    if (indentation != nullptr) {
      out_ += *indentation;
      text.remove_prefix(detail::indentation_of(text).size());
    }
    out_ += text;
    if (line.has_line_break) out_ += is_exact ? "\n" : line_break;
  }

  [[nodiscard]] bool fits(const patch_hunk& hunk, std::span<const hunk_line> before,
                          std::size_t place) const {
    return stand_at(place, before) && ends_fit(hunk, before, place);
  }

  /// But for how they end.
  [[nodiscard]] bool stand_at(std::size_t place, std::span<const hunk_line> lines) const {
    if (place > lines_.size() || lines.size() > lines_.size() - place) return false;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (without_end(lines_[place + i]) != without_end(lines[i].text)) return false;
    return true;
  }

  /// Whether the file ends there if the hunk says so. Precondition: it has so many lines.
  [[nodiscard]] bool ends_fit(const patch_hunk& hunk, std::span<const hunk_line> before,
                              std::size_t place) const {
    // The format with line numbers says which line has no end; the other one can't.
    if (hunk.line_index)
      for (std::size_t i = 0; i < before.size(); ++i)
        if (lines_[place + i].ends_with('\n') != before[i].has_line_break) return false;
    if (place != 0 && belongs_to_top(hunk)) return false;
    return !belongs_to_end(hunk) || place + before.size() == lines_.size();
  }

  /// Of each hunk its anchors and its lines before; none when it is not wanted.
  [[nodiscard]] line_index* index_for(text_matching matching) {
    std::optional<line_index>& index = matching == text_matching::exact ? exact_ : loose_;
    if (index) return &*index;
    std::vector<std::string_view> lines, wanted;
    for (const std::string_view line : lines_)
      lines.push_back(without_end(line));
    for (const patch_hunk& hunk : hunks_.subspan(made_.size())) {
      wanted.insert(wanted.end(), hunk.anchors.begin(), hunk.anchors.end());
      for (const hunk_line& line : hunk.lines)
        if (line.action != line_action::add) wanted.push_back(without_end(line.text));
    }
    std::vector<std::string> forms; // as long as the index is made
    if (matching == text_matching::white_space) {
      forms.reserve(lines.size() + wanted.size());
      for (std::vector<std::string_view>* const each : {&lines, &wanted})
        for (std::string_view& line : *each) {
          if (!pace_.go_on(line.size() + 1)) return nullptr;
          line = forms.emplace_back(detail::white_space_form(line));
        }
    }
    if (!pace_.ask()) return nullptr;
    (matching == text_matching::exact ? exact_begin_ : loose_begin_) = wanted_begin_;
    return &index.emplace(lines, wanted, pace_);
  }

  [[nodiscard]] hunk_failure failed(error_code code) const {
    return {{code, 0, "patch"}, made_.size(), {}, {}};
  }

  using places = std::vector<std::uint64_t>;

  /// The first places, not above `first`, of so many lines of the hunk from the one at `begin` on.
  template <class Fits>
  [[nodiscard]] result<places, hunk_failure> find_lines(text_matching matching, std::size_t begin,
                                                        std::size_t count, std::size_t first,
                                                        std::size_t places_max, const Fits& fits) {
    line_index* const index = index_for(matching);
    if (index == nullptr) return failed(error_code::cancelled);
    begin += wanted_begin_ - (matching == text_matching::exact ? exact_begin_ : loose_begin_);
    places found;
    index->for_each_place(begin, count, first, [&](std::size_t place) {
      if (fits(place)) found.push_back(place);
      return found.size() < places_max;
    });
    if (pace_.is_over()) return failed(error_code::cancelled);
    if (index->work_left() == 0) return failed(error_code::too_large);
    return found;
  }

  /// Behind the anchors, of which each has to be there; but for white space once at most.
  [[nodiscard]] result<std::size_t, hunk_failure>
  behind_anchors(const patch_hunk& hunk, text_matching matching, places& lines_that_differ) {
    constexpr auto anywhere = [](std::size_t) { return true; };
    std::size_t line = at_;
    for (std::size_t i = 0; i < hunk.anchors.size(); ++i) {
      PADDOCK_TRY(places found, find_lines(text_matching::exact, i, 1, line, 1, anywhere));
      if (found.empty() && matching == text_matching::white_space &&
          !detail::white_space_form(hunk.anchors[i]).empty()) {
        PADDOCK_TRY(found, find_lines(matching, i, 1, line, hunk_failure::lines_max, anywhere));
        if (found.size() > 1) return ambiguous(std::move(found), matching);
        lines_that_differ.insert(lines_that_differ.end(), found.begin(), found.end());
      }
      if (found.empty()) return failed(error_code::no_match);
      line = static_cast<std::size_t>(found.front()) + 1;
    }
    return line;
  }

  /// Whether lines for the top, with nothing beside them, are there already, such as a licence.
  [[nodiscard]] bool begins_with_it(const patch_hunk& hunk) const {
    return hunk.line_index == std::uint64_t{0} && stand_at(0, hunk.lines) &&
           !std::ranges::all_of(hunk.lines, is_blank_line);
  }

  [[nodiscard]] hunk_failure ambiguous(places found, text_matching matching) const {
    hunk_failure failure = failed(error_code::ambiguous);
    failure.line_indexes = std::move(found);
    failure.matched = matching;
    return failure;
  }

  [[nodiscard]] result<hunk_place, hunk_failure> find(const patch_hunk& hunk,
                                                      std::span<const hunk_line> before) {
    if (before.empty() && begins_with_it(hunk)) return failed(error_code::no_match);
    if (hunk.line_index) {
      const std::int64_t said = static_cast<std::int64_t>(*hunk.line_index) + shift_;
      if (said >= static_cast<std::int64_t>(at_) &&
          fits(hunk, before, static_cast<std::size_t>(said)))
        return hunk_place{.line_index = static_cast<std::uint64_t>(said)};
      if (before.empty()) return failed(error_code::no_match); // nothing says where it would fit
    }
    auto found = search(hunk, before, text_matching::exact);
    if (found || matching_ == text_matching::exact || found.error().code != error_code::no_match)
      return found;
    return search(hunk, before, text_matching::white_space);
  }

  [[nodiscard]] result<hunk_place, hunk_failure>
  search(const patch_hunk& hunk, std::span<const hunk_line> before, text_matching matching) {
    hunk_place out{.matched = matching};
    PADDOCK_TRY(out.line_index, behind_anchors(hunk, matching, out.differing_line_indexes));
    if (before.empty()) { // lines to add, and no place but these
      if (!hunk.anchors.empty()) return out;
      if (!hunk.is_at_end && !lines_.empty()) return failed(error_code::ambiguous);
      out.line_index = lines_.size();
      return out;
    }
    const bool is_loose = matching == text_matching::white_space;
    if (is_loose && std::ranges::all_of(before, is_blank_line)) return failed(error_code::no_match);
    PADDOCK_TRY(places found,
                find_lines(matching, hunk.anchors.size(), before.size(),
                           static_cast<std::size_t>(out.line_index), hunk_failure::lines_max,
                           [&](std::size_t place) { return ends_fit(hunk, before, place); }));
    if (found.empty()) return failed(error_code::no_match);
    // An anchor is there to tell which of several is meant: the first behind it.
    if (found.size() > 1 && (is_loose || hunk.anchors.empty()))
      return ambiguous(std::move(found), matching);
    out.line_index = found.front();
    for (std::size_t i = 0; is_loose && i < before.size(); ++i)
      if (const std::uint64_t line = out.line_index + i;
          without_end(lines_[static_cast<std::size_t>(line)]) != without_end(before[i].text))
        out.differing_line_indexes.push_back(line);
    return out;
  }
};

[[nodiscard]] bool keeps_lines(const patch_hunk& hunk) {
  return std::ranges::any_of(
      hunk.lines, [](const hunk_line& line) { return line.action == line_action::keep; });
}

} // namespace

bool belongs_to_top(const patch_hunk& hunk) {
  return hunk.line_index && *hunk.line_index == 0 && keeps_lines(hunk) &&
         hunk.lines.front().action != line_action::keep;
}

bool belongs_to_end(const patch_hunk& hunk) {
  return hunk.is_at_end ||
         (hunk.line_index && keeps_lines(hunk) && hunk.lines.back().action != line_action::keep);
}

result<std::string, hunk_failure> apply_hunks(std::string_view content,
                                              std::span<const patch_hunk> hunks) {
  PADDOCK_TRY(patched_text patched, apply_hunks(content, hunks, text_matching::exact));
  return std::move(patched.text);
}

result<patched_text, hunk_failure> apply_hunks(std::string_view content,
                                               std::span<const patch_hunk> hunks,
                                               text_matching matching,
                                               detail::function_view<bool()> wanted) {
  text_pace pace(wanted);
  if (!pace.ask()) return hunk_failure{{error_code::cancelled, 0, "patch"}, 0, {}, {}};
  hunk_applier applier(content, hunks, matching, pace);
  for (std::size_t made = 0; made < hunks.size(); ++made)
    PADDOCK_CHECK(applier.make());
  return std::move(applier).outcome();
}

std::vector<patch_hunk> inverse_of(std::span<const patch_hunk> hunks) {
  std::vector<patch_hunk> out(hunks.begin(), hunks.end());
  std::uint64_t added = 0, removed = 0; // before each hunk
  for (patch_hunk& hunk : out) {
    if (hunk.line_index) *hunk.line_index += added - std::min(removed, *hunk.line_index + added);
    for (hunk_line& line : hunk.lines) {
      if (line.action == line_action::keep) continue;
      const bool is_new = line.action == line_action::add;
      ++(is_new ? added : removed);
      line.action = is_new ? line_action::remove : line_action::add;
    }
  }
  return out;
}

hunk_texts texts_of(const patch_hunk& hunk) {
  hunk_texts out;
  for (const hunk_line& line : hunk.lines) {
    const std::string_view end = line.has_line_break ? "\n" : "";
    if (line.action != line_action::add) out.before.append(line.text).append(end);
    if (line.action != line_action::remove) out.after.append(line.text).append(end);
  }
  return out;
}

} // namespace paddock
