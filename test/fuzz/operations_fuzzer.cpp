// SPDX-License-Identifier: MIT

// Sequences of operations, decoded from the bytes (see operation_sequence.hpp), on the library with
// both resolvers and on a model: after each step the answers and the trees are the same, and what
// lies beside the roots stays.

#include "support/model/operation_sequence.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace {

/// Outlives all inputs: the roots stay open, their content is cleared.
class surroundings {
public:
  surroundings() : base_(make_directory()), both_(base_) {
    for (const char* out : outside)
      std::ofstream(base_ + out + "/secret") << secret;
  }
  surroundings(const surroundings&) = delete;
  surroundings& operator=(const surroundings&) = delete;
  ~surroundings() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  std::string run(std::span<const std::uint8_t> bytes) {
    const std::string difference = both_.run(bytes);
    if (!difference.empty() || untouched()) return difference;
    return "the outside has changed";
  }

private:
  static constexpr const char* outside[] = {"/first/out", "/other/out"};
  static constexpr const char* secret = "OUTSIDE";

  static std::string make_directory() {
    const bool in_memory = ::access("/dev/shm", W_OK | X_OK) == 0;
    std::string pattern = std::string(in_memory ? "/dev/shm" : "/tmp") + "/paddock-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    return pattern;
  }
  static std::size_t entries(const std::string& path) {
    const std::filesystem::directory_iterator all(path);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  [[nodiscard]] bool untouched() const {
    for (const char* out : outside) {
      std::ifstream in(base_ + out + "/secret");
      std::string content;
      if (!std::getline(in, content) || content != secret) return false;
      if (entries(base_ + out) != 1 || entries(base_ + out + "/..") != 2) return false;
    }
    return entries(base_) == 2;
  }

  std::string base_;
  paddock::test::sequence_comparison both_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static surroundings here;
  const std::string difference = here.run({data, size});
  if (difference.empty()) return 0;
  std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}
