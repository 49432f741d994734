// SPDX-License-Identifier: MIT
#pragma once

// Other tests of the same program once more, as an ordinary user.

#include "precompiled/tests.hpp"

#include <grp.h>

namespace paddock::test {

/// Skips where this is no root, who has run them as it is, or nobody may write in TMPDIR.
inline void run_as_nobody(const std::string& filter) {
  constexpr unsigned nobody = 65534;
  constexpr int no_place = 77;
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  const int self = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(self, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(1);
    const char* base = std::getenv("TMPDIR");
    if (::access(base != nullptr ? base : "/tmp", W_OK) != 0) ::_exit(no_place);
    std::string name = "test", only = "--gtest_filter=" + filter, brief = "--gtest_brief=1";
    char* const words[] = {name.data(), only.data(), brief.data(), nullptr};
    ::fexecve(self, words, environ);
    ::_exit(1);
  }
  ::close(self);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_place)
    GTEST_SKIP() << "nobody cannot write in TMPDIR";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace paddock::test
