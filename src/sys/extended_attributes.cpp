// SPDX-License-Identifier: MIT
#include "sys/call.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/xattr.h>

#include <cerrno>
#include <span>
#include <string>

namespace paddock::sys {
namespace {

/// What a call of the xattr family fills a buffer with. Such calls want a path of a file that this
/// user may not be able to open; without /proc the file is opened all the same.
template <class ByPath, class ByDescriptor>
result<std::string> attribute_of(int dirfd, const char* name, ByPath by_path,
                                 ByDescriptor by_descriptor, const char* operation) {
  std::string path = path_of(dirfd).data();
  path.append("/").append(name);
  file_descriptor opened;
  std::string bytes(256, '\0'); // most need less
  for (;;) {
    const auto fill = [&](std::span<char> out) {
      return retried(
          [&] { return opened ? by_descriptor(opened.get(), out) : by_path(path.c_str(), out); });
    };
    const auto n = fill(bytes);
    if (n >= 0) {
      bytes.resize(static_cast<std::size_t>(n));
      return bytes;
    }
    if (errno == ENOENT && !opened) {
      auto fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
      if (!fd) return fd.error();
      opened = *std::move(fd);
      continue;
    }
    if (errno != ERANGE || bytes.size() > XATTR_SIZE_MAX) return failure(errno, operation);
    bytes.resize(XATTR_SIZE_MAX + 1);
  }
}

} // namespace

result<std::string> attribute_names_at(int dirfd, const char* name) {
  return attribute_of(
      dirfd, name,
      [](const char* path, auto out) { return ::llistxattr(path, out.data(), out.size()); },
      [](int fd, auto out) { return ::flistxattr(fd, out.data(), out.size()); }, "listxattr");
}

result<std::string> attribute_at(int dirfd, const char* name, const char* attribute) {
  return attribute_of(
      dirfd, name,
      [=](const char* path, auto out) {
        return ::lgetxattr(path, attribute, out.data(), out.size());
      },
      [=](int fd, auto out) { return ::fgetxattr(fd, attribute, out.data(), out.size()); },
      "getxattr");
}

result<std::size_t> attribute_size(int fd, const char* attribute) {
  return count(retried([&] { return ::fgetxattr(fd, attribute, nullptr, 0); }), "getxattr");
}

result<void> set_attribute(int fd, const char* attribute, std::string_view value) {
  return none(retried([&] { return ::fsetxattr(fd, attribute, value.data(), value.size(), 0); }),
              "setxattr");
}

result<void> remove_attribute(int fd, const char* attribute) {
  return none(retried([&] { return ::fremovexattr(fd, attribute); }), "removexattr");
}

} // namespace paddock::sys
