// SPDX-License-Identifier: MIT

// Removing directories: deep, wide, mounted over, cancelled, and while others work in them.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/path/root.hpp>

#include <sys/inotify.h>
#include <sys/resource.h>

namespace paddock {
namespace {

using test::child_end;
using test::IsError;
using test::IsOk;
using enum error_code;

constexpr remove_options recursive{.recursive = recursion::yes};

class remove_test : public testing::TestWithParam<resolver> {
protected:
  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), GetParam());
};
INSTANTIATE_TEST_SUITE_P(every, remove_test, testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

void make_deep(const std::string& base, int depth) {
  int at = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(0, ::mkdirat(at, "d", 0777));
    const int next = ::openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(::openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  ::close(at);
}

void make_wide(const std::string& base, int count) {
  const int at = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(0, ::mknodat(at, ("n" + std::to_string(i)).c_str(), S_IFREG | 0666, 0));
  ::close(at);
}

TEST_P(remove_test, only_an_empty_directory_goes_without_asking) {
  t.directory("ws/empty");
  t.directory("ws/full/sub");
  const auto got = remove_directory(r, "./empty/");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->path, "empty");
  EXPECT_EQ(got->entries, 1U);
  EXPECT_THAT(remove_directory(r, "full"), IsError(not_empty));
  EXPECT_TRUE(t.exists("ws/full/sub"));
  const auto all = remove_directory(r, "full", recursive);
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->entries, 2U);
}

TEST_P(remove_test, what_is_refused_removes_nothing) {
  t.directory("ws/d/sub");
  t.directory("ws/.perstack/sub");
  t.directory("ws/ro/sub");
  ASSERT_EQ(0, ::chmod((t / "ws/ro").c_str(), 0555));
  t.file("ws/f");
  t.link("ws/dl", "d");
  t.link("ws/out", "../out");
  t.link("ws/root", ".");
  const std::string before = test::describe_tree(canary.ws());
  const std::string outside = canary.describe_outside();
  for (const auto& [path, code] :
       {std::pair("f", not_a_directory), std::pair("f/", not_a_directory),
        std::pair("dl", not_a_directory), std::pair("dl/", not_a_directory),
        std::pair("out", not_a_directory), std::pair("out/", not_a_directory),
        std::pair("out/dir", escapes_root), std::pair("../out", escapes_root),
        std::pair("nope", not_found), std::pair(".", workspace_root),
        std::pair("d/..", workspace_root), std::pair("d/sub/..", invalid_argument),
        std::pair("root/..", workspace_root), std::pair("root", not_a_directory),
        std::pair(".perstack", protected_entry), std::pair(".perstack/sub", protected_entry),
        std::pair("ro", read_only), std::pair("", invalid_argument)})
    for (const auto& options : {remove_options{}, recursive})
      EXPECT_THAT(remove_directory(r, path, options), IsError(code)) << path;
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  EXPECT_EQ(outside, canary.describe_outside());
}

TEST_P(remove_test, everything_in_it_goes_and_nothing_it_points_to) {
  t.directory("ws/d/sub/deeper");
  t.file("ws/kept", "kept");
  t.link("ws/d/out", "../../out");
  t.link("ws/d/sub/abs", canary.out());
  t.link("ws/d/sub/up", "../..");
  t.link("ws/d/kept", "../kept");
  t.link("ws/d/dang", "nope");
  ASSERT_EQ(0, ::mkfifo((t / "ws/d/fifo").c_str(), 0666));
  for (const std::string& name :
       {std::string("-rf"), std::string("\xff"), std::string("new\nline"), std::string(255, 'x')})
    t.file("ws/d/sub/" + name);
  ASSERT_EQ(0, ::chmod((t / "ws/d/fifo").c_str(), 0));
  const std::string outside = canary.describe_outside();
  const auto got = remove_directory(r, "d", recursive);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->entries, 13U);
  EXPECT_FALSE(t.exists("ws/d"));
  EXPECT_EQ(t.content("ws/kept"), "kept");
  EXPECT_EQ(outside, canary.describe_outside());
}

TEST_P(remove_test, a_deep_tree_needs_few_descriptors_and_little_stack) {
  constexpr int depth = 10'000;
  if (test::in_child(
          [&] { // deep chains are slow on a disk
            return test::private_mounts() && test::mount_tmpfs(canary.ws(), "size=64m");
          },
          [&] {
            const root small = test::open_root(canary.ws(), GetParam());
            make_deep(canary.ws(), depth);
            const rlimit few{64, 64};
            const rlimit stack{256 * 1024, 256 * 1024};
            ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &few));
            ASSERT_EQ(0, ::setrlimit(RLIMIT_STACK, &stack));
            const auto got = remove_directory(small, "d", recursive);
            ASSERT_THAT(got, IsOk());
            EXPECT_EQ(got->entries, depth + 1U);
            EXPECT_FALSE(t.exists("ws/d"));
          }) == child_end::refused)
    GTEST_SKIP() << "mounting needs privilege";
}

TEST_P(remove_test, a_wide_tree) {
  constexpr int count = 5'000;
  for (const char* name : {"ws/d/a", "ws/d/b/c"}) {
    t.directory(name);
    make_wide(t / name, count);
  }
  const auto got = remove_directory(r, "d", recursive);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->entries, 2U * count + 4U);
}

TEST_P(remove_test, cancelling_stops_before_the_first_entry) {
  t.directory("ws/d/sub");
  t.file("ws/d/f");
  const std::atomic<bool> cancelled{true};
  EXPECT_THAT(
      remove_directory(r, "d", {.recursive = recursion::yes, .bounds = {.cancelled = &cancelled}}),
      IsError(error_code::cancelled));
  EXPECT_TRUE(t.exists("ws/d/f"));
}

TEST_P(remove_test, a_deadline_that_has_passed_stops_before_the_first_entry) {
  t.directory("ws/d");
  t.file("ws/d/f");
  std::uint64_t entries = 99;
  EXPECT_THAT(
      remove_directory(
          r, "d",
          {.recursive = recursion::yes, .bounds = {.deadline_ms = 0}, .entries_removed = &entries}),
      IsError(error_code::timed_out));
  EXPECT_TRUE(t.exists("ws/d/f"));
  EXPECT_EQ(entries, 0U);
}

TEST_P(remove_test, more_directories_than_are_remembered_at_once) {
  constexpr int count = 4096 * 2 + 3;
  for (int i = 0; i < count; ++i)
    t.directory("ws/d/" + std::to_string(i));
  std::uint64_t entries = 0;
  const auto got = remove_directory(
      r, "d", {.recursive = recursion::yes, .bounds = {}, .entries_removed = &entries});
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->entries, count + 1U);
  EXPECT_EQ(entries, got->entries);
}

TEST_P(remove_test, looks_for_what_has_to_stay_before_it_removes_anything) {
  const struct {
    const char* name;
    const char* hidden;
    int beside; ///< more directories than are remembered at once
  } cases[] = {{"at the top", "d/.perstack", 3},
               {"deep", "d/0/a/b/.PerStack", 3},
               {"among many", "d/4099/.perstack", 4100}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    for (int i = 0; i < c.beside; ++i)
      t.directory("ws/d/" + std::to_string(i));
    t.file("ws/d/file");
    t.directory("ws/" + std::string(c.hidden) + "/below");
    const std::string before = test::describe_tree(canary.ws());
    std::uint64_t entries = 99;
    std::string kept;
    EXPECT_THAT(
        remove_directory(r, "./d",
                         {.recursive = recursion::yes, .entries_removed = &entries, .kept = &kept}),
        IsError(protected_entry));
    EXPECT_EQ(entries, 0U);
    EXPECT_EQ(kept, c.hidden);
    EXPECT_EQ(before, test::describe_tree(canary.ws()));
    std::filesystem::remove_all(t / ("ws/" + std::string(c.hidden)));
    EXPECT_THAT(remove_directory(r, "d", recursive), IsOk()); // the control
  }
}

TEST_P(remove_test, what_was_hidden_stays_so_under_another_name) {
  t.directory("ws/.perstack/keys");
  t.directory("ws/d/sub");
  t.file("ws/d/file");
  const root here = test::open_root(canary.ws(), GetParam());
  ASSERT_EQ(0, ::rename((t / "ws/.perstack").c_str(), (t / "ws/d/sub/plain").c_str()));
  std::string kept;
  EXPECT_THAT(remove_directory(here, "d", {.recursive = recursion::yes, .kept = &kept}),
              IsError(protected_entry));
  EXPECT_EQ(kept, "d/sub/plain");
  EXPECT_TRUE(t.exists("ws/d/file"));
  EXPECT_TRUE(t.exists("ws/d/sub/plain/keys"));
  EXPECT_THAT(remove_directory(test::open_root(canary.ws(), GetParam()), "d", recursive),
              IsOk()); // the control: a root that has never seen it
}

TEST_P(remove_test, cancelling_stops_within_a_wide_directory) {
  constexpr int tries = 5;
  for (int i = 0; i < tries; ++i) {
    t.directory("ws/d");
    make_wide(t / "ws/d", 10'000);
    std::atomic<bool> cancelled{false};
    const int watch = ::inotify_init1(IN_CLOEXEC);
    ASSERT_GE(::inotify_add_watch(watch, (t / "ws/d").c_str(), IN_DELETE), 0);
    std::thread canceller([&] {
      alignas(inotify_event) char events[4096];
      EXPECT_GT(::read(watch, events, sizeof events), 0); // the first entry is gone
      cancelled = true;
    });
    const auto got = remove_directory(
        r, "d", {.recursive = recursion::yes, .bounds = {.cancelled = &cancelled}});
    canceller.join();
    ::close(watch);
    if (got) continue; // this machine let the canceller wait until all was over
    EXPECT_THAT(got, IsError(error_code::cancelled));
    EXPECT_TRUE(t.exists("ws/d"));
    return;
  }
  FAIL() << "never stopped";
}

TEST_P(remove_test, an_ordinary_user_is_stopped_by_permissions_and_told) {
  t.directory("ws/d/closed");
  t.file("ws/d/closed/f");
  ASSERT_EQ(0, ::chmod((t / "ws/d/closed").c_str(), 0555));
  test::give_to_nobody(canary.ws());
  if (test::in_child(test::become_nobody, [&] {
        const root mine = test::open_root(canary.ws(), GetParam());
        EXPECT_THAT(remove_directory(mine, "d", recursive), IsError(permission_denied));
      }) == child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
  EXPECT_TRUE(t.exists("ws/d/closed/f"));
}

// --- mounts -------------------------------------------------------------------------------------

TEST_P(remove_test, a_mount_is_never_entered) {
  for (const char* name : {"volume/sub", "ws/top", "ws/d/inner"})
    t.directory(name);
  t.file("volume/data", "x");
  t.file("volume/sub/data", "x");
  t.file("ws/d/f", "x");
  if (test::in_child(
          [&] {
            return test::private_mounts() && test::bind_mount(t / "volume", t / "ws/top") &&
                   test::bind_mount(t / "volume", t / "ws/d/inner") &&
                   test::bind_mount(t / "out/f", t / "ws/d/f");
          },
          [&] {
            const root here = test::open_root(canary.ws(), GetParam()); // sees the mounts
            const std::string before = test::describe_tree(t / "volume");
            EXPECT_THAT(remove_directory(here, "d/inner", recursive), IsError(crosses_mount));
            EXPECT_THAT(remove_directory(here, "top", recursive), IsError(crosses_mount));
            EXPECT_THAT(remove_directory(here, "top"), IsError(crosses_mount));
            EXPECT_THAT(remove_directory(here, "d", recursive), IsError(crosses_mount));
            EXPECT_EQ(before, test::describe_tree(t / "volume"));
            EXPECT_EQ(t.content("out/f"), "OUTSIDE out/f");
            EXPECT_TRUE(t.exists("ws/d/inner/data"));
            EXPECT_THAT(remove_directory(here, "top/sub", recursive), IsOk()); // all on one side
            EXPECT_FALSE(t.exists("volume/sub"));
          }) == child_end::refused)
    GTEST_SKIP() << "mounting needs privilege";
}

// --- others at work -----------------------------------------------------------------------------

TEST_P(remove_test, a_creator_cannot_make_it_run_for_ever) {
  t.directory("ws/d");
  std::atomic<bool> done{false};
  std::thread creator([&] {
    const int d = ::open((t / "ws/d").c_str(), O_PATH | O_CLOEXEC);
    for (int i = 0; !done; ++i) {
      const std::string name = "n" + std::to_string(i % 100);
      if (i % 2 == 0)
        ::mkdirat(d, name.c_str(), 0777);
      else
        ::close(::openat(d, name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    }
    ::close(d);
  });
  for (int i = 0; i < 20; ++i) {
    const auto got = remove_directory(r, "d", recursive);
    if (got) break; // it was faster; a deleted directory takes no more entries
    EXPECT_THAT(got, IsError(not_empty));
  }
  done = true;
  creator.join();
  if (t.exists("ws/d")) {
    EXPECT_THAT(remove_directory(r, "d", recursive), IsOk());
  }
}

TEST_P(remove_test, two_removers_share_the_work) {
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 10; ++i) {
      const std::string name = "ws/d/" + std::to_string(i) + "/deeper";
      t.directory(name);
      t.file(name + "/f");
    }
    std::vector<std::thread> threads;
    std::atomic<int> finished{0};
    for (int n = 0; n < 3; ++n)
      threads.emplace_back([&] {
        const auto got = remove_directory(r, "d", recursive);
        if (got)
          ++finished;
        else
          EXPECT_EQ(got.error().code, not_found);
      });
    for (auto& thread : threads)
      thread.join();
    EXPECT_GE(finished, 1);
    ASSERT_FALSE(t.exists("ws/d"));
  }
}

TEST_P(remove_test, a_directory_that_is_moved_away_is_not_followed) {
  // The tree is deep enough for its upper levels to have been closed on the way down.
  for (int round = 0; round < 8; ++round) {
    t.directory("ws/d/a");
    make_deep(t / "ws/d/a", 60);
    t.file("ws/d/neighbour", "x");
    t.directory("kept");
    t.file("kept/f", "kept");
    std::thread mover([&] { // may come too early, in time or too late
      (void)::rename((t / "ws/d/a/d/d").c_str(), (t / "kept/moved").c_str());
    });
    (void)remove_directory(r, "d", recursive);
    mover.join();
    EXPECT_EQ(t.content("kept/f"), "kept");
    (void)remove_directory(r, "d", recursive);
    std::filesystem::remove_all(t / "kept");
  }
}

} // namespace
} // namespace paddock
