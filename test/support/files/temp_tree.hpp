// SPDX-License-Identifier: MIT
#pragma once

// A temporary directory of the test's own, removed at the end, with helpers that fail the test when
// the set-up does not work. Everything goes through plain system calls, never through the library
// under test.

#include "precompiled/tests.hpp"

namespace paddock::test {

class temp_tree {
public:
  temp_tree() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/paddock-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(pattern).string();
  }
  temp_tree(const temp_tree&) = delete;
  temp_tree& operator=(const temp_tree&) = delete;
  ~temp_tree() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
    if (failed) { // directories that an ordinary user has closed
      open_directories(path_);
      std::filesystem::remove_all(path_, failed);
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

  void directory(std::string_view name) const {
    std::error_code failed;
    std::filesystem::create_directories(*this / name, failed);
    ASSERT_FALSE(failed) << name << ": " << failed.message();
  }
  void file(std::string_view name, std::string_view content = "") const {
    std::ofstream out(*this / name, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    ASSERT_TRUE(out) << name;
  }
  void link(std::string_view name, std::string_view target) const {
    ASSERT_EQ(0, ::symlink(std::string(target).c_str(), (*this / name).c_str())) << name;
  }
  [[nodiscard]] std::string content(std::string_view name) const {
    std::ifstream in(*this / name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] bool exists(std::string_view name) const {
    struct stat s{};
    return ::lstat((*this / name).c_str(), &s) == 0;
  }

private:
  static void open_directories(const std::filesystem::path& directory) {
    std::error_code ignored;
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all,
                                 std::filesystem::perm_options::add, ignored);
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
      if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) open_directories(entry.path());
  }

  std::string path_;
};

} // namespace paddock::test
