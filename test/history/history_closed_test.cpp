// SPDX-License-Identifier: MIT

// What a command hides by taking the right to read away, and what lies deeper than paths reach.

#include "support/fault/kill_at.hpp"
#include "support/history/history_fixture.hpp"
#include "support/process/process.hpp"

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

std::string named(const std::vector<history::not_covered>& all) {
  std::string text;
  for (const history::not_covered& each : all)
    text += each.path.substr(0, 20) + ": " + std::string(reason_of(each.reason)) + "; ";
  return text;
}

class HistoryClosed : public test::history_fixture {
protected:
  /// As a user whom modes hold, root or not.
  template <class Body> void as_bound_by_modes(Body&& body) const {
    if (test::in_child([] { return test::become_bound_by_modes(); }, body) ==
        test::child_end::refused)
      GTEST_SKIP() << "privileges cannot be given up here";
  }
  /// When the status of what commands close was last changed.
  [[nodiscard]] std::vector<std::int64_t> touched() const {
    std::vector<std::int64_t> times;
    for (const char* name : {"dd", "dd/f", "nn", "nn/mm"}) {
      struct stat s{};
      const bool is_there = ::lstat((workspace() + '/' + name).c_str(), &s) == 0;
      times.push_back(is_there ? s.st_ctim.tv_sec * 1'000'000'000 + s.st_ctim.tv_nsec : 0);
    }
    return times;
  }
  /// What is too deep is named, and left by a restore for that reason; all else comes back.
  void expect_back_but_for_the_deep(history::store& store, std::string_view reason) const {
    const auto list = store.changes({});
    ASSERT_THAT(list, IsOk());
    EXPECT_EQ(named(list->left_out),
              "dddddddddddddddddddd: what is in it has paths that are too long; ");
    const auto back = store.restore({});
    ASSERT_THAT(back, IsOk());
    EXPECT_TRUE(back->conflicts.empty());
    ASSERT_EQ(back->left.size(), 1u);
    EXPECT_NE(back->left.front().reason.find(reason), std::string::npos);
    EXPECT_EQ(tree.content("ws/a"), "1");
  }
};

struct closed_case {
  const char* name;
  const char* command;
  const char* left_out; ///< as `changes` names it; empty: nothing
  const char* open;     ///< so that all can be compared
};
class HistoryClosedBy : public HistoryClosed, public testing::WithParamInterface<closed_case> {};

constexpr const char* open_all =
    "chmod 700 dd nn nn/mm 2>/dev/null; chmod 600 dd/f 2>/dev/null; true";
INSTANTIATE_TEST_SUITE_P(
    , HistoryClosedBy,
    testing::Values(
        closed_case{"NotListed", "echo ruined > dd/f; echo evil > dd/new; rm dd/g; chmod 300 dd",
                    "dd: it could not be read; ", open_all},
        closed_case{"NotEntered", "echo ruined > dd/f; rm dd/g; chmod 0 dd",
                    "dd: it could not be read; ", open_all},
        closed_case{"NotLookedInto", "echo ruined > dd/f; rm dd/g; chmod 444 dd",
                    "dd: it could not be read; ", open_all},
        closed_case{"AFile", "echo ruined > dd/f; chmod 0 dd/f", "", open_all},
        closed_case{"ANewDirectory", "mkdir nn; echo big > nn/x; chmod 0 nn",
                    "nn: it could not be read; ", open_all},
        closed_case{"OneInAnother",
                    "mkdir -p nn/mm; echo big > nn/mm/x; echo ruined > dd/f; chmod 0 nn/mm; chmod "
                    "100 nn; chmod 200 dd",
                    "dd: it could not be read; nn: it could not be read; ", open_all},
        closed_case{"OpenAndNotToBeMoved", "mkdir nn; mv dd nn/mm; chmod 555 nn/mm nn", "",
                    "chmod 700 nn nn/mm; true"},
        closed_case{"OpenAndNotToBeMovedOutOfOthers", "mkdir nn; mv dd nn/mm; chmod 500 nn/mm", "",
                    "chmod 700 nn nn/mm; true"},
        // The control: what is open is seen and named at once.
        closed_case{"Open", "echo ruined > dd/f; rm dd/g; chmod 711 dd", "", open_all}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryClosedBy, IsNamedOpenedAndTakenBack) {
  as_bound_by_modes([this] {
    write("dd/f", "precious");
    write("dd/g", "precious, too");
    const auto store = begun();
    const std::string before = now();
    run(*store, GetParam().command);
    const auto list = store->changes({});
    ASSERT_THAT(list, IsOk());
    EXPECT_EQ(named(list->left_out), GetParam().left_out);
    const auto untouched = touched();
    const auto trial = restored(*store, {.effect = history::restore_effect::check});
    EXPECT_EQ(touched(), untouched); // it has not even been opened for a moment
    const bool is_closed = !std::string_view(GetParam().name).starts_with("Open");
    EXPECT_EQ(!trial->left.empty(), is_closed);
    EXPECT_EQ(named(store->changes({})->left_out), GetParam().left_out);
    const auto back = restored(*store);
    EXPECT_EQ(now(), before);
    // The restore is taken back to the byte, modes and all.
    (void)restored(*store, {.to = back->before});
    shell(GetParam().open);
    const std::string opened = now();
    fs::remove_all(workspace() + "/dd");
    fs::remove_all(workspace() + "/nn");
    write("dd/f", "precious");
    write("dd/g", "precious, too");
    shell(GetParam().command);
    shell(GetParam().open);
    const auto without_times = [](std::string rows) {
      for (std::size_t at = 0; (at = rows.find(" time ", at)) != std::string::npos;)
        rows.erase(at, rows.find_first_of(" \n", at + 6) - at);
      return rows;
    };
    EXPECT_EQ(without_times(opened), without_times(now()));
  });
}

/// A restore that is killed while it has opened what the agent closed.
TEST_F(HistoryClosed, WhatAKilledRestoreHadOpenedIsTheAgentsStill) {
  as_bound_by_modes([this] {
    std::size_t was_open = 0;
    for (std::size_t at = 1;; at += 14) {
      shell("chmod -R u+rwX . && find . -mindepth 1 -delete");
      write("dd/f", "precious");
      write("dd/g", "precious, too");
      shell("touch -d 2001-02-03 dd/f dd/g dd");
      const std::string before = now();
      std::uint64_t point = 0;
      {
        const auto store = begun({.threads_max = 1});
        point = store->state().start;
        run(*store, "echo ruined > dd/f; rm dd/g; mkdir dd/new; echo n > dd/new/n; chmod 0 dd");
      }
      std::size_t stops = 0;
      const auto work = [&] {
        const auto store = open({.threads_max = 1}, history::session::look);
        return store && store->restore({.to = point}).has_value();
      };
      const test::ending end = test::run_until(work, at, stops);
      if (end == test::ending::untraceable) GTEST_SKIP() << "this process may not be traced";
      struct stat s{};
      ASSERT_EQ(::stat((workspace() + "/dd").c_str(), &s), 0);
      was_open += (s.st_mode & 0777U) == 0700U ? 1U : 0U;
      const auto store = open({.threads_max = 1});
      ASSERT_NE(store, nullptr);
      (void)restored(*store, {.to = point}, at);
      EXPECT_EQ(now(), before) << "killed at " << at;
      if (end == test::ending::finished || HasFailure()) break;
    }
    EXPECT_GT(was_open, 3u);
  });
}

/// What a person keeps closed is theirs: nobody opens it, it is named, and it stops nothing else.
TEST_F(HistoryClosed, APersonsClosedDirectoryStaysClosed) {
  as_bound_by_modes([this] {
    write("theirs/f", "secret");
    write("a", "1");
    shell("chmod 0 theirs");
    const auto store = begun();
    run(*store, "echo 2 > a");
    const auto list = store->changes({});
    EXPECT_EQ(told(list), "modified a by exec; ");
    ASSERT_THAT(list, IsOk());
    EXPECT_EQ(named(list->left_out), "theirs: it has kept everybody out since it was first met; ");
    // A command that opens it has not made what is in it.
    run(*store, "chmod 700 theirs");
    EXPECT_EQ(told(store->changes({})), "modified a by exec; mode theirs by exec; ");
    (void)restored(*store);
    EXPECT_EQ(tree.content("ws/a"), "1");
    struct stat s{};
    ASSERT_EQ(::stat((workspace() + "/theirs").c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777U, 0U);
    shell("chmod 700 theirs");
    EXPECT_EQ(tree.content("ws/theirs/f"), "secret");
  });
}

/// Makes directories beneath the current one until their path is longer than paths may be.
void make_deep(const std::string& top) {
  const std::string name(200, 'd');
  int at = ::open(top.c_str(), O_PATH | O_DIRECTORY);
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0755), 0);
    const int next = ::openat(at, name.c_str(), O_PATH | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  ASSERT_EQ(::mkdirat(at, "last", 0755), 0);
  ::close(at);
}

TEST_F(HistoryClosed, WhatIsTooDeepIsNamedAndStopsNothing) {
  const auto store = begun_with({{"a", "1"}});
  {
    auto recording = store->before_command("exec", "make deep");
    make_deep(workspace());
    write("a", "2");
    EXPECT_EQ(recording.finish(), "");
  }
  expect_back_but_for_the_deep(*store, "too long");
  // A control: one that is not too deep goes.
  run(*store, "mkdir -p s/s/s");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_FALSE(tree.exists("ws/s"));
}

TEST_F(HistoryClosed, WhatWasTooDeepComesBackEmptyAndIsNamed) {
  write("a", "1");
  make_deep(workspace());
  const auto store = begun();
  run(*store, "rm -rf d*; echo 2 > a");
  expect_back_but_for_the_deep(*store, "comes back empty");
}

} // namespace
