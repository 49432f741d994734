// SPDX-License-Identifier: MIT
#include "support/files/temp_tree.hpp"
#include "support/process/process.hpp"

#include <paddock/search/tree_map.hpp>

using namespace paddock;

namespace {

std::string told(const result<tree_map>& map) {
  if (!map) return "error " + std::string(wire_name(map.error().code));
  std::string text;
  for (const map_line& line : map->lines)
    (text += text_of(line)) += '\n';
  return text;
}

class TreeMap : public testing::TestWithParam<unsigned> {
protected:
  result<tree_map> map(map_options options = {}, std::string_view path = ".") {
    const auto where = root::open(tree.path());
    EXPECT_TRUE(where);
    options.threads_max = GetParam();
    return where ? map_tree(*where, path, options) : result<tree_map>(error{});
  }
  /// So many files of so many bytes.
  void files(const std::string& directory, int number, std::size_t bytes) {
    tree.directory(directory);
    for (int i = 0; i < number; ++i)
      tree.file(directory + "/f" + std::to_string(i), std::string(bytes, 'x'));
  }
  test::temp_tree tree;
};

INSTANTIATE_TEST_SUITE_P(, TreeMap, testing::Values(1u, 2u, 8u));

TEST_P(TreeMap, ShowsDirectoriesFirst) {
  tree.directory("b/c");
  tree.directory("void");
  tree.file("a", std::string(1536, 'x'));
  tree.file("b/c/d", "");
  tree.file("b/e", std::string(10 * 1024 + 512, 'x'));
  tree.link("z", "a");
  EXPECT_EQ("b/\n  c/\n    d 0 B\n  e 10 KB\nvoid/\na 1.5 KB\nz (link)\n", told(map()));
  EXPECT_EQ("b/ 2 files, 10 KB\nvoid/\na 1.5 KB\nz (link)\n", told(map({.depth_max = 1})));
  EXPECT_EQ("c/\n  d 0 B\ne 10 KB\n", told(map({}, "b")));
  EXPECT_EQ("error not_a_directory", told(map({}, "a")));
  EXPECT_EQ("error escapes_root", told(map({}, "..")));
  const auto whole = map();
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->truncated);
  EXPECT_EQ((tree_amount{.files = 4, .directories = 3, .bytes = 12'288}), whole->amount);
}

TEST_P(TreeMap, CollapsesWhatHasNoRoomTheHeaviestFirst) {
  files("heavy", 300, 10);
  files("light", 3, 1024);
  files("heavy/in", 2, 1);
  const auto little = map({.bytes_max = 200});
  EXPECT_EQ("heavy/\n  in/\n    f0 1 B\n    f1 1 B\n  \u2026 300 files, 2.9 KB\n"
            "light/\n  f0 1.0 KB\n  f1 1.0 KB\n  f2 1.0 KB\n",
            told(little));
  EXPECT_TRUE(little->truncated);
  EXPECT_EQ("heavy/ 302 files, 2.9 KB\nlight/ 3 files, 3.0 KB\n", told(map({.bytes_max = 60})));
  EXPECT_EQ("\u2026 3 directories, 305 files, 5.9 KB\n", told(map({.bytes_max = 20})));
  EXPECT_FALSE(map({.bytes_max = 100'000})->truncated); // the control
}

TEST_P(TreeMap, CountsWhatIsIgnoredInOneLine) {
  files("node_modules/deep", 1'200, 1);
  files("src", 1, 1);
  tree.file(".gitignore", "node_modules/\n*.o\n");
  tree.file("src/a.o", "123");
  tree.file("src/b.o", "123");
  EXPECT_EQ("node_modules/ 1,200 files, 1.2 KB, ignored\nsrc/\n  f0 1 B\n  \u2026 2 files, 6 B, "
            "ignored\n.gitignore 18 B\n",
            told(map()));
  EXPECT_EQ((tree_amount{.files = 2, .directories = 1, .bytes = 19}), map()->amount);
  EXPECT_EQ("deep/ 1,200 files, 1.2 KB\n", told(map({.depth_max = 1}, "node_modules")));
  EXPECT_EQ("node_modules/ 1,200 files, 1.2 KB\nsrc/ 3 files, 7 B\n.gitignore 18 B\n",
            told(map({.depth_max = 1, .ignored = ignore_files::disregard})));
}

TEST_P(TreeMap, KeepsNamesOnTheirLinesAndHidesWhatIsHidden) {
  tree.file("a\nb", "1");
  tree.file("caf\xE9", "1");
  tree.file("d\u009B2J\u202Ee\u2028f", "1");
  tree.directory(".perstack");
  tree.directory(".git");
  tree.file(".git/config", "1");
  ASSERT_EQ(0, ::mkfifo((tree / "fifo").c_str(), 0600));
  EXPECT_EQ("a?b 1 B\ncaf\xEE\xBF\xA9 1 B\nd?2J?e?f 1 B\nfifo 0 B\n", told(map()));
}

TEST_P(TreeMap, SaysWhatWasNotLookedAt) {
  for (const char* name : {"p/a", "p/b"})
    files(name, 2, 1);
  files("p/c", 1, 0);
  files("q", 3, 1);
  const auto early = [&](std::uint64_t entries_max, map_options options = {}) {
    options.entries_max = entries_max;
    return told(map(options));
  };
  EXPECT_EQ("p/ not looked at\nq/ not looked at\n", early(4));
  EXPECT_EQ("p/\n  a/ not looked at\n  b/ not looked at\n  c/ not looked at\nq/\n"
            "  f0 1 B\n  f1 1 B\n  f2 1 B\n",
            early(8));
  const auto one_level = [&](ignore_files ignored) {
    return early(8, {.depth_max = 1, .ignored = ignored});
  };
  EXPECT_EQ("p/ 3 directories, not all looked at\nq/ 3 files, 3 B\n",
            one_level(ignore_files::respect));
  EXPECT_EQ("p/ 1 file, 0 B, not all looked at\nq/ 3 files, 3 B\n",
            one_level(ignore_files::disregard));
  EXPECT_EQ("\u2026 5 directories, 3 files, 3 B, not all looked at\n", early(8, {.bytes_max = 20}));
  tree.file(".ignore", "p\n");
  EXPECT_EQ("p/ 3 directories, not all looked at, ignored\nq/ 3 files, 3 B\n.ignore 2 B\n",
            early(9, {.depth_max = 1}));
  EXPECT_EQ(std::string::npos, told(map()).find("looked at")); // the control
}

TEST_P(TreeMap, SaysWhatCannotBeRead) {
  files("p/locked", 2, 1);
  files("p/open", 1, 1);
  tree.directory("p/void");
  const auto body = [&] {
    const auto lock = [&](mode_t mode) {
      ASSERT_EQ(0, ::chmod((tree / "p/locked").c_str(), mode));
    };
    lock(0);
    const auto some = map();
    EXPECT_EQ("p/\n  locked/ unreadable\n  open/\n    f0 1 B\n  void/\n", told(some));
    EXPECT_EQ(1U, some->coverage.unreadable);
    EXPECT_EQ("p/ 1 file, 1 B, not all looked at\n", told(map({.depth_max = 1})));
    lock(0700);
    EXPECT_EQ("p/\n  locked/\n    f0 1 B\n    f1 1 B\n  open/\n    f0 1 B\n  void/\n",
              told(map())); // the control
  };
  const auto bound_by_modes = [] { return ::geteuid() != 0 || test::become_bound_by_modes(); };
  if (test::in_child(bound_by_modes, body) == test::child_end::refused)
    GTEST_SKIP() << "nothing is unreadable for this user";
}

TEST_P(TreeMap, EndsAtItsBounds) {
  files("many", 2'000, 1);
  std::atomic<bool> cancelled = true;
  EXPECT_EQ("error cancelled", told(map({.bounds = {.cancelled = &cancelled}})));
  const auto late = map({.bounds = {.deadline_ms = 0}});
  ASSERT_TRUE(late);
  EXPECT_TRUE(late->truncated);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  const auto some = map({.entries_max = 1'000});
  ASSERT_TRUE(some);
  EXPECT_EQ(error_code::too_many, some->coverage.ended_early);
}

TEST(MapLine, HasReadableNumbers) {
  const auto file = [](std::uint64_t bytes) {
    return text_of({.name = "f", .amount = {.files = 1, .bytes = bytes}});
  };
  EXPECT_EQ("f 1023 B", file(1023));
  EXPECT_EQ("f 1.0 KB", file(1024));
  EXPECT_EQ("f 1.5 KB", file(1587)); // rounded, not cut
  EXPECT_EQ("f 1.6 KB", file(1588));
  EXPECT_EQ("f 9.9 KB", file(10'188));
  EXPECT_EQ("f 10 KB", file(10'239));
  EXPECT_EQ("f 1023 KB", file(1024 * 1023 + 511));
  EXPECT_EQ("f 1.0 MB", file(1024 * 1024 - 1));
  EXPECT_EQ("f 16 EB", file(UINT64_MAX));
  EXPECT_EQ("    d/ 1 directory, ignored", text_of({.depth = 2,
                                                    .kind = map_kind::collapsed,
                                                    .ignored = true,
                                                    .name = "d/",
                                                    .amount = {.directories = 1}}));
}

} // namespace
