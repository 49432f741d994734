// SPDX-License-Identifier: MIT
#include "scratch.hpp"

#include "directory_entries.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

constexpr int depth_max = 256; // descriptors and stack are bounded

void empty(int directory, int depth) {
  directory_entries entries(directory);
  while (const char* name = entries.next()) {
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    if (::unlinkat(directory, name, 0) == 0 || depth == depth_max) continue;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int below = ::openat(directory, name, flags);
    if (below < 0 && errno == EACCES && ::fchmodat(directory, name, 0700, 0) == 0)
      below = ::openat(directory, name, flags);
    if (below < 0) continue;
    empty(below, depth + 1);
    ::unlinkat(directory, name, AT_REMOVEDIR);
  }
  ::close(directory);
}

} // namespace

void remove_tree(const char* path) {
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  empty(directory, 0);
  ::rmdir(path);
}

} // namespace paddock::exec
