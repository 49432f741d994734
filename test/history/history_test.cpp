// SPDX-License-Identifier: MIT
#include "support/history/history_fixture.hpp"

#include <sys/mman.h>

using namespace paddock;
using test::HoldsValue;
using test::IsError;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class History : public test::history_fixture {};

TEST_F(History, TellsWhatAToolChanged) {
  const auto store = begun_with({{"a.txt", "one\n"}});
  const std::vector<std::string> paths{"a.txt", "new/b.txt"};
  auto recording = store->before_tool("writeTextFile", paths);
  write("a.txt", "two\n");
  write("new/b.txt", "new\n");
  EXPECT_EQ(recording.finish(), "");
  const auto list = store->changes({});
  EXPECT_EQ(told(list), "modified a.txt by tool; created new by tool; ");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->changes.front().tool, "writeTextFile");
  EXPECT_THAT(store->bytes_at(list->since, "a.txt"),
              HoldsValue(testing::Optional(std::string("one\n"))));
  EXPECT_THAT(store->bytes_at(list->since, "new/b.txt"), HoldsValue(testing::Eq(std::nullopt)));
}

TEST_F(History, TakesBackACommandToTheByte) {
  write("keep", "as it was");
  write("dir/inner", "content");
  write("gone/deep/file", "was here");
  shell("ln -s dir/inner link; chmod 640 dir/inner; mkdir empty; touch -d '2001-02-03 "
        "04:05:06.789' keep gone");
  const auto store = begun();
  const std::string before = now();
  run(*store,
      "rm -r gone empty link; echo more >> dir/inner; chmod 755 keep; mkdir -p x/y/z; ln -s y x/l; "
      "echo n > x/y/z/n; mv keep kept; rm dir/inner; mkdir dir/inner; echo 1 > dir/inner/1");
  EXPECT_NE(now(), before);
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->conflicts.size(), 0u);
  EXPECT_EQ(now(), before);
  // The restore can be taken back, too.
  const std::string after = now();
  const auto again = store->restore({.to = back->before});
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(now(), after);
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(now(), before);
}

TEST_F(History, TellsAPersonsChangesFromTheAgents) {
  const auto store = begun_with({{"mine", "1"}, {"its", "1"}});
  run(*store, "echo 2 > its");
  shell("echo 3 > mine");
  EXPECT_EQ(told(store->changes({})), "modified its by exec; modified mine by other; ");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->restored, 1u);
  EXPECT_EQ(told(store->changes({})), "modified mine by other; ");
}

TEST_F(History, RefusesWhatSomebodyElseChangedSince) {
  const auto store = begun_with({{"both", "1"}});
  run(*store, "echo 2 > both");
  shell("echo 3 >> both");
  const std::string present = now();
  const auto refused = store->restore({});
  ASSERT_THAT(refused, IsOk());
  ASSERT_EQ(refused->conflicts.size(), 1u);
  EXPECT_EQ(refused->conflicts.front().path, "both");
  EXPECT_EQ(now(), present);
  const auto forced = store->restore({.force = true});
  ASSERT_THAT(forced, IsOk());
  EXPECT_EQ(told(store->changes({})), "");
}

TEST_F(History, PutsDownToACommandWhatAnotherProcessSeesOfIt) {
  write("made", "1");
  write("mine", "1");
  const auto server = begun();
  auto recording = server->before_command("exec", "make all");
  shell("echo 2 > made; echo 2 > new");
  // A person looks while it runs.
  const auto person = open({}, history::session::look);
  const auto seen = person->changes({});
  EXPECT_EQ(told(seen), "modified made by exec; created new by exec; ");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->changes.front().command, "make all");
  shell("echo 3 > made");
  EXPECT_EQ(recording.finish(), "");
  EXPECT_EQ(told(server->changes({})), "modified made by exec; created new by exec; ");
  // The control: nothing runs any more, so what is met now is somebody else's.
  shell("echo 3 > mine");
  EXPECT_EQ(told(person->changes({})),
            "modified made by exec; modified mine by other; created new by exec; ");
}

TEST_F(History, NamesThePathsThatNobodyKnows) {
  const auto store = begun_with({{"a", "1"}, {"d/f", "1"}});
  run(*store, "rm d/f; rmdir d; echo n > n");
  const auto list = store->changes({.paths = {"a", "d", "d/f", "n", "b", "d/g"}});
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(list->unknown, testing::ElementsAre("b", "d/g"));
}

/// What a restore refuses to take away is not said to be restorable.
TEST_F(History, TellsOfANewFileThatIsTooLarge) {
  const auto store = begun({.file_bytes_max = 1'000});
  run(*store, "head -c 2000 /dev/zero > large; echo n > small");
  const auto list = store->changes({});
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->changes.size(), 2u);
  EXPECT_EQ(list->changes[0].restorable, history::holding::too_large);
  EXPECT_EQ(list->changes[1].restorable, history::holding::held); // the control
  ASSERT_EQ(list->left_out.size(), 1u);
  EXPECT_EQ(list->left_out.front().path, "large");
}

TEST_F(History, TellsOfACommandAsLongAsOneRuns) {
  write("a", "1");
  const auto server = begun();
  const auto other_server = open();
  auto first = server->before_command("exec", "one");
  auto second = server->before_command("exec", "two");
  auto third = other_server->before_command("exec", "three");
  EXPECT_EQ(first.finish(), "");
  EXPECT_EQ(second.finish(), "");
  other_server->look(); // it could not tell of its own before
  shell("echo 2 > a");
  const auto person = open({}, history::session::look);
  EXPECT_EQ(told(person->changes({})), "modified a by exec; ");
  EXPECT_EQ(third.finish(), "");
  shell("echo 3 > b");
  EXPECT_EQ(told(person->changes({})), "modified a by exec; created b by other; ");
}

TEST_F(History, KnowsTheStoreAgain) {
  write("a", "1");
  std::uint64_t point = 0;
  {
    const auto store = begun();
    const auto made = store->make_checkpoint("mine");
    ASSERT_THAT(made, IsOk());
    point = made->number;
    run(*store, "echo 2 > a; echo 1 > b");
  }
  shell("echo 3 > c");
  const auto store = open();
  EXPECT_EQ(told(store->changes({})), "");
  EXPECT_EQ(told(store->changes({.since = point})),
            "modified a by exec; created b by exec; created c by other; ");
  EXPECT_EQ(store->checkpoints().size(), 3u);
}

TEST_F(History, SaysWhatItCannotBringBack) {
  const auto store =
      begun_with({{".gitignore", "build/\n"}, {"build/out", "made"}, {".env", "secret"}});
  run(*store, "echo again > build/out; echo > build/new; echo changed > .env");
  const auto list = store->changes({});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->left_out.size(), 1u);
  EXPECT_EQ(list->left_out.front().path, "build");
  EXPECT_EQ(list->left_out.front().reason, history::holding::ignored);
  EXPECT_THAT(store->bytes_at(list->since, ".env"),
              HoldsValue(testing::Optional(std::string("secret"))));
}

TEST_F(History, RefusesAStoreInTheWorkspace) {
  history::options how;
  how.directory = workspace() + "/state";
  auto where = root::open(workspace());
  ASSERT_TRUE(where);
  const auto made = history::store::open(std::make_shared<const root>(*std::move(where)), how);
  EXPECT_THAT(made,
              IsError(error_code::denied_by_policy, testing::HasSubstr("lies in the workspace")));
}

/// What git does to a repository, too: objects, the index, a branch.
TEST_F(History, TakesBackWhatGitDid) {
  if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs git";
  const std::string git =
      "git -c user.name=n -c user.email=e -c init.defaultBranch=main -c gc.auto=0 ";
  write("a.txt", "one\n");
  write("sub/b.txt", "two\n");
  shell(git + "init -q . && " + git + "add . && " + git + "commit -qm first");
  const auto store = begun();
  const std::string before = now();
  run(*store,
      "echo more >> a.txt && rm sub/b.txt && " + git + "add -A && " + git + "commit -qm second");
  run(*store, git + "mv a.txt c.txt && " + git + "commit -qm third && " + git + "branch side");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  ASSERT_TRUE(back->conflicts.empty())
      << back->conflicts.front().path << ": " << back->conflicts.front().reason;
  EXPECT_EQ(now(), before);
}

/// What is in an ignored directory is not held; moved or new it is had back all the same.
TEST_F(History, TakesBackWhatItDoesNotHold) {
  const auto store = begun_with(
      {{".gitignore", "target/\nnode_modules/\n"}, {"target/deep/big", "made by a compiler"}});
  const std::string before = now();
  run(*store, "mkdir node_modules && echo x > node_modules/x && echo new > target/new && rm "
              "target/new && mv target elsewhere");
  (void)restored(*store);
  EXPECT_EQ(now(), before);
  // The control: what it held cannot be made up.
  run(*store, "echo other > target/deep/big");
  const auto without = store->restore({});
  ASSERT_THAT(without, IsOk());
  ASSERT_EQ(without->left.size(), 1u);
  EXPECT_THAT(without->left.front().reason, testing::HasSubstr("ignored directory"));
  EXPECT_EQ(tree.content("ws/target/deep/big"), "other\n");
}

/// Who adds a directory to the ignored ones does not hide what is done in it.
TEST_F(History, WhatWasCoveredStaysSo) {
  const auto store = begun_with({{"src/a", "one"}});
  const std::string before = now();
  run(*store, "echo src/ > .gitignore; echo two > src/a; echo n > src/n");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(now(), before);
}

TEST_F(History, ObeysTheFence) {
  const auto store = begun_with({{".git/HEAD", "ref: refs/heads/main\n"},
                                 {".git/config", "[core]\n"},
                                 {".git/objects/x", ""},
                                 {".git/refs/x", ""},
                                 {"plain", "1"}});
  run(*store, "echo evil > .git/config; echo 2 > plain");
  const auto back = restored(*store);
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, ".git/config");
  EXPECT_EQ(tree.content("ws/plain"), "1");
  EXPECT_EQ(tree.content("ws/.git/config"), "evil\n");
}

TEST_F(History, NeitherReadsNorListsWhatIsHidden) {
  const auto store = begun_with({{".perstack/state", "secret"}, {"dir/.perstack/state", "secret"}});
  run(*store, "echo more >> .perstack/state; echo more >> dir/.perstack/state; echo n > dir/n");
  EXPECT_EQ(told(store->changes({})), "created dir/n by exec; ");
  EXPECT_EQ(std::system(("grep -r secret '" + state_directory() + "'").c_str()) != 0, true);
  // A directory with something hidden in it is not removed with it.
  run(*store, "mkdir made; mkdir made/.perstack; echo s > made/.perstack/s; echo n > made/n");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, "made");
  EXPECT_FALSE(tree.exists("ws/made/n"));
  EXPECT_TRUE(tree.exists("ws/made/.perstack/s"));
}

/// A command that starts before everything was read is honest about it.
TEST_F(History, TellsWhatItHadNotRead) {
  write("a", "1");
  const auto store = open({.command_wait_ms = 0});
  auto command = store->before_command("exec", "echo 2 > a");
  shell("echo 2 > a");
  EXPECT_EQ(command.finish(), "what a held before is not kept: it changed before it was read");
  const auto list = store->changes({});
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->left_out.size(), 1u);
  EXPECT_EQ(list->left_out.front().reason, history::holding::not_read_yet);
  // The control: with time to read there is nothing to tell.
  write("b", "1");
  store->look();
  const auto waiting = open();
  run(*waiting, "echo 2 > b");
  EXPECT_TRUE(waiting->changes({})->left_out.empty());
}

TEST_F(History, BringsBackAMovedDirectoryAsItIs) {
  const auto store = begun_with({{"d/a", "1"}, {"d/sub/b", "2"}});
  struct stat before{}, after{};
  ASSERT_EQ(::stat((workspace() + "/d/sub/b").c_str(), &before), 0);
  run(*store, "mv d e");
  EXPECT_EQ(told(store->changes({})), "moved e from d by exec; ");
  ASSERT_THAT(store->restore({}), IsOk());
  ASSERT_EQ(::stat((workspace() + "/d/sub/b").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(History, RestoresSomePathsOnly) {
  const auto store = begun_with({{"a", "1"}, {"d/b", "1"}});
  run(*store, "echo 2 > a; rm -r d; echo n > n");
  (void)restored(*store, {.paths = {"d/b"}});
  EXPECT_EQ(tree.content("ws/d/b"), "1");
  EXPECT_EQ(tree.content("ws/a"), "2\n");
  EXPECT_TRUE(tree.exists("ws/n"));
}

/// A page that is mapped may be written to long after the first time was taken down.
TEST_F(History, ReadsAgainWhatChangedWhileACommandRan) {
  write("mapped", std::string(4096, 'a'));
  const auto store = begun();
  auto recording = store->before_command("exec", "map");
  const int fd = ::open((workspace() + "/mapped").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto* bytes = static_cast<char*>(at);
  bytes[0] = 'b';
  store->look();
  const auto point = store->make_checkpoint("");
  bytes[1] = 'c';
  ::munmap(at, 4096);
  ::close(fd);
  EXPECT_EQ(recording.finish(), "");
  ASSERT_THAT(store->restore({.to = point->number}), IsOk());
  EXPECT_EQ(tree.content("ws/mapped").substr(0, 3), "baa");
}

/// Nothing is made, and nothing of what was changed meanwhile is put down to somebody else.
TEST_F(History, ACheckpointIsCancelled) {
  const auto store = begun_with({{"d/a", "0"}});
  write("d/a", "1");
  std::atomic<bool> cancelled = true;
  EXPECT_THAT(store->make_checkpoint("never", {.cancelled = &cancelled}),
              IsError(error_code::cancelled));
  EXPECT_EQ(store->checkpoints().size(), 1u);
  EXPECT_EQ(store->state().trouble, "");
  run(*store, "echo > b");
  EXPECT_EQ(told(store->changes({})), "created b by exec; modified d/a by other; ");
  cancelled = false; // the control
  EXPECT_THAT(store->make_checkpoint("made", {.cancelled = &cancelled}), IsOk());
  EXPECT_EQ(store->checkpoints().size(), 2u);
}

/// As the last content of a pack it stands where the next one will.
TEST_F(History, HoldsAnEmptyFile) {
  const auto store = begun_with({{"a", "1"}});
  run(*store, ": > empty");
  const auto point = store->make_checkpoint("");
  ASSERT_THAT(point, IsOk());
  EXPECT_EQ(store->bytes_at(point->number, "empty")->value_or("none"), "");
  EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
  run(*store, "rm empty");
  ASSERT_THAT(store->restore({.to = point->number}), IsOk());
  EXPECT_EQ(tree.content("ws/empty"), "");
  EXPECT_TRUE(tree.exists("ws/empty"));
}

/// A checkpoint is one that can be gone back to whole, though nobody has read the files yet.
TEST_F(History, ACheckpointWaitsForTheReading) {
  constexpr int files = 3'000;
  for (int i = 0; i < files; ++i)
    write("d" + std::to_string(i % 10) + "/f" + std::to_string(i), "file " + std::to_string(i));
  const std::string before = now();
  const auto store = open();
  const auto made = store->make_checkpoint("all");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->unread, 0u);
  run(*store, "rm -rf d*");
  (void)restored(*store, {.to = made->number});
  EXPECT_EQ(now(), before);
}

/// One that cannot wait says what is not read, and so does the command that removes it.
TEST_F(History, WhatIsNotReadInTimeIsTold) {
  for (int i = 0; i < 20; ++i)
    write("d/f" + std::to_string(i), "file");
  const auto store = open({.command_wait_ms = 0, .checkpoint_wait_ms = 0});
  const auto made = store->make_checkpoint("");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->unread, 20u);
  auto command = store->before_command("exec", "rm");
  fs::remove_all(workspace() + "/d");
  EXPECT_EQ(command.finish(),
            "what 20 files held, as d/f0 did, is not kept: it changed before it was "
            "read");
  const auto list = store->changes({.since = made->number});
  ASSERT_THAT(list, IsOk());
  ASSERT_FALSE(list->left_out.empty());
  EXPECT_EQ(list->left_out.front().reason, history::holding::not_read_yet);
}

/// So do a tool and a command that make an end of what is too large; whoever moves it does not.
TEST_F(History, TheEndOfWhatIsNotHeldIsTold) {
  const auto begin = [&] {
    write("large", std::string(5'000, 'x'));
    write("small", "y");
    return begun({.file_bytes_max = 4'000});
  };
  const std::string told = "what large held before is not kept: the file is too large to be held";
  const std::vector<std::string> one{"large"}, both{"large", "elsewhere"};
  {
    const auto store = begin();
    auto tool = store->before_tool("deleteFile", one);
    fs::remove(workspace() + "/large");
    EXPECT_EQ(tool.finish(), told);
  }
  {
    const auto store = begin();
    auto command = store->before_command("exec", "rm");
    fs::remove(workspace() + "/large");
    fs::remove(workspace() + "/small");
    EXPECT_EQ(command.finish(), told);
  }
  {
    const auto store = begin();
    auto tool = store->before_tool("moveFile", both);
    fs::rename(workspace() + "/large", workspace() + "/elsewhere");
    EXPECT_EQ(tool.finish(), "");
    auto command = store->before_command("exec", "true");
    EXPECT_EQ(command.finish(), "");
    auto again = store->before_command("exec", "mv");
    fs::rename(workspace() + "/elsewhere", workspace() + "/large");
    EXPECT_EQ(again.finish(), "");
  }
}

} // namespace
