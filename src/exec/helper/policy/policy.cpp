// SPDX-License-Identifier: MIT
#include "exec/helper/policy/policy.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace paddock::exec {
namespace {

/// Passes over `count` strings that end before `end`; null when there are not so many.
const char* skip(const char* at, const char* end, std::uint32_t count) {
  for (; at != nullptr && count > 0; --count) {
    const void* terminator = std::memchr(at, '\0', static_cast<std::size_t>(end - at));
    at = terminator == nullptr ? nullptr : static_cast<const char*>(terminator) + 1;
  }
  return at;
}

} // namespace

bool map_policy(int fd, policy& mapped) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(sys::exec_policy) || size > sys::exec_policy_bytes_max) return false;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) return false;
  const auto* fixed = static_cast<const sys::exec_policy*>(memory);
  if (fixed->bytes != size) return false;
  const char* end = static_cast<const char*>(memory) + size;
  mapped.fixed = fixed;
  mapped.read_paths = static_cast<const char*>(memory) + sizeof *fixed;
  mapped.write_paths = skip(mapped.read_paths, end, fixed->read_paths);
  mapped.cache_paths = skip(mapped.write_paths, end, fixed->write_paths);
  mapped.protected_entries = skip(mapped.cache_paths, end, fixed->cache_paths);
  mapped.search_path = skip(mapped.protected_entries, end, fixed->protected_entries);
  mapped.home = skip(mapped.search_path, end, 1);
  mapped.git_configuration = skip(mapped.home, end, 1);
  mapped.scratch = skip(mapped.git_configuration, end, 1);
  return skip(mapped.scratch, end, 1) == end;
}

const char* next(const char* string) {
  return string + std::strlen(string) + 1;
}

} // namespace paddock::exec
