// SPDX-License-Identifier: MIT
#include "history/file_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

using namespace paddock::history;

namespace {

known_state file_of(std::uint64_t size) {
  known_state state;
  state.kind = known_kind::file;
  state.held = holding::not_read_yet;
  state.size = size;
  return state;
}

/// Beside a map that keeps whole paths.
TEST(FileIndex, KnowsWhatWasSet) {
  std::mt19937 random(1);
  const auto up_to = [&](unsigned max) {
    return std::uniform_int_distribution<unsigned>(0, max)(random);
  };
  file_index index;
  std::map<std::string, std::uint64_t> known;
  for (int i = 0; i < 20'000; ++i) {
    const std::string path = std::string(up_to(30) + 1, 'x') + std::to_string(up_to(40));
    if (up_to(1) == 0) {
      known[path] = static_cast<std::uint64_t>(i);
      index.set(path, file_of(static_cast<std::uint64_t>(i)));
    } else {
      known.erase(path);
      index.set(path, {});
    }
  }
  EXPECT_EQ(index.size(), known.size());
  EXPECT_EQ(index.unread(), known.size());
  for (const auto& [path, size] : known) {
    EXPECT_TRUE(index.find(path).exists()) << path;
    EXPECT_EQ(index.find(path).size, size) << path;
  }
  std::size_t met = 0;
  index.for_each_beneath("", [&](std::string_view path, const known_state&) {
    EXPECT_TRUE(known.contains(std::string(path)));
    ++met;
  });
  EXPECT_EQ(met, known.size());
}

/// Names that come and go take no more room than those that are there.
TEST(FileIndex, ForgetsNames) {
  file_index index;
  index.set("kept", file_of(1));
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "temporary-" + std::to_string(i);
    index.set(name, file_of(1));
    index.set(name, {});
  }
  EXPECT_LT(index.directory("")->names.size(), 4096u);
  EXPECT_TRUE(index.find("kept").exists());
}

TEST(FileIndex, ForgetsWhatWasInADirectory) {
  known_state directory;
  directory.kind = known_kind::directory;
  file_index index;
  index.set("d", directory);
  index.set("d/e", directory);
  index.set("d/e/f", file_of(1));
  index.set("d-not", file_of(1));
  index.set("d", {});
  EXPECT_FALSE(index.find("d/e/f").exists());
  EXPECT_TRUE(index.find("d-not").exists());
  EXPECT_EQ(index.size(), 1u);
}

} // namespace
