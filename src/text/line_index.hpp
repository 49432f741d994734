// SPDX-License-Identifier: MIT
#pragma once

/// Finds lines in the lines of a content, as often as a patch has hunks. Lines are compared as
/// numbers, and only where the rarest of the wanted ones stands; where that is everywhere, by
/// D. Knuth, J. Morris and V. Pratt's search. So a search costs at most one pass, and all of them
/// no more than `work_max`; they end when the work is no longer wanted. Thread-safety: as for any
/// value.

#include "text/line_diff.hpp"
#include "text/text_pace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace paddock {

class line_index {
public:
  /// The lines of the content, and all that is going to be looked for, of which searches name
  /// parts. `pace` outlives it.
  line_index(std::span<const std::string_view> lines, std::span<const std::string_view> wanted,
             text_pace& pace)
      : pace_(&pace) {
    std::tie(lines_, wanted_) = number_lines(lines, wanted, pace);
    std::uint32_t last = 0;
    for (const std::uint32_t number : lines_)
      last = std::max(last, number);
    for (const std::uint32_t number : wanted_)
      last = std::max(last, number);
    begins_.assign(std::size_t{last} + 2, 0);
    for (const std::uint32_t number : lines_)
      ++begins_[std::size_t{number} + 1];
    for (std::size_t i = 1; i < begins_.size(); ++i)
      begins_[i] += begins_[i - 1];
    places_.resize(lines_.size());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t i = 0; i < lines_.size(); ++i)
      places_[next[lines_[i]]++] = i;
    work_left_ = work_max(lines_.size() + wanted_.size());
  }

  /// What all searches may look at.
  [[nodiscard]] static constexpr std::size_t work_max(std::size_t lines) noexcept {
    return 50'000'000 + 64 * lines;
  }
  /// What they may still look at; once it is 0, they find nothing more.
  [[nodiscard]] std::size_t work_left() const noexcept { return work_left_; }

  /// Calls `found(place)` for each place, not above `first`, where the wanted lines from the one at
  /// `begin` on stand one after the other; until it says false. Precondition: `count` is not 0.
  template <class Found>
  void for_each_place(std::size_t begin, std::size_t count, std::size_t first, const Found& found) {
    const auto wanted = std::span(wanted_).subspan(begin, count);
    std::size_t rarest = 0;
    std::span<const std::size_t> candidates = places_of(wanted[0], first);
    for (std::size_t i = 1; i < count; ++i) {
      if (!may_work()) return;
      const auto others = places_of(wanted[i], first + i);
      if (others.size() >= candidates.size()) continue;
      rarest = i;
      candidates = others;
    }
    if (candidates.size() > (lines_.size() - std::min(first, lines_.size())) / count)
      return pass_through(wanted, first, found);
    for (const std::size_t candidate : candidates) {
      const std::size_t place = candidate - rarest;
      if (count > lines_.size() - place) return;
      std::size_t same = 0;
      while (may_work() && same < count && lines_[place + same] == wanted[same])
        ++same;
      if (same == count && !found(place)) return;
    }
  }

private:
  numbered_lines lines_, wanted_;
  std::vector<std::size_t> begins_; ///< by number: where its lines begin in `places_`
  std::vector<std::size_t> places_; ///< of lines, by number and place
  std::size_t work_left_ = 0;
  text_pace* pace_;

  [[nodiscard]] bool may_work() {
    if (work_left_ > 0 && pace_->go_on(sizeof(std::uint32_t)))
      --work_left_;
    else
      work_left_ = 0;
    return work_left_ > 0;
  }

  [[nodiscard]] std::span<const std::size_t> places_of(std::uint32_t number,
                                                       std::size_t first) const {
    const auto all =
        std::span(places_).subspan(begins_[number], begins_[number + 1] - begins_[number]);
    return {std::ranges::lower_bound(all, first), all.end()};
  }

  template <class Found>
  void pass_through(std::span<const std::uint32_t> wanted, std::size_t first, const Found& found) {
    std::vector<std::size_t> shorter(wanted.size() + 1, 0); // by how many fit: how many else do
    const auto longer = [&](std::size_t fitting, std::uint32_t number) {
      while (fitting > 0 && may_work() && (fitting == wanted.size() || wanted[fitting] != number))
        fitting = shorter[fitting];
      return fitting + (fitting < wanted.size() && wanted[fitting] == number ? 1U : 0U);
    };
    for (std::size_t i = 1; i < wanted.size(); ++i)
      shorter[i + 1] = longer(shorter[i], wanted[i]);
    std::size_t fitting = 0;
    for (std::size_t i = first; i < lines_.size() && may_work(); ++i) {
      fitting = longer(fitting, lines_[i]);
      if (fitting == wanted.size() && !found(i + 1 - wanted.size())) return;
    }
  }
};

} // namespace paddock
