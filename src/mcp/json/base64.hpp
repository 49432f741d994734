// SPDX-License-Identifier: MIT
#pragma once

// Base64 (RFC 4648) with padding, as MCP sends binary content and headers that are not plain.

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

[[nodiscard]] inline std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    const auto at = [&](std::size_t i) {
      return i < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) : 0U;
    };
    const unsigned group = (at(0) << 16) | (at(1) << 8) | at(2);
    out += base64_digits[group >> 18];
    out += base64_digits[(group >> 12) & 63];
    out += bytes.size() > 1 ? base64_digits[(group >> 6) & 63] : '=';
    out += bytes.size() > 2 ? base64_digits[group & 63] : '=';
  }
  return out;
}

/// Nothing for what `base64` does not make: other characters, wrong padding, spare bits that are
/// set.
[[nodiscard]] inline std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const std::size_t digit = base64_digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffffffU;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return out;
}

} // namespace paddock::mcp
