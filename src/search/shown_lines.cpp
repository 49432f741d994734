// SPDX-License-Identifier: MIT
#include "search/shown_lines.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/detail/line_breaks.hpp>

#include <algorithm>

namespace paddock {
namespace {

constexpr std::size_t not_found = std::string_view::npos;
constexpr std::size_t line_bytes = 2 * sizeof(found_line);
/// Of a line that is cut, what is shown before the match.
constexpr std::size_t characters_before_match = 100;

/// So many characters further. A byte that is part of no valid one counts as one: a run of such
/// bytes is cut like any other text.
std::size_t forward(std::string_view line, std::size_t at, std::uint64_t characters) {
  for (; at < line.size() && characters > 0; --characters)
    at += detail::first_sequence(line.substr(at)).size;
  return at;
}

std::size_t backward(std::string_view line, std::size_t at, std::uint64_t characters) {
  for (; at > 0 && characters > 0; --characters) {
    std::size_t size = std::min<std::size_t>(at, 4);
    while (size > 1 && detail::first_sequence(line.substr(at - size, size)).size != size)
      --size;
    at -= size;
  }
  return at;
}

found_line shown(std::string_view line, std::size_t match, std::uint64_t number, bool context,
                 std::uint64_t characters_max) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  found_line made{.line_number = number, .text = {}, .context = context};
  if (line.size() > characters_max) {
    std::size_t begin = backward(line, std::min(match, line.size()), characters_before_match);
    const std::size_t end = forward(line, begin, characters_max);
    if (begin > 0 && end == line.size()) begin = backward(line, end, characters_max); // has room
    made.cut = begin > 0 || end < line.size();
    line = line.substr(begin, end - begin);
  }
  made.text = line;
  return made;
}

/// Where the line before the one that begins at `begin` begins. Precondition: there is one.
std::size_t line_before(std::string_view text, std::size_t begin) {
  const std::size_t newline = begin < 2 ? not_found : text.rfind('\n', begin - 2);
  return newline == not_found ? 0 : newline + 1;
}

} // namespace

void shown_lines::add(std::string_view text, const matched_line& match) {
  add_after(text, match.begin);
  std::vector<std::size_t> before;
  for (std::size_t begin = match.begin; begin > next_ && before.size() < options_.before;) {
    begin = line_before(text, begin);
    if (begin >= next_) before.push_back(begin);
  }
  for (std::size_t i = before.size(); i-- > 0;)
    show(text, before[i], 0, true);
  show(text, match.begin, match.match - match.begin, false);
  after_ = options_.after;
}

void shown_lines::add_after(std::string_view text, std::size_t end) {
  for (; after_ > 0 && next_ < end && next_ < text.size(); --after_)
    show(text, next_, 0, true);
}

std::size_t shown_lines::needed_from(std::string_view text) const {
  std::size_t begin = text.size();
  for (std::uint64_t lines = 0; lines < options_.before && begin > next_; ++lines)
    begin = line_before(text, begin);
  return begin;
}

void shown_lines::move_on(std::string_view text, std::size_t begin) {
  count_up_to(text, begin);
  counted_ -= begin;
  next_ = next_ > begin ? next_ - begin : 0;
}

void shown_lines::count_up_to(std::string_view text, std::size_t end) {
  if (end <= counted_) return;
  number_ += detail::count_breaks(text.substr(counted_, end - counted_)).all;
  counted_ = end;
}

void shown_lines::show(std::string_view text, std::size_t begin, std::size_t match, bool context) {
  count_up_to(text, begin);
  const std::size_t newline = text.find('\n', begin);
  const std::size_t end = newline == not_found ? text.size() : newline;
  lines_.push_back(shown(text.substr(begin, end - begin), match, number_, context,
                         options_.line_characters_max));
  bytes_ += line_bytes + lines_.back().text.size();
  next_ = newline == not_found ? text.size() : newline + 1;
}

} // namespace paddock
