// SPDX-License-Identifier: MIT
#include "mcp/client/http/url.hpp"

#include "mcp/protocol/http_text.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::mcp {
namespace {

error wrong(const char* what) {
  return {error_code::invalid_argument, 0, what};
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_hexadecimal(char c) {
  return is_digit(c) || (detail::ascii_lower(c) >= 'a' && detail::ascii_lower(c) <= 'f');
}

/// Visible ASCII that a request line can carry; no backslash, which some programs take for a slash.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

result<void> take_scheme(std::string_view& rest, url& out) {
  const std::size_t colon = rest.find("://");
  if (colon == std::string_view::npos) return wrong("a URL begins with https://");
  const std::string scheme = ascii_lower(rest.substr(0, colon));
  if (scheme != "http" && scheme != "https") return wrong("the scheme is not https");
  out.scheme = scheme == "https" ? url_scheme::https : url_scheme::http;
  rest.remove_prefix(colon + 3);
  return {};
}

result<void> take_port(std::string_view text, url& out) {
  out.port = out.scheme == url_scheme::https ? 443 : 80;
  if (text.empty()) return {};
  if (text.front() != ':') return wrong("something follows the host that is not a port");
  text.remove_prefix(1);
  if (text.empty()) return {};
  unsigned port = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (status != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
    return wrong("the port is not a number from 1 to 65535");
  out.port = static_cast<std::uint16_t>(port);
  return {};
}

result<void> take_authority(std::string_view text, url& out) {
  if (text.find('@') != std::string_view::npos)
    return wrong("user names and passwords do not belong into a URL; use a header");
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("the bracket around the address is not closed");
    const std::string_view address = text.substr(1, end - 1);
    if (address.find(':') == std::string_view::npos ||
        !std::all_of(address.begin(), address.end(),
                     [](char c) { return is_hexadecimal(c) || c == ':' || c == '.'; }))
      return wrong("between the brackets is no IPv6 address");
    out.host = ascii_lower(address);
    return take_port(text.substr(end + 1), out);
  }
  const std::string_view host = text.substr(0, text.find(':'));
  if (host.empty()) return wrong("the host is missing");
  if (host.size() > 254) return wrong("the host is too long");
  if (host.front() == '.' || host.find("..") != std::string_view::npos)
    return wrong("the host has an empty part");
  if (!std::all_of(host.begin(), host.end(), [](char c) {
        return is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_';
      }))
    return wrong("the host has a character that host names do not have");
  out.host = ascii_lower(host);
  return take_port(text.substr(host.size()), out);
}

void set_target(std::string_view text, url& out) {
  text = text.substr(0, text.find('#'));
  out.target.clear();
  if (!text.starts_with('/')) out.target += '/';
  out.target += text;
}

/// The path of `target` up to and with its last slash.
std::string_view directory_of(std::string_view target) {
  target = target.substr(0, target.find('?'));
  return target.substr(0, target.rfind('/') + 1);
}

} // namespace

std::string url::authority() const {
  std::string out = is_ipv6() ? "[" + host + "]" : host;
  const std::uint16_t usual = scheme == url_scheme::https ? 443 : 80;
  if (port != usual) out += ":" + std::to_string(port);
  return out;
}

std::string url::origin() const {
  return (scheme == url_scheme::https ? "https://" : "http://") + authority();
}

result<url> parse_url(std::string_view text) {
  if (text.size() > url_bytes_max) return wrong("the URL is too long");
  if (!is_plain(text)) return wrong("the URL has blanks, backslashes or other than ASCII letters");
  url out;
  PADDOCK_CHECK(take_scheme(text, out));
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  PADDOCK_CHECK(take_authority(text.substr(0, end), out));
  set_target(text.substr(end), out);
  return out;
}

result<url> resolve_reference(const url& base, std::string_view reference) {
  if (reference.size() > url_bytes_max) return wrong("the URL is too long");
  if (!is_plain(reference))
    return wrong("the URL has blanks, backslashes or other than ASCII letters");
  if (reference.starts_with("//"))
    return parse_url((base.scheme == url_scheme::https ? "https:" : "http:") +
                     std::string(reference));
  const std::size_t colon = reference.find(':');
  if (colon < reference.find_first_of("/?#")) return parse_url(reference);
  url out = base;
  if (reference.empty() || reference.starts_with('#')) return out;
  if (reference.starts_with('/'))
    set_target(reference, out);
  else if (reference.starts_with('?'))
    set_target(base.target.substr(0, base.target.find('?')) + std::string(reference), out);
  else
    set_target(std::string(directory_of(base.target)) + std::string(reference), out);
  return out;
}

bool same_origin(const url& a, const url& b) noexcept {
  return a.scheme == b.scheme && a.port == b.port && a.host == b.host;
}

} // namespace paddock::mcp
