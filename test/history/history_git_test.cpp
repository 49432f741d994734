// SPDX-License-Identifier: MIT

// Repositories, with git itself: what an agent did in one goes back, what a person has made out of
// it stays whole, and what git writes of its own accord is in nobody's way.

#include "history/git_keeping.hpp"
#include "support/history/history_fixture.hpp"

using namespace paddock;
using test::IsOk;

namespace {

class HistoryRepository : public test::history_fixture {
protected:
  void SetUp() override {
    history_fixture::SetUp();
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs git";
  }
  /// What `git` says, outside of all that is recorded.
  [[nodiscard]] std::string git(const std::string& arguments) const {
    const std::string out = tree.path() + "/said";
    const std::string line =
        "cd '" + workspace() + "' && git " + arguments + " > '" + out + "' 2>&1";
    const int status = std::system(line.c_str());
    return tree.content("said") + (status == 0 ? "" : "failed\n");
  }
  /// A repository with one commit.
  void make_repository() const {
    write("a", "1\n");
    shell("git init -q -b main . && git config user.name n && git config user.email a@b && git add "
          "a && git commit -qm first");
  }
  static std::vector<std::string> paths_of(const std::vector<history::restore_conflict>& all) {
    std::vector<std::string> paths;
    for (const auto& each : all)
      paths.push_back(each.path);
    return paths;
  }
};

/// A file that is another one with the same bytes and times, as after a copy, so that git looks.
constexpr const char* look_again = "cp -p a other && mv other a && git status -s >/dev/null";

struct git_case {
  const char* name;
  const char* by_person;
  std::vector<std::string> conflicts; ///< and without any nothing is forced
  std::vector<std::string> left;
};
class HistoryGit : public HistoryRepository, public testing::WithParamInterface<git_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryGit,
    testing::Values(
        git_case{"Tag", "git tag v1", {}, {".git/objects"}},
        git_case{"Branch", "git branch keep", {}, {".git/objects"}},
        git_case{"Switch", "git switch -q -c mine", {}, {".git/objects", ".git/logs/HEAD"}},
        git_case{"Staged", "echo theirs > b && git add b", {".git/index"}, {".git/objects"}},
        git_case{
            "Commit",
            "echo theirs > b && git add b && git commit -qm theirs",
            {".git/index", ".git/refs/heads/main"},
            {".git/objects", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/COMMIT_EDITMSG"}},
        git_case{"Status", look_again, {}, {}}, git_case{"Nothing", "true", {}, {}}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryGit, WhatAPersonMadeOfAnAgentsCommitStaysWhole) {
  make_repository();
  const auto store = begun();
  run(*store, "echo 2 > a && git commit -qam agents");
  const std::string index = tree.content("ws/.git/index");
  shell(GetParam().by_person);
  if (GetParam().by_person == look_again) { // the control: git has written
    ASSERT_NE(tree.content("ws/.git/index"), index);
  }
  const std::string objects = git("cat-file --batch-check --batch-all-objects");
  auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::ElementsAreArray(GetParam().conflicts));
  EXPECT_EQ(back->conflicts_of_others, GetParam().conflicts.size());
  if (!GetParam().conflicts.empty()) {
    EXPECT_EQ(tree.content("ws/a"), "2\n"); // nothing was done
    back = store->restore({.force = true});
    ASSERT_THAT(back, IsOk());
    EXPECT_THAT(back->conflicts, testing::IsEmpty());
  }
  EXPECT_EQ(git("log --format=%s main"), "first\n");
  EXPECT_EQ(tree.content("ws/a"), "1\n");
  const std::string checked = git("fsck --no-dangling --full");
  EXPECT_EQ(checked.find("missing"), std::string::npos) << checked;
  EXPECT_EQ(checked.find("failed"), std::string::npos) << checked;
  EXPECT_EQ(git("cat-file --batch-check --batch-all-objects") == objects, !GetParam().left.empty());
  EXPECT_THAT(paths_of(back->left), testing::UnorderedElementsAreArray(GetParam().left));
  if (std::string_view(GetParam().name) == "Commit") { // it can be found again
    EXPECT_THAT(git("log -g --format=%s HEAD"), testing::HasSubstr("theirs\n"));
  }
}

/// Git writes the index anew when a person only looks.
TEST_F(HistoryRepository, ARepositoryOfAnAgentsThatAPersonLookedIntoIsUndone) {
  const auto store = begun_with({{"a", "1\n"}});
  run(*store, "echo 2 > a && git init -q e && cp a e/a && git -C e add a");
  const std::string index = tree.content("ws/e/.git/index");
  shell("cd e && cp -p a other && mv other a && git status -s >/dev/null");
  ASSERT_NE(tree.content("ws/e/.git/index"), index); // the control: git has written
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_EQ(tree.content("ws/a"), "1\n");
  EXPECT_FALSE(tree.exists("ws/e"));
}

TEST_F(HistoryRepository, ARepositoryOfAnAgentsInWhichAPersonWorkedStays) {
  const auto store = begun();
  run(*store, "git init -q e && echo a > e/a && git -C e add a");
  shell("echo b > e/b && git -C e add b");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::Contains("e/.git/index"));
  EXPECT_EQ(tree.content("ws/e/b"), "b\n");
}

struct head_case {
  const char* name;
  const char* by_person;
  const char* by_agent;
};
class HistoryGitHead : public HistoryRepository, public testing::WithParamInterface<head_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryGitHead,
    testing::Values(
        head_case{"Removed", "git switch -q -c mine && echo 3 > c && git add c && git commit -qm c",
                  "rm .git/HEAD"},
        head_case{"RemovedParts",
                  "git switch -q -c mine && echo 3 > c && git add c && git commit -qm c",
                  "rm -rf .git/HEAD .git/refs .git/objects"},
        head_case{"Switched",
                  "git switch -q -c mine && echo 3 > c && git add c && git commit -qm c",
                  "git switch -q main"},
        head_case{
            "OfANewRepository",
            "git init -q new && cd new && git config user.name n && git config user.email a@b "
            "&& git commit -q --allow-empty -m theirs",
            "rm new/.git/HEAD"},
        head_case{
            "OfOneThatIsGone",
            "git init -q new && cd new && git config user.name n && git config user.email a@b "
            "&& git commit -q --allow-empty -m theirs",
            "rm -rf new"}),
    [](const auto& each) { return each.param.name; });

/// Whoever had it before: what the agent has done to it is taken back, by the agent or by a person.
TEST_P(HistoryGitHead, ComesBackToWhatThePersonHad) {
  for (const history::author by : {history::author::tool, history::author::other}) {
    shell("rm -rf .git *");
    make_repository();
    const auto store = begun();
    shell(GetParam().by_person);
    const std::string before = now();
    run(*store, GetParam().by_agent);
    EXPECT_NE(now(), before);
    const auto back = store->restore({.by = by});
    ASSERT_THAT(back, IsOk());
    for (const auto& each : back->conflicts)
      ADD_FAILURE() << each.path << ": " << each.reason;
    EXPECT_EQ(now(), before);
  }
}

/// The control: what a person alone has done there an agent does not take back, and the person may.
TEST_F(HistoryRepository, APersonsHeadIsThePersons) {
  make_repository();
  const auto store = begun();
  shell("git switch -q -c mine");
  const std::vector<std::string> paths{".git/HEAD"};
  const history::restore_request agents{.paths = paths, .force = true};
  const auto refused = store->restore(agents);
  ASSERT_THAT(refused, IsOk());
  EXPECT_THAT(paths_of(refused->conflicts), testing::ElementsAre(".git/HEAD"));
  EXPECT_EQ(refused->conflicts_of_others, 0u); // force is of no use
  EXPECT_EQ(tree.content("ws/.git/HEAD"), "ref: refs/heads/mine\n");
  const auto back = store->restore({.paths = paths, .by = history::author::other});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(tree.content("ws/.git/HEAD"), "ref: refs/heads/main\n");
}

/// What is protected stays so, whoever is asked to force it; and nobody is told to.
TEST_F(HistoryRepository, WhatForceDoesNotTakeBackIsNotSaidToBeForIt) {
  make_repository();
  const auto store = begun();
  run(*store, "git config user.name agent; echo 2 > a");
  shell("git config user.name person");
  const auto refused = store->restore({});
  ASSERT_THAT(refused, IsOk());
  EXPECT_THAT(paths_of(refused->conflicts), testing::ElementsAre(".git/config"));
  EXPECT_EQ(refused->conflicts_of_others, 0u);
  EXPECT_THAT(refused->conflicts.front().reason, testing::HasSubstr("it was changed"));
  EXPECT_THAT(refused->conflicts.front().reason, testing::HasSubstr(".git/config"));
  ASSERT_THAT(store->restore({.force = true}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "1\n");
  EXPECT_THAT(tree.content("ws/.git/config"), testing::HasSubstr("person"));
}

struct place_case {
  const char* name;
  const char* make; ///< of a repository at `$up`, for which submodules are added by `$add`
  const char* at;   ///< where git is run
  const char* git;  ///< whose objects and notes those are
  const char* told; ///< in `left`
};
class HistoryGitPlace : public HistoryRepository, public testing::WithParamInterface<place_case> {
protected:
  static std::string as_somebody(const std::string& commands) {
    return "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=n "
           "GIT_COMMITTER_EMAIL=a@b && " +
           commands;
  }
  [[nodiscard]] static std::string there(const std::string& commands) {
    return as_somebody(std::string("cd ") + GetParam().at + " && " + commands);
  }
  [[nodiscard]] static std::string in_place() { return std::string("-C ") + GetParam().at + ' '; }
  void make_place() const {
    shell(as_somebody("git init -q -b main ../up && cd ../up && echo 1 > a && git add a && git "
                      "commit -qm first"));
    shell(as_somebody("up=$(cd ../up && pwd) && allow='-c protocol.file.allow=always' && "
                      "add=\"git $allow submodule --quiet add\" && ") +
          GetParam().make);
    ASSERT_TRUE(tree.exists(std::string("ws/") + GetParam().git + "/HEAD"));
  }
  [[nodiscard]] bool has_worktree() const {
    return tree.exists(std::string("ws/") + GetParam().at + "/a");
  }
};

#define SUBMODULE "git init -q -b main . && $add $up sub && git commit -qm top"
INSTANTIATE_TEST_SUITE_P(
    , HistoryGitPlace,
    testing::Values(
        place_case{"Plain", "git clone -q $up r", "r", "r/.git", "r/.git/objects"},
        place_case{"Submodule", SUBMODULE, "sub", ".git/modules/sub", ".git/modules/sub/objects"},
        place_case{
            "SubmoduleOfOne",
            "git init -q ../mid && (cd ../mid && $add $up inner && git commit -qm mid) && git "
            "init -q -b main . && $add $(cd ../mid && pwd) sub && git $allow submodule --quiet "
            "update --init --recursive && git commit -qm top",
            "sub/inner", ".git/modules/sub/modules/inner",
            ".git/modules/sub/modules/inner/objects"},
        place_case{"WorktreeOfASubmodule", SUBMODULE " && git -C sub worktree add -q ../tree",
                   "tree", ".git/modules/sub/worktrees/tree", ".git/modules/sub/objects"},
        place_case{
            "SubmoduleCalledLikeAPart",
            "git init -q -b main . && $add --name objects/logs $up sub && git commit -qm top",
            "sub", ".git/modules/objects/logs", ".git/modules/objects/logs/objects"},
        place_case{"Apart", "git clone -q --separate-git-dir=apart $up r", "r", "apart",
                   "apart/objects"},
        place_case{"Bare", "git clone -q --bare $up up.git", "up.git", "up.git", "up.git/objects"},
        place_case{"BareAtTheTop", "git clone -q --bare $up .", ".", ".", "objects"}),
    [](const auto& each) { return each.param.name; });
#undef SUBMODULE

constexpr const char* makes_a_branch =
    "b=$(echo agent | git hash-object -w --stdin) && t=$(printf '100644 blob %s\\tfile\\n' $b | "
    "git "
    "mktree) && c=$(git commit-tree -p HEAD -m agent $t) && git update-ref refs/heads/agent $c";

TEST_P(HistoryGitPlace, WhatATagNeedsStays) {
  make_place();
  const auto store = begun();
  run(*store, there(makes_a_branch));
  shell(there("git tag keep agent"));
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_THAT(paths_of(back->left), testing::ElementsAre(GetParam().told));
  EXPECT_EQ(git(in_place() + "log --format=%s keep"), "agent\nfirst\n");
  EXPECT_EQ(git(in_place() + "show keep:file"), "agent\n");
  EXPECT_THAT(git(in_place() + "branch"), testing::Not(testing::HasSubstr("agent")));
}

/// The control: where nobody else has worked nothing stays.
TEST_P(HistoryGitPlace, WhatTheAgentAloneMadeGoes) {
  make_place();
  const auto store = begun();
  const std::string before = now();
  run(*store, there(makes_a_branch));
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_THAT(paths_of(back->left), testing::IsEmpty());
  EXPECT_EQ(now(), before);
}

/// And neither where all of it is meant.
TEST_P(HistoryGitPlace, ByNameAndWithForceAllOfItGoes) {
  make_place();
  const auto store = begun();
  const std::string every = in_place() + "cat-file --batch-check --batch-all-objects";
  const std::string before = git(every);
  run(*store, there(makes_a_branch));
  shell(there("git tag keep agent"));
  std::string repository = GetParam().told;
  repository.resize(repository.size() - std::string_view("objects").size());
  if (!repository.empty()) repository.pop_back();
  const auto back =
      store->restore({.paths = {repository}, .force = true, .by = history::author::other});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_THAT(paths_of(back->left), testing::IsEmpty());
  EXPECT_EQ(git(every), before);
  EXPECT_EQ(git(in_place() + "tag"), "");
}

TEST_P(HistoryGitPlace, APersonsCommitIsFoundInTheLog) {
  make_place();
  if (!has_worktree()) GTEST_SKIP() << "nothing is noted in a bare repository";
  const auto store = begun();
  run(*store, there("echo 2 > a && git commit -qam agents"));
  shell(there("echo theirs > b && git add b && git commit -qm theirs"));
  const auto back = store->restore({.force = true});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_THAT(paths_of(back->left),
              testing::IsSupersetOf({std::string(GetParam().told),
                                     GetParam().git + std::string("/logs/HEAD"),
                                     GetParam().git + std::string("/COMMIT_EDITMSG")}));
  EXPECT_EQ(git(in_place() + "log --format=%s"), "first\n");
  EXPECT_THAT(git(in_place() + "log -g --format=%s HEAD"), testing::HasSubstr("theirs\n"));
}

TEST_P(HistoryGitPlace, ToLookIsNoChange) {
  make_place();
  if (!has_worktree()) GTEST_SKIP() << "a bare repository has no index";
  const auto store = begun();
  run(*store, there("echo 2 > a && git commit -qam agents"));
  const std::string index = std::string("ws/") + GetParam().git + "/index";
  const std::string bytes = tree.content(index);
  shell(there(look_again));
  ASSERT_NE(tree.content(index), bytes);
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_THAT(paths_of(back->left), testing::IsEmpty());
  EXPECT_EQ(git(in_place() + "log --format=%s"), "first\n");
  EXPECT_EQ(git(in_place() + "status --short"), "");
}

/// Whoever looks: that is told of nobody, and what a person stages after it is the person's.
TEST_F(HistoryRepository, AnIndexThatWasOnlyRefreshedDoesNotCountAsChanged) {
  for (const bool is_agents : {true, false}) {
    shell("rm -rf * .git ../state/*");
    make_repository();
    const auto store = begun();
    const std::string index = tree.content("ws/.git/index");
    const std::string look = "touch -d 2001-01-01 a; git status -s";
    is_agents ? run(*store, look) : shell(look);
    ASSERT_NE(tree.content("ws/.git/index"), index); // the control: git has written
    for (const bool git_as_one : {true, false})
      EXPECT_EQ(told(store->changes({.git_as_one = git_as_one})), "");
    shell("echo theirs > b; git add b");
    const auto back = store->restore({});
    ASSERT_THAT(back, IsOk());
    EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
    EXPECT_EQ(git("status --short"), "A  b\n");
    // The control: what was staged is told, and what the agent staged is the agent's.
    EXPECT_THAT(told(store->changes({})), testing::HasSubstr("modified .git"));
    run(*store, "echo 2 > a; git add a");
    shell("echo more > c; git add c");
    EXPECT_THAT(paths_of(store->restore({})->conflicts), testing::ElementsAre(".git/index"));
  }
}

/// What a commit of the repository around it says of a submodule is among the submodule's objects.
TEST_F(HistoryRepository, WhatACommitSaysOfASubmoduleStays) {
  make_repository();
  shell("git clone -q . ../up && git -c protocol.file.allow=always submodule --quiet add \"$(cd "
        "../up "
        "&& pwd)\" sub && git commit -qm sub && git -C sub config user.name n && git -C sub config "
        "user.email a@b");
  const auto store = begun();
  run(*store, "cd sub && echo 2 > a && git commit -qam agents");
  shell("git add sub && git commit -qm theirs && git tag keep");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(paths_of(back->conflicts), testing::IsEmpty());
  EXPECT_EQ(git("-C sub log --format=%s $(git rev-parse keep:sub)"), "agents\nfirst\n");
  EXPECT_EQ(git("-C sub log --format=%s"), "first\n");
}

/// By each form of it that git writes.
TEST_F(HistoryRepository, AnIndexIsReadAsGitWritesIt) {
  for (const std::string form : {"--index-version 2", "--index-version 3", "--index-version 4"}) {
    shell("rm -rf .git *");
    for (const char* name : {"a", "dir/b", "dir/bc", "dir/c/d"})
      write(name, name);
    write("long/" + std::string(200, 'm') + "/" + std::string(200, 'n'), "");
    shell("git init -q . && git add . && git update-index " + form);
    const auto staged = [&] { return history::staged_in(tree.content("ws/.git/index")); };
    if (form.ends_with('3')) {
      shell("echo > n && git add -N n");
    }
    const auto first = staged();
    ASSERT_TRUE(first) << form;
    const std::string index = tree.content("ws/.git/index");
    shell(look_again);
    EXPECT_NE(tree.content("ws/.git/index"), index);
    EXPECT_EQ(staged(), first) << form;
    for (const char* change :
         {"chmod +x a && git add a", "echo 2 > a && git add a", "git rm -q --cached a",
          "git update-index --assume-unchanged dir/b", "echo > z && git add z"}) {
      shell(change);
      EXPECT_NE(staged(), first) << form << ": " << change;
      EXPECT_TRUE(staged()) << form << ": " << change;
      shell("printf a > a && chmod 644 a && rm -f z && git rm -q --cached --ignore-unmatch z && "
            "git update-index --no-assume-unchanged dir/b && git add a");
      EXPECT_EQ(staged(), first) << form << ": " << change;
    }
    for (std::size_t size = 0; size < index.size(); ++size) // and nothing beyond what there is
      (void)history::staged_in(index.substr(0, size));
  }
}

std::string big_endian(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = bytes; i > 0; --i)
    out += static_cast<char>(value >> (8 * (i - 1)));
  return out;
}
/// An index of `count` names, each but its end the one before.
std::string index_of(unsigned version, std::size_t count, std::size_t name_size,
                     char of_last = 'o') {
  std::string out = "DIRC" + big_endian(version, 4) + big_endian(count, 4);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::size_t end_size = 8;
    const std::string digits = std::to_string(10'000'000 + i);
    const std::string name = std::string(name_size - end_size, 'n') + digits;
    const std::string flags = big_endian(std::min<std::size_t>(name_size, 0xFFF), 2);
    std::string entry = std::string(24, '\0') + big_endian(0100644, 4) + std::string(12, '\0') +
                        std::string(20, i + 1 == count ? of_last : 'o') + flags;
    if (version < 4)
      entry += name + std::string(8 - (entry.size() + name.size()) % 8, '\0');
    else if (i == 0)
      entry += '\0' + name + '\0';
    else
      entry += static_cast<char>(end_size) + digits + '\0';
    out += entry;
  }
  return out + std::string(20, 's');
}

/// In the fourth form a name of thousands of bytes takes a few: what is kept of it is no more.
TEST(HistoryGitIndex, TakesNoMoreThanItsBytes) {
  const std::string bytes = index_of(4, 16'000, 4000);
  EXPECT_LT(bytes.size(), std::size_t{2} << 20U);
  const auto staged = history::staged_in(bytes);
  ASSERT_TRUE(staged);
  EXPECT_LE(staged->size(), bytes.size());
  EXPECT_NE(staged, history::staged_in(index_of(4, 16'000, 4000, 'p')));
  EXPECT_EQ(history::staged_in(index_of(4, 100, 4000)), history::staged_in(index_of(2, 100, 4000)));
}

TEST(HistoryGitIndex, NamesThatNoPathCanHaveAreNotKnown) {
  for (const unsigned version : {2U, 4U}) {
    EXPECT_TRUE(history::staged_in(index_of(version, 3, 4095)));
    EXPECT_FALSE(history::staged_in(index_of(version, 3, 4096)));
  }
}

struct git_whole_case {
  const char* name;
  const char* by_agent;
};
class HistoryGitWhole : public HistoryRepository,
                        public testing::WithParamInterface<git_whole_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryGitWhole,
    testing::Values(
        git_whole_case{"Init", "git init -q fresh && cd fresh && echo 1 > f && git add f"},
        git_whole_case{"Clone", "git clone -q . copied"},
        git_whole_case{"Switch", "git switch -q -c other && echo 3 > a && git commit -qam other"},
        git_whole_case{"RemovedParts", "rm -rf .git/HEAD .git/objects .git/refs"},
        git_whole_case{"SwitchBack", "git switch -q side"},
        git_whole_case{"Repack", "echo 3 > a && git commit -qam third && git gc -q --prune=now"}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryGitWhole, IsTakenBackToTheByte) {
  write("a", "1\n");
  shell("git init -q -b main . && git config user.name n && git config user.email a@b && git add a "
        "&& git commit -qm first && git branch side && echo 2 > a && git commit -qam second");
  const auto store = begun();
  const std::string before = now();
  run(*store, GetParam().by_agent);
  const std::string made = now();
  EXPECT_NE(made, before);
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  for (const auto& each : back->conflicts)
    ADD_FAILURE() << each.path << ": " << each.reason;
  EXPECT_EQ(now(), before);
  EXPECT_EQ(git("fsck --full").find("missing"), std::string::npos);
  const auto again = store->restore({.to = back->before});
  ASSERT_THAT(again, IsOk());
  for (const auto& each : again->conflicts)
    ADD_FAILURE() << each.path << ": " << each.reason;
  EXPECT_EQ(now(), made);
}

/// Everyday lines of ignore files are also names that git has.
TEST_F(HistoryRepository, WhatIgnoreFilesNameIsHeldInARepository) {
  write("a", "1\n");
  write(".gitignore", "logs\ntags\nobjects/\n");
  shell("git init -q -b main . && git config user.name n && git config user.email a@b && git add a "
        "&& git commit -qm first && git tag person");
  const auto store = begun();
  const std::string before = now();
  run(*store, "git tag -d person >/dev/null && echo 2 > a && git commit -qam second");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  for (const auto& each : back->conflicts)
    ADD_FAILURE() << each.path << ": " << each.reason;
  EXPECT_EQ(now(), before);
}

/// The old one was too large to be held: what git finds in the new one it finds after the restore.
TEST_F(HistoryRepository, APackThatStaysKeepsItsIndex) {
  make_repository();
  shell("head -c 20000 /dev/urandom >large && git add large && git commit -qm large && git repack "
        "-qad");
  const std::string first = git("rev-parse main");
  const auto store = begun({.file_bytes_max = 10'000});
  auto recording = store->before_command("exec", "gc");
  shell("echo 2 >a && git commit -qam second && git gc -q --prune=now");
  EXPECT_NE(recording.finish(), "");
  const auto back = store->restore({.to = store->state().start, .force = true});
  ASSERT_THAT(back, IsOk());
  EXPECT_FALSE(back->conflicts.empty());
  EXPECT_EQ(git("rev-parse main"), first);
  EXPECT_THAT(git("fsck"), testing::Not(testing::HasSubstr("failed")));
  EXPECT_EQ(git("status --short"), "");
}

} // namespace
