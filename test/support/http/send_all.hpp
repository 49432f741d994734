// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <string_view>

namespace paddock::test {

/// Waits until all is written to the socket; false when the peer is gone.
inline bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

} // namespace paddock::test
