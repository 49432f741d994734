// SPDX-License-Identifier: MIT
#pragma once

// A directory for a benchmark's files, removed at the end. Set-up goes through std::filesystem, so
// that it stays independent of what is measured.

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace paddock::bench {

/// Text of that many bytes, in lines of 44.
inline std::string lines_of(std::size_t bytes, std::string_view line_break = "\n") {
  std::string text;
  while (text.size() < bytes)
    text.append("the quick brown fox jumps over the lazy dog").append(line_break);
  text.resize(bytes);
  return text;
}

class scratch {
public:
  scratch() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/paddock-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  void file(std::string_view name, std::string_view content) const {
    const std::filesystem::path where = path_ + "/" + std::string(name);
    std::filesystem::create_directories(where.parent_path());
    std::ofstream(where, std::ios::binary) << content;
  }

  [[nodiscard]] std::string content(std::string_view name) const {
    std::ifstream in(path_ + "/" + std::string(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

private:
  std::string path_;
};

} // namespace paddock::bench
