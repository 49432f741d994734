// SPDX-License-Identifier: MIT
#pragma once

/// Exact search and replace on text that may use LF or CRLF line endings, mixed or not, and that need not be
/// valid UTF-8. Matching is done on LF-normalised text; every byte outside the match stays as it was.
/// (the owner of this component completes this header)

#include <paddock/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

struct text_edit {
  std::string_view old_text; ///< not empty
  std::string_view new_text; ///< literal: `$&` means `$&`
};

/// Where a text_edit applies in a content, and the bytes to put there.
struct edit_plan {
  std::size_t offset = 0; ///< of the match in the content, in bytes
  std::size_t size = 0;   ///< of the match in the content, in bytes (CRLF counts two)
  std::string replacement; ///< new_text with the line endings of the place
  std::uint64_t occurrences = 0;
  std::uint64_t line = 0; ///< 0-based line of the match
};

/// Errors: invalid_argument (empty old_text), no_match.
[[nodiscard]] result<edit_plan> plan_edit(std::string_view content, const text_edit& edit);

} // namespace paddock
