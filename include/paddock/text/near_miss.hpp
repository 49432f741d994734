// SPDX-License-Identifier: MIT
#pragma once

/// What an edit may have meant whose old text does not occur: the place that comes nearest, for the
/// words of the error. It is a hint; nothing is ever replaced because of it.
///
/// Cost: about 10 ms for a MiB, and memory for the content once more. Not guaranteed: that the
/// place is the one that was meant, or the nearest by any measure. Thread-safety: pure functions.

#include <paddock/base/detail/function_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

enum class near_miss_kind : std::uint8_t {
  white_space,     ///< the place differs in white space alone
  already_applied, ///< the new text is there
  similar,         ///< some of its lines are the same, or one of them nearly
};

/// As answers name it.
[[nodiscard]] constexpr std::string_view wire_name(near_miss_kind kind) noexcept {
  switch (kind) {
  case near_miss_kind::white_space:
    return "white_space";
  case near_miss_kind::already_applied:
    return "already_applied";
  case near_miss_kind::similar:
    break;
  }
  return "similar";
}

struct near_miss {
  near_miss_kind kind = near_miss_kind::similar;
  std::uint64_t line_index = 0; ///< the first of the place, from 0
  std::string found;            ///< the place: whole lines, cut behind `found_bytes_max`
  /// The first line of the old text that differs from the place, and its number there, from 0;
  /// empty when none does (they are at another line, or the kind is already_applied).
  std::string wanted;
  std::uint64_t wanted_line_index = 0;
  /// It differs in what looks like something else: quotes, dashes and blanks beyond ASCII, and
  /// characters that are not seen.
  bool looks_alike = false;

  static constexpr std::size_t found_bytes_max = 2048;
};

/// Precondition: `old_text` does not occur in `content`. Nothing where no place comes near,
/// or when `wanted()`, asked at first and about every MiB, is false; without it, the work is
/// wanted.
[[nodiscard]] std::optional<near_miss> nearest(std::string_view content, std::string_view old_text,
                                               std::string_view new_text,
                                               detail::function_view<bool()> wanted = {});

} // namespace paddock
