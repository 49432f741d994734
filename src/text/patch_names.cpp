// SPDX-License-Identifier: MIT

// The names of files in unified patches, and the times behind them.

#include "text/patch_reading.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

std::pair<std::string, std::size_t> unquoted_name(std::string_view text) {
  constexpr std::string_view letters = "abtnvfr\"\\", meanings = "\a\b\t\n\v\f\r\"\\";
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return {std::move(name), i + 1};
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) break;
    if (const std::size_t letter = letters.find(text[i]); letter != std::string_view::npos) {
      name += meanings[letter];
      continue;
    }
    unsigned value = 0;
    const auto [end, fault] =
        std::from_chars(text.data() + i, text.data() + std::min(i + 3, text.size()), value, 8);
    if (fault != std::errc() || end != text.data() + i + 3 || value > 0xff) break;
    name += static_cast<char>(value);
    i += 2;
  }
  return {};
}

std::string patch_name(std::string_view text) {
  if (text.starts_with('"'))
    if (auto [name, size] = unquoted_name(text); size != 0) return name;
  return std::string(text.substr(0, text.find('\t')));
}

bool is_epoch(std::string_view stamp) {
  const bool is_day_before = stamp.starts_with("1969-12-31 ");
  if (!is_day_before && !stamp.starts_with("1970-01-01 ")) return false;
  const std::size_t blank = stamp.rfind(' ');
  const auto number = [&](std::size_t at) {
    int value = -1;
    if (at + 2 <= stamp.size()) std::from_chars(stamp.data() + at, stamp.data() + at + 2, value);
    return value;
  };
  if (blank < 19 || stamp.substr(16, blank - 16).find_first_not_of(":.0") != std::string_view::npos)
    return false;
  const std::size_t zone_minute = stamp.find(':', blank) == blank + 4 ? blank + 5 : blank + 4;
  const int zone = number(blank + 2) * 60 + number(zone_minute);
  const int minutes = number(11) * 60 + number(14) - (is_day_before ? 24 * 60 : 0);
  return minutes == (stamp.substr(blank + 1).starts_with('-') ? -zone : zone);
}

void strip_sides(std::string& before, std::string& after) {
  const auto rest = [](const std::string& name) {
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? std::string() : name.substr(slash + 1);
  };
  const bool are_usual = (before.starts_with("a/") || before == no_file) &&
                         (after.starts_with("b/") || after == no_file);
  const bool are_sides = before != after && !rest(before).empty() && rest(before) == rest(after);
  if (!are_usual && !are_sides) return;
  if (before != no_file) before = rest(before);
  if (after != no_file) after = rest(after);
}

} // namespace paddock
