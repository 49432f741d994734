// SPDX-License-Identifier: MIT
#include "mcp/protocol/iso_time.hpp"

#include <chrono>
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

} // namespace

std::string_view iso8601_ms(std::int64_t unix_ns, iso8601_buffer& buffer) {
  using namespace std::chrono;
  const auto at = floor<milliseconds>(sys_time<nanoseconds>(nanoseconds(unix_ns)));
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const auto year = static_cast<std::uint32_t>(int{date.year()}); // 1677 to 2262
  const auto milli = static_cast<std::uint32_t>((at - day).count());
  const std::uint32_t second = milli / 1'000;
  char* to = write_two(buffer.data(), year / 100, ' ') - 1;
  to = write_two(to, year % 100, '-');
  to = write_two(to, unsigned{date.month()}, '-');
  to = write_two(to, unsigned{date.day()}, 'T');
  to = write_two(to, second / 3'600, ':');
  to = write_two(to, second / 60 % 60, ':');
  to = write_two(to, second % 60, '.');
  *to++ = static_cast<char>('0' + milli % 1'000 / 100);
  to = write_two(to, milli % 100, 'Z');
  return {buffer.data(), to};
}

std::string iso8601_ms(std::int64_t unix_ns) {
  iso8601_buffer buffer;
  return std::string(iso8601_ms(unix_ns, buffer));
}

} // namespace paddock::mcp
