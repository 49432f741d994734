// SPDX-License-Identifier: MIT
#pragma once

// A workspace with something beside it that nobody may touch. The directory `ws` is the root of the
// tests; `out` and `ws-evil` are the outside, described before and compared afterwards.

#include "support/files/temp_tree.hpp"

#include <paddock/path/root.hpp>

namespace paddock::test {

inline constexpr std::string_view outside_mark = "OUTSIDE";

/// Every name beneath `path` with kind, mode, owner, size, links, times of change and content.
inline std::string describe_tree(const std::string& path) {
  std::vector<std::string> rows;
  const auto describe = [&](const std::filesystem::path& entry) {
    struct stat s{};
    if (::lstat(entry.c_str(), &s) != 0) return;
    std::string row = entry.string();
    for (const auto part :
         {static_cast<std::uint64_t>(s.st_mode), static_cast<std::uint64_t>(s.st_uid),
          static_cast<std::uint64_t>(s.st_ino), static_cast<std::uint64_t>(s.st_nlink),
          static_cast<std::uint64_t>(s.st_mtim.tv_sec),
          static_cast<std::uint64_t>(s.st_mtim.tv_nsec)})
      row += ' ' + std::to_string(part);
    if (S_ISREG(s.st_mode)) {
      std::ifstream in(entry, std::ios::binary);
      row.append(" ").append(std::istreambuf_iterator<char>(in), {});
    }
    rows.push_back(std::move(row));
  };
  describe(path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    describe(entry.path());
  std::sort(rows.begin(), rows.end());
  std::string all;
  for (const auto& row : rows)
    all += row + '\n';
  return all;
}

/// The directory that holds the workspace and the outside.
class canary_tree {
public:
  canary_tree() {
    tree_.directory("ws");
    tree_.directory("out/dir");
    tree_.directory("ws-evil");
    for (const char* name : {"out/secret", "out/f", "out/hard", "out/dir/inner", "ws-evil/f"})
      tree_.file(name, std::string(outside_mark) + ' ' + name);
    EXPECT_EQ(0, ::chmod(tree_.path().c_str(), 0755));
  }

  [[nodiscard]] std::string ws() const { return tree_ / "ws"; }
  [[nodiscard]] std::string out() const { return tree_ / "out"; }
  /// Paths given to the tree's helpers start with "ws/".
  [[nodiscard]] const temp_tree& tree() const { return tree_; }

  [[nodiscard]] std::string describe_outside() const {
    return describe_tree(tree_ / "out") + describe_tree(tree_ / "ws-evil");
  }

private:
  temp_tree tree_;
};

inline std::string name_of(resolver r) {
  return r == resolver::walker ? "walker" : "openat2";
}

/// The root of a test; a test ends when it cannot be opened.
inline root open_root(const std::string& path, resolver r, mounts allowed = mounts::enter) {
  auto opened = root::open(path, {.resolver = r, .mounts = allowed});
  if (!opened) {
    ADD_FAILURE() << "cannot open " << path << ": " << wire_name(opened.error().code);
    std::abort();
  }
  return *std::move(opened);
}

/// For tests whose judge is the kernel's own resolution.
class judged_by_openat2 : public testing::Test {
protected:
  void SetUp() override {
    const canary_tree canary;
    if (!root::open(canary.ws(), {.resolver = resolver::openat2}))
      GTEST_SKIP() << "openat2, which is the judge, is not available";
  }
};

} // namespace paddock::test
