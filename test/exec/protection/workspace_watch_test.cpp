// SPDX-License-Identifier: MIT

// Whose a repository is that appears while something runs.

#include "exec/protection/command_marks.hpp"
#include "exec/protection/workspace_watch.hpp"
#include "path/private_directory.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/process/descriptors.hpp"
#include "sys/syscall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>

namespace paddock {
namespace {

class workspace_watch_test : public testing::Test {
protected:
  [[nodiscard]] workspace_watch begin(const watch_options& options = {}) const {
    auto r = workspace_watch::begin(
        top.get(), {.names = names, .write_paths = {}, .read_only_paths = {}}, options);
    EXPECT_THAT(r, test::IsOk());
    return *std::move(r);
  }
  [[nodiscard]] bool is_protected(const std::string& path) const {
    const auto watch = begin();
    return std::ranges::any_of(watch.entries().list, [&](const protected_entry& each) {
      return each.how == sys::exec_entry::repository && each.path == path;
    });
  }

  const std::vector<protected_name> names = usual_protected_names();
  test::temp_tree tree;
  file_descriptor top{::open(tree.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(workspace_watch_test, what_appears_beside_a_program_that_runs_for_long_is_the_hosts) {
  (void)begin();
  {
    const auto watch = begin({.makes_own = false});
    tree.directory("a/.git");
  }
  EXPECT_TRUE(is_protected("a/.git"));
  {
    const auto watch = begin(); // the control: a command
    tree.directory("b/.git");
  }
  EXPECT_FALSE(is_protected("b/.git"));
  EXPECT_TRUE(is_protected("a/.git"));
}

TEST_F(workspace_watch_test, the_number_of_what_was_the_hosts_may_become_a_commands) {
  tree.directory("gone/.git");
  const auto before = sys::status_at(top.get(), "gone/.git");
  EXPECT_TRUE(is_protected("gone/.git"));
  std::filesystem::remove_all(tree / "gone");
  std::string again;
  {
    const auto watch = begin();
    for (int i = 0; i < 100 && again.empty(); ++i) {
      const std::string made = "made" + std::to_string(i) + "/.git";
      tree.directory(made);
      if (sys::status_at(top.get(), made.c_str())->inode == before->inode) again = made;
    }
  }
  if (again.empty()) GTEST_SKIP() << "numbers are not used again here";
  EXPECT_FALSE(is_protected(again));
}

TEST_F(workspace_watch_test, nothing_is_swept_after_a_server_but_all_after_a_process) {
  const auto watched = [](const workspace_watch& watch) {
    return std::ranges::count_if(watch.entries().list, [](const protected_entry& each) {
      return each.how == sys::exec_entry::hidden_name ||
             each.how == sys::exec_entry::read_only_name || each.how == sys::exec_entry::appeared;
    });
  };
  tree.directory(".vscode");
  const auto before = watched(begin());
  // What is there is held.
  EXPECT_EQ(watched(begin({.makes_own = false, .sweeps = false})), 1);
  EXPECT_EQ(watched(begin({.makes_own = false})), before);
  EXPECT_GT(before, 1);                               // the control
}

TEST_F(workspace_watch_test, what_leads_to_something_protected_stays_in_place) {
  tree.directory("a/b/repo/.git");
  tree.directory("a/c/d/.perstack");
  tree.directory("a/e/f");
  tree.directory("bare/x.git/objects");
  tree.file("bare/x.git/HEAD", "");
  const auto watch = begin();
  std::set<std::string> kept;
  for (const protected_entry& each : watch.entries().list)
    if (each.how == sys::exec_entry::in_place && each.path[0] != '.') kept.insert(each.path);
  EXPECT_EQ(kept, (std::set<std::string>{"a", "a/b", "a/b/repo", "a/c", "a/c/d", "bare"}));
}

// --- repositories that nobody has swept ----------------------------------------------------------

class left_commands_test : public testing::Test {
protected:
  left_commands_test() {
    tree.directory("ws");
    tree.directory("state");
    EXPECT_EQ(0, ::chmod((tree / "state").c_str(), 0700));
    top = file_descriptor(::open((tree / "ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  /// Each other list of names is as a process of its own: it remembers nothing of the others.
  [[nodiscard]] workspace_watch begin(bool as_another = false, bool has_place = true) const {
    auto names = usual_protected_names();
    if (as_another) protect(names, {.name = "another", .mode = protection::read_only});
    auto r = workspace_watch::begin(
        top.get(), {.names = names, .write_paths = {}, .read_only_paths = {}},
        {.state_directory = has_place ? tree / "state" : std::string()});
    EXPECT_THAT(r, test::IsOk());
    return *std::move(r);
  }
  [[nodiscard]] file_descriptor turn_of_another(int workspace) const {
    const auto marks = command_marks::open(workspace, tree / "state");
    return marks ? marks->turn(0) : file_descriptor();
  }
  void make_repository(const std::string& name) const {
    for (const char* part : {"/objects", "/refs", "/hooks"})
      tree.directory(name + "/.git" + part);
    tree.file(name + "/.git/HEAD", "ref: refs/heads/main\n");
    tree.file(name + "/.git/config", "[core]\n\tfsmonitor = evil\n");
    tree.file(name + "/.git/hooks/post-checkout", "evil");
  }
  [[nodiscard]] bool is_armed(const std::string& name) const {
    return tree.exists(name + "/.git/hooks") || tree.exists(name + "/.git/config");
  }
  /// A server whose command makes a repository, and which is killed before it can look at that.
  void be_killed_after(bool has_place) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto watch = begin(false, has_place);
      make_repository("ws/made");
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }
  [[nodiscard]] std::size_t marks() const {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator(tree / "state"))
      count += each.path().filename().string().starts_with("command-") ? 1U : 0U;
    return count;
  }

  test::temp_tree tree;
  file_descriptor top;
};

TEST_F(left_commands_test, what_the_command_of_a_killed_server_made_is_swept_by_the_next) {
  make_repository("ws/persons");
  be_killed_after(true);
  EXPECT_TRUE(is_armed("ws/made"));
  EXPECT_EQ(marks(), 1u);
  {
    auto next = begin();
    EXPECT_FALSE(is_armed("ws/made"));
    EXPECT_TRUE(is_armed("ws/persons"));
    EXPECT_EQ(next.take_left().size(), 2u);
    EXPECT_EQ(marks(), 1u); // its own
  }
  EXPECT_EQ(marks(), 0u);
  // The control: where there is no place for a note, nobody knows.
  std::filesystem::remove_all(tree / "ws/made");
  be_killed_after(false);
  (void)begin();
  EXPECT_TRUE(is_armed("ws/made"));
}

TEST_F(left_commands_test, what_was_born_long_after_the_kill_is_a_persons) {
  be_killed_after(true);
  for (const auto& each : std::filesystem::directory_iterator(tree / "state"))
    std::filesystem::last_write_time(each.path(), std::filesystem::file_time_type::clock::now() -
                                                      std::chrono::hours(1));
  (void)begin();
  EXPECT_TRUE(is_armed("ws/made"));
  EXPECT_EQ(marks(), 0u);
}

/// What the command of one server has made stands when that of another one begins, which is kept
/// from the files that are there; when the first one's are replaced, it is not.
TEST_F(left_commands_test, what_another_server_has_replaced_is_looked_at_again) {
  for (const bool has_place : {false, true}) { // the first one is the control
    std::filesystem::remove_all(tree / "ws/made");
    auto one = begin(false, has_place);
    make_repository("ws/made");
    auto other = begin(true, has_place);
    EXPECT_EQ(one.sweep_repositories(top.get()).moved.size(), 2u);
    EXPECT_FALSE(is_armed("ws/made"));
    tree.file("ws/made/.git/config", "[core]\n\tfsmonitor = evil\n"); // the other one's command
    EXPECT_EQ(other.sweep_repositories(top.get()).moved.size(), has_place ? 1u : 0u);
    EXPECT_EQ(is_armed("ws/made"), !has_place);
  }
}

/// An end that waits for the turn keeps no beginning waiting, which may hold the turn itself.
TEST_F(left_commands_test, an_end_that_waits_for_its_turn_holds_nobody_up) {
  const auto places = [] {
    std::ptrdiff_t open = 0;
    for (const std::string& each : test::open_descriptors()) {
      std::error_code gone;
      const auto place = std::filesystem::read_symlink("/proc/self/fd/" + each, gone);
      if (place.filename() == command_turns_name) ++open;
    }
    return open;
  };
  const auto names = usual_protected_names();
  auto ends = begin();
  auto others = turn_of_another(top.get());
  ASSERT_TRUE(others);
  const auto before = places();
  std::atomic<bool> has_ended = false;
  std::thread end([&] {
    (void)ends.sweep_repositories(top.get());
    has_ended = true;
  });
  while (places() == before && !has_ended)
    std::this_thread::yield();
  const auto begun = workspace_watch::begin(
      top.get(), {.names = names, .write_paths = {}, .read_only_paths = {}}, {.sweeps = false});
  EXPECT_THAT(begun, test::IsOk());
  EXPECT_FALSE(has_ended);
  others.reset();
  end.join();
}

TEST_F(left_commands_test, a_server_that_keeps_its_turn_is_told_of_and_not_waited_for_again) {
  tree.directory("elsewhere");
  const file_descriptor elsewhere(
      ::open((tree / "elsewhere").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto made_beside = [this] {
    const auto names = usual_protected_names();
    const auto watch = workspace_watch::begin(
        top.get(), {.names = names, .write_paths = {}, .read_only_paths = {}},
        {.state_directory = tree / "state", .turn_ms = 0});
    EXPECT_THAT(watch, test::IsOk());
    make_repository("ws/made");
    auto made = watch->sweep_repositories(top.get());
    EXPECT_FALSE(is_armed("ws/made")); // in any case
    std::filesystem::remove_all(tree / "ws/made");
    return made;
  };
  const auto of_elsewhere = turn_of_another(elsewhere.get());
  ASSERT_TRUE(of_elsewhere);
  EXPECT_TRUE(made_beside().alone); // others' workspaces have turns of their own
  auto others = turn_of_another(top.get());
  ASSERT_TRUE(others);
  EXPECT_FALSE(turn_of_another(top.get()));
  EXPECT_FALSE(made_beside().alone);
  others.reset();
  EXPECT_TRUE(made_beside().alone);
}

TEST_F(workspace_watch_test, what_cannot_be_looked_at_is_not_taken_for_absent) {
  if (::geteuid() == 0) GTEST_SKIP() << "may look at everything";
  tree.directory(".agents/sys.skills");
  ::chmod((tree / ".agents").c_str(), 0);
  const auto first = begin();
  ::chmod((tree / ".agents").c_str(), 0755);
  const auto second = begin();
  for (const protected_entry& each : second.entries().list)
    EXPECT_NE(each.how, sys::exec_entry::appeared) << each.path;
}

// File times may be ahead of the clock's tick, which would date what a command makes after its end.
TEST_F(workspace_watch_test, what_a_command_makes_last_is_its_own) {
  (void)begin();
  std::set<std::int64_t> times;
  for (int i = 0; i < 4; ++i)
    times.insert(sys::file_time_now_ns());
  const bool are_fine = times.size() == 4; // else what follows may be of the same tick
  for (int i = 0; i < 10; ++i) {
    const std::string own = "own" + std::to_string(i) + "/.git";
    const std::string other = "other" + std::to_string(i) + "/.git";
    {
      const auto watch = begin();
      tree.directory(own);
    }
    tree.directory(other);
    EXPECT_FALSE(is_protected(own));
    if (are_fine) {
      EXPECT_TRUE(is_protected(other));
    }
  }
}

} // namespace
} // namespace paddock
