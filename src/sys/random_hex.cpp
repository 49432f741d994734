// SPDX-License-Identifier: MIT
#include "sys/random_hex.hpp"

#include "sys/syscall.hpp"

#include <string_view>

namespace paddock::sys {

result<std::string> random_hex(std::size_t bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string random(bytes, '\0');
  PADDOCK_CHECK(getrandom(random));
  std::string text;
  text.reserve(2 * bytes);
  for (const char each : random) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

} // namespace paddock::sys
