// SPDX-License-Identifier: MIT
#pragma once

/// How checkpoints are named by people and models, and which paths are git's own.
///
/// Thread-safety: functions of their arguments alone; no errors.

#include <paddock/history/changes.hpp>
#include <paddock/path/detail/git_paths.hpp>

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

using paddock::git_around;
using paddock::is_of_git;

} // namespace paddock::history
