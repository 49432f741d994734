// SPDX-License-Identifier: MIT

// Whose a repository is that appears while something runs.

#include "exec/protected_entries.hpp"
#include "support/matchers.hpp"
#include "support/temp_tree.hpp"
#include "sys/syscall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace paddock {
namespace {

class protected_entries_test : public testing::Test {
protected:
  [[nodiscard]] workspace_watch begin(const watch_options& options = {}) const {
    auto r = workspace_watch::begin(top.get(), confinement_policy{}, options);
    EXPECT_THAT(r, test::IsOk());
    return *std::move(r);
  }
  [[nodiscard]] bool is_protected(const std::string& path) const {
    const auto watch = begin();
    return std::ranges::any_of(watch.entries().list, [&](const protected_entry& each) {
      return each.how == sys::exec_entry::repository && each.path == path;
    });
  }

  test::temp_tree tree;
  file_descriptor top{::open(tree.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(protected_entries_test, what_appears_beside_a_program_that_runs_for_long_is_the_hosts) {
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

TEST_F(protected_entries_test, the_number_of_what_was_the_hosts_may_become_a_commands) {
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

// File times may be ahead of the clock's tick, which would date what a command makes after its end.
TEST_F(protected_entries_test, what_a_command_makes_last_is_its_own) {
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
