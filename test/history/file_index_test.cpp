// SPDX-License-Identifier: MIT
#include "history/file_index.hpp"
#include "precompiled/tests.hpp"

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
  EXPECT_LT(index.directory("").names.size(), 4096u);
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
  const indexed_directory in = index.directory("");
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

/// In memory, and all of it in a file without a name.
class FileIndexKept : public testing::TestWithParam<bool> {
protected:
  FileIndexKept() {
    std::string name = testing::TempDir() + "/file_index_XXXXXX";
    top_ = ::mkdtemp(name.data());
    directory_ = ::open(top_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  ~FileIndexKept() override {
    ::close(directory_);
    std::filesystem::remove_all(top_);
  }
  [[nodiscard]] int directory() const { return GetParam() ? directory_ : -1; }
  [[nodiscard]] static std::size_t memory() { return GetParam() ? 0 : std::size_t{1} << 30U; }

private:
  std::string top_;
  int directory_ = -1;
};

std::vector<std::string> all_of(const file_index& index) {
  std::vector<std::string> paths;
  index.for_each_beneath(
      "", [&](std::string_view path, const known_state&) { paths.emplace_back(path); });
  std::ranges::sort(paths);
  return paths;
}

/// Beside a map: trees of directories with few and with many entries, that come, go, and become
/// files.
TEST_P(FileIndexKept, KnowsATree) {
  std::mt19937 random(3);
  const auto up_to = [&](unsigned max) {
    return std::uniform_int_distribution<unsigned>(0, max)(random);
  };
  known_state directory;
  directory.kind = known_kind::directory;
  file_index index(this->directory(), memory());
  std::map<std::string, known_state> known;
  const auto forget = [&](const std::string& path) {
    known.erase(path);
    known.erase(known.lower_bound(path + '/'), known.lower_bound(path + '0')); // '0' is behind '/'
  };
  for (unsigned i = 1; i <= 20'000; ++i) {
    std::string in = "d" + std::to_string(up_to(2));
    const std::string top = in;
    if (up_to(1) == 0) in += (up_to(1) == 0 ? "/e" : "-x") + std::to_string(up_to(9));
    for (const std::string& path : {top, in}) {
      if (known.contains(path) && known[path].kind == known_kind::directory) continue;
      index.set(path, directory);
      known[path] = directory;
    }
    const std::string path = in + "/" + std::string(up_to(60), 'n') + std::to_string(up_to(900));
    if (up_to(200) == 0) {
      const known_state other = up_to(1) == 0 ? known_state() : file_of(i);
      index.set(in, other);
      forget(in);
      if (other.exists()) known[in] = other;
    } else if (up_to(3) == 0) {
      index.set(path, {});
      forget(path);
    } else {
      index.set(path, file_of(i));
      known[path] = file_of(i);
    }
  }
  std::vector<std::string> paths, unread;
  for (const auto& [path, state] : known) {
    EXPECT_EQ(index.find(path), state) << path;
    paths.push_back(path);
    if (state.kind == known_kind::file) unread.push_back(path);
  }
  EXPECT_GT(paths.size(), 1'000u);
  EXPECT_EQ(all_of(index), paths);
  EXPECT_EQ(index.size(), paths.size());
  EXPECT_EQ(index.unread(), unread.size());
  EXPECT_FALSE(index.find("nothing/here").exists());

  std::vector<std::string> met;
  index_place from;
  for (bool is_left = true; is_left;) { // three at a time
    is_left = false;
    std::size_t taken = 0;
    index.for_each_unread(from,
                          [&](std::string_view in, std::string_view name, const known_state&) {
                            is_left = taken++ == 3;
                            if (is_left) from = {std::string(in), std::string(name)};
                            if (!is_left) met.push_back(std::string(in) + '/' + std::string(name));
                            return !is_left;
                          });
  }
  std::ranges::sort(met);
  EXPECT_EQ(met, unread);

  index.clear();
  EXPECT_EQ(all_of(index).size(), 0u);
  EXPECT_FALSE(index.has_failed());
}

/// Names of 255 bytes in a directory with the longest path: few of them fill a leaf.
TEST_P(FileIndexKept, KnowsLongNames) {
  file_index index(directory(), memory());
  std::string in(4'000, 'd');
  for (std::size_t i = 200; i < in.size(); i += 200)
    in[i] = '/';
  const auto path_of = [&](int i) {
    return in + '/' + std::string(240, 'n') + std::to_string(100'000 + i * 7919 % 90'001);
  };
  for (int i = 0; i < 2'000; ++i)
    index.set(path_of(i), file_of(static_cast<std::uint64_t>(i)));
  for (int i = 0; i < 2'000; ++i)
    ASSERT_EQ(index.find(path_of(i)).size, static_cast<std::uint64_t>(i));
  EXPECT_EQ(index.directory(in).entries.size(), 2'000u);
  for (int i = 0; i < 2'000; ++i)
    index.set(path_of(i), {});
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.directory(in).entries.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, FileIndexKept, testing::Bool());

} // namespace
