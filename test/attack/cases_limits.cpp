// SPDX-License-Identifier: MIT

// Paths of the greatest length, no descriptor left, and a workspace that is given up while it is
// in use.

#include "corpus.hpp"

#include <sys/resource.h>

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

/// Nobody has a descriptor to spare; nothing may be half done, and afterwards all is as before.
void nothing_works_without_descriptors(session& s) {
  rlimit usual{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &usual));
  const rlimit none{3, usual.rlim_max};
  (void)s.perform({.what = read, .path = "f"}); // what is made on first use is made
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  for (const char* path : {"a/f", "a/b/g", "l"})
    for (const auto what : {read, write, append, edit, inspect, remove_file})
      EXPECT_EQ("too_many", s.outcome({.what = what, .path = path, .other = "new"}))
          << name_of(what) << ' ' << path;
  for (const auto what : {list, enter, remove_tree, make_directory, move, write})
    EXPECT_EQ("too_many", s.outcome({.what = what,
                                     .path = what == make_directory || what == write ? "x/y" : "a",
                                     .other = "x/y"}))
        << name_of(what);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &usual));
  for (const char* name : {"ws/f", "ws/a/f", "ws/a/b/g"})
    EXPECT_EQ("inside", s.at.tree().content(name));
  EXPECT_FALSE(s.at.tree().exists("ws/x"));
  EXPECT_EQ("ok", s.outcome({.what = write, .path = "x/y", .other = "new"}));
}

/// The last owner goes while others still have calls under way: the descriptor lives as long as the
/// calls do, so none meets one that was closed or is somebody else's by now.
void a_workspace_that_is_given_up_serves_its_calls_to_the_end(session& s) {
  constexpr int threads = 8;
  constexpr int calls = 25;
  std::atomic<int> started{0};
  std::vector<std::thread> users;
  int number = -1;
  {
    auto workspace = root::open(s.at.ws(), {.resolver = s.workspace().resolver()});
    ASSERT_TRUE(workspace);
    number = workspace->descriptor();
    auto shared = std::make_shared<const root>(*std::move(workspace));
    for (int n = 0; n < threads; ++n)
      users.emplace_back([&started, user = s.another_on(shared), n] {
        ++started;
        for (int i = 0; i < calls; ++i) {
          const std::string mine = "t" + std::to_string(n) + "/" + std::to_string(i);
          EXPECT_FALSE(user->perform({.what = write, .path = mine, .other = "mine"}).code);
          EXPECT_EQ("mine", user->perform({.what = read, .path = mine}).text);
        }
      });
    while (started == 0)
      std::this_thread::yield();
  } // given up
  for (auto& user : users)
    user.join();
  users.clear();
  EXPECT_EQ(-1, ::fcntl(number, F_GETFD)) << "the descriptor outlived its last call";
}

/// What has been moved from has no workspace, and never another one.
void a_root_without_a_workspace_refuses(session& s) {
  auto first = root::open(s.at.ws(), {.resolver = s.workspace().resolver()});
  ASSERT_TRUE(first);
  const root second = *std::move(first);
  const root& emptied = *first; // NOLINT(bugprone-use-after-move): that is the question
  for (const char* path : {"f", "a/b/g", ".", "/etc/passwd"}) {
    EXPECT_FALSE(read_file(emptied, path)) << path;
    EXPECT_FALSE(write_file(emptied, path, "x")) << path;
  }
  EXPECT_TRUE(read_file(second, "f"));
}

} // namespace

std::vector<row> limit_rows() {
  return {
      {.id = "P28",
       .name = "long_paths",
       .attempts = join({all({read}, repeated("a/../", 818) + "././f", gives("inside")),
                         all({append}, repeated("a/../", 818) + "././f", gives("f")),
                         every(repeated("a/../", 818) + "a/../f", path_too_long),
                         every(repeated("./", 3'000) + "f", path_too_long),
                         every(repeated("../", 2'000) + "etc/passwd", path_too_long),
                         every(repeated("/", 5'001), path_too_long)})},
      {.id = "P73",
       .name = "workspace_given_up_in_use",
       .check = a_workspace_that_is_given_up_serves_its_calls_to_the_end},
      {.id = "P73", .name = "root_moved_from", .check = a_root_without_a_workspace_refuses},
      {.id = "P74",
       .name = "no_descriptors",
       .links = {{"l", "a/b/g"}},
       .check = nothing_works_without_descriptors},
  };
}

} // namespace paddock::test::corpus
