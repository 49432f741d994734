// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include <paddock/base/file_descriptor.hpp>

namespace paddock {

void file_descriptor::reset(int fd) noexcept {
  if (fd_ >= 0) sys::close(fd_);
  fd_ = fd;
}

} // namespace paddock
