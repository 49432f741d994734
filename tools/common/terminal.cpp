// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/detail/visible_text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace paddock::cli {
namespace {

struct code_range {
  char32_t first;
  char32_t last;
};
/// What terminals show in two columns: wide and full-width characters of UAX 11, by their blocks.
constexpr code_range wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},  {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
/// Takes the first character; how many columns it has.
std::size_t take_columns(std::string_view& utf8) {
  const std::size_t size = detail::first_sequence(utf8).size;
  const char32_t c = detail::code_point(utf8.substr(0, size));
  utf8.remove_prefix(size);
  const bool is_wide =
      std::ranges::any_of(wide, [c](const code_range& r) { return r.first <= c && c <= r.last; });
  return is_wide ? 2 : 1; // also a mark on another: who counts nothing can be made to show no end
}

colours chosen = colours::automatic; // before threads start

std::string_view code_of(style wanted) {
  switch (wanted) {
  case style::plain:
    break;
  case style::dim:
    return "\x1B[2m";
  case style::good:
    return "\x1B[32m";
  case style::bad:
    return "\x1B[31m";
  case style::bold:
    return "\x1B[1m";
  }
  return "";
}

} // namespace

bool output_is_terminal() {
  static const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  return terminal;
}

std::string without_controls(std::string_view utf8) {
  return detail::on_one_line(utf8);
}

std::string name_on_output(std::string_view name) {
  return output_is_terminal() ? without_controls(name) : std::string(name);
}

std::string line_on_output(std::string_view line) {
  if (!output_is_terminal()) return std::string(line);
  std::string shown;
  while (true) {
    const std::size_t tab = line.find('\t');
    shown += without_controls(line.substr(0, tab));
    if (tab == std::string_view::npos) return shown;
    shown += '\t';
    line.remove_prefix(tab + 1);
  }
}

std::size_t columns_of(std::string_view utf8) {
  std::size_t sum = 0;
  while (!utf8.empty())
    sum += take_columns(utf8);
  return sum;
}

void choose_colours(colours wanted) {
  chosen = wanted;
}

bool output_has_colours() {
  if (chosen != colours::automatic) return chosen == colours::always;
  static const bool welcome = [] {
    const char* refused = std::getenv("NO_COLOR");
    return output_is_terminal() && (refused == nullptr || *refused == '\0');
  }();
  return welcome;
}

std::string styled(std::string_view text, style wanted) {
  const std::string_view code = code_of(wanted);
  if (code.empty() || !output_has_colours()) return std::string(text);
  return std::string(code).append(text).append("\x1B[0m");
}

std::string fit(std::string_view utf8, std::size_t width) {
  std::string text = without_controls(utf8);
  if (columns_of(text) <= width) return text;
  std::string_view rest = text;
  std::size_t kept = 0;
  for (std::size_t seen = take_columns(rest); seen < width; seen += take_columns(rest))
    kept = text.size() - rest.size();
  return text.substr(0, kept) + "…";
}

std::string column(std::string_view utf8, std::size_t width, align side) {
  const std::string text = fit(utf8, width);
  const std::string fill(width - std::min(width, columns_of(text)), ' ');
  return side == align::left ? text + fill : fill + text;
}

std::size_t output_width() {
  constexpr std::size_t elsewhere = 80;
  const char* const given = std::getenv("COLUMNS");
  const std::string_view digits = given == nullptr ? "" : given;
  std::size_t width = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), width);
  winsize size{};
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width > 0 ? width : elsewhere;
}

std::string folded(std::string_view text, std::size_t width) {
  constexpr std::size_t option_column = 30, width_min = 50;
  if (width < width_min) return std::string(text);
  std::string made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const std::size_t indent = line.starts_with("  ") ? option_column : 0;
    for (std::size_t used = 0; used + columns_of(line) > width; used = indent) {
      const std::size_t space = line.rfind(' ', width - used);
      if (space == std::string_view::npos || line.find_first_not_of(' ') > space) break;
      made.append(line.substr(0, space)).append("\n").append(indent, ' ');
      line.remove_prefix(space + 1);
    }
    made.append(line);
    if (end < text.size()) made += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return made;
}

std::string duration(std::int64_t ns) {
  std::array<char, 48> out;
  const auto us = static_cast<double>(ns) / 1e3;
  if (us < 1e3)
    std::snprintf(out.data(), out.size(), "%.0f µs", us);
  else if (us < 1e6)
    std::snprintf(out.data(), out.size(), "%.1f ms", us / 1e3);
  else
    std::snprintf(out.data(), out.size(), "%.1f s", us / 1e6);
  return out.data();
}

} // namespace paddock::cli
