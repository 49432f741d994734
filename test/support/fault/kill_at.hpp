// SPDX-License-Identifier: MIT
#pragma once

// A child that is killed at a boundary of a system call: before one or after one. A tracer stops it
// there, so every boundary can be met, each exactly once, and nothing depends on time.

#include "precompiled/tests.hpp"

#include <sys/ptrace.h>

namespace paddock::test {

enum class ending : unsigned char { finished, killed, untraceable };

/// Runs `work` in a child and kills it at the `boundary`-th stop; `stops` counts them. A child that
/// is not killed has to return true from it.
inline ending run_until(const std::function<bool()>& work, std::size_t boundary,
                        std::size_t& stops) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  if (!WIFSTOPPED(status)) return ending::untraceable;
  EXPECT_EQ(0, ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL));
  for (stops = 0; stops < boundary; ++stops) {
    EXPECT_EQ(0, ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr));
    EXPECT_EQ(child, ::waitpid(child, &status, 0));
    if (!WIFSTOPPED(status)) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      return ending::finished;
    }
  }
  EXPECT_EQ(0, ::kill(child, SIGKILL));
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_TRUE(WIFSIGNALED(status));
  return ending::killed;
}

/// The moments at which a process is killed: the first one, and from one to the next.
struct moments {
  std::size_t stride = 1;
  std::size_t first = 1;
};

/// Kills `work` at each of these moments, until it ends by itself or a check fails: each time after
/// `prepare`, and then lets `look` at what is left. False: no process may be traced here.
inline bool kill_at_each(moments at, const std::function<void()>& prepare,
                         const std::function<bool()>& work,
                         const std::function<void(std::size_t)>& look) {
  constexpr std::size_t stops_max = 100'000;
  for (std::size_t stop = at.first; stop < stops_max; stop += at.stride) {
    prepare();
    std::size_t stops = 0;
    const ending end = run_until(work, stop, stops);
    if (end == ending::untraceable) return false;
    look(stop);
    if (end == ending::finished || testing::Test::HasFailure()) return true;
  }
  ADD_FAILURE() << "it does not end";
  return true;
}

} // namespace paddock::test
