// SPDX-License-Identifier: MIT
#include "http/server/secret.hpp"

#include "crypto/crypto.hpp"
#include "sys/syscall.hpp"

namespace paddock::http {

result<std::string> new_secret(std::size_t bytes) {
  std::string random(bytes, '\0');
  PADDOCK_CHECK(sys::getrandom(random));
  return hex(random);
}

} // namespace paddock::http
