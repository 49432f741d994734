// SPDX-License-Identifier: MIT
#pragma once

/// Which of a few known names somebody may have meant. For messages only.
///
/// Two names are near if few letters differ (one in three, at least one), or if one has the letters
/// of the other in the same order ("readFile", "readTextFile") and few more. Case does not matter.
///
/// Thread-safety: pure functions.

#include <paddock/base/detail/ascii.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

inline constexpr std::size_t compared_name_bytes_max = 64;

// Without <algorithm>, which would be most of this header's cost.
[[nodiscard]] constexpr std::size_t lesser(std::size_t a, std::size_t b) noexcept {
  return a < b ? a : b;
}
[[nodiscard]] constexpr std::size_t greater(std::size_t a, std::size_t b) noexcept {
  return a < b ? b : a;
}

/// How many bytes have to be inserted, removed, replaced or exchanged with their neighbour to make
/// one of the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return ascii_lower(a[i]) == ascii_lower(b[j]);
  };
  std::vector<std::size_t> before(b.size() + 1); // the row before the last one
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = lesser(lesser(last[j], row[j - 1]) + 1, last[j - 1] + (same(i - 1, j - 1) ? 0 : 1));
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = lesser(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// Whether `whole` has the letters of `part` in their order.
[[nodiscard]] inline bool holds_letters(std::string_view whole, std::string_view part) noexcept {
  std::size_t at = 0;
  for (const char c : whole)
    if (at < part.size() && ascii_lower(c) == ascii_lower(part[at])) ++at;
  return at == part.size();
}

[[nodiscard]] inline bool differs_by(std::string_view given, std::string_view known,
                                     std::size_t changed_max) {
  if (given.empty() || greater(given.size(), known.size()) > compared_name_bytes_max) return false;
  return edit_distance(given, known) <= changed_max;
}

/// One or two letters changed: hardly another word.
[[nodiscard]] inline bool is_misspelling(std::string_view given, std::string_view known) {
  const std::size_t third = lesser(given.size(), known.size()) / 3;
  return differs_by(given, known, lesser(greater(third, 1), 2));
}

enum class likeness : unsigned char {
  spelling, ///< one letter in three changed, at least one
  letters,  ///< one has the letters of the other in their order
};

[[nodiscard]] inline bool is_like(std::string_view given, std::string_view known, likeness how) {
  constexpr std::size_t letters_min = 4, times_max = 3;
  if (how == likeness::spelling)
    return differs_by(given, known, greater(1, lesser(given.size(), known.size()) / 3));
  for (std::string_view* const name : {&given, &known}) // "--foo" is in "--before-context"
    while (name->starts_with('-'))
      name->remove_prefix(1);
  const std::size_t less = lesser(given.size(), known.size());
  const std::size_t more = greater(given.size(), known.size());
  if (less < letters_min || more > compared_name_bytes_max || more > less * times_max) return false;
  return holds_letters(known, given) || holds_letters(given, known);
}

inline constexpr std::size_t names_suggested_max = 3;

/// The nearest of `known`, the nearest first; three at most.
template <class Names>
[[nodiscard]] std::vector<std::string_view> nearest_names(std::string_view given,
                                                          const Names& known) {
  std::vector<std::string_view> names;
  for (const likeness how : {likeness::spelling, likeness::letters}) {
    std::vector<std::size_t> distances; // of the names so far
    if (!names.empty()) break;
    for (const std::string_view name : known) {
      if (!is_like(given, name, how)) continue;
      const std::size_t distance = edit_distance(given, name);
      std::size_t at = names.size();
      while (at > 0 && distances[at - 1] > distance)
        --at;
      const auto place = static_cast<std::ptrdiff_t>(at);
      names.insert(names.begin() + place, name);
      distances.insert(distances.begin() + place, distance);
    }
  }
  if (names.size() > names_suggested_max) names.resize(names_suggested_max);
  return names;
}

/// "; did you mean NAME, NAME or NAME?", or nothing when none is near.
template <class Names>
[[nodiscard]] std::string did_you_mean(std::string_view given, const Names& known) {
  const std::vector<std::string_view> names = nearest_names(given, known);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "; did you mean " : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text.empty() ? text : text + "?";
}

} // namespace paddock::detail
