// SPDX-License-Identifier: MIT

// What a restore never does: destroy what nobody holds, or stop for what is not its business.

#include "support/history/history_fixture.hpp"
#include "support/process/process.hpp"

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class HistoryRestore : public test::history_fixture {
protected:
  HistoryRestore() { write(".gitignore", "target/\n"); }
};

/// A command's new files in an ignored directory go, and it is said that they are gone for good.
TEST_F(HistoryRestore, SaysWhatItRemovesForGood) {
  const auto store = begun();
  const std::string before = now();
  run(*store, "mkdir target; echo made > target/made; echo covered > covered");
  const auto trial = store->restore({.effect = history::restore_effect::check});
  ASSERT_THAT(trial, IsOk());
  EXPECT_EQ(trial->lost, 1u);
  const auto back = restored(*store);
  EXPECT_EQ(back->lost, 1u);
  EXPECT_THAT(back->lost_paths, testing::ElementsAre("target/made"));
  EXPECT_EQ(now(), before);
}

/// The way forward again is for the rest; what is gone for good is named, as one directory.
TEST_F(HistoryRestore, GoesForwardWithoutWhatIsGoneForGood) {
  const auto store = begun_with({{".gitignore", "target/\n*.o\n"}});
  run(*store,
      "mkdir -p target/deep target/empty; echo 1 > target/deep/f; echo 1 > target/g; echo 1 > a.o; "
      "mkdir d; echo 1 > d/covered");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  const auto forth = restored(*store, {.to = back->before});
  EXPECT_EQ(tree.content("ws/d/covered"), "1\n");
  std::vector<std::string> left;
  for (const auto& each : forth->left)
    left.push_back(each.path);
  EXPECT_THAT(left, testing::ElementsAre("target"));
  EXPECT_FALSE(tree.exists("ws/target/deep"));
  EXPECT_EQ(tree.content("ws/a.o"), "1\n"); // the control: a file that is named alone is held
}

/// What a person has put into a directory of the agent's stays, with the directories above it.
TEST_F(HistoryRestore, LeavesWhatAPersonPutIntoTheAgentsDirectories) {
  const auto store = begun_with({{"a.c", "one"}});
  run(*store, "echo two > a.c; mkdir -p notes/deep/more other; echo n > notes/n; echo o > other/o");
  shell("echo mine > notes/deep/b.bin");
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/a.c"), "one");
  EXPECT_EQ(tree.content("ws/notes/deep/b.bin"), "mine\n");
  EXPECT_FALSE(tree.exists("ws/notes/n"));
  EXPECT_FALSE(tree.exists("ws/notes/deep/more"));
  EXPECT_FALSE(tree.exists("ws/other"));
  ASSERT_EQ(back->left.size(), 1u); // the innermost directory is told, and says why
  EXPECT_EQ(back->left[0].path, "notes/deep");
  EXPECT_EQ(back->left[0].reason,
            "it stays, because notes/deep/b.bin in it was not made by an agent");
  shell("rm notes/deep/b.bin");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_FALSE(tree.exists("ws/notes"));
}

/// The control: where a file is to come back in the directory's place, that is a conflict.
TEST_F(HistoryRestore, RefusesToReplaceADirectoryWithWhatAPersonPutIntoIt) {
  const auto store = begun_with({{"a.c", "one"}, {"notes", "text"}});
  run(*store, "echo two > a.c; rm notes; mkdir notes; echo n > notes/n");
  shell("echo mine > notes/b.bin");
  const auto refused = store->restore({});
  ASSERT_THAT(refused, IsOk());
  ASSERT_EQ(refused->conflicts.size(), 1u);
  EXPECT_EQ(refused->conflicts[0].path, "notes");
  EXPECT_EQ(tree.content("ws/a.c"), "two\n");
  ASSERT_THAT(store->restore({.force = true}), IsOk());
  EXPECT_EQ(tree.content("ws/a.c"), "one");
  EXPECT_EQ(tree.content("ws/notes/b.bin"), "mine\n");
}

/// What programs build in ignored directories keeps nothing else back; asked for by name, it is
/// told.
TEST_F(HistoryRestore, LeavesWhatWasBuiltInIgnoredDirectories) {
  const auto store = begun_with({{".gitignore", "build/\n"},
                                 {"build/made.o", "old"},
                                 {"build/gone.o", "old"},
                                 {"a.c", "one"}});
  run(*store, "echo two > a.c; echo new > build/made.o; rm build/gone.o; echo x > build/more.o");
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/a.c"), "one");
  EXPECT_EQ(tree.content("ws/build/made.o"), "new\n");
  EXPECT_FALSE(tree.exists("ws/build/more.o"));
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, "build");
  EXPECT_THAT(back->left.front().reason, testing::HasSubstr("2 entries"));
  const std::vector<std::string> asked{"build/made.o"};
  const auto refused = store->restore({.paths = asked});
  ASSERT_THAT(refused, IsOk());
  EXPECT_EQ(refused->conflicts.size(), 1u); // the control
}

/// A directory of which nothing is held does not come back hollow.
TEST_F(HistoryRestore, MakesNoHollowDirectoryOfWhatWasIgnored) {
  const auto store = begun_with(
      {{".gitignore", "node_modules/\n"}, {"node_modules/x/deep/f.js", "1"}, {"d/covered", "1"}});
  auto recording = store->before_command("exec", "rm -r node_modules d");
  shell("rm -r node_modules d");
  EXPECT_THAT(recording.finish(), testing::HasSubstr("node_modules/x/deep/f.js"));
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/d/covered"), "1");
  EXPECT_FALSE(tree.exists("ws/node_modules"));
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, "node_modules");
}

/// The control: what a tool has written there is read before it goes, and can be had back.
TEST_F(HistoryRestore, HoldsWhatAToolMadeInAnIgnoredDirectory) {
  const auto store = begun_with({{"target/old", "old"}});
  const std::vector<std::string> paths{"target/made", "target/old"};
  auto recording = store->before_tool("write", paths);
  write("target/made", "made");
  write("target/old", "new");
  EXPECT_EQ(recording.finish(), "");
  const std::string made = now();
  const auto back = restored(*store);
  EXPECT_EQ(back->lost, 0u);
  EXPECT_FALSE(tree.exists("ws/target/made"));
  EXPECT_EQ(tree.content("ws/target/old"), "old");
  ASSERT_THAT(store->restore({.to = back->before}), IsOk());
  EXPECT_EQ(now(), made);
}

/// A person's file is not the agent's because it was moved; what the agent made and moved is.
TEST_F(HistoryRestore, KeepsWhatAPersonMadeAndTheAgentMoved) {
  const auto store = begun();
  write("theirs", "the only copy");
  write("notes/theirs", "another one");
  run(*store, "echo own > own");
  run(*store, "mv theirs moved; mv notes papers; mv own owned");
  // By where it is now, too: it goes back, and does not only go.
  const std::vector<std::string> there{"moved", "papers"};
  (void)restored(*store, {.paths = there});
  EXPECT_EQ(tree.content("ws/theirs"), "the only copy");
  EXPECT_EQ(tree.content("ws/notes/theirs"), "another one");
  EXPECT_TRUE(tree.exists("ws/owned")); // the control
  (void)restored(*store);
  EXPECT_FALSE(tree.exists("ws/owned"));
  EXPECT_FALSE(tree.exists("ws/moved"));
  EXPECT_EQ(tree.content("ws/theirs"), "the only copy");
  EXPECT_EQ(tree.content("ws/notes/theirs"), "another one");
}

/// A mount is not left by a rename: that is a conflict by name, and the rest is restored.
TEST_F(HistoryRestore, NamesWhatLiesOnAnotherFileSystem) {
  write("plain", "1");
  tree.directory("ws/mounted");
  const auto mounted = [&] {
    return test::private_mounts() && test::mount_tmpfs(workspace() + "/mounted", "");
  };
  const auto end = test::in_child(mounted, [&] {
    const auto store = begun();
    run(*store, "echo 2 > plain; echo 2 > mounted/new; mkdir mounted/empty");
    const auto refused = store->restore({});
    ASSERT_TRUE(refused && refused->conflicts.size() == 1);
    EXPECT_EQ(refused->conflicts.front().path, "mounted/new");
    EXPECT_THAT(refused->conflicts.front().reason, testing::HasSubstr("another file system"));
    EXPECT_THAT(store->restore({.force = true}), IsOk());
    EXPECT_EQ(tree.content("ws/plain"), "1");
    EXPECT_TRUE(tree.exists("ws/mounted/new"));
    EXPECT_FALSE(tree.exists("ws/mounted/empty"));
  });
  if (end == test::child_end::refused) GTEST_SKIP() << "needs a mount namespace";
}

/// What a command makes under a hidden name is not looked at: its directory stays, and the rest
/// goes.
TEST_F(HistoryRestore, LeavesWhatIsHiddenAndTakesTheRestBack) {
  const auto store = begun_with({{"kept/f", "1"}});
  run(*store, "mkdir -p d/e/n; echo 1 > d/e/.perstack; echo 2 > d/f; echo 3 > kept/f; mv kept g");
  const auto back = store->restore({});
  ASSERT_TRUE(back) << explain(back.error());
  EXPECT_TRUE(back->conflicts.empty());
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, "d/e");
  EXPECT_THAT(back->left.front().reason, testing::HasSubstr("hidden"));
  EXPECT_TRUE(tree.exists("ws/d/e/.perstack"));
  EXPECT_FALSE(tree.exists("ws/d/e/n"));
  EXPECT_FALSE(tree.exists("ws/d/f"));
  EXPECT_FALSE(tree.exists("ws/g"));
  EXPECT_EQ(tree.content("ws/kept/f"), "1");
}

/// Thousands of moves and of new files go back in a time that grows with their number alone.
TEST_F(HistoryRestore, TakesManyMovesBack) {
  constexpr int many = 3'000;
  tree.directory("ws/old");
  tree.directory("ws/new");
  for (int i = 0; i < many; ++i)
    write("old/" + std::to_string(i), std::to_string(i));
  const auto store = begun();
  const std::string before = now();
  auto recording = store->before_command("exec", "mv");
  for (int i = 0; i < many; ++i)
    fs::rename(workspace() + "/old/" + std::to_string(i),
               workspace() + "/new/" + std::to_string(i));
  EXPECT_EQ(recording.finish(), "");
  (void)restored(*store);
  EXPECT_EQ(now(), before);
}

struct unheld_case {
  const char* name;
  const char* by_agent;
  const char* by_person;
  const char* path; ///< what is not held, and stays
};
class HistoryUnheld : public HistoryRestore, public testing::WithParamInterface<unheld_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryUnheld,
    testing::Values(unheld_case{"TooLarge", "head -c 300000 /dev/urandom > large", "true", "large"},
                    unheld_case{"Grown", "head -c 300000 /dev/urandom > kept", "true", "kept"},
                    unheld_case{"ReplacedByAnIgnoredOne",
                                "mv kept elsewhere; mkdir target; head -c 300000 "
                                "/dev/urandom > target/x; ln target/x kept",
                                "true", "kept"},
                    unheld_case{"APersonsInThePlaceOfACommands",
                                "mkdir target; echo 1 > target/mine",
                                "head -c 300000 /dev/urandom > target/mine", "target/mine"}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryUnheld, Stays) {
  write("kept", "kept");
  const auto store = begun({.file_bytes_max = 200'000});
  run(*store, GetParam().by_agent);
  shell(GetParam().by_person);
  const std::string path = GetParam().path, bytes = tree.content("ws/" + path);
  const auto refused = store->restore({});
  ASSERT_THAT(refused, IsOk());
  ASSERT_GE(refused->conflicts.size(), 1u);
  EXPECT_EQ(refused->before, 0u);
  const auto forced = store->restore({.force = true});
  ASSERT_THAT(forced, IsOk());
  bool is_told = false;
  for (const history::restore_conflict& each : forced->conflicts)
    is_told =
        is_told || (each.path == path && each.reason.find("is not held") != std::string::npos);
  EXPECT_TRUE(is_told);
  EXPECT_EQ(tree.content("ws/" + path), bytes);
}

/// With force and paths it is as it was at the checkpoint, also where a person had a hand in it
/// before the agent and nothing shows that now.
TEST_F(HistoryRestore, ByForceEverythingIsAsItWasThen) {
  shell("ln -s target link");
  const auto store = begun();
  const std::string before = now();
  shell("rm link"); // a person's, as what is next
  shell("mkdir -p made/deep; echo x > made/deep/x; chmod 700 made/deep");
  run(*store, "mkdir link; chmod 711 made/deep; mv made elsewhere");
  const history::restore_request to_start{.paths = {""}, .force = true};
  ASSERT_THAT(store->restore(to_start), IsOk());
  EXPECT_EQ(now(), before);
  const auto again = store->restore(to_start);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(now(), before);
}

/// Small files that ignore files leave out are somebody's data all the same: only what programs
/// make anew is not held, and what is large.
TEST_F(HistoryRestore, HoldsSmallFilesInIgnoredDirectories) {
  write(".gitignore", "private/\n.env\n*.sqlite\nnode_modules/\n");
  write("private/notes", "old");
  write("private/large", std::string((1U << 20U) + 1, 'x'));
  const auto store =
      begun_with({{"private/node_modules/x.js", "old"}, {".env", "secret"}, {"my.sqlite", "rows"}});
  run(*store, "echo new > private/notes; echo > .env; rm my.sqlite; "
              "rm private/node_modules/x.js; echo made > private/made");
  auto command = store->before_command("exec", "rm private/large");
  fs::remove(workspace() + "/private/large");
  EXPECT_EQ(command.finish(),
            "what private/large held before is not kept: it lies in an ignored directory");
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/private/notes"), "old");
  EXPECT_EQ(tree.content("ws/.env"), "secret");
  EXPECT_EQ(tree.content("ws/my.sqlite"), "rows");
  EXPECT_FALSE(tree.exists("ws/private/made"));
  EXPECT_FALSE(tree.exists("ws/private/large")); // the controls
  EXPECT_FALSE(tree.exists("ws/private/node_modules/x.js"));
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->lost, 0u);
}

/// What a person made in a directory of the agent's comes back when the agent has removed it, and
/// that directory stays for it.
TEST_F(HistoryRestore, AnAgentsDirectoryStaysForWhatComesBackIntoIt) {
  const auto store = begun();
  run(*store, "mkdir -p made/deep; echo 1 > made/agents");
  shell("mkdir made/deep/in; echo mine > made/deep/in/mine");
  run(*store, "rm -r made/deep/in");
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/made/deep/in/mine"), "mine\n");
  EXPECT_FALSE(tree.exists("ws/made/agents")); // the control
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left[0].path + ' ' + back->left[0].reason,
            "made/deep it stays, because made/deep/in in it comes back");
}

TEST_F(HistoryRestore, AnAgentsDirectoryStaysForWhatBecomesAPersonsAgain) {
  const auto store = begun();
  shell("mkdir made; echo mine > made/x");
  run(*store, "rm made/x");
  ASSERT_THAT(store->restore({.paths = {"made"}, .force = true}), IsOk());
  run(*store, "mkdir made; ln -s nowhere made/x");
  const auto back = restored(*store);
  EXPECT_EQ(tree.content("ws/made/x"), "mine\n");
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left[0].reason, "it stays, because made/x in it comes back");
}

/// What an agent removed does not come back where its directory has gone with a restore by force,
/// and keeps nothing else from coming back.
TEST_F(HistoryRestore, WhatHasNoDirectoryAnyMoreStaysAway) {
  write("a", "1");
  for (const char* command : {"echo 2 > a", "echo 2 > a; echo agents > d"}) {
    const auto store = begun();
    shell("mkdir -p d/e; echo mine > d/e/mine");
    run(*store, "rm -r d/e");
    ASSERT_THAT(store->restore({.paths = {"d"}, .force = true}), IsOk());
    EXPECT_FALSE(tree.exists("ws/d"));
    run(*store, command);
    const auto back = restored(*store);
    EXPECT_EQ(tree.content("ws/a"), "1");
    EXPECT_FALSE(tree.exists("ws/d"));
    ASSERT_EQ(back->left.size(), 2u);
    EXPECT_EQ(back->left[0].path + ' ' + back->left[0].reason,
              "d/e it is not restored, because its directory d is gone");
  }
}

} // namespace
