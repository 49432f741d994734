// SPDX-License-Identifier: MIT
#pragma once

/// What an error repeats of what it was given: enough to recognise it, and no more, because a model
/// pays for every character and a log keeps them.
///
/// Thread-safety: pure.

#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/limits.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The first code points of `text`, and "…" in place of a rest. A byte that is not part of UTF-8
/// counts as one.
[[nodiscard]] inline std::string excerpt(std::string_view text,
                                         std::size_t characters_max = echo_characters_max) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++shown) {
    if (shown == characters_max) return std::string(text.substr(0, end)).append("…");
    end += first_sequence(text.substr(end)).size;
  }
  return std::string(text);
}

} // namespace paddock::detail
