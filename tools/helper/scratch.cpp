// SPDX-License-Identifier: MIT
#include "scratch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

constexpr int depth_max = 256; // descriptors and stack are bounded

void empty(int directory, int depth) {
  DIR* entries = ::fdopendir(directory);
  if (entries == nullptr) {
    ::close(directory);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    if (::unlinkat(directory, entry->d_name, 0) == 0 || depth == depth_max) continue;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int below = ::openat(directory, entry->d_name, flags);
    if (below < 0 && errno == EACCES && ::fchmodat(directory, entry->d_name, 0700, 0) == 0)
      below = ::openat(directory, entry->d_name, flags);
    if (below < 0) continue;
    empty(below, depth + 1);
    ::unlinkat(directory, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(entries);
}

} // namespace

void remove_tree(const char* path) {
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  empty(directory, 0);
  ::rmdir(path);
}

} // namespace paddock::exec
