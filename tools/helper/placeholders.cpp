// SPDX-License-Identifier: MIT
#include "placeholders.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::exec {

void placeholders::make(const policy& wanted, int workspace) {
  const char* name = wanted.protected_names;
  for (std::uint32_t i = 0; i < wanted.fixed->protected_names && i < capacity; ++i) {
    made_[i] = ::mkdirat(workspace, name, 0700) == 0;
    const int fd = ::openat(workspace, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && ::flock(fd, LOCK_SH | LOCK_NB) == 0) locks_[i] = fd;
    name = next(name);
  }
}

void placeholders::remove(const policy& wanted, int workspace) const {
  const char* name = wanted.protected_names;
  for (std::uint32_t i = 0; i < wanted.fixed->protected_names && i < capacity; ++i) {
    // Not empty, it has become somebody's.
    if (made_[i] && locks_[i] != 0 && ::flock(locks_[i], LOCK_EX | LOCK_NB) == 0)
      ::unlinkat(workspace, name, AT_REMOVEDIR);
    name = next(name);
  }
}

} // namespace paddock::exec
