// SPDX-License-Identifier: MIT
#include "plain_shell.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::cli {

plain_shell::plain_shell(const std::string& directory, const char* script) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  output_ = file_descriptor(ends[0]);
  const file_descriptor input(ends[1]); // the end of the output is that of all who write to it
  std::string name = "sh";
  std::string option = "-c";
  std::string text = script;
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
  const std::array arguments{name.data(), option.data(), text.data(), static_cast<char*>(nullptr)};
  const std::array environment{path.data(), static_cast<char*>(nullptr)};
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return;
  const bool good =
      ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str()) == 0 &&
      ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
      ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO) == 0 &&
      ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
  if (!good || ::posix_spawn(&child_, "/bin/sh", &actions, nullptr, arguments.data(),
                             environment.data()) != 0)
    child_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
}

std::string plain_shell::read_line() {
  std::string line;
  for (char byte = 0;;) {
    const ssize_t n = ::read(output_.get(), &byte, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || byte == '\n') return line;
    line += byte;
  }
}

void plain_shell::wait() {
  while (child_ > 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

} // namespace paddock::cli
