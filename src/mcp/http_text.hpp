// SPDX-License-Identifier: MIT
#pragma once

// What the parsers of headers and URLs share.

#include <paddock/detail/ascii.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace paddock::mcp {

[[nodiscard]] inline std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), detail::ascii_lower);
  return out;
}

/// The grammar of a header's name (RFC 9110, section 5.6.2).
[[nodiscard]] inline bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') ||
           (detail::ascii_lower(c) >= 'a' && detail::ascii_lower(c) <= 'z') ||
           marks.find(c) != std::string_view::npos;
  });
}

} // namespace paddock::mcp
