// SPDX-License-Identifier: MIT
#include "exec/helper/disk_writes.hpp"

#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

/// With what those have written that it has waited for. 0 or an errno.
int read_written(const char* process, std::uint64_t& bytes) {
  constexpr char label[] = "\nwrite_bytes: ";
  char path[64];
  char text[512];
  if (!text_writer(path).add("/proc/").add(process).add("/io").complete()) return ENAMETOOLONG;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const ssize_t size = ::read(file, text, sizeof text - 1);
  const int failed = size < 0 ? errno : 0;
  ::close(file);
  if (failed != 0) return failed;
  text[size] = '\0';
  for (const char* at = text; (at = std::strchr(at, '\n')) != nullptr; ++at) {
    if (std::strncmp(at, label, sizeof label - 1) != 0) continue;
    at += sizeof label - 1;
    unsigned long number = 0;
    if (!read_number(at, number)) return EINVAL;
    bytes = number;
    return 0;
  }
  return EINVAL;
}

bool is_number(const char* name) {
  return name[std::strspn(name, "0123456789")] == '\0';
}

/// What those wrote for whose end this process has waited.
std::uint64_t written_by_the_gone() {
  constexpr std::uint64_t block = 512;
  struct rusage used{};
  if (::syscall(SYS_getrusage, RUSAGE_CHILDREN, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.ru_oublock) * block;
}

/// Parents have lower numbers than their children, nearly always, and are seen first: one that ends
/// meanwhile is missed rather than counted twice.
std::uint64_t written_by_all() {
  std::uint64_t sum = written_by_the_gone();
  const int all = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (all < 0) return sum;
  directory_entries entries(all);
  while (const char* name = entries.next()) {
    std::uint64_t bytes = 0;
    const bool is_self = std::strcmp(name, "1") == 0; // it writes nothing
    if (is_number(name) && !is_self && read_written(name, bytes) == 0) sum += bytes;
  }
  ::close(all);
  return sum;
}

} // namespace

/// This process may not read what it has written itself where it has no privileges.
int disk_writes::probe() {
  char self[8];
  struct stat found{};
  const ssize_t size = ::readlink("/proc/self", self, sizeof self);
  if (size != 1 || self[0] != '1') return ENOTSUP; // the /proc of others
  return ::lstat("/proc/self/io", &found) == 0 ? 0 : errno;
}

bool disk_writes::exceed() const {
  // Twice, for perhaps one was counted twice.
  return written_by_all() > bytes_max_ && written_by_all() > bytes_max_;
}

} // namespace paddock::exec
