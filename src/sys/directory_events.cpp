// SPDX-License-Identifier: MIT
#include "sys/directory_events.hpp"

#include "sys/call.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>

namespace paddock::sys {

result<file_descriptor> inotify_init() {
  return descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC), "inotify_init1");
}

std::size_t inotify_watches_of_user() {
  const auto limit = openat(AT_FDCWD, "/proc/sys/fs/inotify/max_user_watches", O_RDONLY);
  if (!limit) return 0;
  std::array<char, 32> digits{};
  const auto size = read(limit->get(), digits);
  std::size_t watches = 0;
  if (size) (void)std::from_chars(digits.data(), digits.data() + *size, watches);
  return watches;
}

result<int> inotify_add_watch(int inotify, int directory, std::uint32_t mask) {
  const int watch = ::inotify_add_watch(inotify, path_of(directory).data(), mask | IN_ONLYDIR);
  if (watch < 0) return failure(errno, "inotify_add_watch");
  return watch;
}

} // namespace paddock::sys
