// SPDX-License-Identifier: MIT
#include "exec/helper/root/spot.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {

spot::spot(int top, const char* path) : top_(top), parent_(top) {
  for (const char* at = path;;) {
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
    if (parent_ != top_) ::close(parent_);
    parent_ = entry_;
    entry_ = -1;
    at = slash + 1;
  }
}

bool spot::look() {
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

spot::~spot() {
  if (entry_ >= 0) ::close(entry_);
  if (parent_ != top_) ::close(parent_);
}

bool spot::is_directory() const {
  return mode_ == S_IFDIR;
}

bool spot::is_link() const {
  return mode_ == S_IFLNK;
}

} // namespace paddock::exec
