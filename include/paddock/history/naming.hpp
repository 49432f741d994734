// SPDX-License-Identifier: MIT
#pragma once

/// How checkpoints are named by people and models, and which paths are git's own.
///
/// Thread-safety: functions of their arguments alone; no errors.

#include <paddock/history/changes.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace paddock::history {

struct named_checkpoint {
  bool is_known = false;
  std::optional<std::uint64_t> number{}; ///< nothing: the last start of a server
};

/// By `start`, by its number, or by its label, which is that of the last one that has it. Any other
/// number is taken as it is: the store says whether there is such a checkpoint.
[[nodiscard]] inline named_checkpoint checkpoint_named(std::string_view given,
                                                       const std::vector<checkpoint>& all) {
  if (given == "start") return {.is_known = true};
  if (given.empty()) return {};
  std::uint64_t number = 0;
  const char* const end = given.data() + given.size();
  const auto read = std::from_chars(given.data(), end, number);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  if (is_number && std::ranges::find(all, number, &checkpoint::number) != all.end())
    return {.is_known = true, .number = number};
  const auto labelled = std::find_if(all.rbegin(), all.rend(),
                                     [&](const checkpoint& each) { return each.label == given; });
  if (labelled != all.rend()) return {.is_known = true, .number = labelled->number};
  return {.is_known = is_number, .number = number};
}

/// The repository's directory that a path lies in; empty: it lies in none.
[[nodiscard]] inline std::string_view git_around(std::string_view path) {
  constexpr std::string_view name = ".git/", inner = "/.git/";
  if (path.starts_with(name)) return path.substr(0, name.size() - 1);
  const std::size_t at = path.find(inner);
  return at == path.npos ? std::string_view() : path.substr(0, at + inner.size() - 1);
}

/// A repository's directory, or something in it.
[[nodiscard]] inline bool is_of_git(std::string_view path) {
  return path == ".git" || path.ends_with("/.git") || !git_around(path).empty();
}

} // namespace paddock::history
