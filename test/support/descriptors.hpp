// SPDX-License-Identifier: MIT
#pragma once

// The descriptors of this process, to see that none stays.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace paddock::test {

inline std::vector<std::string> open_descriptors() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    all.push_back(entry.path().filename());
  std::sort(all.begin(), all.end());
  return all;
}

} // namespace paddock::test
