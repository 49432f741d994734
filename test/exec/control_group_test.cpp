// SPDX-License-Identifier: MIT

// The control group of a command: what is tried, what is left behind, and that it kills. The kernel
// is asked where it lets this user make groups; a directory that looks like one is enough for the
// rest.

#include "exec/helper/control_group.hpp"
#include "exec/helper/root/scratch.hpp"
#include "support/files/temp_tree.hpp"
#include "support/process/process.hpp"

#include <sys/mount.h>

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

TEST_F(ControlGroup, IsBoundedWhereTheKernelCounts) {
  const std::string group = tree_ / "group";
  const struct {
    const char* name;
    std::vector<const char*> files;
    group_bounds bounds;
    int failed;
  } cases[] = {
      {"nothing asked", {}, {}, 0},
      {"both", {"memory.max", "memory.swap.max", "pids.max"}, {1048576, 7}, 0},
      {"memory without swap", {"memory.max"}, {1048576, 0}, 0},
      {"processes", {"pids.max"}, {0, 7}, 0},
      {"no memory controller", {"pids.max"}, {1048576, 7}, EOPNOTSUPP},
      {"no processes controller", {"memory.max"}, {1048576, 7}, EOPNOTSUPP},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::filesystem::remove_all(group);
    tree_.directory("group");
    for (const char* file : c.files)
      tree_.file(std::string("group/") + file);
    EXPECT_EQ(bound_group(group.c_str(), c.bounds), c.failed);
    if (c.failed != 0) continue;
    for (const char* file : c.files) {
      const std::string name = file;
      EXPECT_EQ(tree_.content("group/" + name), name == "pids.max"     ? "7"
                                                : name == "memory.max" ? "1048576"
                                                                       : "0");
    }
  }
}

TEST_F(ControlGroup, WithBoundsIsNotMadeWhereNobodyCounts) {
  tree_.directory("above/own");
  for (const char* membership : {"0::/above/own\n", "0::/above\n", "0::/\n", ""}) {
    SCOPED_TRACE(membership);
    tree_.file("cgroup", membership);
    const std::string file = tree_ / "cgroup";
    const std::string nowhere = tree_ / "nowhere";
    EXPECT_EQ(enter_bounded_group(path_, {1048576, 7},
                                  {file.c_str(), {nowhere.c_str(), tree_.path().c_str()}}),
              EOPNOTSUPP);
    EXPECT_STREQ(path_, "");
    EXPECT_TRUE(std::filesystem::is_empty(tree_ / "above/own"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tree_ / "above"), {}), 1);
  }
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

/// Makes `count` directories, each in the one before; all get the mode, the first one too.
/// With a few hundred of them the path is longer than a path can be.
void descend(const std::string& from, int count, mode_t mode) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const char* name = "twenty-characters-or";
  int at = ::open(from.c_str(), flags);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(0, ::mkdirat(at, name, 0700)) << i << ": " << std::strerror(errno);
    const int next = ::openat(at, name, flags);
    ASSERT_EQ(0, ::fchmod(at, mode));
    ::close(at);
    at = next;
  }
  ASSERT_EQ(0, ::fchmod(at, mode));
  ::close(at);
}

TEST_F(ControlGroup, TakesAwayTheGroupsThatTheCommandHasMadeAtAnyDepth) {
  if (test::in_child([&] { return enter_new_group(path_) == 0; },
                     [&] {
                       ASSERT_EQ(0, ::mkdir((path_ + std::string("/other")).c_str(), 0755));
                       descend(path_, 300, 0755);
                       const std::string above = std::filesystem::path(path_).parent_path();
                       std::ofstream(above + "/cgroup.procs") << "0"; // so that nothing is in it
                       remove_group(path_);
                       EXPECT_FALSE(std::filesystem::exists(path_));
                     }) == test::child_end::refused)
    GTEST_SKIP() << "no control group can be made here";
}

/// With Landlock alone the scratch directory of a command is one in /tmp.
class ScratchTree : public testing::Test {
protected:
  /// By a user for whom modes count.
  template <class Body> static void as_ordinary_user(Body&& body) {
    ASSERT_EQ(test::in_child([] { return ::geteuid() != 0 || test::become_nobody(); }, body),
              test::child_end::finished);
  }

  temp_tree tree_;
};

TEST_F(ScratchTree, GoesWhateverItsDepthAndItsModes) {
  ASSERT_EQ(0, ::chmod(tree_.path().c_str(), 0777));
  tree_.file("outside", "kept");
  const struct {
    const char* name;
    int depth;
    mode_t mode;
  } cases[] = {{"shallow", 3, 0700},        {"closed", 3, 0},
               {"not writable", 3, 0500},   {"deep", 300, 0700},
               {"deep and closed", 300, 0}, {"deep and not writable", 300, 0500}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    as_ordinary_user([&] {
      tree_.directory("top/lifted-0/below"); // a name that the removal may want
      for (const char* file : {"top/lifted-1", "top/lifted-2", "top/lifted-0/file"})
        tree_.file(file);
      tree_.link("top/out", "../outside");
      tree_.link("top/lifted-0/out", "../../outside");
      descend(tree_ / "top", c.depth, c.mode);
      ASSERT_NE(0, ::rmdir((tree_ / "top").c_str())); // the control: there is something in it
      remove_tree((tree_ / "top").c_str());
    });
    EXPECT_FALSE(tree_.exists("top"));
    remove_tree((tree_ / "top").c_str());
  }
  EXPECT_EQ(tree_.content("outside"), "kept");
}

TEST_F(ScratchTree, GoesWhereItsPathLeadsThroughMounts) {
  tree_.directory("other");
  ASSERT_EQ(0, ::chmod(tree_.path().c_str(), 0755));
  if (test::in_child(
          [&] { return test::private_mounts() && test::mount_tmpfs(tree_ / "other", "mode=777"); },
          [&] {
            if (!test::become_nobody()) GTEST_FAIL();
            tree_.directory("other/top/below");
            ASSERT_EQ(0, ::chmod((tree_ / "other/top").c_str(), 0));
            remove_tree((tree_ / "other/top").c_str());
            EXPECT_FALSE(tree_.exists("other/top"));
          }) == test::child_end::refused)
    GTEST_SKIP() << "mounting needs privilege";
}

TEST_F(ScratchTree, StopsAtWhatIsMountedInIt) {
  if (test::in_child([] { return test::private_mounts(); },
                     [&] {
                       tree_.directory("outside");
                       tree_.file("outside/file", "kept");
                       tree_.directory("top/below/mount");
                       ASSERT_TRUE(test::bind_mount(tree_ / "outside", tree_ / "top/below/mount"));
                       remove_tree((tree_ / "top").c_str());
                       EXPECT_EQ(tree_.content("outside/file"), "kept");
                       ASSERT_EQ(0, ::umount2((tree_ / "top/below/mount").c_str(), MNT_DETACH));
                       remove_tree((tree_ / "top").c_str()); // the control
                       EXPECT_FALSE(tree_.exists("top"));
                     }) == test::child_end::refused)
    GTEST_SKIP() << "mounting needs privilege";
}

/// What leads out of the directory changes all the time between a directory and a link. Whether
/// `remove`, called so often, has removed something outside.
template <class Remove> bool is_led_elsewhere(const temp_tree& tree, int calls, Remove remove) {
  tree.directory("outside/sub");
  tree.file("outside/sub/file", "kept");
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      ::mkdir((tree / "top/d").c_str(), 0);
      ::renameat2(AT_FDCWD, (tree / "top/d").c_str(), AT_FDCWD, (tree / "spare").c_str(), 0);
      (void)!::symlink("../outside", (tree / "top/d").c_str());
      ::rename((tree / "spare").c_str(), (tree / "top/e").c_str());
    }
  });
  const auto is_whole = [&] { return ::access((tree / "outside/sub/file").c_str(), F_OK) == 0; };
  for (int i = 0; i < calls && is_whole(); ++i) {
    ::mkdir((tree / "top").c_str(), 0700);
    remove(tree / "top");
  }
  done = true;
  other.join();
  return !is_whole();
}

/// As somebody would write it who thinks of no links.
void remove_what_is_found(const std::string& path) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed))
    if (std::error_code unknown; std::filesystem::is_directory(at->path(), unknown))
      remove_what_is_found(at->path());
    else
      ::unlink(at->path().c_str());
  ::rmdir(path.c_str());
}

TEST_F(ScratchTree, IsNotLedElsewhere) {
  EXPECT_FALSE(is_led_elsewhere(tree_, 300, [](const auto& top) { remove_tree(top.c_str()); }));
  constexpr int until_led = 1'000'000; // by the first link that is met
  EXPECT_TRUE(is_led_elsewhere(tree_, until_led, remove_what_is_found)); // the control
}

} // namespace
} // namespace paddock::exec
