// SPDX-License-Identifier: MIT
#pragma once

// For children of a test that end by _exit.

#include <unistd.h>

#ifdef PADDOCK_TEST_COVERAGE
extern "C" void __gcov_dump(); // NOLINT: the compiler's
#endif

namespace paddock::test {

#ifdef PADDOCK_TEST_COVERAGE
inline const uid_t user_who_began = ::geteuid();
#endif

/// Writes down what `_exit` would lose in a build that counts which lines run. Nothing happens in a
/// process that has become another user: the counters are files of the one who began.
inline void keep_line_counts() {
#ifdef PADDOCK_TEST_COVERAGE
  if (::geteuid() == user_who_began) ::__gcov_dump();
#endif
}

} // namespace paddock::test
