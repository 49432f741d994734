// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace paddock::cli {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t code_points(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::ranges::count_if(utf8, [](char c) { return !is_continuation(c); }));
}

/// ASCII control characters, and the C1 ones (C2 80 to C2 9F), which some terminals obey.
std::string without_controls(std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const bool c1 =
        byte == 0xC2 && i + 1 < utf8.size() && static_cast<unsigned char>(utf8[i + 1]) < 0xA0;
    if (c1) ++i;
    out += c1 || byte < 0x20 || byte == 0x7F ? '?' : utf8[i];
  }
  return out;
}

std::string_view code_of(style wanted) {
  switch (wanted) {
  case style::plain:
    break;
  case style::dim:
    return "\x1B[2m";
  case style::good:
    return "\x1B[32m";
  case style::bad:
    return "\x1B[31m";
  case style::bold:
    return "\x1B[1m";
  }
  return "";
}

} // namespace

bool output_has_colours() {
  static const bool colours = [] {
    const char* refused = std::getenv("NO_COLOR");
    return ::isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
  }();
  return colours;
}

std::string styled(std::string_view text, style wanted) {
  const std::string_view code = code_of(wanted);
  if (code.empty() || !output_has_colours()) return std::string(text);
  return std::string(code).append(text).append("\x1B[0m");
}

std::string fit(std::string_view utf8, std::size_t width) {
  std::string text = without_controls(utf8);
  if (code_points(text) <= width) return text;
  std::size_t kept = 0;
  for (std::size_t seen = 0; kept < text.size(); ++kept)
    if (!is_continuation(text[kept]) && ++seen == width) break;
  return text.substr(0, kept) + "…";
}

std::string column(std::string_view utf8, std::size_t width, align side) {
  const std::string text = fit(utf8, width);
  const std::string fill(width - std::min(width, code_points(text)), ' ');
  return side == align::left ? text + fill : fill + text;
}

std::string duration(std::int64_t ns) {
  std::array<char, 48> out;
  const auto us = static_cast<double>(ns) / 1e3;
  if (us < 1e3)
    std::snprintf(out.data(), out.size(), "%.0f µs", us);
  else if (us < 1e6)
    std::snprintf(out.data(), out.size(), "%.1f ms", us / 1e3);
  else
    std::snprintf(out.data(), out.size(), "%.1f s", us / 1e6);
  return out.data();
}

} // namespace paddock::cli
