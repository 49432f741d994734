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

/// Also where one directory after the other goes and comes again.
TEST(FileIndex, KnowsWhatWasSetInDirectories) {
  std::mt19937 random(2);
  const auto up_to = [&](unsigned max) {
    return std::uniform_int_distribution<unsigned>(0, max)(random);
  };
  known_state directory;
  directory.kind = known_kind::directory;
  file_index index;
  std::map<std::string, std::uint64_t> known;
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    const std::string in = "d" + std::to_string(up_to(3));
    const std::string path = in + "/f" + std::to_string(up_to(20));
    if (up_to(9) == 0) {
      index.set(in, {});
      std::erase_if(known, [&](const auto& each) { return each.first.starts_with(in + '/'); });
      continue;
    }
    index.set(in, directory);
    index.set(path, file_of(i));
    known[path] = i;
  }
  EXPECT_EQ(index.unread(), known.size());
  for (const auto& [path, size] : known)
    EXPECT_EQ(index.find(path).size, size) << path;
}

TEST(FileIndex, FindsInAnyOrder) {
  file_index index;
  const auto name_of = [](int i) { return "n" + std::to_string(100 + i); };
  constexpr int names = 50;
  for (int i = 0; i < names; i += 2)
    index.set(name_of(i), file_of(static_cast<std::uint64_t>(i)));
  const indexed_directory& in = *index.directory("");
  for (const int step : {1, -1, 7, 20, 49}) { // up, down, and across
    std::size_t before = 0;
    for (int n = 0, i = 0; n < 2 * names; ++n, i = (i + step + names) % names) {
      const indexed_entry* const found = in.find_beside(name_of(i), before);
      ASSERT_EQ(found != nullptr, i % 2 == 0) << i;
      if (found != nullptr) {
        EXPECT_EQ(found->state.size, static_cast<std::uint64_t>(i));
      }
    }
  }
}

} // namespace
