// SPDX-License-Identifier: MIT

// Random operations of tools, commands and a person, judged by copies that cp has made.

#include "support/history/history_fixture.hpp"

using namespace paddock;
using test::IsOk;

namespace {

class HistoryRandom : public test::history_fixture, public testing::WithParamInterface<unsigned> {
protected:
  [[nodiscard]] unsigned up_to(unsigned max) {
    return std::uniform_int_distribution<unsigned>(0, max)(random_);
  }
  /// Names that meet often, in directories that meet often; also such as no text has.
  std::string name() {
    static const std::array<std::string, 9> names{
        "a", "b", "c.txt", "d e", "new\nline", "\xFF\xFE", "-dash", ".hidden", "a.b"};
    return names.at(up_to(names.size() - 1));
  }
  std::string path() {
    std::string out = name();
    for (unsigned depth = up_to(3); depth > 0; --depth)
      out += '/' + name();
    return workspace() + '/' + out;
  }
  std::string bytes() {
    std::string out(up_to(4) == 0 ? up_to(100'000) : up_to(40), '\0');
    for (char& each : out)
      each = static_cast<char>(up_to(255));
    return out;
  }

  /// One change by plain calls; most of them may fail.
  void change() {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path at = path(), other = path();
    switch (up_to(9)) {
    case 0:
    case 1:
    case 2:
      fs::create_directories(at.parent_path(), failed);
      if (!fs::is_symlink(at, failed)) std::ofstream(at, std::ios::binary) << bytes();
      break;
    case 3:
      fs::create_directories(at, failed);
      break;
    case 4:
      fs::create_directories(at.parent_path(), failed);
      fs::create_symlink(name(), at, failed);
      break;
    case 5:
      fs::remove_all(at, failed);
      break;
    case 6:
    case 7:
      fs::create_directories(other.parent_path(), failed);
      fs::rename(at, other, failed);
      break;
    case 8:
      if (!fs::is_symlink(at, failed)) (void)::chmod(at.c_str(), 0700 | up_to(077));
      break;
    default:
      if (!fs::is_symlink(at, failed)) {
        std::ofstream(at, std::ios::binary | std::ios::app) << "more";
      }
      break;
    }
  }
  void changes(unsigned most) {
    for (unsigned left = up_to(most); left > 0; --left)
      change();
  }

  std::mt19937 random_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, HistoryRandom, testing::Range(0u, 12u));

TEST_P(HistoryRandom, EveryCheckpointComesBack) {
  for (int i = 0; i < 30; ++i)
    change();
  auto store = begun();
  std::vector<std::pair<std::uint64_t, std::string>> points{{store->state().start, now()}};
  ASSERT_NE(points.front().first, 0u);
  for (int round = 0; round < 6; ++round) {
    if (up_to(4) == 0) store = begun();
    if (up_to(1) == 0) {
      auto recording = store->before_command("exec", "change");
      changes(20);
      EXPECT_EQ(recording.finish(), "");
    } else {
      const std::vector<std::string> top{""};
      auto recording = store->before_tool("write", top);
      changes(5);
      EXPECT_EQ(recording.finish(), "");
    }
    const auto made = store->make_checkpoint("point");
    ASSERT_THAT(made, IsOk());
    points.emplace_back(made->number, now());
  }
  for (int round = 0; round < 6; ++round) {
    const auto& [number, wanted] = points[up_to(static_cast<unsigned>(points.size()) - 1)];
    const auto back = store->restore({.to = number});
    ASSERT_THAT(back, IsOk());
    ASSERT_TRUE(back->conflicts.empty())
        << back->conflicts.front().path << ": " << back->conflicts.front().reason;
    ASSERT_EQ(now(), wanted) << "to " << number;
    // Nothing differs any more, and what was done is one more step.
    const auto left = store->changes({.since = number});
    ASSERT_THAT(left, IsOk());
    EXPECT_EQ(told(left), "");
  }
}

/// A control: what is compared tells each kind of difference.
TEST_P(HistoryRandom, ADifferenceIsSeen) {
  for (int i = 0; i < 20; ++i)
    change();
  write("f", "content");
  const std::string before = now();
  const std::array<std::string, 6> differences{
      "echo x >> f", "chmod 701 f", "touch -d 2001-01-01 f", "rm f", "ln -s x l", "mkdir empty"};
  shell(differences.at(GetParam() % differences.size()));
  EXPECT_NE(now(), before);
}

/// What a person changes stays, whatever is taken back around it.
TEST_P(HistoryRandom, APersonsFilesStay) {
  for (int i = 0; i < 20; ++i)
    change();
  const auto store = begun();
  run(*store, "true");
  {
    auto recording = store->before_command("exec", "change");
    changes(20);
  }
  write("a person's", "own");
  write("their/own", "too");
  (void)restored(*store);
  EXPECT_EQ(tree.content("ws/a person's"), "own");
  EXPECT_EQ(tree.content("ws/their/own"), "too");
}

} // namespace
