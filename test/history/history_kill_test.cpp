// SPDX-License-Identifier: MIT

// A process is killed at every boundary of a system call of recording and of restoring, and each
// call of the store fails once. Afterwards no file is torn, and everything can be had back.

#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/fault/kill_at.hpp"
#include "support/history/history_fixture.hpp"

using namespace paddock;
using test::campaign_met;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

constexpr const char* untraceable = "this process may not be traced";

/// From one moment that is tried to the next: `usual`, or of a campaign in part as many times more.
std::size_t stride(std::size_t usual = 1) {
  return usual * test::campaign_step();
}
/// The same of calls. Each has two stops, and what is between two calls is there once.
std::size_t stride_of_calls(std::size_t usual = 1) {
  return 2 * stride(usual);
}

class HistoryKill : public test::history_fixture {
protected:
  static constexpr const char* changed_by =
      "echo more >> a; rm b; mkdir new; echo n > new/n; chmod 700 d; mv d/f d/g; ln -sfn a l; "
      "rm -r t u; echo x > t; ln -s a u";

  HistoryKill() {
    write("a", "one");
    write("b", "two");
    write("d/f", "three");
    write("t/one", "a directory that becomes a file");
    write("u/two", "and a link");
    shell("ln -s b l; mkdir empty; touch -d 2001-02-03 a b d");
    original_ = now();
  }
  static history::options plain() { return {.threads_max = 1}; }

  /// A history begins, an agent's command changes what there is, and all this is saved.
  void begin(const std::string& command = "") {
    {
      const auto store = begun(plain());
      point_ = store->state().start;
      if (!command.empty()) run(*store, command);
    }
    changed_ = now();
    save();
  }
  /// What another process does: it restores what was there when the history began.
  std::function<bool()> a_restore(history::author by = history::author::tool) {
    return [this, by] {
      const auto store = open(plain());
      return store && store->restore({.to = point_, .by = by}).has_value();
    };
  }
  /// Kills `work` each time in what was saved. False: no process may be traced here.
  [[nodiscard]] bool is_killed_at_each(std::size_t stride, const std::function<bool()>& work,
                                       const std::function<void(std::size_t)>& look) const {
    return test::kill_at_each({.stride = stride}, [this] { load(); }, work, look);
  }

  /// Puts workspace and store back as they were when they were saved.
  void save() const { copy("ws", "ws.saved", "state", "state.saved"); }
  void load() const { copy("ws.saved", "ws", "state.saved", "state"); }

  /// What a later process finds, whatever has happened before it.
  void expect_all_back(
      const std::string& other, std::size_t stop,
      const std::function<void(const std::string&)>& look = [](const std::string&) {}) {
    const auto store = open(plain());
    ASSERT_NE(store, nullptr);
    (void)store->checkpoints(); // the first look ends what a killed process has left
    const std::string found = now();
    look(found);
    EXPECT_TRUE(found == original_ || found == other) << "killed at " << stop << ":\n" << found;
    (void)restored(*store, {.to = point_, .paths = {""}, .force = true}, stop);
    EXPECT_EQ(now(), original_) << "killed at " << stop;
    const auto checked = store->verify();
    ASSERT_THAT(checked, IsOk());
    EXPECT_TRUE(checked->damaged.empty()) << checked->damaged.front();
  }

  /// Each call of a restore fails once, each time in what `prepare` makes.
  void expect_safe_failures(
      const std::function<void()>& prepare,
      const std::function<void(bool, std::size_t)>& look = [](bool, std::size_t) {}) {
    std::size_t refused = 0;
    for (std::size_t at = 1;; at += stride()) {
      prepare();
      std::size_t failed = 0;
      {
        const auto store = open(plain());
        ASSERT_NE(store, nullptr);
        (void)store->checkpoints();
        test::injection injected({.at = at, .os_errno = EIO});
        const auto back = store->restore({.to = point_});
        failed = test::injection::failed();
        injected.end();
        if (!back) ++refused;
        // What could not be read is a conflict: it may be somebody's.
        look(back && back->conflicts.empty(), at);
      }
      expect_all_back(changed_, at);
      if (failed == 0 || HasFailure()) break;
    }
    EXPECT_GT(refused, campaign_met(10));
  }

  std::uint64_t point_ = 0;
  std::string original_, changed_;

private:
  void copy(const std::string& from, const std::string& to, const std::string& other_from,
            const std::string& other_to) const {
    fs::create_directories(tree / to), fs::create_directories(tree / other_to);
    // The directories themselves stay: a store is that of one directory.
    const std::string line = "cd '" + (tree / "") + "' && find " + to + ' ' + other_to +
                             " -mindepth 1 -delete && cp -a " + from + "/. " + to +
                             " && exec cp -a " + other_from + "/. " + other_to;
    EXPECT_EQ(std::system(line.c_str()), 0);
  }
};

TEST_F(HistoryKill, ARestoreIsCarriedToItsEnd) {
  begin(changed_by);
  ASSERT_NE(changed_, original_);
  bool was_changed = false, was_restored = false;
  const auto look = [&](std::size_t at) {
    {
      const auto store = open(plain());
      ASSERT_NE(store, nullptr);
      (void)store->checkpoints();
      (now() == changed_ ? was_changed : was_restored) = true;
    }
    expect_all_back(changed_, at);
  };
  if (!is_killed_at_each(stride_of_calls(), a_restore(), look)) GTEST_SKIP() << untraceable;
  EXPECT_TRUE(was_changed || stride() > 1);
  EXPECT_TRUE(was_restored || stride() > 1);
}

/// Also where the next process brings it to its end: a person's undo is no agent's change.
TEST_F(HistoryKill, APersonsUndoIsTheirsHoweverItEnds) {
  begin(changed_by);
  const std::uint64_t mark = open(plain())->make_checkpoint("")->number;
  save();
  std::size_t undone = 0;
  const auto look = [&](std::size_t at) {
    const auto list = open(plain())->changes({.since = mark});
    ASSERT_THAT(list, IsOk()) << at;
    for (const history::change& each : list->changes) {
      EXPECT_EQ(each.by, history::author::other) << each.path << " at " << at;
      EXPECT_EQ(each.tool, history::persons_undo) << each.path << " at " << at;
    }
    if (!list->changes.empty()) ++undone;
  };
  if (!is_killed_at_each(stride_of_calls(8), a_restore(history::author::other), look))
    GTEST_SKIP() << untraceable;
  EXPECT_GT(undone, campaign_met(1));
}

TEST_F(HistoryKill, ARecordingLosesNothing) {
  begin();
  const auto work = [&] {
    const auto store = open(plain());
    if (!store) return false;
    const std::vector<std::string> paths{"a", "n/m"};
    auto recording = store->before_tool("write", paths);
    write("a", "another");
    write("n/m", "new");
    if (!recording.finish().empty()) return false;
    auto command = store->before_command("exec", "change");
    fs::remove(workspace() + "/b");
    write("d/f", "changed by a command");
    return command.finish().empty() && store->make_checkpoint("end").has_value();
  };
  const auto look = [&](std::size_t at) { expect_all_back(now(), at); };
  if (!is_killed_at_each(stride_of_calls(), work, look)) GTEST_SKIP() << untraceable;
}

/// Nothing that a call has done is taken for a person's, whenever it was killed.
TEST_F(HistoryKill, WhatAKilledCallDidIsTheAgents) {
  begin();
  std::size_t was_changed = 0;
  const auto work = [&] {
    const auto store = open(plain());
    if (!store) return false;
    const std::vector<std::string> paths{"a", "n/m"};
    for (const char* text : {"another", "the last"}) {
      auto recording = store->before_tool("write", paths);
      write("a", text);
      write("n/m", text);
      if (!recording.finish().empty()) return false;
    }
    return true;
  };
  const auto look = [&](std::size_t at) {
    was_changed += now() != original_ ? 1U : 0U;
    const auto store = open(plain());
    ASSERT_NE(store, nullptr);
    const auto back = store->restore({.to = point_}); // the agent's alone
    ASSERT_THAT(back, IsOk()) << at;
    EXPECT_TRUE(back->conflicts.empty()) << at;
    EXPECT_EQ(now(), original_) << "killed at " << at;
  };
  if (!is_killed_at_each(stride_of_calls(), work, look)) GTEST_SKIP() << untraceable;
  EXPECT_GT(was_changed, campaign_met(20));
}

/// A tool may write at any moment, also while another call looks at what there is.
TEST_F(HistoryKill, WhatAToolDoesWhileOthersLookIsItsOwn) {
  begin();
  using look = std::function<void(history::store&)>;
  const std::vector<std::pair<std::string, look>> looks{
      {"another tool",
       [](history::store& store) {
         const std::vector<std::string> paths{"n/other", "d"};
         EXPECT_EQ(store.before_tool("write", paths).finish(), "");
       }},
      {"a command",
       [](history::store& store) { EXPECT_EQ(store.before_command("exec", "true").finish(), ""); }},
      {"a checkpoint",
       [](history::store& store) { EXPECT_THAT(store.make_checkpoint("between"), IsOk()); }}};
  for (const auto& [name, use] : looks) {
    for (std::size_t at = 1;; at += stride()) {
      load();
      const auto store = open(plain());
      ASSERT_NE(store, nullptr);
      const std::vector<std::string> paths{"a", "n/m"};
      auto recording = store->before_tool("write", paths);
      bool was_written = false;
      const auto write_both = [&](std::size_t call) {
        if (call != at) return;
        was_written = true;
        write("a", "another");
        write("n/m", "new");
      };
      test::injection injected({.before = write_both});
      use(*store);
      injected.end();
      EXPECT_EQ(recording.finish(), "");
      if (!was_written) break;
      const auto list = store->changes({.since = point_});
      ASSERT_THAT(list, IsOk());
      for (const history::change& each : list->changes)
        EXPECT_EQ(each.by, history::author::tool) << each.path << " at " << at << " of " << name;
      const auto back = store->restore({.to = point_}); // the agent's alone
      ASSERT_THAT(back, IsOk()) << at;
      EXPECT_TRUE(back->conflicts.empty()) << name << ' ' << at << back->conflicts.front().path;
      EXPECT_EQ(now(), original_) << name << ' ' << at;
      if (HasFailure()) return;
    }
  }
}

/// Whenever a restore was killed: it is over only after a look at what it moved.
TEST_F(HistoryKill, WhatAKilledRestoreMovedIsLookedAt) {
  begin(changed_by);
  const std::string looked = tree / "looked";
  std::size_t by_next = 0;
  const auto work = [&] {
    const auto store = open(plain());
    if (!store) return false;
    store->after_moves([&] {
      tree.file("looked", "");
      return std::string("moved aside");
    });
    const auto back = store->restore({.to = point_});
    return back && back->notice == "moved aside";
  };
  const auto look = [&](std::size_t at) {
    bool is_looked_at = tree.exists("looked");
    fs::remove(looked);
    const auto store = open(plain());
    ASSERT_NE(store, nullptr);
    store->after_moves([&] {
      is_looked_at = true;
      ++by_next;
      return std::string("moved aside");
    });
    (void)store->checkpoints();
    EXPECT_TRUE(is_looked_at || now() == changed_) << at;
  };
  if (!is_killed_at_each(stride_of_calls(4), work, look)) GTEST_SKIP() << untraceable;
  EXPECT_GT(by_next, campaign_met(5));
}

/// What a restore of the agent has brought about can be taken back by another one, also when it was
/// killed behind the last of its changes.
TEST_F(HistoryKill, WhatAKilledRestoreDidIsTheAgents) {
  begin(changed_by);
  std::size_t taken_back = 0;
  const auto look = [&](std::size_t at) {
    const auto store = open(plain());
    ASSERT_NE(store, nullptr);
    std::uint64_t before = 0;
    for (const history::checkpoint& each : store->checkpoints())
      if (each.label == "before restore") before = each.number;
    if (now() == original_) {
      (void)restored(*store, {.to = before}, at);
      EXPECT_EQ(now(), changed_) << "killed at " << at;
      ++taken_back;
    }
  };
  if (!is_killed_at_each(stride(7), a_restore(), look)) GTEST_SKIP() << untraceable;
  EXPECT_GT(taken_back, campaign_met(3));
}

/// Each call of a recording fails once, or all from one on. The tool's work goes on, and what was
/// held before is not lost.
TEST_F(HistoryKill, AFailureOfTheStoreFailsNoTool) {
  begin();
  std::size_t told = 0;
  for (const auto lasting : {test::lasting::once, test::lasting::ever}) {
    for (std::size_t at = 1;; at += stride()) {
      load();
      std::size_t failed = 0;
      {
        const auto store = open(plain());
        ASSERT_NE(store, nullptr);
        const auto only_writing = [](std::string_view name) {
          return test::is_write(name) || name == "fdatasync" ? ENOSPC : EIO;
        };
        test::injection injected({.at = at, .lasting = lasting, .os_errno_of = only_writing});
        const std::vector<std::string> paths{"a", "b"};
        auto recording = store->before_tool("write", paths);
        injected.end();
        write("a", "another");
        fs::remove(workspace() + "/b");
        test::injection again({.at = at, .lasting = lasting, .os_errno_of = only_writing});
        if (!recording.finish().empty()) ++told;
        failed = test::injection::failed();
        again.end();
      }
      EXPECT_EQ(tree.content("ws/a"), "another");
      expect_all_back(now(), at);
      if (failed == 0 || HasFailure()) break;
    }
  }
  EXPECT_TRUE(told > 0 || stride() > 1);
}

/// A server that has the workspace open already carries on what another one could not, and puts
/// down to the restore what the plan says, nothing that a person has done since.
TEST_F(HistoryKill, AnOpenStoreCarriesARestoreOn) {
  const auto watching = begun(plain()); // it stays open, so that no other one ends the session
  point_ = watching->state().start;
  run(*watching, changed_by);
  changed_ = now();
  save();
  decltype(open(plain())) store;
  const auto prepare = [&] {
    store.reset();
    load();
    store = open(plain());
    ASSERT_NE(store, nullptr);
    (void)store->checkpoints();
  };
  std::size_t carried_on = 0;
  const auto look = [&](std::size_t at) {
    const bool was_half = now() != changed_ && now() != original_;
    write("a person's", "own");
    const auto list = store->changes({.since = point_, .paths = {"a person's"}});
    EXPECT_EQ(told(list), "created a person's by other; ") << at;
    fs::remove(workspace() + "/a person's");
    if (was_half) ++carried_on;
    (void)restored(*store, {.to = point_}, at);
    EXPECT_EQ(tree.content("ws/a"), "one") << at;
    EXPECT_EQ(tree.content("ws/b"), "two") << at;
    EXPECT_EQ(tree.content("ws/d/f"), "three") << at;
    EXPECT_FALSE(tree.exists("ws/new")) << at;
  };
  if (!test::kill_at_each({.stride = stride(3)}, prepare, a_restore(), look))
    GTEST_SKIP() << untraceable;
  EXPECT_GT(carried_on, campaign_met(5));
}

class HistoryKillForGood : public HistoryKill {
protected:
  /// Killed at this moment and each fifth after it. Counts how often a store told of it.
  [[nodiscard]] bool is_killed_from(std::size_t first) {
    // Copies are other objects: what is moved is made anew each time.
    const auto prepare = [this] {
      shell("find . -mindepth 1 -delete; mkdir d; echo three > d/f; echo one > a");
      const auto store = begun(plain());
      point_ = store->state().start;
      run(*store, "mv d e; echo 2 > a");
    };
    const auto look = [this](std::size_t at) {
      std::error_code failed;
      fs::rename(workspace() + "/e", workspace() + "/elsewhere", failed);
      const auto store = open(plain());
      ASSERT_NE(store, nullptr);
      EXPECT_THAT(store->changes({.since = point_}), IsOk()) << at;
      if (!store->state().trouble.empty()) {
        ++told_so;
        EXPECT_THAT(store->state().trouble,
                    testing::HasSubstr("an interrupted restore could not be"))
            << at;
      }
      EXPECT_THAT(store->make_checkpoint("goes on"), IsOk()) << at;
      EXPECT_EQ(std::system(("grep -rqs three '" + workspace() + "'").c_str()), 0) << at;
    };
    return test::kill_at_each({.stride = 5, .first = first}, prepare, a_restore(), look);
  }

  std::size_t told_so = 0;
};

/// What was killed cannot be carried on: a person has renamed the directory that was to move. The
/// history goes on, and says so.
TEST_F(HistoryKillForGood, ARestoreThatCannotBeCarriedOnEndsNoHistory) {
  // The moments of interest are few, and may lie between those that are tried at first.
  for (const std::size_t first : {1U, 3U, 5U, 2U, 4U})
    if (told_so == 0 && !HasFailure() && !is_killed_from(first)) GTEST_SKIP() << untraceable;
  EXPECT_GT(told_so, 0u);
}

/// Directories that move, come and go in one another, and a file with two names: killed, or with a
/// call that fails, the workspace is as it was or as it was to be.
class HistoryKillMoves : public HistoryKill {
protected:
  /// Copies are other objects: what is moved is made anew each time.
  void make_anew() {
    shell("find . -mindepth 1 -delete; mkdir -p src/net/http lib; echo x > src/net/http/x; "
          "echo m > src/m; echo l > lib/l");
    original_ = now();
    const auto store = begun(plain());
    point_ = store->state().start;
    run(*store, "ln src/m m; mv src/net/http/x lib/; rmdir src/net/http; touch m; mv src source");
    changed_ = now();
  }
};

TEST_F(HistoryKillMoves, AreCarriedToTheirEnd) {
  bool was_changed = false, was_restored = false;
  const auto look = [&](std::size_t at) {
    expect_all_back(changed_, at, [&](const std::string& found) {
      (found == changed_ ? was_changed : was_restored) = true;
    });
  };
  if (!test::kill_at_each(
          {.stride = stride_of_calls(4)}, [this] { make_anew(); }, a_restore(), look))
    GTEST_SKIP() << untraceable;
  EXPECT_TRUE(was_changed || stride() > 1);
  EXPECT_TRUE(was_restored || stride() > 1);
}

TEST_F(HistoryKillMoves, AreTakenBackWhereACallFails) {
  expect_safe_failures([this] { make_anew(); });
}

/// At each moment of a restore somebody saves a file, as editors do, and the restore fails later or
/// does not. What they have saved is there afterwards, and so is what was there before.
TEST_F(HistoryKill, LosesNothingThatIsSavedMeanwhile) {
  write("e/g", "four");
  original_ = now();
  {
    const auto store = begun(plain());
    run(*store, "echo 2 > a; rm b; echo 3 > d/f; mv e h; echo 5 > h/new; echo 6 > z");
  }
  save();
  std::size_t kept = 0, restored = 0;
  for (const std::string path : {"a", "d/f", "z"}) {
    for (const std::size_t failing : {0u, 7u}) {
      for (std::size_t at = 1;; at += stride(10)) {
        load();
        bool was_saved = false;
        std::size_t renames = 0;
        result<history::restore_outcome, detailed_error> back =
            error{error_code::io, 0, "not tried"};
        {
          const auto store = open(plain());
          ASSERT_NE(store, nullptr);
          const auto point = store->checkpoints().front().number;
          const auto fail_rename = [&](std::string_view name) {
            return name == "renameat2" && ++renames == failing ? EIO : 0;
          };
          const auto save_there = [&](std::size_t call) {
            if (call != at) return;
            was_saved = true;
            tree.file("ws/other's", "saved meanwhile");
            std::error_code failed;
            fs::rename(workspace() + "/other's", workspace() + '/' + path, failed);
          };
          test::injection injected({.os_errno_of = fail_rename, .before = save_there});
          back = store->restore({.to = point});
          injected.end();
        }
        if (!was_saved) break;
        (back && back->restored != 0 && back->before != 0 ? restored : kept) += 1;
        EXPECT_EQ(std::system(("grep -rqs 'saved meanwhile' '" + workspace() + "'").c_str()), 0)
            << path << " at " << at << " with " << failing << "\n"
            << now();
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(kept, campaign_met(10));
  EXPECT_GT(restored, campaign_met(10));
}

TEST_F(HistoryKill, ARestoreThatFailsChangesNothing) {
  begin(changed_by);
  expect_safe_failures([this] { load(); },
                       [this](bool is_restored, std::size_t at) {
                         EXPECT_EQ(now(), is_restored ? original_ : changed_) << "at " << at;
                       });
}

} // namespace
