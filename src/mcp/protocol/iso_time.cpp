// SPDX-License-Identifier: MIT
#include "mcp/protocol/iso_time.hpp"

#include <cstddef>
#include <cstring>

namespace paddock::mcp {
namespace {

constexpr auto two_digits = [] {
  std::array<char, 200> table{};
  for (std::size_t i = 0; i < 100; ++i) {
    table[2 * i] = static_cast<char>('0' + i / 10);
    table[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return table;
}();

/// Writes a number below 100 and what follows it; the end of that.
char* write_two(char* to, std::uint32_t value, char next) {
  std::memcpy(to, two_digits.data() + std::size_t{2} * value, 2);
  to[2] = next;
  return to + 3;
}

struct date {
  std::uint32_t year;
  std::uint32_t month;
  std::uint32_t day;
};

/// The Gregorian date of a day counted from 1600-03-01, in eras of 400 years that begin on 1 March.
constexpr date date_of(std::uint32_t days) {
  const std::uint32_t era = days / 146'097;
  const std::uint32_t day_of_era = days % 146'097;
  const std::uint32_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::uint32_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint32_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::uint32_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {.year = 1600 + year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

} // namespace

std::string_view iso8601_ms(std::int64_t unix_ns, iso8601_buffer& buffer) {
  // 64 bits of nanoseconds reach from 1677 to 2262, so that nothing below is negative.
  constexpr std::int64_t ns_per_ms = 1'000'000;
  constexpr std::int64_t ms_per_day = 86'400'000;
  constexpr std::int64_t days_from_1600_03_01 = 135'080;
  const std::int64_t ms =
      unix_ns / ns_per_ms - (unix_ns % ns_per_ms < 0 ? 1 : 0) + days_from_1600_03_01 * ms_per_day;
  const date d = date_of(static_cast<std::uint32_t>(ms / ms_per_day));
  const auto of_day = static_cast<std::uint32_t>(ms % ms_per_day);
  const std::uint32_t second = of_day / 1'000;
  const std::uint32_t milli = of_day % 1'000;
  char* to = write_two(buffer.data(), d.year / 100, ' ') - 1;
  to = write_two(to, d.year % 100, '-');
  to = write_two(to, d.month, '-');
  to = write_two(to, d.day, 'T');
  to = write_two(to, second / 3'600, ':');
  to = write_two(to, second / 60 % 60, ':');
  to = write_two(to, second % 60, '.');
  *to++ = static_cast<char>('0' + milli / 100);
  to = write_two(to, milli % 100, 'Z');
  return {buffer.data(), to};
}

std::string iso8601_ms(std::int64_t unix_ns) {
  iso8601_buffer buffer;
  return std::string(iso8601_ms(unix_ns, buffer));
}

} // namespace paddock::mcp
