// SPDX-License-Identifier: MIT
#include "file_diff.hpp"

#include <gsl/assert>

#include <algorithm>
#include <span>

namespace paddock::review_page {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t bytes = end == text.npos ? text.size() : end + 1;
    out.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

std::span<const line_change> changes_of(const file_diff& diff, const hunk& which) {
  return std::span(diff.changes).subspan(which.first_change, which.changes);
}

/// Where a run of changes begins and ends with the lines around it.
hunk around(const file_diff& diff, std::size_t first, std::size_t count, std::size_t lines_around) {
  const line_change& top = diff.changes[first];
  const line_change& last = diff.changes[first + count - 1];
  const std::size_t above = std::min(lines_around, top.before_line_index);
  const std::size_t end = last.before_line_index + last.before_count;
  const std::size_t below = std::min(lines_around, diff.before.size() - end);
  hunk out{.first_change = first, .changes = count};
  out.before_line = top.before_line_index - above;
  out.before_count = end + below - out.before_line;
  out.after_line = top.after_line_index - above;
  out.after_count = last.after_line_index + last.after_count + below - out.after_line;
  return out;
}

} // namespace

file_diff compare(std::string_view before, std::string_view after, std::size_t lines_around) {
  file_diff out{.before = lines_of(before),
                .after = lines_of(after),
                .changes = changed_lines(before, after)};
  std::size_t first = 0;
  for (std::size_t i = 0; i < out.changes.size(); ++i) {
    const line_change& one = out.changes[i];
    out.added += one.after_count;
    out.removed += one.before_count;
    const bool is_last =
        i + 1 == out.changes.size() ||
        out.changes[i + 1].before_line_index - (one.before_line_index + one.before_count) >
            2 * lines_around;
    if (!is_last) continue;
    out.hunks.push_back(around(out, first, i + 1 - first, lines_around));
    first = i + 1;
  }
  return out;
}

std::string without_hunk(const file_diff& diff, std::size_t number) {
  Expects(number < diff.hunks.size());
  std::string out;
  std::size_t at = 0;
  const auto copy_until = [&](std::size_t line) {
    for (; at < line; ++at)
      out += diff.after[at];
  };
  for (const line_change& each : changes_of(diff, diff.hunks[number])) {
    copy_until(each.after_line_index);
    for (std::size_t i = 0; i < each.before_count; ++i)
      out += diff.before[each.before_line_index + i];
    at += each.after_count;
  }
  copy_until(diff.after.size());
  return out;
}

std::vector<row> rows_of(const file_diff& diff, const hunk& which) {
  std::vector<row> out;
  std::size_t at = which.before_line;
  const auto copy_until = [&](std::size_t line) {
    for (; at < line; ++at)
      out.push_back({.sign = ' ', .line = at, .text = diff.before[at]});
  };
  for (const line_change& each : changes_of(diff, which)) {
    copy_until(each.before_line_index);
    for (; at < each.before_line_index + each.before_count; ++at)
      out.push_back({.sign = '-', .line = at, .text = diff.before[at]});
    for (std::size_t i = 0; i < each.after_count; ++i)
      out.push_back({.sign = '+',
                     .line = each.after_line_index + i,
                     .text = diff.after[each.after_line_index + i]});
  }
  copy_until(which.before_line + which.before_count);
  return out;
}

} // namespace paddock::review_page
