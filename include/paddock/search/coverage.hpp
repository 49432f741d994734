// SPDX-License-Identifier: MIT
#pragma once

/// What a search has looked at, what it left out and why: the part of an answer that makes an empty
/// one mean something.
///
/// Thread-safety: plain values.

#include <paddock/base/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock {

/// A rule of an ignore file that left something out.
struct ignoring_rule {
  std::string rule;              ///< as written
  std::string file;              ///< relative to the root
  std::uint32_t line_number = 0; ///< in that file, from 1
  std::uint64_t entries = 0;     ///< files, and directories with all that is in them as one

  friend bool operator==(const ignoring_rule&, const ignoring_rule&) = default;
};

/// Something that could not be read.
struct unread_entry {
  std::string path; ///< relative to the root
  error_code why{};

  friend bool operator==(const unread_entry&, const unread_entry&) = default;
};

/// Counts of one search.
struct search_coverage {
  std::uint64_t entries = 0;             ///< met, without what was ignored or is hidden
  std::uint64_t directories = 0;         ///< entered
  std::uint64_t ignored = 0;             ///< entries left out by a rule
  std::vector<ignoring_rule> ignored_by; ///< those with the most entries first
  std::uint64_t unreadable = 0;          ///< directories and files that could not be read
  std::vector<unread_entry> unread;      ///< the first `named_max` of those, by path
  /// Why it ended before all was looked at: timed_out, or too_many (entries); nothing: all was.
  std::optional<error_code> ended_early;

  /// How many unreadable entries and rules are named at most.
  static constexpr std::size_t named_max = 20;
};

} // namespace paddock
