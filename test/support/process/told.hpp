// SPDX-License-Identifier: MIT
#pragma once

// What a test body tells from a process of its own, which may lack something, become another user
// or die.

#include "precompiled/tests.hpp"
#include "support/process/line_counts.hpp"

namespace paddock::test {

/// What `body` writes to the descriptor that it is given, until nobody has it any more.
inline std::string told_through(const std::function<void(int out)>& body, int* status = nullptr) {
  int told[2];
  EXPECT_EQ(0, ::pipe2(told, O_CLOEXEC));
  const pid_t host = ::fork();
  if (host == 0) {
    body(told[1]);
    keep_line_counts();
    ::_exit(0);
  }
  ::close(told[1]);
  std::string text;
  char block[4096];
  for (ssize_t n; (n = ::read(told[0], block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  ::close(told[0]);
  int ended = 0;
  EXPECT_EQ(host, ::waitpid(host, &ended, 0));
  if (status != nullptr) *status = ended;
  return text;
}

/// What `body` returns; nothing when it could not begin.
inline std::string told_by(const std::function<std::string()>& body, int* status = nullptr) {
  return told_through(
      [&](int out) {
        const std::string text = body();
        (void)!::write(out, text.data(), text.size());
      },
      status);
}

} // namespace paddock::test
