// SPDX-License-Identifier: MIT
#pragma once

// Several edits as plain as they can be: one search after the other, and lines that are counted
// anew each time.

#include <paddock/text/edit_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

inline std::uint64_t line_of(const std::string& text, std::size_t offset) {
  return static_cast<std::uint64_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// What one step does to a text in which lines end with LF; nothing when it fails.
inline std::optional<std::string> plainly(const std::string& before, const edit_step& step,
                                          std::uint64_t near) {
  std::vector<std::size_t> at;
  for (std::size_t from = before.find(step.old_text); from != std::string::npos;
       from = before.find(step.old_text, from + step.old_text.size()))
    at.push_back(from);
  if (at.empty()) return std::nullopt;
  if (step.occurrences && *step.occurrences != at.size()) return std::nullopt;
  if (step.places == edit_places::one) {
    if (at.size() > 1 && !step.near_line_index) return std::nullopt;
    const auto distance = [&](std::size_t offset) {
      const std::uint64_t line = line_of(before, offset);
      return line > near ? line - near : near - line;
    };
    std::ranges::sort(at, {}, distance);
    if (at.size() > 1 && distance(at[0]) == distance(at[1])) return std::nullopt;
    at.resize(1);
  }
  std::string after = before;
  while (!at.empty()) {
    after.replace(at.back(), step.old_text.size(), step.new_text);
    at.pop_back();
  }
  return after;
}

} // namespace paddock::test
