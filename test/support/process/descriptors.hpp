// SPDX-License-Identifier: MIT
#pragma once

// The descriptors of this process, to see that none stays.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace paddock::test {

/// But for the namespaces of loopbacks, which a process keeps, a few at most, for later commands.
inline std::vector<std::string> open_descriptors() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!what.starts_with("net:[") && !what.starts_with("user:["))
      all.push_back(entry.path().filename());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The epoll instance of this process that looks at it; -1: none does.
inline int poller_of(int fd) {
  namespace fs = std::filesystem;
  for (const std::string& each : open_descriptors()) {
    std::error_code gone;
    if (fs::read_symlink("/proc/self/fd/" + each, gone) != "anon_inode:[eventpoll]") continue;
    std::ifstream info("/proc/self/fdinfo/" + each);
    for (std::string word; info >> word;)
      if (int polled = -1; word == "tfd:" && info >> polled && polled == fd) return std::stoi(each);
  }
  return -1;
}
inline bool is_polled(int fd) {
  return poller_of(fd) >= 0;
}

} // namespace paddock::test
