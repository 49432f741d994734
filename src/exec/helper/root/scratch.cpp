// SPDX-License-Identifier: MIT
#include "exec/helper/root/scratch.hpp"

#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

namespace paddock::exec {
namespace {

constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int open_here(int parent, const char* name, int how) {
  constexpr std::uint64_t no_mounts = 0x01;
  const struct { // struct open_how
    std::uint64_t flags, mode, resolve;
  } asked{static_cast<std::uint64_t>(how), 0, no_mounts};
  const auto fd = static_cast<int>(::syscall(SYS_openat2, parent, name, &asked, sizeof asked));
  return fd >= 0 || errno != ENOSYS ? fd : ::openat(parent, name, how);
}

constexpr int path_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Lets the owner do everything in a directory, and never in what a link leads to. Closes it.
bool make_usable(int fd) {
  constexpr mode_t all = 0700;
  if (fd < 0) return false;
  bool changed = ::syscall(SYS_fchmodat2, fd, "", all, AT_EMPTY_PATH) == 0;
  if (!changed) { // before Linux 6.6
    char link[64];
    text_writer(link).add("/proc/self/fd/").add(static_cast<unsigned long>(fd));
    changed = ::fchmodat(AT_FDCWD, link, all, 0) == 0;
  }
  ::close(fd);
  return changed;
}

/// Empties a directory of any depth with two descriptors: what is below its directories is moved
/// up into it, so that nothing is ever more than one level away, and there is no way back to find.
class flat_removal {
public:
  explicit flat_removal(int top) : top_(top) {}

  /// Until nothing more goes.
  void run() {
    while (sweep()) {
    }
  }

private:
  bool sweep() {
    bool moved = false;
    ::lseek(top_, 0, SEEK_SET);
    directory_entries entries(top_);
    while (const char* name = entries.next())
      if (!is_dot(name)) moved = remove(name) || moved;
    return moved;
  }

  /// An entry of the top.
  bool remove(const char* name) {
    if (unlink(top_, name)) return true;
    int below = open_here(top_, name, flags);
    if (below < 0 && errno == EACCES && make_usable(open_here(top_, name, path_flags)))
      below = open_here(top_, name, flags);
    if (below < 0) return false;
    ::fchmod(below, 0700);
    const bool moved = empty(below);
    ::close(below);
    return ::unlinkat(top_, name, AT_REMOVEDIR) == 0 || moved;
  }

  bool empty(int directory) {
    bool moved = false;
    directory_entries entries(directory);
    while (const char* name = entries.next())
      if (!is_dot(name)) moved = unlink(directory, name) || lift(directory, name) || moved;
    return moved;
  }

  bool lift(int from, const char* name) {
    // Its `..` changes, so that it has to be writable; and the command may have used the new name.
    bool usable = false;
    for (;;) {
      char lifted[64];
      text_writer(lifted).add("lifted-").add(lifted_++);
      if (::syscall(SYS_renameat2, from, name, top_, lifted, 0) == 0) return true;
      if (errno == EACCES && !usable) {
        usable = make_usable(open_here(from, name, path_flags));
        if (!usable) return false;
      } else if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
        return false;
      }
    }
  }

  static bool unlink(int directory, const char* name) {
    return ::unlinkat(directory, name, 0) == 0 || ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
  }
  static bool is_dot(const char* name) {
    return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
  }

  int top_;
  unsigned long lifted_ = 0;
};

} // namespace

void remove_tree(const char* path) {
  int top = ::open(path, flags);
  if (top < 0 && errno == EACCES && make_usable(::open(path, path_flags)))
    top = ::open(path, flags);
  if (top >= 0) {
    ::fchmod(top, 0700);
    flat_removal(top).run();
    ::close(top);
  }
  ::rmdir(path);
}

} // namespace paddock::exec
