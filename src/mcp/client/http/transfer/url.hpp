// SPDX-License-Identifier: MIT
#pragma once

// The part of URLs that an endpoint of MCP needs: http and https, a host, a port, a target. Strict:
// what different programs read differently (user names, backslashes, blanks, escapes in the host)
// is refused rather than guessed. Pure.

#include <paddock/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::mcp {

enum class url_scheme : std::uint8_t { http, https };

struct url {
  url_scheme scheme = url_scheme::https;
  std::string host; ///< in lower case; of an IPv6 address without the brackets
  std::uint16_t port = 443;
  std::string target = "/"; ///< path and query, as a request line has it

  [[nodiscard]] bool is_ipv6() const noexcept { return host.find(':') != std::string::npos; }
  /// "host" or "host:port", as the header Host has it.
  [[nodiscard]] std::string authority() const;
  /// "scheme://host[:port]".
  [[nodiscard]] std::string origin() const;
};

inline constexpr std::size_t url_bytes_max = 8192;

/// The fragment is dropped. Error: invalid_argument; `operation` says what is wrong.
[[nodiscard]] result<url> parse_url(std::string_view text);
/// What `reference`, found in an answer from `base`, stands for: a URL, "//host/path", "/path",
/// "path" or "?query". Error: as parse_url.
[[nodiscard]] result<url> resolve_reference(const url& base, std::string_view reference);
/// Whether `text` can stand for a proxy: http or https, and here a user's name and password may be
/// in it. Error: as parse_url.
[[nodiscard]] result<void> check_proxy(std::string_view text);
[[nodiscard]] bool same_origin(const url& a, const url& b) noexcept;

} // namespace paddock::mcp
