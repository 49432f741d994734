// SPDX-License-Identifier: MIT

// Moves of directories with all that may happen around them: homes that are gone, things that
// changed places, and files with several names. Judged by how the tree was.

#include "support/history/history_fixture.hpp"

#include <linux/fs.h>
#include <sys/syscall.h>

#include <ostream>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class HistoryMoves : public test::history_fixture {
protected:
  /// Both change places, in one step.
  void exchange(const std::string& a, const std::string& b) const {
    ASSERT_EQ(::syscall(SYS_renameat2, AT_FDCWD, (workspace() + '/' + a).c_str(), AT_FDCWD,
                        (workspace() + '/' + b).c_str(), RENAME_EXCHANGE),
              0);
  }
  void write_tree() const {
    for (const char* each : {"a", "b", "d/x", "d/e/y", "d/A/X/y/q", "d/A/k", "t/f", "g/h/z",
                             "src/m.c", "src/net/t.c", "src/net/http/x.c", "lib/l.c"})
      write(each, std::string("content of ") + each);
    shell("touch -d 2001-01-01 a; touch -d 2002-02-02 b; chmod 600 b");
  }
};

struct moves_case {
  const char* name;
  std::vector<std::string> commands; ///< "=a b": the two change places
  std::string told{};                ///< empty: it is not looked at

  friend void PrintTo(const moves_case& each, std::ostream* out) { *out << each.name; }
};
class HistoryMovesBack : public HistoryMoves, public testing::WithParamInterface<moves_case> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryMovesBack,
    testing::Values(
        moves_case{"RemovedHome",
                   {"mv src/net/http/x.c lib/", "rmdir src/net/http", "mv src source"}},
        moves_case{"RemovedHomeAtOnce",
                   {"mv src/net/http/x.c lib/ && rmdir src/net/http && mv src source"}},
        moves_case{"RemovedHomes", {"mv d/A/X/y/q t/g; rm -r d/A; mv d dd"}},
        moves_case{"HomeIsAFileNow", {"mv d/A/k t/g; rm -r d/A; echo file > d/A; mv d dd"}},
        moves_case{"HomeIsALinkNow", {"mv d/A/k t/g; rm -r d/A; ln -s e d/A; mv d dd"}},
        moves_case{"PlaceIsTaken", {"mv d/A/k t/g; echo new > d/A/k; mv d dd"}},
        moves_case{"PlaceIsTakenByADirectory", {"mv d/A t/A; mkdir -p d/A/X/n; mv d dd"}},
        moves_case{"HomeIsElsewhereNow", {"mv d/A/k t/g; mv d/A g/A; mv d dd"}},
        moves_case{"AnotherInThePlaceOfTheHome", {"mv d/x q; rm -r d; mv g d"}},
        moves_case{"AnotherInThePlaceAndMovedBefore", {"mv d/x a0; rm -r d; mv g d; mv d a1"}},
        moves_case{"IntoAnotherThatMoved", {"mv a d/; mv d e; mv e t/"}},
        moves_case{"Nest", {"mkdir d/x.d; mv d/x d/x.d/; mkdir -p k/l/m; mv d k/l/m/"}},
        moves_case{"Exchanged", {"=d/A/X t/f", "mv d dd"}},
        moves_case{"ExchangedTwice", {"=d/A/X t/f", "=d/A/X t/f", "mv d dd"}},
        moves_case{"ExchangedWithItsInside", {"mv d/e tmp; mv d tmp/d; mv tmp d"}},
        moves_case{"InThePlaceOfAFile", {"rm t/f; mv d/A/X t/f; touch t/f/y; mv d t/dd"}},
        moves_case{"AllThree", {"rm t/f; mv d/A/X t/f; rm -r d; mv g d"}},
        moves_case{"LinkBeside",
                   {"ln src/m.c build_m.c", "mv src zource"},
                   "created build_m.c by exec; moved zource from src by exec; "},
        moves_case{"LinkBesideAtOnce",
                   {"ln src/m.c build_m.c; mv src zource"},
                   "created build_m.c by exec; moved zource from src by exec; "},
        moves_case{
            "LinkAfter", {"ln d/x zz; mv d ee"}, "moved ee from d by exec; created zz by exec; "},
        moves_case{"LinksAndGone", {"ln a c; ln a e; rm a"}},
        moves_case{"LinksMoved", {"ln a c; mv a e"}},
        moves_case{"LinkWithinTwo", {"ln d/x d/e/x; ln d/x g/x; mv d dd; mv g gg"}},
        moves_case{"LinkWritten", {"ln d/x c; echo evil > c; mv d dd"}},
        moves_case{"LinkTouched", {"ln a c; touch a"}},
        moves_case{"LinkTouchedAndModeChanged", {"ln d/x c; touch c; chmod 640 c; mv d dd"}},
        moves_case{"LinkInPlaceOfAnEqualOne", {"cp a b; touch b"}},
        moves_case{"LinkReplaces", {"rm a; ln b a; mv d dd"}}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryMovesBack, AllIsAsItWas) {
  write_tree();
  const auto store = begun();
  const std::string before = now();
  for (const std::string& each : GetParam().commands) {
    if (!each.starts_with('=')) {
      run(*store, each);
      continue;
    }
    const std::size_t between = each.find(' ');
    auto recording = store->before_command("exec", "exchange");
    exchange(each.substr(1, between - 1), each.substr(between + 1));
    EXPECT_EQ(recording.finish(), "");
  }
  const std::string made = now();
  if (!GetParam().told.empty()) {
    EXPECT_EQ(told(store->changes({})), GetParam().told);
  }
  const auto back = store->restore({});
  ASSERT_TRUE(back) << explain(back.error());
  EXPECT_TRUE(back->conflicts.empty()) << back->conflicts.front().reason;
  EXPECT_EQ(back->kept, "");
  EXPECT_EQ(now(), before);
  // And the way there again.
  const auto again = store->restore({.to = back->before});
  ASSERT_TRUE(again) << explain(again.error());
  EXPECT_TRUE(again->conflicts.empty()) << again->conflicts.front().reason;
  EXPECT_EQ(now(), made);
}

/// A link that the agent has not made keeps its mode and time, whatever comes back beside it.
TEST_F(HistoryMoves, LeavesTheOtherNamesOfAFile) {
  write("kept", "same");
  write("gone", "same");
  shell("touch -d 2001-01-01 kept; touch -d 2002-02-02 gone; chmod 640 gone");
  const auto store = begun();
  const std::string before = now();
  run(*store, "ln -f kept gone");
  EXPECT_NE(now(), before);
  const auto back = store->restore({});
  ASSERT_TRUE(back) << explain(back.error());
  EXPECT_EQ(now(), before);
}

/// Only what was asked for: the directory that it was in comes back with it.
TEST_F(HistoryMoves, MakesTheHomeOfWhatWasAskedFor) {
  write_tree();
  const auto store = begun();
  run(*store, "mv src/net/http/x.c lib/; rmdir src/net/http; mv a c");
  const std::vector<std::string> asked{"lib/x.c", "src/net/http/x.c"};
  const auto back = store->restore({.paths = asked});
  ASSERT_TRUE(back) << explain(back.error());
  EXPECT_TRUE(tree.exists("ws/src/net/http/x.c"));
  EXPECT_FALSE(tree.exists("ws/lib/x.c"));
  EXPECT_FALSE(tree.exists("ws/a"));
}

/// By the place where it is now, as a list of changes names it; nothing is only taken away.
TEST_F(HistoryMoves, GoBackByTheNameOfWhereTheyAre) {
  const struct {
    const char* asked;
    std::vector<const char*> there;
    std::vector<const char*> gone;
  } cases[] = {{"theirs", {"a", "lib/m.c", "more"}, {"theirs"}},
               {"lib", {"src/m.c", "src/net/t.c", "theirs", "more"}, {"lib", "a"}},
               {"lib/m.c", {"src/m.c", "lib/net/t.c"}, {"lib/m.c", "a"}},
               {"more", {"theirs", "lib/m.c"}, {"more", "a"}}}; // the control: it was made
  for (const auto& each : cases) {
    SCOPED_TRACE(each.asked);
    fs::remove_all(workspace());
    for (const char* name : {"a", "src/m.c", "src/net/t.c"})
      write(name, std::string("content of ") + name);
    const auto store = begun();
    run(*store, "mv a theirs; mv src lib; echo >more");
    const std::vector<std::string> asked{each.asked};
    const auto back = store->restore({.paths = asked});
    ASSERT_TRUE(back) << explain(back.error());
    EXPECT_TRUE(back->conflicts.empty());
    for (const std::string name : each.there)
      EXPECT_TRUE(tree.exists("ws/" + name)) << name;
    for (const std::string name : each.gone)
      EXPECT_FALSE(tree.exists("ws/" + name)) << name;
  }
}

class HistoryMovesRandom : public HistoryMoves, public testing::WithParamInterface<unsigned> {
protected:
  [[nodiscard]] std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  [[nodiscard]] std::string any() {
    std::vector<std::string> all;
    for (const auto& each : fs::recursive_directory_iterator(workspace()))
      all.push_back(each.path().string());
    if (all.empty()) return workspace() + "/a";
    std::sort(all.begin(), all.end()); // the order of a directory is not the same everywhere
    return all[below(all.size())];
  }
  [[nodiscard]] std::string any_place() {
    const std::string at = any();
    const char name = static_cast<char>('a' + static_cast<char>(below(5)));
    return (fs::is_directory(fs::symlink_status(at)) ? at : fs::path(at).parent_path().string()) +
           '/' + name;
  }
  void change() {
    std::error_code failed;
    const std::string at = any(), place = any_place();
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
      fs::rename(at, place, failed);
      break;
    case 3:
      (void)::syscall(SYS_renameat2, AT_FDCWD, at.c_str(), AT_FDCWD, any().c_str(),
                      RENAME_EXCHANGE);
      break;
    case 4:
    case 5:
      (void)::link(at.c_str(), place.c_str());
      break;
    case 6:
      (void)::remove(at.c_str()); // a directory only if it is empty
      break;
    case 7:
      fs::create_directory(place, failed);
      break;
    case 8:
      if (fs::is_regular_file(at, failed)) std::ofstream(at, std::ios::app) << "more";
      break;
    default:
      if (below(2) == 0)
        (void)::utimensat(AT_FDCWD, at.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
      else
        (void)::chmod(at.c_str(), below(2) == 0 ? 0755 : 0700);
      break;
    }
  }

  std::mt19937 random_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, HistoryMovesRandom, testing::Range(0u, 40u));

TEST_P(HistoryMovesRandom, AllIsAsItWas) {
  write_tree();
  for (std::size_t left = below(20); left > 0; --left)
    change();
  const auto store = begun();
  for (int round = 0; round < 4; ++round) {
    const auto from = store->make_checkpoint("from");
    ASSERT_THAT(from, IsOk());
    const std::string before = now();
    for (std::size_t commands = 1 + below(3); commands > 0; --commands) {
      auto recording = store->before_command("exec", "change");
      for (std::size_t left = 1 + below(8); left > 0; --left)
        change();
      EXPECT_EQ(recording.finish(), "");
    }
    const auto back = store->restore({.to = from->number});
    ASSERT_TRUE(back) << explain(back.error());
    ASSERT_TRUE(back->conflicts.empty())
        << back->conflicts.front().path << ": " << back->conflicts.front().reason;
    EXPECT_EQ(back->kept, "");
    ASSERT_EQ(now(), before) << "round " << round;
  }
}

/// A tool names something in a directory that a process has just taken away: each entry goes once.
TEST_F(HistoryMoves, WhatWentWithItsDirectoryIsToldOnce) {
  for (const char* command : {"rm -r d", "rm -r d; echo 1 > d", "mv d e"}) {
    const auto store = begun();
    run(*store, "mkdir -p d/in; echo 1 > d/in/f");
    auto process = store->before_command("startProcess", command);
    shell(command);
    const std::vector<std::string> beneath{"d/in/f/x"};
    EXPECT_EQ(store->before_tool("appendTextFile", beneath).finish(), "");
    EXPECT_EQ(process.finish(), "");
    const auto back = store->restore({});
    ASSERT_THAT(back, IsOk()) << explain(back.error());
    EXPECT_TRUE(back->left.empty()) << back->left[0].path << ' ' << back->left[0].reason;
    EXPECT_EQ(now(), "") << command;
  }
}

/// What somebody else has moved, and the agent from there, goes back to there.
TEST_F(HistoryMoves, GoBackToWhereTheAgentFoundThem) {
  for (const char* kind : {"echo 1 > a", "ln -s x a", "mkdir a; echo 1 > a/f"}) {
    shell("rm -rf *");
    shell(kind);
    const auto store = begun();
    shell("mv a b");
    const std::string before = (store->look(), now());
    run(*store, "mv b c");
    (void)restored(*store);
    EXPECT_EQ(now(), before) << kind;
  }
}

} // namespace
