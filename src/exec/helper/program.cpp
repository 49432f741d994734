// SPDX-License-Identifier: MIT
#include "exec/helper/program.hpp"

#include "exec/helper/policy/helper.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

using namespace paddock::sys;

namespace paddock::exec {
namespace {

/// Runs the program; returns only when it cannot be run, with errno. A program file that another
/// thread of the library's process has just written stays open for writing in a process that is
/// being started, for an instant.
void replace_process(const char* program, char** argv) {
  long pause_ns = 1'000'000;
  for (int attempt = 0; attempt < 6; ++attempt) {
    ::execve(program, argv, environ);
    if (errno != ETXTBSY) return;
    const timespec pause{0, pause_ns};
    ::nanosleep(&pause, nullptr);
    pause_ns *= 2;
  }
  errno = ETXTBSY;
}

exec_stage stage_of(int os_errno, const char* program) {
  const bool exists = os_errno == ENOENT && ::access(program, F_OK) == 0;
  return exists ? exec_stage::interpreter : exec_stage::execve;
}

/// Looks the program up in the PATH of the command's environment, absolute entries only.
[[noreturn]] void search_and_execute(int channel, char** argv) {
  const char* path = std::getenv("PATH");
  int reason = ENOENT;
  const std::size_t name_size = std::strlen(argv[0]);
  for (const char* entry = path; entry != nullptr;) {
    const char* end = std::strchr(entry, ':');
    const std::size_t size =
        end != nullptr ? static_cast<std::size_t>(end - entry) : std::strlen(entry);
    char program[PATH_MAX];
    if (entry[0] == '/' && size + 1 + name_size + 1 <= sizeof program) {
      std::memcpy(program, entry, size);
      program[size] = '/';
      std::memcpy(program + size + 1, argv[0], name_size + 1);
      replace_process(program, argv);
      const int error = errno;
      const exec_stage stage = stage_of(error, program);
      if (error == EACCES) {
        // A later entry may have one that can be run. What is in a directory that may not be
        // searched counts as not there.
        if (::access(program, F_OK) == 0) reason = error;
      } else if ((error != ENOENT && error != ENOTDIR) || stage == exec_stage::interpreter) {
        fail(channel, stage, error);
      }
    }
    entry = end != nullptr ? end + 1 : nullptr;
  }
  fail(channel, exec_stage::execve, reason);
}

/// As descriptors of their own from the first one on that is no standard stream.
void keep_only(start_descriptors& held) {
  constexpr int first = STDERR_FILENO + 1;
  int* const all[] = {&held.channel, &held.link, &held.itself};
  constexpr int count = sizeof all / sizeof *all;
  for (int* fd : all) // out of the others' way
    if (*fd >= 0 && (*fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, first + count)) < 0) ::_exit(127);
  int next = first;
  for (int* fd : all) {
    if (*fd < 0) continue;
    if (::dup3(*fd, next, O_CLOEXEC) < 0) ::_exit(127);
    *fd = next++;
  }
  close_descriptors(static_cast<unsigned>(next), UINT_MAX);
}

} // namespace

int open_if_itself(const char* program) {
  constexpr const char* name = "/proc/self/exe";
  return std::strcmp(program, name) == 0 ? ::open(name, O_PATH | O_CLOEXEC) : -1;
}

void run_program(start_descriptors held, char** argv) {
  keep_only(held);
  const int channel = held.channel;
  if (std::strchr(argv[0], '/') == nullptr) search_and_execute(channel, argv);
  if (held.itself >= 0)
    (void)::syscall(SYS_execveat, held.itself, "", argv, environ, AT_EMPTY_PATH);
  replace_process(argv[0], argv);
  const int error = errno;
  fail(channel, stage_of(error, argv[0]), error);
}

} // namespace paddock::exec
