// SPDX-License-Identifier: MIT
#pragma once

/// Where an old text is in a content but for white space, as text_matching.hpp says.
/// Thread-safety: pure.

#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/detail/lines.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

[[nodiscard]] constexpr bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

/// The same for lines that differ in white space alone.
[[nodiscard]] inline std::string white_space_form(std::string_view line) {
  std::string form;
  bool is_apart = false;
  for (const char c : line) {
    if (is_blank(c)) {
      is_apart = !form.empty();
      continue;
    }
    if (is_apart) form += ' ';
    is_apart = false;
    form += c;
  }
  return form;
}

/// Finds lines in the lines of a content, which it is shown one after the other, by D. Knuth,
/// J. Morris and V. Pratt's search: the work is linear, whatever repeats itself.
class white_space_finder {
public:
  /// Lines without their ends; there is at least one.
  explicit white_space_finder(const std::vector<std::string_view>& wanted) {
    for (const std::string_view line : wanted) {
      forms_.push_back(white_space_form(line));
      can_be_found_ = can_be_found_ || !forms_.back().empty();
    }
    shorter_.assign(forms_.size() + 1, 0);
    for (std::size_t i = 1; i < forms_.size(); ++i)
      shorter_[i + 1] = longer(shorter_[i], forms_[i]);
  }

  /// Whether they could stand somewhere: one has more than white space.
  [[nodiscard]] bool can_be_found() const noexcept { return can_be_found_; }

  /// Whether they are all there, the last of them being `line`.
  [[nodiscard]] bool end_with(std::string_view line) {
    fitting_ = longer(fitting_, white_space_form(line));
    return fitting_ == forms_.size();
  }

private:
  std::vector<std::string> forms_;   ///< of the wanted lines
  std::vector<std::size_t> shorter_; ///< by how many fit: how many else do
  std::size_t fitting_ = 0;
  bool can_be_found_ = false;

  [[nodiscard]] std::size_t longer(std::size_t fitting, std::string_view form) const {
    while (fitting > 0 && (fitting == forms_.size() || forms_[fitting] != form))
      fitting = shorter_[fitting];
    return fitting + (forms_[fitting] == form ? 1U : 0U);
  }
};

struct white_space_match {
  std::size_t offset = 0, size = 0; ///< what is replaced
  std::size_t line = 0;             ///< the first, from 0
};

/// A line of any text without its LF or CRLF; a lone CR is a byte like others.
[[nodiscard]] constexpr std::string_view without_pair(std::string_view line) noexcept {
  return line.ends_with('\n') ? without_end(line) : line;
}

[[nodiscard]] inline std::vector<std::string_view> lines_without_pairs(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  for (std::string_view& line : lines)
    line = without_pair(line);
  return lines;
}

/// What the old text spans of the lines from the one at `begin` to `last`.
[[nodiscard]] inline white_space_match spanned(std::size_t begin, std::string_view lines,
                                               std::string_view last, std::string_view old_text) {
  std::size_t skipped = 0;
  while (!is_blank(old_text.front()) && is_blank(lines[skipped]))
    ++skipped;
  std::size_t size = lines.size();
  if (!old_text.ends_with('\n')) {
    size -= last.size() - without_pair(last).size();
    while (!is_blank(old_text.back()) && is_blank(lines[size - 1]))
      --size;
  }
  return {begin + skipped, size - skipped, 0};
}

/// All places, also such as overlap; nothing when it is not wanted. Precondition: `old_text` is not
/// empty.
template <class Wanted>
[[nodiscard]] std::optional<std::vector<white_space_match>>
white_space_matches(std::string_view content, std::string_view old_text, Wanted& wanted) {
  const std::vector<std::string_view> old_lines = lines_without_pairs(old_text);
  white_space_finder finder(old_lines);
  std::vector<white_space_match> matches;
  if (!finder.can_be_found()) return matches;
  const std::vector<std::string_view> lines = lines_of(content);
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    looked_at += lines[i].size();
    if (looked_at >= wanted_step_bytes) {
      if (!wanted()) return std::nullopt;
      looked_at = 0;
    }
    if (!finder.end_with(without_pair(lines[i]))) continue;
    if (old_text.ends_with('\n') && !lines[i].ends_with('\n')) continue;
    const std::size_t first = i + 1 - old_lines.size();
    const auto begin = static_cast<std::size_t>(lines[first].data() - content.data());
    const auto end = static_cast<std::size_t>(lines[i].data() - content.data()) + lines[i].size();
    white_space_match match =
        spanned(begin, content.substr(begin, end - begin), lines[i], old_text);
    match.line = first;
    matches.push_back(match);
  }
  return matches;
}

/// Which of the lines, the first of which is the one at `first` of its text, are not to the byte as
/// in `old_text`.
[[nodiscard]] inline std::vector<std::uint64_t>
lines_that_differ(std::span<const std::string_view> lines, std::size_t first,
                  std::string_view old_text) {
  std::vector<std::uint64_t> out;
  const std::vector<std::string_view> old_lines = lines_without_pairs(old_text);
  for (std::size_t i = 0; i < old_lines.size(); ++i)
    if (without_pair(lines[i]) != old_lines[i]) out.push_back(first + i);
  return out;
}

} // namespace paddock::detail
