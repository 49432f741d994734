// SPDX-License-Identifier: MIT

// The control group of a command: what is tried, what is left behind, and that it kills. The kernel
// is asked where it lets this user make groups; a directory that looks like one is enough for the
// rest.

#include "helper/control_group.hpp"
#include "support/temp_tree.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace paddock::exec {
namespace {

using test::temp_tree;

class ControlGroup : public testing::Test {
protected:
  int enter(const std::string& membership) {
    tree_.file("cgroup", membership);
    const std::string file = tree_ / "cgroup";
    const std::string nowhere = tree_ / "nowhere";
    return enter_new_group(path_, {file.c_str(), {nowhere.c_str(), tree_.path().c_str()}});
  }

  temp_tree tree_;
  char path_[PATH_MAX] = "untouched";
};

TEST_F(ControlGroup, IsNotTakenForADirectoryThatTheKernelDoesNotFill) {
  tree_.directory("own");
  const struct {
    const char* membership;
    int failed;
  } cases[] = {
      {"4:memory:/own\n0::/own\n", EOPNOTSUPP}, // version 1 beside it, or no kernel at work
      {"0::/\n", EOPNOTSUPP},
      {"0::/own", EOPNOTSUPP},
      {"0::/missing\n", EOPNOTSUPP},
      {"4:memory:/own\n", EOPNOTSUPP},
      {"0::own\n", EOPNOTSUPP},
      {"", EOPNOTSUPP},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.membership);
    EXPECT_EQ(enter(c.membership), c.failed);
    EXPECT_STREQ(path_, "");
    EXPECT_TRUE(std::filesystem::is_empty(tree_ / "own"));
  }
}

TEST_F(ControlGroup, IsNotMadeWhereItsNameIsTooLong) {
  EXPECT_NE(enter("0::/" + std::string(5000, 'x') + "\n"), 0);
  EXPECT_STREQ(path_, "");
}

TEST_F(ControlGroup, TellsWhoElseIsInIt) {
  const struct {
    const char* members;
    bool others;
  } cases[] = {{"", false},     {"17\n", false},  {"17\n4\n", false},  {"17\n4\n5\n", true},
               {"170\n", true}, {"4\n17", false}, {"nonsense", false}, {"\n17\n", false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.members);
    tree_.file("cgroup.procs", c.members);
    EXPECT_EQ(group_has_other_than(tree_.path().c_str(), 17, 4), c.others);
  }
  EXPECT_FALSE(group_has_other_than((tree_ / "missing").c_str(), 17, 4));
}

TEST_F(ControlGroup, AsksForTheDeathOfAll) {
  tree_.file("cgroup.kill", "");
  EXPECT_TRUE(kill_group(tree_.path().c_str()));
  EXPECT_EQ(tree_.content("cgroup.kill"), "1");
  EXPECT_FALSE(kill_group((tree_ / "missing").c_str()));
}

TEST_F(ControlGroup, KillsWhatIsInIt) {
  int told[2];
  ASSERT_EQ(0, ::pipe(told));
  const pid_t member = ::fork();
  if (member == 0) {
    const int failed = enter_new_group(path_);
    (void)!::write(told[1], &failed, sizeof failed);
    (void)!::write(told[1], path_, sizeof path_);
    for (;;)
      ::pause();
  }
  int failed = -1;
  ASSERT_EQ(::read(told[0], &failed, sizeof failed), static_cast<ssize_t>(sizeof failed));
  ASSERT_EQ(::read(told[0], path_, sizeof path_), static_cast<ssize_t>(sizeof path_));
  if (failed != 0) {
    ::kill(member, SIGKILL);
    ::waitpid(member, nullptr, 0);
    GTEST_SKIP() << "no control group can be made here: " << std::strerror(failed);
  }
  EXPECT_FALSE(group_has_other_than(path_, member, 0));
  EXPECT_TRUE(group_has_other_than(path_, 0, 0));
  EXPECT_TRUE(kill_group(path_));
  int status = 0;
  ASSERT_EQ(member, ::waitpid(member, &status, 0));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  remove_group(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

} // namespace
} // namespace paddock::exec
