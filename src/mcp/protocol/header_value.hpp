// SPDX-License-Identifier: MIT
#pragma once

// Any text as a header's value, and back: MCP 2026-07-28 wraps in Base64 what a header can't carry.

#include "crypto/crypto.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view wrapped_begin = "=?base64?";
inline constexpr std::string_view wrapped_end = "?=";

[[nodiscard]] inline bool is_wrapped(std::string_view value) noexcept {
  return value.starts_with(wrapped_begin) && value.ends_with(wrapped_end) &&
         value.size() >= wrapped_begin.size() + wrapped_end.size();
}

/// The text itself, or "=?base64?…?=" where a header can't carry it.
[[nodiscard]] inline std::string header_value_of(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f'; }) &&
      !text.starts_with(' ') && !text.ends_with(' ') &&
      !(text.starts_with(wrapped_begin) && text.ends_with(wrapped_end));
  if (plain) return std::string(text);
  return std::string(wrapped_begin).append(base64(text)).append(wrapped_end);
}

/// The text of a header. Nothing when it is wrapped and malformed.
[[nodiscard]] inline std::optional<std::string> decoded_header(std::string_view value) {
  if (!is_wrapped(value)) return std::string(value);
  value.remove_prefix(wrapped_begin.size());
  value.remove_suffix(wrapped_end.size());
  return from_base64(value);
}

} // namespace paddock::mcp
