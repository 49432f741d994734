// SPDX-License-Identifier: MIT
#include "exec/helper/stray_writes.hpp"

#include <sys/stat.h>

#include <cstring>

namespace paddock::exec {
namespace {

/// A directory that leads to something and is not itself what the command was given for scratch.
bool leads_through_scratch(const visible_paths& visible, const char* directory) {
  bool below = false;
  for (const visible_path& each : visible) {
    if (each.as != use::scratch && each.as != use::write) continue;
    if (each.as == use::write && is_within(directory, each.path)) return false;
    if (std::strcmp(directory, each.path) == 0) return false;
    below = below || is_within(directory, each.path);
  }
  return below;
}

} // namespace

stray_writes::stray_writes(const visible_paths& visible, const char* workspace)
    : workspace_(workspace) {
  char directory[PATH_MAX];
  for (std::uint32_t bytes = 1; workspace[bytes - 1] != '\0' && size_ < levels_max; ++bytes) {
    if (workspace[bytes] != '/' || bytes >= sizeof directory) continue;
    std::memcpy(directory, workspace, bytes);
    directory[bytes] = '\0';
    if (leads_through_scratch(visible, directory)) levels_[size_++] = {bytes, changed_ns(bytes)};
  }
}

/// 0: it cannot be looked at.
std::int64_t stray_writes::changed_ns(std::uint32_t bytes) const {
  char directory[PATH_MAX];
  struct stat status{};
  std::memcpy(directory, workspace_, bytes);
  directory[bytes] = '\0';
  if (::lstat(directory, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::uint32_t stray_writes::found() const {
  for (unsigned i = 0; i < size_; ++i)
    if (changed_ns(levels_[i].bytes) != levels_[i].changed_ns) return levels_[i].bytes;
  return 0;
}

} // namespace paddock::exec
