// SPDX-License-Identifier: MIT
#include "exec/helper/control_group.hpp"

#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

int open_file(const char* group, const char* name, int flags) {
  char path[PATH_MAX];
  if (!text_writer(path).add(group).add("/").add(name).complete()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return ::open(path, flags | O_CLOEXEC);
}

/// 0 or an errno.
int write_group_file(const char* group, const char* name, const char* text) {
  const int fd = open_file(group, name, O_WRONLY);
  if (fd < 0) return errno;
  const int failed = ::write(fd, text, std::strlen(text)) > 0 ? 0 : errno;
  ::close(fd);
  return failed;
}

/// The group of this process in the unified hierarchy, "0::/PATH"; null: none.
const char* own_group(const char* membership, char (&text)[PATH_MAX]) {
  const int fd = ::open(membership, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[size < 0 ? 0 : size] = '\0';
  for (char* line = text; line != nullptr && *line != '\0';) {
    char* end = std::strchr(line, '\n');
    if (end != nullptr) *end = '\0';
    if (std::strncmp(line, "0::/", 4) == 0) return line + 3;
    line = end != nullptr ? end + 1 : nullptr;
  }
  return nullptr;
}

/// A directory that can be made is a group when the kernel has put the right files into it.
int make_group(const char* path, const group_bounds& bounds) {
  if (::mkdir(path, 0755) != 0) return errno;
  const int kill = open_file(path, "cgroup.kill", O_WRONLY);
  if (kill < 0) return errno == ENOENT ? EOPNOTSUPP : errno;
  ::close(kill);
  if (const int failed = bound_group(path, bounds); failed != 0) return failed;
  return write_group_file(path, "cgroup.procs", "0");
}

enum class groups { none, removed, one_left };

/// Removes the groups in one that have none themselves, up to `left`: it has some, or is in use.
groups remove_groups(int directory, char (&left)[NAME_MAX + 1]) {
  auto found = groups::none;
  ::lseek(directory, 0, SEEK_SET);
  directory_entries entries(directory);
  while (const char* name = entries.next()) {
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0) {
      found = groups::removed;
    } else if (errno == EBUSY || errno == ENOTEMPTY) {
      text_writer(left).add(name);
      return groups::one_left;
    }
  }
  return found;
}

/// The groups that the command has made in one, at any depth. `..` leads back, because the kernel
/// lets no group be moved; a group in use ends it.
void remove_groups_below(const char* path) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int at = ::open(path, flags);
  bool is_new = true;
  for (unsigned long depth = 0; at >= 0;) {
    char name[NAME_MAX + 1];
    const groups found = remove_groups(at, name);
    const bool down = found == groups::one_left;
    const bool in_use = found == groups::none && is_new;
    const int next = down || (depth > 0 && !in_use) ? ::openat(at, down ? name : "..", flags) : -1;
    ::close(at);
    at = next;
    depth += down ? 1UL : -1UL;
    is_new = down;
  }
}

} // namespace

namespace {

/// "" and "/": the first group of all.
int enter_group_in(const char* parent, char (&path)[PATH_MAX], const group_bounds& bounds,
                   const group_places& places) {
  path[0] = '\0';
  unsigned long random = 0;
  if (::syscall(SYS_getrandom, &random, sizeof random, 0) != sizeof random) return errno;
  int failed = EOPNOTSUPP;
  for (const char* mount : places.mounts) {
    text_writer name(path);
    name.add(mount).add(parent).add(parent[0] == '\0' || parent[1] == '\0' ? "" : "/");
    if (parent[0] == '\0') name.add("/");
    name.add("paddock-").add(random);
    const int tried = name.complete() ? make_group(path, bounds) : ENAMETOOLONG;
    if (tried == 0) return 0;
    if (name.complete()) ::rmdir(path);
    path[0] = '\0';
    if (tried != ENOENT) failed = tried;
  }
  return failed;
}

/// 0 or an errno. What a kernel without the controller has no file for is not bounded.
int write_bound(const char* path, const char* file, unsigned long value) {
  if (value == 0) return 0;
  char number[24];
  text_writer(number).add(value);
  const int failed = write_group_file(path, file, number);
  return failed == ENOENT ? EOPNOTSUPP : failed;
}

} // namespace

int enter_new_group(char (&path)[PATH_MAX], const group_places& places) {
  path[0] = '\0';
  char text[PATH_MAX];
  const char* own = own_group(places.membership, text);
  return own == nullptr ? EOPNOTSUPP : enter_group_in(own, path, {}, places);
}

int enter_bounded_group(char (&path)[PATH_MAX], const group_bounds& bounds,
                        const group_places& places) {
  path[0] = '\0';
  char text[PATH_MAX];
  const char* own = own_group(places.membership, text);
  if (own == nullptr) return EOPNOTSUPP;
  char beside[PATH_MAX];
  text_writer(beside).add(own);
  *const_cast<char*>(std::strrchr(beside, '/')) = '\0';
  if (own[1] != '\0' && enter_group_in(beside, path, bounds, places) == 0) return 0;
  return enter_group_in(own, path, bounds, places);
}

int bound_group(const char* path, const group_bounds& bounds) {
  int failed = write_bound(path, "memory.max", bounds.memory_bytes);
  if (failed == 0) failed = write_bound(path, "pids.max", bounds.processes);
  if (failed != 0 || bounds.memory_bytes == 0) return failed;
  // What is swapped out would not count. Not every kernel counts it, and few have any.
  (void)write_group_file(path, "memory.swap.max", "0");
  return 0;
}

bool group_has_other_than(const char* path, pid_t first, pid_t second) {
  const int fd = open_file(path, "cgroup.procs", O_RDONLY);
  if (fd < 0) return false;
  char text[4096]; // the beginning will do: more are others in any case
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[size < 0 ? 0 : size] = '\0';
  const char* at = text;
  for (unsigned long process = 0; read_number(at, process); ++at) {
    const auto id = static_cast<pid_t>(process);
    if (id != first && id != second) return true;
    if (*at != '\n') break;
  }
  return false;
}

bool kill_group(const char* path) {
  return write_group_file(path, "cgroup.kill", "1") == 0;
}

void remove_group(const char* path) {
  if (::rmdir(path) == 0) return;
  remove_groups_below(path);
  ::rmdir(path);
}

} // namespace paddock::exec
