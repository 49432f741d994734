// SPDX-License-Identifier: MIT
#pragma once

// How the lines of an ignore file are taken, and which rules may be about a path: most are ruled
// out by a byte or two of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// A rule that is found by what it names: a name, or an extension with its dot.
struct named_ignore_rule {
  std::string key;
  std::uint32_t rule = 0;

  friend bool operator<(const named_ignore_rule& a, const named_ignore_rule& b) noexcept {
    return a.key != b.key ? a.key < b.key : a.rule < b.rule;
  }
};

/// Rules that are found by what they name.
struct named_ignore_rules {
  std::vector<named_ignore_rule> all;     ///< sorted
  std::array<std::uint64_t, 4> present{}; ///< spots that have a key: most names have none

  /// A number below 256. Precondition: not empty.
  [[nodiscard]] static std::size_t spot(std::string_view key) noexcept {
    const auto byte = [](char c) -> std::size_t { return static_cast<unsigned char>(c); };
    return (byte(key.front()) * 5 + byte(key.back()) * 17 + key.size() * 59) % 256;
  }
  void add(std::string_view key, std::uint32_t rule) {
    all.push_back({std::string(key), rule});
    if (!key.empty()) present[spot(key) / 64] |= std::uint64_t{1} << spot(key) % 64;
  }
  [[nodiscard]] bool may_have(std::string_view key) const noexcept {
    return key.empty() || (present[spot(key) / 64] >> spot(key) % 64 & 1) != 0;
  }
};

/// A rule that is asked by itself, unless the first byte or the last one tells already.
struct asked_ignore_rule {
  std::uint32_t rule = 0;
  char first = '\0'; ///< of the path, or of the name, where the rule is about names; NUL: any
  char last = '\0';

  [[nodiscard]] bool may_fit(char path_first, char name_first, char path_last) const noexcept {
    return (first == '\0' || first == path_first || first == name_first) &&
           (last == '\0' || last == path_last);
  }
};

/// What git takes for special in a pattern.
inline constexpr std::string_view glob_specials = "*?[\\";

/// The line without the blanks at its end that no backslash keeps.
[[nodiscard]] inline std::string_view without_trailing_blanks(std::string_view line) noexcept {
  std::size_t end = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ' ') continue;
    if (line[at] == '\\' && ++at == line.size()) return line;
    end = at + 1;
  }
  return line.substr(0, end);
}

} // namespace paddock::detail
