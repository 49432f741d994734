// SPDX-License-Identifier: MIT
#pragma once

/// Which lines two texts have in common, by E. Myers' algorithm in linear space ("An O(ND)
/// Difference Algorithm and Its Variations", 1986, section 4b). Lines that only one text has are
/// taken out first, which leaves the answer as short as it was. Where texts differ so much that the
/// shortest answer would take too long, a good one is given; and where a good one would, one that
/// takes the rest for new: the work is linear. Thread-safety: pure.

#include "text/text_pace.hpp"

#include <paddock/text/detail/lines.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

/// Gives equal lines the same number, from 0.
class line_numbers {
public:
  /// Precondition: at most `lines_max` lines are numbered.
  explicit line_numbers(std::size_t lines_max)
      : places_(std::bit_ceil(2 * lines_max + 2), none), probes_left_(16 * lines_max + 1024) {
    lines_.reserve(lines_max);
  }

  /// Nothing for hostile lines, whose hashes collide far too often.
  [[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view line) {
    const std::size_t hash = std::hash<std::string_view>()(line);
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (probes_left_-- == 0) return std::nullopt;
      if (places_[at] == none) {
        places_[at] = static_cast<std::uint32_t>(lines_.size());
        lines_.push_back(line);
        return places_[at];
      }
      if (lines_[places_[at]] == line) return places_[at];
    }
  }

private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::string_view> lines_;
  std::vector<std::uint32_t> places_;
  std::size_t probes_left_;
};

/// A text as the numbers of its lines.
using numbered_lines = std::vector<std::uint32_t>;

using numbered_texts = std::pair<numbered_lines, numbered_lines>;

/// Numbers both texts; nothing once `number_of(line)` has none.
template <class Number>
[[nodiscard]] std::optional<numbered_texts> number_each(std::span<const std::string_view> before,
                                                        std::span<const std::string_view> after,
                                                        const Number& number_of) {
  numbered_texts out;
  for (auto [lines, numbers] : {std::pair(before, &out.first), std::pair(after, &out.second)}) {
    numbers->reserve(lines.size());
    for (const std::string_view line : lines) {
      const std::optional<std::uint32_t> number = number_of(line);
      if (!number) return std::nullopt;
      numbers->push_back(*number);
    }
  }
  return out;
}

[[nodiscard]] inline numbered_texts number_by_order(std::span<const std::string_view> before,
                                                    std::span<const std::string_view> after) {
  std::vector<std::string_view> sorted(before.begin(), before.end());
  sorted.insert(sorted.end(), after.begin(), after.end());
  std::ranges::sort(sorted);
  return *number_each(before, after, [&](std::string_view line) -> std::optional<std::uint32_t> {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(sorted, line) - sorted.begin());
  });
}

/// Once `pace` is over, the numbers mean nothing.
[[nodiscard]] inline numbered_texts number_lines(std::span<const std::string_view> before,
                                                 std::span<const std::string_view> after,
                                                 text_pace& pace) {
  line_numbers by_hash(before.size() + after.size());
  auto found = number_each(before, after, [&](std::string_view line) {
    return pace.go_on(line.size() + 1) ? by_hash.number_of(line) : std::uint32_t{0};
  });
  return found ? *std::move(found) : number_by_order(before, after);
}

/// Marks what of each text is not common to both. Once `pace` is over, the marks mean nothing.
class line_comparison {
public:
  line_comparison(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after,
                  text_pace& pace)
      : is_removed(before.size(), false), is_added(after.size(), false), pace_(pace) {
    take_shared(before, after, a_, a_lines_, is_removed);
    take_shared(after, before, b_, b_lines_, is_added);
    // Diagonals from -(b + 1) to a + 1.
    forward_.resize(a_.size() + b_.size() + 3);
    backward_.resize(forward_.size());
    work_left_ = work_floor + work_passes * forward_.size();
    cost_max_ = cost_floor;
    while (cost_max_ * cost_max_ < forward_.size())
      cost_max_ *= 2;
    compare();
  }

  std::vector<bool> is_removed, is_added; ///< by line

private:
  using index = std::ptrdiff_t;
  /// A part of both texts.
  struct box {
    index a_begin, a_end, b_begin, b_end;
  };
  struct point {
    index a, b;
  };
  static constexpr std::size_t cost_floor = 256;
  static constexpr std::size_t work_floor = 4'000'000, work_passes = 64;
  static constexpr index before_all = std::numeric_limits<index>::min() / 2;
  static constexpr index behind_all = std::numeric_limits<index>::max() / 2;

  numbered_lines a_, b_;                       ///< what may be in both
  std::vector<std::size_t> a_lines_, b_lines_; ///< which lines these are
  std::vector<index> forward_, backward_;      ///< by diagonal: how far in `a_` a path came
  std::size_t cost_max_ = 0;                   ///< of one split
  std::size_t work_left_ = 0;                  ///< of all, in lines looked at
  text_pace& pace_;

  /// Of `lines` those that `others` have, too; the rest are marked.
  static void take_shared(std::span<const std::uint32_t> lines,
                          std::span<const std::uint32_t> others, numbered_lines& taken,
                          std::vector<std::size_t>& taken_lines, std::vector<bool>& marks) {
    std::uint32_t last = 0;
    for (const std::uint32_t number : others)
      last = std::max(last, number);
    std::vector<bool> is_there(std::size_t{last} + 1, false);
    for (const std::uint32_t number : others)
      is_there[number] = true;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] <= last && is_there[lines[i]]) {
        taken.push_back(lines[i]);
        taken_lines.push_back(i);
      } else {
        marks[i] = true;
      }
    }
  }

  [[nodiscard]] bool is_same(index a, index b) const {
    return a_[static_cast<std::size_t>(a)] == b_[static_cast<std::size_t>(b)];
  }
  [[nodiscard]] index& reached(std::vector<index>& paths, index diagonal) const {
    return paths[static_cast<std::size_t>(diagonal + static_cast<index>(b_.size()) + 1)];
  }

  void compare() {
    std::vector<box> left{{0, static_cast<index>(a_.size()), 0, static_cast<index>(b_.size())}};
    while (!left.empty()) {
      box part = left.back();
      left.pop_back();
      while (part.a_begin < part.a_end && part.b_begin < part.b_end &&
             is_same(part.a_begin, part.b_begin)) {
        ++part.a_begin;
        ++part.b_begin;
      }
      while (part.a_begin < part.a_end && part.b_begin < part.b_end &&
             is_same(part.a_end - 1, part.b_end - 1)) {
        --part.a_end;
        --part.b_end;
      }
      if (part.a_begin == part.a_end || part.b_begin == part.b_end) {
        mark_all(part);
        continue;
      }
      const std::optional<point> split_at = split(part);
      if (!split_at) {
        mark_all(part);
        continue;
      }
      const point middle = *split_at;
      left.push_back({part.a_begin, middle.a, part.b_begin, middle.b});
      left.push_back({middle.a, part.a_end, middle.b, part.b_end});
    }
  }

  /// Takes nothing of it for common.
  void mark_all(const box& part) {
    for (index a = part.a_begin; a < part.a_end; ++a)
      is_removed[a_lines_[static_cast<std::size_t>(a)]] = true;
    for (index b = part.b_begin; b < part.b_end; ++b)
      is_added[b_lines_[static_cast<std::size_t>(b)]] = true;
  }

  void spend(index lines) {
    const auto work = static_cast<std::size_t>(lines) + 1;
    work_left_ = pace_.go_on(work * sizeof(index)) ? work_left_ - std::min(work_left_, work) : 0;
  }

  /// The diagonals on which the paths of one direction end.
  struct range {
    index low, high;
    [[nodiscard]] bool has(index diagonal) const { return low <= diagonal && diagonal <= high; }
  };

  /// One more edit reaches the next diagonal on both sides, as far as the part has it.
  void widen(range& ends, const box& part, std::vector<index>& paths, index unreached) {
    if (ends.low > part.a_begin - part.b_end)
      reached(paths, --ends.low - 1) = unreached;
    else
      ++ends.low;
    if (ends.high < part.a_end - part.b_begin)
      reached(paths, ++ends.high + 1) = unreached;
    else
      --ends.high;
  }

  /// A point on a shortest way through `part`, whose ends differ; the two ways to it are shorter.
  [[nodiscard]] std::optional<point> split(const box& part) {
    const index first = part.a_begin - part.b_begin;
    const index last = part.a_end - part.b_end;
    const bool is_odd = ((first - last) & 1) != 0;
    range ahead{first, first};
    range behind{last, last};
    reached(forward_, first) = part.a_begin;
    reached(backward_, last) = part.a_end;
    for (std::size_t cost = 1;; ++cost) {
      widen(ahead, part, forward_, before_all);
      for (index d = ahead.high; d >= ahead.low; d -= 2) {
        const index a = go_forward(part, d);
        if (is_odd && behind.has(d) && reached(backward_, d) <= a) return point{a, a - d};
      }
      widen(behind, part, backward_, behind_all);
      for (index d = behind.high; d >= behind.low; d -= 2) {
        const index a = go_backward(part, d);
        if (!is_odd && ahead.has(d) && a <= reached(forward_, d)) return point{a, a - d};
      }
      if (work_left_ == 0) return std::nullopt;
      if (cost >= cost_max_) return farthest(part, ahead, behind);
    }
  }

  /// Takes the path that comes farthest with one more edit, and all that is the same behind it.
  index go_forward(const box& part, index d) {
    const index removed = reached(forward_, d - 1) + 1;
    const index added = reached(forward_, d + 1);
    index a = before_all;
    if (removed <= part.a_end && removed - d >= part.b_begin) a = removed;
    if (added > a && added - d <= part.b_end) a = added;
    const index first = a;
    if (a >= part.a_begin)
      while (a < part.a_end && a - d < part.b_end && is_same(a, a - d))
        ++a;
    spend(a - first);
    return reached(forward_, d) = a;
  }
  index go_backward(const box& part, index d) {
    const index removed = reached(backward_, d + 1) - 1;
    const index added = reached(backward_, d - 1);
    index a = behind_all;
    if (removed >= part.a_begin && removed - d <= part.b_end) a = removed;
    if (added < a && added - d >= part.b_begin) a = added;
    const index last = a;
    if (a <= part.a_end)
      while (a > part.a_begin && a - d > part.b_begin && is_same(a - 1, a - d - 1))
        --a;
    spend(last - a);
    return reached(backward_, d) = a;
  }

  /// Where the path that has come farthest ends.
  [[nodiscard]] point farthest(const box& part, const range& ahead, const range& behind) {
    point best{part.a_begin, part.b_begin};
    index most = 0;
    const auto consider = [&](index a, index d, index done) {
      if (done <= most) return;
      most = done;
      best = {a, a - d};
    };
    for (index d = ahead.low; d <= ahead.high; d += 2)
      if (const index a = reached(forward_, d); a >= part.a_begin)
        consider(a, d, a - part.a_begin + a - d - part.b_begin);
    for (index d = behind.low; d <= behind.high; d += 2)
      if (const index a = reached(backward_, d); a <= part.a_end)
        consider(a, d, part.a_end - a + part.b_end - (a - d));
    return best;
  }
};

} // namespace paddock
