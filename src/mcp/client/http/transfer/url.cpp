// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/url.hpp"

#include "http/text.hpp"
#include "mcp/client/http/transfer/libcurl.hpp"

#include <algorithm>
#include <memory>

namespace paddock::mcp {
namespace {

constexpr std::size_t host_bytes_max = 254;

error unusable_url(const char* what) {
  return {error_code::invalid_argument, 0, what};
}

struct freed {
  void operator()(CURLU* handle) const noexcept { libcurl().url_cleanup(handle); }
  void operator()(char* text) const noexcept { libcurl().free(text); }
};
using url_handle = std::unique_ptr<CURLU, freed>;

/// Empty when there is none.
std::string part_of(CURLU* from, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  (void)libcurl().url_get(from, which, &text, flags);
  const std::unique_ptr<char, freed> owner(text);
  return text == nullptr ? std::string() : std::string(text);
}

/// Visible ASCII that a request line can carry; no backslash, which some programs take for a slash.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

result<void> check_text(std::string_view text) {
  if (!libcurl().are_there)
    return error{error_code::unsupported, 0, "libcurl cannot be loaded; install it (Debian: libcurl4)"};
  if (text.size() > url_bytes_max) return unusable_url("the URL is too long");
  if (!is_plain(text))
    return unusable_url("the URL has blanks, backslashes or other than ASCII letters");
  return {};
}

/// What libcurl understands and others may understand differently.
result<void> check_authority(std::string_view text) {
  if (text.find('@') != std::string_view::npos)
    return unusable_url("user names and passwords do not belong in a URL; use a header");
  if (text.empty() || text.starts_with(':')) return unusable_url("the host is missing");
  if (text.find('%') != std::string_view::npos)
    return unusable_url("the host has a character that host names do not have");
  return {};
}

result<void> check_host(std::string_view host) {
  if (host.size() > host_bytes_max) return unusable_url("the host is too long");
  if (host.starts_with('[')) return {}; // libcurl knows what such an address may be
  if (host.starts_with('.') || host.find("..") != std::string_view::npos)
    return unusable_url("the host has an empty part");
  if (!std::ranges::all_of(host, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
      }))
    return unusable_url("the host has a character that host names do not have");
  return {};
}

result<url> url_of(CURLU* parsed) {
  url out;
  out.scheme = part_of(parsed, CURLUPART_SCHEME) == "https" ? url_scheme::https : url_scheme::http;
  out.host = http::ascii_lower(part_of(parsed, CURLUPART_HOST));
  PADDOCK_CHECK(check_host(out.host));
  if (out.host.starts_with('[')) out.host = out.host.substr(1, out.host.size() - 2);
  const auto port = http::whole_number(part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT), 10);
  if (!port || *port == 0 || *port > 65535)
    return unusable_url("the port is not a number from 1 to 65535");
  out.port = static_cast<std::uint16_t>(*port);
  out.target = part_of(parsed, CURLUPART_PATH);
  if (const std::string query = part_of(parsed, CURLUPART_QUERY); !query.empty())
    out.target += "?" + query;
  return out;
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
  PADDOCK_CHECK(check_text(text));
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return unusable_url("a URL begins with https://");
  const std::string scheme = http::ascii_lower(text.substr(0, colon));
  if (scheme != "http" && scheme != "https") return unusable_url("the scheme is not https");
  const std::string_view rest = text.substr(colon + 3);
  PADDOCK_CHECK(check_authority(rest.substr(0, rest.find_first_of("/?#"))));
  const url_handle parsed(libcurl().url());
  const CURLUcode code = libcurl().url_set(parsed.get(), CURLUPART_URL, std::string(text).c_str(),
                                           CURLU_DISALLOW_USER | CURLU_PATH_AS_IS);
  if (code != CURLUE_OK) return unusable_url(libcurl().url_strerror(code));
  return url_of(parsed.get());
}

result<url> resolve_reference(const url& base, std::string_view reference) {
  PADDOCK_CHECK(check_text(reference));
  if (reference.empty() || reference.starts_with('#')) return base;
  const url_handle parsed(libcurl().url());
  CURLUcode code = libcurl().url_set(parsed.get(), CURLUPART_URL,
                                     (base.origin() + base.target).c_str(), CURLU_PATH_AS_IS);
  if (code == CURLUE_OK)
    code = libcurl().url_set(parsed.get(), CURLUPART_URL, std::string(reference).c_str(),
                             CURLU_DISALLOW_USER | CURLU_PATH_AS_IS);
  if (code != CURLUE_OK) return unusable_url(libcurl().url_strerror(code));
  // Once more, for what libcurl is lenient about.
  return parse_url(part_of(parsed.get(), CURLUPART_URL));
}

result<void> check_proxy(std::string_view text) {
  PADDOCK_CHECK(check_text(text));
  if (!text.starts_with("http://") && !text.starts_with("https://"))
    return unusable_url("the address of a proxy begins with http:// or https://");
  const url_handle parsed(libcurl().url());
  const CURLUcode code =
      libcurl().url_set(parsed.get(), CURLUPART_URL, std::string(text).c_str(), 0);
  if (code != CURLUE_OK) return unusable_url(libcurl().url_strerror(code));
  const std::string path = part_of(parsed.get(), CURLUPART_PATH);
  if (path != "/" && !path.empty()) return unusable_url("the address of a proxy has no path");
  return {};
}

bool same_origin(const url& a, const url& b) noexcept {
  return a.scheme == b.scheme && a.port == b.port && a.host == b.host;
}

} // namespace paddock::mcp
