// SPDX-License-Identifier: MIT
#include "http/server/secret.hpp"

#include "sys/random_hex.hpp"

namespace paddock::http {

result<std::string> new_secret(std::size_t bytes) {
  return sys::random_hex(bytes);
}

} // namespace paddock::http
