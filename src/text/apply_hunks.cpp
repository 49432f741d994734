// SPDX-License-Identifier: MIT

#include <paddock/text/detail/lines.hpp>
#include <paddock/text/detail/white_space_matches.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

class hunk_applier {
public:
  hunk_applier(std::string_view content, text_matching matching)
      : lines_(lines_of(content)), matching_(matching) {}

  [[nodiscard]] result<void, hunk_failure> make(const patch_hunk& hunk) {
    std::vector<hunk_line> before;
    for (const hunk_line& line : hunk.lines)
      if (line.action != line_action::add) before.push_back(line);
    PADDOCK_TRY(hunk_place made, find(hunk, before));
    const auto place = static_cast<std::size_t>(made.line);
    const line_ends ends = ends_of(hunk, before, place);
    copy_until(place);
    for (const hunk_line& line : hunk.lines) {
      if (line.action == line_action::add)
        add(line, ends);
      else if (line.action == line_action::keep)
        copy_until(at_ + 1);
      else
        ++at_;
    }
    if (hunk.line)
      shift_ = static_cast<std::int64_t>(place) - static_cast<std::int64_t>(*hunk.line);
    made_.push_back(std::move(made));
    return {};
  }

  [[nodiscard]] patched_text outcome() && {
    copy_until(lines_.size());
    return {std::move(out_), std::move(made_)};
  }

private:
  std::vector<std::string_view> lines_;
  text_matching matching_;
  std::size_t at_ = 0;     ///< the first line that is neither copied nor removed
  std::int64_t shift_ = 0; ///< by how much the last hunk stood elsewhere than it said
  std::vector<hunk_place> made_;
  std::string out_;

  void copy_until(std::size_t line) {
    for (; at_ < line; ++at_)
      out_ += lines_[at_];
  }

  /// Whose ends new lines have: on the way CRs get lost, or come. The lines that are there tell.
  enum class line_ends : std::uint8_t { of_patch, of_neighbours };
  [[nodiscard]] line_ends ends_of(const patch_hunk& hunk, std::span<const hunk_line> before,
                                  std::size_t place) const {
    bool are_lost = !hunk.line; // a model wrote it, which sees no CR
    bool are_added = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool is_there = without_break(lines_[place + i]).ends_with('\r');
      const bool is_in_patch = before[i].text.ends_with('\r');
      are_lost = are_lost || (is_there && !is_in_patch);
      are_added = are_added || (!is_there && is_in_patch);
    }
    return are_lost != are_added ? line_ends::of_neighbours : line_ends::of_patch;
  }

  /// That of what stands before, or else behind.
  [[nodiscard]] std::string_view break_of_neighbours() const {
    const std::size_t before = out_.rfind('\n');
    const bool is_pair = before != std::string::npos
                             ? before > 0 && out_[before - 1] == '\r'
                             : at_ < lines_.size() && lines_[at_].ends_with("\r\n");
    return is_pair ? "\r\n" : "\n";
  }

  void add(const hunk_line& line, line_ends ends) {
    const std::string_view line_break = break_of_neighbours();
    if (!out_.empty() && !out_.ends_with('\n')) out_ += line_break; // it is no longer the last
    const bool is_exact = ends == line_ends::of_patch;
    out_ += is_exact ? line.text : without_end(line.text);
    if (line.has_line_break) out_ += is_exact ? "\n" : line_break;
  }

  [[nodiscard]] bool fits(const patch_hunk& hunk, std::span<const hunk_line> before,
                          std::size_t place) const {
    if (place > lines_.size() || before.size() > lines_.size() - place) return false;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (without_end(lines_[place + i]) != without_end(before[i].text)) return false;
    return ends_fit(hunk, before, place);
  }

  /// Whether the file ends there if the hunk says so. Precondition: it has so many lines.
  [[nodiscard]] bool ends_fit(const patch_hunk& hunk, std::span<const hunk_line> before,
                              std::size_t place) const {
    // The format with line numbers says which line has no end; the other one can't.
    if (hunk.line)
      for (std::size_t i = 0; i < before.size(); ++i)
        if (lines_[place + i].ends_with('\n') != before[i].has_line_break) return false;
    return !hunk.is_at_end || place + before.size() == lines_.size();
  }

  /// Where all lines are as in `before`, by D. Knuth, J. Morris and V. Pratt's search, for text may
  /// repeat itself. Precondition: `before` has lines.
  template <class Found>
  void for_each_place(std::span<const hunk_line> before, std::size_t first,
                      const Found& found) const {
    std::vector<std::size_t> shorter(before.size() + 1, 0); // by how many fit: how many else do
    const auto longer = [&](std::size_t fitting, std::string_view line) {
      while (fitting > 0 &&
             (fitting == before.size() || without_end(before[fitting].text) != without_end(line)))
        fitting = shorter[fitting];
      return fitting + (without_end(before[fitting].text) == without_end(line) ? 1U : 0U);
    };
    for (std::size_t i = 1; i < before.size(); ++i)
      shorter[i + 1] = longer(shorter[i], before[i].text);
    std::size_t fitting = 0;
    for (std::size_t i = first; i < lines_.size(); ++i) {
      fitting = longer(fitting, lines_[i]);
      if (fitting == before.size()) found(i + 1 - before.size());
    }
  }

  /// Behind the anchors, of which each has to be there.
  [[nodiscard]] std::optional<std::size_t> behind(std::span<const std::string_view> anchors) const {
    std::size_t line = at_;
    for (const std::string_view anchor : anchors) {
      while (line < lines_.size() && without_end(lines_[line]) != anchor)
        ++line;
      if (line++ == lines_.size()) return std::nullopt;
    }
    return line;
  }

  [[nodiscard]] hunk_failure no_match() const {
    return {{error_code::no_match, 0, "patch"}, made_.size(), {}, {}};
  }

  [[nodiscard]] result<hunk_place, hunk_failure> find(const patch_hunk& hunk,
                                                      std::span<const hunk_line> before) const {
    const auto exact = place_of(hunk, before);
    if (exact) return hunk_place{.line = *exact};
    if (matching_ == text_matching::white_space && exact.error().code == error_code::no_match)
      return find_but_for_white_space(hunk, before);
    return exact.error();
  }

  [[nodiscard]] result<std::size_t, hunk_failure>
  place_of(const patch_hunk& hunk, std::span<const hunk_line> before) const {
    hunk_failure failure = no_match();
    if (hunk.line) {
      const std::int64_t said = static_cast<std::int64_t>(*hunk.line) + shift_;
      if (said >= static_cast<std::int64_t>(at_) &&
          fits(hunk, before, static_cast<std::size_t>(said)))
        return static_cast<std::size_t>(said);
      if (before.empty()) return failure; // nothing says where it would fit
    }
    const auto first = behind(hunk.anchors);
    if (!first) return failure;
    if (before.empty() && !hunk.line) { // lines to add, and no place but these
      if (!hunk.anchors.empty()) return *first;
      if (hunk.is_at_end || lines_.empty()) return lines_.size();
      failure.code = error_code::ambiguous;
      return failure;
    }
    for_each_place(before, *first, [&](std::size_t place) {
      if (fits(hunk, before, place)) failure.lines.push_back(place);
    });
    if (failure.lines.size() == 1) return static_cast<std::size_t>(failure.lines.front());
    if (failure.lines.empty()) return failure;
    // An anchor is there to tell which of several is meant: the first behind it.
    if (!hunk.anchors.empty()) return static_cast<std::size_t>(failure.lines.front());
    failure.code = error_code::ambiguous;
    return failure;
  }

  /// The one place of some lines but for white space, not above `first`. Precondition: there are
  /// lines.
  template <class Fits>
  [[nodiscard]] result<std::size_t, hunk_failure>
  only_place(const std::vector<std::string_view>& wanted, std::size_t first,
             const Fits& fits) const {
    hunk_failure failure = no_match();
    detail::white_space_finder finder(wanted);
    if (!finder.can_be_found()) return failure;
    for (std::size_t i = first; i < lines_.size(); ++i)
      if (finder.end_with(without_end(lines_[i])) && fits(i + 1 - wanted.size()))
        failure.lines.push_back(i + 1 - wanted.size());
    if (failure.lines.empty()) return failure;
    if (failure.lines.size() == 1) return static_cast<std::size_t>(failure.lines.front());
    failure.code = error_code::ambiguous;
    failure.matched = text_matching::white_space;
    return failure;
  }

  [[nodiscard]] result<hunk_place, hunk_failure>
  find_but_for_white_space(const patch_hunk& hunk, std::span<const hunk_line> before) const {
    if (before.empty() && hunk.anchors.empty()) return no_match();
    hunk_place out{.matched = text_matching::white_space};
    std::size_t first = at_;
    for (const std::string_view anchor : hunk.anchors) {
      std::size_t line = first;
      while (line < lines_.size() && without_end(lines_[line]) != anchor)
        ++line;
      if (line == lines_.size()) {
        PADDOCK_TRY(line, only_place({anchor}, first, [](std::size_t) { return true; }));
        out.lines_that_differ.push_back(line);
      }
      first = line + 1;
    }
    std::size_t place = first;
    if (!before.empty()) {
      std::vector<std::string_view> wanted;
      for (const hunk_line& line : before)
        wanted.push_back(without_end(line.text));
      const auto fits = [&](std::size_t at) { return ends_fit(hunk, before, at); };
      PADDOCK_TRY(place, only_place(wanted, first, fits));
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (without_end(lines_[place + i]) != wanted[i]) out.lines_that_differ.push_back(place + i);
    }
    out.line = place;
    return out;
  }
};

} // namespace

result<std::string, hunk_failure> apply_hunks(std::string_view content,
                                              std::span<const patch_hunk> hunks) {
  PADDOCK_TRY(patched_text patched, apply_hunks(content, hunks, text_matching::exact));
  return std::move(patched.text);
}

result<patched_text, hunk_failure>
apply_hunks(std::string_view content, std::span<const patch_hunk> hunks, text_matching matching) {
  hunk_applier applier(content, matching);
  for (const patch_hunk& hunk : hunks)
    PADDOCK_CHECK(applier.make(hunk));
  return std::move(applier).outcome();
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
