// SPDX-License-Identifier: MIT
#pragma once

// What the parsers of headers and URLs share.

#include <paddock/base/detail/ascii.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace paddock::http {

/// The headers of a message as they were read: names in lower case, values without blanks around
/// them.
struct fields {
  std::vector<std::pair<std::string, std::string>> headers;

  /// The value of the first header of that name, given in lower case; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept {
    return static_cast<std::size_t>(std::count_if(
        headers.begin(), headers.end(), [&](const auto& each) { return each.first == name; }));
  }
};

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

/// Without the blanks that may surround a header's value.
[[nodiscard]] inline std::string_view trim_blanks(std::string_view text) noexcept {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t'))
    text.remove_suffix(1);
  return text;
}

/// Digits and nothing else.
[[nodiscard]] inline std::optional<std::uint64_t> whole_number(std::string_view text, int base) {
  std::uint64_t n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (status != std::errc() || text.empty() || end != text.data() + text.size())
    return std::nullopt;
  return n;
}

/// Whether `holds` is true of an item of the comma-separated list `value`.
template <class Predicate>
[[nodiscard]] bool any_item(std::string_view value, const Predicate& holds) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    if (holds(value.substr(0, comma))) return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

/// Of those that a header's value must not have (RFC 9110, section 5.5).
[[nodiscard]] inline bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  });
}

/// A media type without its parameters, in lower case.
[[nodiscard]] inline std::string media_type(std::string_view value) {
  return ascii_lower(trim_blanks(value.substr(0, value.find(';'))));
}

} // namespace paddock::http
