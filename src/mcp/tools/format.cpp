// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace paddock::mcp {

std::string_view text_argument(const call& c, std::string_view name) {
  return c.arguments()[name].string().value_or(std::string_view());
}

std::string path_argument(const call& c, std::string_view name) {
  return decode_name(text_argument(c, name));
}

std::size_t result_bytes_max(const call& c) {
  constexpr std::size_t envelope_bytes_max = 2048;
  const std::size_t line = c.message_bytes_max();
  return line < envelope_bytes_max ? 0 : (line - envelope_bytes_max) / 3;
}

tool_result failure(const error& e, std::string_view subject, std::string_view hint) {
  std::string message(encode_name(subject));
  if (!message.empty()) message += ": ";
  message += text(e.code);
  // The operating system's own words help only where the code says little.
  if (e.code == error_code::io || e.code == error_code::too_many ||
      e.code == error_code::unsupported) {
    message += " (";
    message += e.operation;
    if (e.os_errno != 0) message += ": " + std::generic_category().message(e.os_errno);
    message += ')';
  }
  message += "; ";
  message += hint.empty() ? advice(e.code) : hint;
  return tool_result::failure(e.code, message);
}

std::string iso8601_ms(std::int64_t unix_ns) {
  constexpr std::int64_t ns_per_ms = 1'000'000;
  constexpr std::int64_t ms_per_day = 86'400'000;
  std::int64_t ms = unix_ns / ns_per_ms - (unix_ns % ns_per_ms < 0 ? 1 : 0);
  std::int64_t days = ms / ms_per_day;
  ms %= ms_per_day;
  if (ms < 0) {
    ms += ms_per_day;
    --days;
  }
  // Gregorian date from a day count, in eras of 400 years that begin on 1 March.
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  std::array<char, 40> out;
  const int n =
      std::snprintf(out.data(), out.size(), "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ",
                    static_cast<long long>(year), static_cast<int>(month), static_cast<int>(day),
                    static_cast<int>(ms / 3'600'000), static_cast<int>(ms / 60'000 % 60),
                    static_cast<int>(ms / 1'000 % 60), static_cast<int>(ms % 1'000));
  return {out.data(), static_cast<std::size_t>(n)};
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array units{"B", "KB", "MB", "GB", "TB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 48> out;
  const int n = std::snprintf(out.data(), out.size(), "%.2f %s", value, units.at(unit));
  return {out.data(), static_cast<std::size_t>(n)};
}

std::string_view type_name(entry_kind kind) {
  switch (kind) {
  case entry_kind::file:
    return "file";
  case entry_kind::directory:
    return "directory";
  case entry_kind::symlink:
    return "file";
  case entry_kind::other:
    break;
  }
  return "other";
}

} // namespace paddock::mcp
