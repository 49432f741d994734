// SPDX-License-Identifier: MIT
#pragma once

// The record of a change under way, as a value and as bytes. Pure.
//
// A record is a line with its version, then sections with a checksum each: the plan, written before
// anything else happens; the stamps of the staged entries, after which the change will be
// completed; the directories it made; and that it is taken back. A section that is not whole does
// not count.

#include "change/plan.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct change_record {
  change_plan plan{};
  bool is_staged = false;              ///< everything is staged: the change will be completed
  std::vector<entry_stamp> staged{};   ///< by the step; empty for steps that stage nothing
  std::vector<known_directory> made{}; ///< by this change, listed before anything is put into them
  bool goes_back = false;              ///< it failed and is taken back
  std::uint64_t whole_bytes = 0;       ///< of what was read, up to the last whole section

  friend bool operator==(const change_record&, const change_record&) = default;
};

/// The first line and the plan.
[[nodiscard]] std::string render(const change_plan& plan);
/// The sections appended as the change proceeds.
[[nodiscard]] std::string render_staged(std::span<const entry_stamp> staged);
[[nodiscard]] std::string render_made(std::span<const known_directory> made);
[[nodiscard]] std::string render_way_back();

inline constexpr std::uint64_t change_record_bytes_max = std::uint64_t{1} << 30U;

/// Nothing if the plan is not whole. Every path is relative and normal, and the staging name is a
/// temporary one. Errors: unsupported (another version).
[[nodiscard]] result<std::optional<change_record>> parse_change_record(std::string_view bytes);

/// FNV-1a: against damage, not against intent.
[[nodiscard]] std::uint64_t record_sum(std::string_view bytes) noexcept;

} // namespace paddock
