// SPDX-License-Identifier: MIT
#include "mcp/json/json_repair.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

namespace paddock::mcp {
namespace {

/// The code unit of a "\uXXXX" at the beginning of `text`.
std::optional<unsigned> code_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = text.data() + 6;
  if (std::from_chars(text.data() + 2, end, unit, 16).ptr != end) return std::nullopt;
  return unit;
}

constexpr bool leads(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool trails(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Appends the escape at the beginning of `text`, repaired; returns how many bytes it took.
std::size_t copy_escape(std::string& out, std::string_view text) {
  const auto unit = code_unit(text);
  if (!unit) {
    out.append(text.substr(0, 2));
    return text.size() < 2 ? text.size() : 2;
  }
  if (leads(*unit)) {
    const auto second = code_unit(text.substr(6));
    if (second && trails(*second)) {
      out.append(text.substr(0, 12));
      return 12;
    }
  }
  if (leads(*unit) || trails(*unit))
    out += "\\ufffd";
  else
    out.append(text.substr(0, 6));
  return 6;
}

/// Appends the string that begins at `text` with its quotes; returns how many bytes it took.
std::size_t copy_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 1;
  while (at < text.size()) {
    const std::size_t special = std::min(text.find_first_of("\"\\", at), text.size());
    out.append(text.substr(at, special - at));
    at = special;
    if (at == text.size()) break;
    if (text[at] == '"') {
      out += '"';
      return at + 1;
    }
    at += copy_escape(out, text.substr(at));
  }
  return at;
}

/// Appends the number that begins at `text`; returns how many bytes it took.
std::size_t copy_number(std::string& out, std::string_view text) {
  const std::string_view token = text.substr(0, text.find_first_not_of("0123456789+-.eE"));
  const char* const end = token.data() + token.size();
  const bool whole = token.find_first_of(".eE") == std::string_view::npos;
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  const auto read = std::from_chars(token.data(), end, real);
  if (read.ptr == end && read.ec == std::errc::result_out_of_range &&
      token.find("e-") == std::string_view::npos && token.find("E-") == std::string_view::npos) {
    out += token.front() == '-' ? "-1.7976931348623157e308" : "1.7976931348623157e308";
    return token.size();
  }
  out.append(token);
  if (whole && token.size() > 1 &&
      std::from_chars(token.data(), end, integer).ec == std::errc::result_out_of_range &&
      std::from_chars(token.data(), end, natural).ec != std::errc{})
    out += "e0";
  return token.size();
}

} // namespace

std::string repair_unrepresentable(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at += copy_string(out, text.substr(at));
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      at += copy_number(out, text.substr(at));
    } else {
      out += c;
      ++at;
    }
  }
  return out;
}

} // namespace paddock::mcp
