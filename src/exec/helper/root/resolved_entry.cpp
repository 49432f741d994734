// SPDX-License-Identifier: MIT
#include "exec/helper/root/resolved_entry.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {

std::size_t trail::turn_to(const char* path) {
  const std::size_t size = std::strlen(path);
  unsigned shared = 0;
  while (shared < depth_) {
    const std::size_t bytes = levels_[shared].bytes;
    if (bytes >= size || path[bytes] != '/' || std::memcmp(path, path_, bytes) != 0) break;
    ++shared;
  }
  leave_all_but(shared);
  return depth_ == 0 ? 0 : levels_[depth_ - 1].bytes + std::size_t{1};
}

bool trail::enter(int directory, const char* path, std::size_t bytes) {
  if (depth_ == levels_max || bytes > sizeof path_) return false;
  std::memcpy(path_, path, bytes);
  levels_[depth_++] = {directory, static_cast<std::uint32_t>(bytes)};
  return true;
}

void trail::leave_all_but(unsigned kept) {
  while (depth_ > kept)
    ::close(levels_[--depth_].directory);
}

resolved_entry::resolved_entry(int top, const char* path) : top_(top), parent_(top) {
  walk(path, path);
}

resolved_entry::resolved_entry(trail& along, const char* path)
    : along_(&along), top_(along.top()), parent_(top_) {
  const char* from = path + along.turn_to(path);
  parent_ = along.nearest();
  walk(path, from);
}

void resolved_entry::walk(const char* path, const char* from) {
  for (const char* at = from;;) {
    const char* slash = std::strchr(at, '/');
    const std::size_t size =
        slash != nullptr ? static_cast<std::size_t>(slash - at) : std::strlen(at);
    if (size > NAME_MAX) {
      errno_ = ENAMETOOLONG;
      return;
    }
    std::memcpy(name_, at, size);
    name_[size] = '\0';
    bytes_ = static_cast<std::uint32_t>(at - path + static_cast<std::ptrdiff_t>(size));
    whole_ = slash == nullptr;
    if (!look() || whole_ || !is_directory()) return;
    descend(path);
    at = slash + 1;
  }
}

void resolved_entry::descend(const char* path) {
  if (owns_parent_) ::close(parent_);
  parent_ = entry_;
  entry_ = -1;
  owns_parent_ = along_ == nullptr || !along_->enter(parent_, path, bytes_);
}

bool resolved_entry::look() {
  entry_ = ::openat(parent_, name_, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat status{};
  if (entry_ < 0 || ::fstat(entry_, &status) != 0) {
    errno_ = errno;
    return false;
  }
  mode_ = status.st_mode & S_IFMT;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

resolved_entry::~resolved_entry() {
  if (entry_ >= 0) ::close(entry_);
  if (owns_parent_) ::close(parent_);
}

bool resolved_entry::is_directory() const {
  return mode_ == S_IFDIR;
}

bool resolved_entry::is_link() const {
  return mode_ == S_IFLNK;
}

} // namespace paddock::exec
