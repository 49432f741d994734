// SPDX-License-Identifier: MIT

// What is known of a workspace's directories, also where there are more than it has room for.

#include "exec/protection/directory_index.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace paddock {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Not;

constexpr std::size_t room = 8;

class directory_index_test : public testing::Test {
protected:
  directory_index::interest meaning(std::string_view name) {
    ++asked;
    if (name == "shut") return directory_index::interest::closed;
    return name == "mark" ? directory_index::interest::noted : directory_index::interest::none;
  }
  void refresh() { EXPECT_THAT(index.refresh(top.get()), test::IsOk()); }
  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& [path, in] : index.all())
      all.push_back(path);
    return all;
  }
  void make_many(const std::string& below) const {
    for (char c = 'a'; c < 'z'; ++c)
      tree.directory(below + "/" + c);
  }
  [[nodiscard]] std::vector<std::string> names_of(const std::string& path) const {
    const auto found = index.all().find(path);
    return found == index.all().end() ? std::vector<std::string>{"unknown"} : found->second.names;
  }

  test::temp_tree tree;
  file_descriptor top{::open(tree.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  int asked = 0; ///< about a name
  directory_index index{[this](std::string_view name) { return meaning(name); },
                        {.directories = room, .bytes = indexed_bytes_max}};
};

TEST_F(directory_index_test, a_full_index_goes_on_with_what_it_knows) {
  tree.directory("sub");
  refresh();
  EXPECT_TRUE(index.complete()); // the control: there is room
  make_many("z");
  refresh();
  EXPECT_FALSE(index.complete());
  EXPECT_EQ(index.all().size(), room);
  tree.file("sub/mark");
  refresh();
  EXPECT_THAT(names_of("sub"), ElementsAre("mark"));
  fs::rename(tree / "sub", tree / "sub2");
  refresh();
  EXPECT_THAT(paths(), Not(testing::Contains("sub"))); // forgotten, and there is room for one
  refresh();
  EXPECT_EQ(index.all().size(), room);
  fs::remove_all(tree / "z");
  refresh();
  refresh();
  EXPECT_TRUE(index.complete());
  EXPECT_THAT(paths(), ElementsAre("", "sub2"));
  EXPECT_THAT(names_of("sub2"), ElementsAre("mark"));
}

TEST_F(directory_index_test, what_found_no_room_is_found_when_there_is_some) {
  make_many("a");
  tree.directory("b");
  tree.file("b/mark");
  make_many("c");
  refresh();
  EXPECT_FALSE(index.complete());
  fs::remove_all(tree / "a");
  for (int i = 0; i < 3; ++i)
    refresh();
  EXPECT_EQ(index.all().size(), room);
  EXPECT_THAT(names_of("b"), ElementsAre("mark"));
  for (char c = 'e'; c < 'z'; ++c)
    fs::remove_all(tree / (std::string("c/") + c));
  refresh();
  refresh();
  EXPECT_THAT(paths(), ElementsAre("", "b", "c", "c/a", "c/b", "c/c", "c/d"));
  EXPECT_TRUE(index.complete());
}

TEST_F(directory_index_test, as_many_as_there_is_room_for_are_complete) {
  for (char c = 'a'; c < 'a' + static_cast<char>(room) - 1; ++c)
    tree.directory(std::string(1, c));
  refresh();
  EXPECT_EQ(index.all().size(), room);
  EXPECT_TRUE(index.complete());
  tree.directory("z");
  refresh();
  EXPECT_FALSE(index.complete());
}

struct bytes_case {
  const char* name;
  std::size_t path_bytes;  ///< of what leads to the directories
  std::size_t directories; ///< beneath
  std::size_t marks;       ///< names that matter, in each
  bool fits;
};

class index_room_test : public testing::TestWithParam<bytes_case> {
protected:
  static constexpr std::size_t bytes_max = std::size_t{64} * 1024;

  /// A path of about as many bytes.
  [[nodiscard]] static std::string long_path(std::size_t bytes) {
    std::string path = "a";
    while (path.size() < bytes)
      path += '/' + std::string(99, 'd');
    return path;
  }
  void refresh() {
    EXPECT_THAT(index.refresh(top.get(), 60'000), test::IsOk());
    EXPECT_LE(index.bytes(), bytes_max);
    std::size_t counted = 0; // by another hand
    for (const auto& [path, in] : index.all()) {
      counted += path.size();
      for (const auto& names : {in.names, in.subdirectories})
        for (const std::string& name : names)
          counted += name.size() + sizeof name;
    }
    EXPECT_EQ(index.bytes(), counted);
  }

  test::temp_tree tree;
  file_descriptor top{::open(tree.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  directory_index index{[](std::string_view name) {
                          return name.starts_with("mark") ? directory_index::interest::noted
                                                          : directory_index::interest::none;
                        },
                        {.directories = indexed_directories_max, .bytes = bytes_max}};
};

TEST_P(index_room_test, bounds_the_bytes_of_what_is_known) {
  const bytes_case& c = GetParam();
  const std::string above = long_path(c.path_bytes);
  for (std::size_t i = 0; i < c.directories; ++i) {
    const std::string directory = above + "/n" + std::to_string(i);
    tree.directory(directory);
    for (std::size_t mark = 0; mark < c.marks; ++mark)
      tree.file(directory + "/mark" + std::to_string(mark));
  }
  refresh();
  EXPECT_EQ(index.complete(), c.fits);
  refresh(); // what found no room is looked for again, and finds none
  EXPECT_EQ(index.complete(), c.fits);
  fs::remove_all(tree / "a");
  tree.directory("b");
  for (int i = 0; i < 3; ++i)
    refresh();
  EXPECT_TRUE(index.complete());
  EXPECT_TRUE(index.all().contains("b"));
}

INSTANTIATE_TEST_SUITE_P(Table, index_room_test,
                         testing::Values(bytes_case{"long_paths", 3'000, 60, 0, false},
                                         bytes_case{"as_many_with_short_ones", 1, 60, 0,
                                                    true}, // the control
                                         bytes_case{"names_that_matter", 1, 60, 60, false},
                                         bytes_case{"as_many_names_that_do_not", 1, 60, 5, true},
                                         bytes_case{"many_subdirectories", 1, 3'000, 0, false}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(index_room_test, a_directory_that_was_cut_is_read_again_when_there_is_room) {
  for (int i = 0; i < 2'000; ++i)
    tree.directory("many/n" + std::to_string(i));
  refresh();
  EXPECT_FALSE(index.complete());
  for (int i = 20; i < 2'000; ++i)
    fs::remove(tree / ("many/n" + std::to_string(i)));
  for (int i = 0; i < 3; ++i)
    refresh();
  EXPECT_TRUE(index.complete());
  EXPECT_EQ(index.all().size(), 22U);
}

TEST_F(directory_index_test, what_could_not_be_opened_is_not_taken_for_gone) {
  tree.directory("sub");
  tree.file("sub/mark");
  struct rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  const int next = ::dup(top.get());
  ::close(next);
  for (const bool known : {false, true}) {
    struct rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(next);
    if (known) tree.file("sub/shut"); // it has changed since
    ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
    refresh();
    ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
    EXPECT_FALSE(index.complete());
    refresh();
    EXPECT_TRUE(index.complete()); // the control
    EXPECT_THAT(names_of("sub"), testing::Contains("mark"));
  }
}

TEST_F(directory_index_test, what_is_closed_at_the_top_is_not_looked_into) {
  tree.directory("shut/deep");
  tree.directory("open/shut/deep");
  refresh();
  EXPECT_THAT(paths(), ElementsAre("", "open", "open/shut", "open/shut/deep"));
  EXPECT_THAT(names_of("open"), ElementsAre("shut"));
}

TEST_F(directory_index_test, what_is_doubted_is_listed_again) {
  tree.directory("plain");
  tree.file("plain/other");
  tree.directory("sub");
  tree.file("sub/mark");
  do { // until the times of all are told apart from now
    asked = 0;
    refresh();
  } while (asked > 0);
  index.doubt();
  refresh();
  EXPECT_EQ(asked, 1); // the one in `sub`
}

} // namespace
} // namespace paddock
