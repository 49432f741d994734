// SPDX-License-Identifier: MIT

// What people do beside an agent: their files come back from what the agent did to them, and what
// they have made out of the agent's work stays whole.

#include "support/history/history_fixture.hpp"

using namespace paddock;
using test::IsOk;

namespace {

class HistoryPersons : public test::history_fixture {};

struct taken_case {
  const char* name;
  const char* by_person;
  const char* by_agent;
  const char* told;
};
class HistoryTaken : public HistoryPersons, public testing::WithParamInterface<taken_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryTaken,
    testing::Values(
        taken_case{"Deleted", "echo hours > report", "rm report", "deleted report by exec; "},
        taken_case{"Overwritten", "echo hours > report", "echo x > report",
                   "modified report by exec; "},
        taken_case{"ADirectory", "mkdir -p p/q; echo 1 > p/q/f; echo 2 > p/g", "rm -rf p",
                   "deleted p (2) by exec; "},
        taken_case{"OfBefore", "echo mine > kept", "echo x > kept", "modified kept by exec; "},
        taken_case{"OfBeforeDeleted", "echo mine > kept", "rm kept", "deleted kept by exec; "},
        taken_case{"Moved", "echo hours > report", "mv report elsewhere",
                   "moved elsewhere from report by exec; "},
        taken_case{"Closed", "echo hours > report", "chmod 400 report", "mode report by exec; "},
        taken_case{"Touched", "echo hours > report", "touch -d 2001-01-01 report", ""}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryTaken, ComesBackToWhatThePersonHad) {
  const auto store = begun_with({{"kept", "old"}});
  shell(GetParam().by_person);
  const std::string before = now();
  run(*store, GetParam().by_agent);
  EXPECT_EQ(told(store->changes({})), GetParam().told);
  const auto back = restored(*store);
  EXPECT_EQ(now(), before);
  // And that is taken back, too.
  ASSERT_THAT(store->restore({.to = back->before}), IsOk());
  EXPECT_NE(now(), before);
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(now(), before);
}

/// The control: what a person has changed after the agent is theirs, and stops the restore.
TEST_F(HistoryPersons, WhatAPersonChangedAfterTheAgentIsAConflict) {
  const auto store = begun_with({{"kept", "old"}});
  run(*store, "echo agent > kept; echo agent > made");
  shell("echo mine > kept; echo mine > made");
  const auto refused = store->restore({});
  ASSERT_THAT(refused, IsOk());
  ASSERT_EQ(refused->conflicts.size(), 2u);
  EXPECT_EQ(refused->conflicts.front().reason, "it was changed since, not by an agent");
  EXPECT_EQ(refused->before, 0u);
  ASSERT_THAT(store->restore({.force = true}), IsOk());
  EXPECT_EQ(tree.content("ws/kept"), "old");
  EXPECT_FALSE(tree.exists("ws/made"));
}

struct mode_case {
  const char* name;
  const char* by_agent;
  const char* by_person;
  const char* conflicts; ///< without force
  const char* modes;     ///< of `d`, `d/f` and `d/g` after it; with a conflict, with force
};
class HistoryModes : public HistoryPersons, public testing::WithParamInterface<mode_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryModes,
    testing::Values(
        mode_case{"OfAWrittenFile", "echo a > d/f", "chmod 600 d/f", "d/f ", "755 644 644 "},
        mode_case{"OfAFile", "chmod 755 d/f", "chmod 600 d/f", "d/f ", "755 644 644 "},
        mode_case{"OfAnotherFile", "chmod 755 d/g", "chmod 600 d/f", "", "755 600 644 "},
        mode_case{"OfANewDirectory", "mkdir n; echo a > n/n", "chmod 700 n", "n ", "755 644 644 "},
        mode_case{"OfADirectory", "chmod 711 d", "chmod 700 d", "d ", "755 644 644 "},
        mode_case{"OfADirectoryWorkedIn", "echo a > d/n; rm d/f", "chmod 700 d", "",
                  "700 644 644 "},
        mode_case{"OfADirectoryBefore", "chmod 711 d", "chmod 755 d", "", "755 644 644 "}),
    [](const auto& each) { return each.param.name; });

/// A mode that a person gave after the agent is the person's, as a content is.
TEST_P(HistoryModes, APersonGaveAreThePersons) {
  shell("umask 022; mkdir d; echo f > d/f; echo g > d/g");
  const auto store = begun();
  run(*store, GetParam().by_agent);
  shell(GetParam().by_person);
  const std::string before = now();
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  std::string conflicts;
  for (const auto& each : back->conflicts)
    conflicts += each.path + ' ';
  EXPECT_EQ(conflicts, GetParam().conflicts);
  if (!conflicts.empty()) {
    EXPECT_EQ(now(), before);
    ASSERT_THAT(store->restore({.force = true}), IsOk());
  }
  shell("stat -c %a d d/f d/g | tr '\\n' ' ' > ../modes");
  EXPECT_EQ(tree.content("modes"), GetParam().modes);
  EXPECT_FALSE(tree.exists("ws/d/n") || tree.exists("ws/n"));
}

/// What was taken back is the agent's no more: a person goes on with it, and nothing is in the way.
TEST_F(HistoryPersons, WhatWasTakenBackIsThePersonsAgain) {
  const auto store = begun_with({{"kept", "old"}});
  run(*store, "echo agent > kept");
  ASSERT_THAT(store->restore({}), IsOk());
  shell("echo mine > kept");
  EXPECT_EQ(told(store->changes({})), "modified kept by other; ");
  const auto nothing = restored(*store);
  EXPECT_EQ(nothing->restored, 0u);
  EXPECT_EQ(nothing->others, 1u);
  EXPECT_EQ(tree.content("ws/kept"), "mine\n");
}

/// What a restore was asked to take from a person is not brought back by the next one.
TEST_F(HistoryPersons, WhatWasRestoredByNameIsAsItWas) {
  const auto store = begun_with({{"kept", "old"}});
  shell("echo mine > kept; echo mine > made");
  const std::vector<std::string> paths{"kept", "made"};
  const auto back = store->restore({.paths = paths, .force = true});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(told(store->changes({})), "");
  EXPECT_EQ(store->restore({})->restored, 0u);
  ASSERT_THAT(store->restore({.to = back->before}), IsOk()); // the control: it can be had back
  EXPECT_EQ(tree.content("ws/made"), "mine\n");
}

/// What a person takes back is theirs: an agent's restore leaves it, and the person can go on.
TEST_F(HistoryPersons, APersonsUndoIsAPersons) {
  const auto store = begun_with({{"kept", "old"}});
  run(*store, "echo agent > kept; echo agent > made");
  const auto mark = store->make_checkpoint("")->number;
  const auto undone = store->restore({.by = history::author::other});
  ASSERT_THAT(undone, IsOk());
  EXPECT_EQ(told(store->changes({})), "");
  EXPECT_EQ(told(store->changes({.since = mark})),
            "modified kept by other; deleted made by other; ");
  EXPECT_EQ(store->changes({.since = mark})->changes.front().tool, history::persons_undo);
  const auto agents = store->restore({.to = mark});
  ASSERT_THAT(agents, IsOk());
  EXPECT_EQ(agents->restored, 0u);
  EXPECT_EQ(agents->others, 2u);
  ASSERT_THAT(store->restore({.to = undone->before, .by = history::author::other}), IsOk());
  EXPECT_EQ(tree.content("ws/kept"), "agent\n");
  EXPECT_EQ(tree.content("ws/made"), "agent\n");
  // The control: what a tool has restored is the agent's.
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(told(store->changes({.since = back->before})),
            "modified kept by tool; deleted made by tool; ");
  ASSERT_THAT(store->restore({.to = back->before}), IsOk());
  EXPECT_EQ(tree.content("ws/kept"), "agent\n");
}

struct forced_case {
  const char* name;
  bool is_force;          ///< of the agent's restore; else a person's undo of the file
  const char* afterwards; ///< of the agent
};
class HistoryForced : public HistoryPersons, public testing::WithParamInterface<forced_case> {};

INSTANTIATE_TEST_SUITE_P(, HistoryForced,
                         testing::Values(forced_case{"Edited", true, "echo again > kept"},
                                         forced_case{"Moved", true, "mv kept moved"},
                                         forced_case{"EditedByUndo", false, "echo again > kept"},
                                         forced_case{"MovedByUndo", false, "mv kept moved"}),
                         [](const auto& each) { return each.param.name; });

/// Restored over what a person had made of the agent's work, it is nobody's change any more.
TEST_P(HistoryForced, BeginsAnew) {
  const auto store = begun_with({{"kept", "old"}});
  const std::string before = now();
  run(*store, "echo agent > kept");
  if (!GetParam().is_force) {
    ASSERT_THAT(store->restore({.by = history::author::other}), IsOk());
  }
  shell("echo mine > kept");
  const auto forced =
      GetParam().is_force
          ? store->restore({.force = true})
          : store->restore({.paths = {"kept"}, .force = true, .by = history::author::other});
  ASSERT_THAT(forced, IsOk());
  EXPECT_EQ(now(), before);
  EXPECT_EQ(told(store->changes({})), "");
  run(*store, GetParam().afterwards);
  (void)restored(*store);
  EXPECT_EQ(now(), before);
}

TEST_F(HistoryPersons, APathThatNobodyKnowsIsNamed) {
  const auto store = begun_with({{"kept", "old"}});
  run(*store, "rm kept; mkdir d; echo 1 > d/f");
  const std::vector<std::string> paths{"ketp", "kept", "d"};
  const auto trial = store->restore({.paths = paths, .effect = history::restore_effect::check});
  ASSERT_THAT(trial, IsOk());
  EXPECT_THAT(trial->unknown, testing::ElementsAre("ketp"));
}

TEST_F(HistoryPersons, SetIdBitsThatDoNotComeBackAreNamed) {
  write("tool", "old");
  shell("chmod 4755 tool");
  const auto store = begun();
  run(*store, "echo new > tool");
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left.front().path, "tool");
  EXPECT_NE(back->left.front().reason.find("set-user-ID"), std::string::npos);
}

/// What a person has undone on the page is theirs: names that are read-only stay so to the agent.
TEST_F(HistoryPersons, WhatIsReadOnlyIsNotTakenBackFromAPerson) {
  const auto store = begun_with({{"repo/.git/HEAD", "ref: refs/heads/main\n"},
                                 {"repo/.git/objects/x", ""},
                                 {"repo/.git/refs/x", ""}});
  shell("echo mine > repo/.git/config");
  run(*store, "echo 1 > other");
  const std::vector<std::string> paths{"repo/.git/config"};
  const auto refused = store->restore({.paths = paths});
  ASSERT_THAT(refused, IsOk());
  EXPECT_EQ(refused->conflicts.size(), 1u);
  EXPECT_EQ(tree.content("ws/repo/.git/config"), "mine\n");
}

/// To name what a person has changed is not to say that it may be lost.
TEST_F(HistoryPersons, WhatIsNamedIsAConflictWithoutForce) {
  const auto store = begun_with({{"a", "1"}});
  shell("echo mine > a; echo new > new; mkdir d; echo x > d/x");
  for (const std::string path : {"a", "new", "d/x"}) {
    const auto refused = store->restore({.paths = {path}});
    ASSERT_THAT(refused, IsOk());
    EXPECT_EQ(refused->restored, 0u) << path;
    ASSERT_EQ(refused->conflicts.size(), 1u) << path;
    EXPECT_EQ(refused->conflicts_of_others, 1u) << path;
    EXPECT_EQ(refused->conflicts.front().reason, "it was changed, but not by an agent");
  }
  EXPECT_EQ(tree.content("ws/a"), "mine\n");
  // A person says so by naming it, and an agent by force.
  EXPECT_EQ(store->restore({.paths = {"new"}, .by = history::author::other})->restored, 1u);
  EXPECT_FALSE(tree.exists("ws/new"));
  EXPECT_EQ(store->restore({.paths = {"a"}, .force = true})->restored, 1u);
  EXPECT_EQ(tree.content("ws/a"), "1");
}

/// What lies in a directory that is told as one is found by its own path.
TEST_F(HistoryPersons, WhatLiesInANewDirectoryIsFound) {
  const auto store = begun_with({{"old/x", "1"}, {"gone/y", "1"}});
  run(*store, "mkdir -p d/e/g; echo 1 > d/e/f; echo 2 > d/e/g/h; rm -r gone; mv old moved");
  EXPECT_EQ(told(store->changes({})), "created d (2) by exec; deleted gone by exec; "
                                      "moved moved from old by exec; ");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"d/e/f", "created d/e/f by exec; "},
      {"d/e", "created d/e (2) by exec; "},
      {"d/e/g", "created d/e/g by exec; "},
      {"gone/y", "deleted gone/y by exec; "},
      {"moved/x", "moved moved/x from old/x by exec; "},
      {"old/x", "moved moved/x from old/x by exec; "}};
  for (const auto& [path, wanted] : cases) {
    const auto list = store->changes({.paths = {path}});
    EXPECT_EQ(told(list), wanted) << path;
    EXPECT_TRUE(list->unknown.empty()) << path;
  }
}

/// A row says who did it, of all that it stands for.
TEST_F(HistoryPersons, ARowHasOneAuthor) {
  const auto store = begun();
  run(*store, "mkdir -p d/mine; echo 1 > d/a; echo 2 > d/b");
  shell("echo 3 > d/c; echo 4 > d/mine/x; mkdir d/own; echo 5 > d/own/y; echo 6 > d/own/z");
  EXPECT_EQ(told(store->changes({})),
            "created d (2) by exec; created d/c by other; created d/mine/x by other; "
            "created d/own (2) by other; ");
}

/// What an agent wrote before there was a repository does not come back beside a person's.
TEST_F(HistoryPersons, WhatWasHarmlessBeforeTheRepositoryDoesNotComeBackIntoIt) {
  const auto store = begun();
  run(*store, "mkdir app; echo evil > app/.envrc; echo 1 > app/f");
  const auto to = store->make_checkpoint("made")->number;
  run(*store, "rm app/.envrc");
  shell("mkdir -p app/.git/objects; echo 'ref: refs/heads/main' > app/.git/HEAD; echo '[core]' > "
        "app/.git/config");
  run(*store, "mv app t");
  (void)store->restore({.to = to, .paths = {"app"}});
  for (const char* top : {"ws/app", "ws/t"})
    EXPECT_FALSE(tree.exists(std::string(top) + "/.envrc")) << now();
}

/// The agent's own goes again, also where it has become protected since.
TEST_F(HistoryPersons, WhatAToolMadeBeforeTheRepositoryGoesWithIt) {
  const auto store = begun();
  const std::vector<std::string> paths{"proj/.vscode/settings.json", "proj/.envrc"};
  auto recording = store->before_tool("writeTextFile", paths);
  for (const std::string& each : paths)
    write(each, "agent's");
  EXPECT_EQ(recording.finish(), "");
  run(*store, "cd proj; mkdir -p .git/objects .git/refs; echo 'ref: refs/heads/main' > .git/HEAD");
  (void)restored(*store, {.by = history::author::other});
  EXPECT_FALSE(tree.exists("ws/proj")) << now();
}

/// What lay in another directory of that name, as anybody's, is not for a repository that has got
/// its place.
TEST_F(HistoryPersons, WhatWasInAnotherDirectoryDoesNotComeIntoARepository) {
  shell("mkdir -p mine/.git/objects; echo 'ref: refs/heads/main' > mine/.git/HEAD; echo '[core]' > "
        "mine/.git/config");
  const auto store = begun();
  shell("mkdir d; echo evil > d/.envrc; echo 1 > d/f"); // a server without a history
  run(*store, "true");
  run(*store, "rm d/.envrc; echo 2 > d/f");
  shell("mv d d2; mv mine d");
  for (const history::author by : {history::author::tool, history::author::other})
    for (const bool force : {false, true}) {
      (void)store->restore({.force = force, .by = by});
      EXPECT_FALSE(tree.exists("ws/d/.envrc")) << now();
    }
}

/// Neither does a mode with which an agent's file would run, where a person has taken that away.
TEST_F(HistoryPersons, AModeThatAnAgentGaveDoesNotComeBackUnderAProtectedName) {
  for (const bool is_agents : {true, false}) { // the second one is the control
    shell("rm -rf .envrc ../state/*");
    const auto store = begun();
    if (is_agents)
      run(*store, "echo evil > .envrc; chmod 755 .envrc");
    else
      shell("echo mine > .envrc; chmod 755 .envrc");
    const auto to = store->make_checkpoint("made")->number;
    shell("chmod 644 .envrc");
    for (const history::author by : {history::author::tool, history::author::other})
      EXPECT_THAT(store->restore({.to = to, .paths = {".envrc"}, .force = true, .by = by}), IsOk());
    shell("stat -c %a .envrc > ../mode");
    EXPECT_EQ(tree.content("mode"), is_agents ? "644\n" : "755\n");
    if (!is_agents) continue;
    const auto persons = store->make_checkpoint("theirs")->number;
    run(*store, "chmod 755 .envrc");
    EXPECT_THAT(store->restore({.to = persons, .by = history::author::other}), IsOk());
    shell("stat -c %a .envrc > ../mode");
    EXPECT_EQ(tree.content("mode"), "644\n"); // as the person had it
  }
}

} // namespace
