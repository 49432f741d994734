// SPDX-License-Identifier: MIT
#include "exec/helper/disk_writes.hpp"

#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
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

/// Parents have lower numbers than their children, nearly always, and are seen first: one that ends
/// meanwhile is missed rather than counted twice.
std::uint64_t written_by_all() {
  std::uint64_t sum = 0;
  const int all = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (all < 0) return 0;
  directory_entries entries(all);
  while (const char* name = entries.next()) {
    std::uint64_t bytes = 0;
    if (is_number(name) && read_written(name, bytes) == 0) sum += bytes;
  }
  ::close(all);
  return sum;
}

} // namespace

int disk_writes::probe() {
  char self[8];
  const ssize_t size = ::readlink("/proc/self", self, sizeof self);
  if (size != 1 || self[0] != '1') return ENOTSUP; // the /proc of others
  std::uint64_t bytes = 0;
  return read_written("self", bytes);
}

/// A sum that becomes less has lost somebody for whom nobody waited.
std::uint64_t disk_writes::look() {
  const std::uint64_t now = written_by_all();
  if (now < last_) of_the_gone_ += last_ - now;
  last_ = now;
  return of_the_gone_ + now;
}

bool disk_writes::exceed() {
  const auto before = *this;
  if (look() <= bytes_max_) return false;
  disk_writes again = before; // perhaps one was counted twice
  const bool is_sure = again.look() > bytes_max_;
  if (!is_sure) {
    last_ = again.last_;
    of_the_gone_ = again.of_the_gone_;
  }
  return is_sure;
}

} // namespace paddock::exec
