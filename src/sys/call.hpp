// SPDX-License-Identifier: MIT
#pragma once

// How what the kernel answers becomes a result.

#include "sys/errno_map.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace paddock::sys {

/// Repeats an interrupted call; never to be used for close. File systems on a network or in user
/// space interrupt every call, not only those that wait.
template <class Call> auto retried(Call call) {
  auto n = call();
  while (n < 0 && errno == EINTR)
    n = call();
  return n;
}

template <class N> result<void> none(N n, const char* operation) {
  if (n < 0) return failure(errno, operation);
  return {};
}
template <class N> result<std::size_t> count(N n, const char* operation) {
  if (n < 0) return failure(errno, operation);
  return static_cast<std::size_t>(n);
}
template <class N> result<file_descriptor> descriptor(N fd, const char* operation) {
  if (fd < 0) return failure(errno, operation);
  return file_descriptor(static_cast<int>(fd));
}

/// Of times before 1678 or after 2261, which file systems have and 64 bits do not hold, the nearest.
inline std::int64_t nanoseconds(std::int64_t seconds, std::int64_t part) {
  constexpr std::int64_t seconds_max = 9'223'372'035;
  return std::clamp(seconds, -seconds_max, seconds_max) * 1'000'000'000 + part;
}

inline std::int64_t nanoseconds(const timespec& time) {
  return nanoseconds(time.tv_sec, time.tv_nsec);
}

/// Leads to what a descriptor has open.
inline std::array<char, 32> path_of(int fd) {
  std::array<char, 32> path;
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", fd);
  return path;
}

} // namespace paddock::sys
