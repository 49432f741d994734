// SPDX-License-Identifier: MIT
#include "exec/helper/root/canonical.hpp"

#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

namespace paddock::exec {
namespace {

constexpr int links_max = 40; // as the kernel
constexpr std::uint64_t no_symlinks = 0x04;

struct open_request { // struct open_how
  std::uint64_t flags;
  std::uint64_t mode;
  std::uint64_t resolve;
};

int flags_for(kind_wanted kind) {
  return O_PATH | O_CLOEXEC | (kind == kind_wanted::directory ? O_DIRECTORY : 0);
}

/// The name of a descriptor, which it closes. 0 or an errno.
int take_name(int fd, char (&into)[PATH_MAX]) {
  const bool named = name_of_descriptor(fd, into, sizeof into) && into[0] == '/';
  ::close(fd);
  return named ? 0 : ENOENT;
}

/// What most paths are: without a link anywhere. ELOOP: it may have one.
int name_without_links(const char* path, kind_wanted kind, char (&into)[PATH_MAX]) {
  const open_request how{static_cast<std::uint64_t>(flags_for(kind)), 0, no_symlinks};
  const auto fd = static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
  if (fd >= 0) return take_name(fd, into);
  const bool definite = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
  return definite ? errno : ELOOP;
}

void cut_last(char* path) {
  char* slash = const_cast<char*>(std::strrchr(path, '/'));
  if (slash != nullptr) *slash = '\0';
}

/// One path on its way, component by component.
struct walk {
  char (&at)[PATH_MAX]; ///< canonical so far; empty: the root directory
  char rest[PATH_MAX];
  int links = 0;

  /// The next component of `rest`, appended to `at`; 0 or an errno.
  int step(const link_rule& rule) {
    char* begin = rest + std::strspn(rest, "/");
    char* end = const_cast<char*>(std::strchr(begin, '/'));
    char* behind = end != nullptr ? end + 1 : begin + std::strlen(begin);
    if (end != nullptr) *end = '\0';
    if (*begin != '\0' && std::strcmp(begin, ".") != 0 && std::strcmp(begin, "..") != 0)
      return enter(begin, behind, rule);
    if (std::strcmp(begin, "..") == 0) cut_last(at);
    std::memmove(rest, behind, std::strlen(behind) + 1);
    return 0;
  }

private:
  int enter(const char* name, const char* behind, const link_rule& rule) {
    const std::size_t size = std::strlen(at);
    const std::size_t name_size = std::strlen(name);
    if (size + 1 + name_size >= sizeof at) return ENAMETOOLONG;
    at[size] = '/';
    std::memcpy(at + size + 1, name, name_size + 1);
    char target[PATH_MAX];
    const ssize_t length = ::readlink(at, target, sizeof target - 1);
    if (length < 0 && errno != EINVAL) return errno;
    if (rule.visit != nullptr)
      if (const int failed = rule.visit(at, rule.context); failed != 0) return failed;
    if (length < 0) {
      std::memmove(rest, behind, std::strlen(behind) + 1);
      return 0;
    }
    target[length] = '\0';
    at[size] = '\0';
    if (++links > links_max) return ELOOP;
    if (rule.is_foreign(size == 0 ? "/" : at, rule.context)) return EPERM;
    char left[PATH_MAX];
    if (!text_writer(left).add(target).add("/").add(behind).complete()) return ENAMETOOLONG;
    std::memcpy(rest, left, sizeof rest);
    if (target[0] == '/') at[0] = '\0';
    return 0;
  }
};

} // namespace

int canonical_name(const char* path, kind_wanted kind, const link_rule& rule,
                   char (&into)[PATH_MAX]) {
  const int quickly = rule.visit != nullptr ? ELOOP : name_without_links(path, kind, into);
  if (quickly != ELOOP) return quickly;
  walk at{into, {}};
  into[0] = '\0';
  if (!text_writer(at.rest).add(path).complete()) return ENAMETOOLONG;
  while (at.rest[0] != '\0')
    if (const int failed = at.step(rule); failed != 0) return failed;
  const int fd = ::open(into[0] == '\0' ? "/" : into, flags_for(kind) | O_NOFOLLOW);
  return fd < 0 ? errno : take_name(fd, into);
}

bool is_plain(const char* path) {
  if (path[0] != '/' || path[1] == '\0') return false;
  for (const char* at = path; *at != '\0';) {
    const char* name = at + 1;
    const char* end = std::strchr(name, '/');
    const std::size_t size =
        end != nullptr ? static_cast<std::size_t>(end - name) : std::strlen(name);
    if (size == 0 || (size == 1 && name[0] == '.') ||
        (size == 2 && name[0] == '.' && name[1] == '.'))
      return false;
    at = name + size;
  }
  return true;
}

bool is_within(const char* path, const char* directory) {
  const std::size_t size = std::strlen(directory);
  if (size == 1) return true;
  return std::strncmp(path, directory, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

} // namespace paddock::exec
