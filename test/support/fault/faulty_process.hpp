// SPDX-License-Identifier: MIT
#pragma once

// Time for programs that are linked with the wrappers of faulty_process.cpp.

#include <cstdint>

namespace paddock::test {

/// While it lives, the monotonic clock runs so many times faster, and poll waits accordingly less:
/// for deadlines that are too long to be met on the wall. Not for several threads.
class faster_time {
public:
  explicit faster_time(std::int64_t times);
  faster_time(const faster_time&) = delete;
  faster_time& operator=(const faster_time&) = delete;
  ~faster_time();
};

} // namespace paddock::test
