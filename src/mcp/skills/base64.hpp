// SPDX-License-Identifier: MIT
#pragma once

// Base64 (RFC 4648) with padding, as MCP sends binary content.

#include <string>
#include <string_view>

namespace paddock::mcp {

[[nodiscard]] inline std::string base64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    const auto at = [&](std::size_t i) {
      return i < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) : 0U;
    };
    const unsigned group = (at(0) << 16) | (at(1) << 8) | at(2);
    out += letters[group >> 18];
    out += letters[(group >> 12) & 63];
    out += bytes.size() > 1 ? letters[(group >> 6) & 63] : '=';
    out += bytes.size() > 2 ? letters[group & 63] : '=';
  }
  return out;
}

} // namespace paddock::mcp
