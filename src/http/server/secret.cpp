// SPDX-License-Identifier: MIT
#include "http/server/secret.hpp"

#include "sys/syscall.hpp"

#include <string_view>

namespace paddock::http {

result<std::string> new_secret(std::size_t bytes) {
  std::string random(bytes, '\0');
  PADDOCK_CHECK(sys::getrandom(random));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes);
  for (const char c : random) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

} // namespace paddock::http
