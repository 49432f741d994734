// SPDX-License-Identifier: MIT

// Calls of the system that fail once while the store works: what it holds stays, and what it could
// not hold is said.

#include "history/journal.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/history/history_fixture.hpp"
#include "support/process/process.hpp"

#include <linux/fs.h>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class HistoryFault : public test::history_fixture {};

TEST_F(HistoryFault, ALockThatIsNotToBeHadIsSaidByTheToolItself) {
  const auto store = begun_with({{"a", "1"}});
  const std::vector<std::string> paths{"a"};
  for (const bool is_command : {false, true}) {
    test::injection injected(
        {.os_errno_of = [](std::string_view name) { return name == "flock" ? EIO : 0; }});
    auto recording =
        is_command ? store->before_command("exec", "work") : store->before_tool("write", paths);
    injected.end();
    write("a", is_command ? "2" : "3");
    EXPECT_NE(recording.finish(), "");
    // The control.
    auto another =
        is_command ? store->before_command("exec", "work") : store->before_tool("write", paths);
    write("a", is_command ? "4" : "5");
    EXPECT_EQ(another.finish(), "");
  }
}

/// What was read before is still held where a file has only a new time of change, and the store
/// fails in the look at it.
TEST_F(HistoryFault, AFailedLookForgetsNoContent) {
  write("a", "one");
  for (std::size_t at = 1, failed = 1; failed != 0; ++at) {
    const auto store = begun();
    ASSERT_NE(store, nullptr);
    shell("chmod 600 a; chmod 644 a");
    test::injection injected({.at = at, .os_errno = EIO});
    store->look();
    injected.end();
    failed = test::injection::failed();
    const std::vector<std::string> paths{"a"};
    auto recording = store->before_tool("write", paths);
    write("a", "another");
    (void)recording.finish();
    (void)restored(*store, {.to = store->state().start}, at);
    ASSERT_EQ(tree.content("ws/a"), "one") << at;
  }
}

/// And so it is while the agent works: what it changes next is not its first change.
TEST_F(HistoryFault, AFailedLookAtTheAgentsWorkForgetsNoContent) {
  for (std::size_t at = 1, failed = 1; failed != 0; ++at) {
    write("a", "one");
    const auto store = begun();
    ASSERT_NE(store, nullptr);
    auto recording = store->before_command("exec", "work");
    shell("chmod 600 a; chmod 644 a");
    test::injection injected({.at = at, .os_errno = EIO});
    store->look();
    injected.end();
    failed = test::injection::failed();
    shell("printf s >>a");
    (void)recording.finish();
    const auto back = store->restore({.to = store->state().start});
    ASSERT_THAT(back, IsOk()) << at;
    EXPECT_TRUE(back->conflicts.empty()) << at << ' ' << back->conflicts.front().reason;
    ASSERT_EQ(tree.content("ws/a"), "one") << at;
  }
}

/// And while a person undoes it.
TEST_F(HistoryFault, AFailedLookAtAPersonsUndoForgetsNoContent) {
  for (std::size_t at = 1, failed = 1; failed != 0; ++at) {
    shell("rm -f b");
    write("a", "one");
    const auto store = begun();
    ASSERT_NE(store, nullptr);
    auto recording = store->before_command("exec", "work");
    shell("mv a b");
    store->look();
    test::injection injected({.at = at, .os_errno = EIO});
    (void)store->restore({.to = store->state().start, .by = history::author::other});
    injected.end();
    failed = test::injection::failed();
    shell("printf t >>a");
    (void)recording.finish();
    const auto back = store->restore({.to = store->state().start, .by = history::author::other});
    ASSERT_THAT(back, IsOk()) << at;
    EXPECT_TRUE(back->conflicts.empty()) << at << ' ' << back->conflicts.front().reason;
    ASSERT_EQ(tree.content("ws/a"), "one") << at;
  }
}

/// A content that could not be written is never said to be held, and is read again.
TEST_F(HistoryFault, AShortFullDiskLosesNoContentInSilence) {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  std::size_t lost = 0;
  for (int failing = 1; failing <= 4; ++failing) {
    const auto store = begun();
    const auto bytes_of = [&](const std::string& name) {
      return std::string(400'000, name[0]) + std::to_string(failing);
    };
    auto recording = store->before_command("exec", "work");
    for (const std::string& name : names)
      write(name, bytes_of(name));
    int writes = 0;
    test::injection injected({.os_errno_of = [&](std::string_view name) {
      return test::is_write(name) && ++writes == failing ? ENOSPC : 0;
    }});
    const std::string told = recording.finish();
    const std::string trouble = store->state().trouble;
    injected.end();
    const auto list = store->changes({.look = false});
    ASSERT_THAT(list, IsOk());
    std::size_t lost_now = 0;
    for (const history::change& each : list->changes) {
      if (each.after.held == history::holding::held) {
        const auto kept = store->content(each.after.content);
        EXPECT_TRUE(kept && *kept == bytes_of(each.path)) << each.path << " with write " << failing;
        continue;
      }
      EXPECT_EQ(each.after.held, history::holding::lost);
      ++lost_now;
    }
    lost += lost_now;
    if (lost_now != 0 || !told.empty()) {
      EXPECT_NE(trouble, "") << failing;
    }
    // Until it was recorded after all.
    EXPECT_EQ(store->state().trouble, lost_now != 0 ? trouble : "") << failing;
    // There is room again.
    EXPECT_THAT(store->read_in(), IsOk());
    const auto point = store->make_checkpoint("");
    ASSERT_THAT(point, IsOk());
    for (const std::string& name : names) {
      const auto kept = store->bytes_at(point->number, name);
      EXPECT_TRUE(kept && *kept == bytes_of(name)) << name << " with write " << failing;
    }
    EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
  }
  EXPECT_GT(lost, 0u); // the control: it was hit
}

/// What stays of a record that the disk has no room for can perhaps not even be cut off: the next
/// one is no less where it is said to be.
TEST_F(HistoryFault, ARecordComesBehindNothingThatIsCutOff) {
  const auto record_of = [](std::uint64_t number) {
    return history::journal_record{.kind = history::record_kind::checkpoint,
                                   .number = number,
                                   .time_ms = 1,
                                   .label = std::string(100, 'l')};
  };
  const auto numbers = [](history::journal& in) {
    std::vector<std::uint64_t> all;
    const auto add = [&](history::journal_record&& each, std::uint64_t) {
      all.push_back(each.number);
    };
    EXPECT_THAT(in.catch_up(add), IsOk());
    return all;
  };
  const file_descriptor directory(::open(state_directory().c_str(), O_RDONLY | O_CLOEXEC));
  constexpr std::uint64_t room = 1'000'000;
  history::journal log(directory.get());
  ASSERT_THAT(log.open(), IsOk());
  ASSERT_THAT(log.append(record_of(1), room), IsOk());
  int writes = 0;
  bool is_cut = true;
  test::injection injected({.bytes_max = 10, .os_errno_of = [&](std::string_view name) {
                              if (name == "ftruncate") return is_cut ? 0 : EIO;
                              return test::is_write(name) && ++writes % 3 == 0 ? ENOSPC : 0;
                            }});
  EXPECT_FALSE(log.append(record_of(2), room)); // the control: it is cut off
  is_cut = false;
  EXPECT_FALSE(log.append(record_of(3), room));
  EXPECT_FALSE(log.append(record_of(4), room)); // as long as it cannot be
  injected.end();
  const auto at = log.append(record_of(5), room);
  ASSERT_THAT(at, IsOk());
  std::uint64_t found = 0;
  const auto look = [&](const history::journal_record& each, std::uint64_t) {
    found = each.number;
    return false;
  };
  EXPECT_THAT(log.read_from(*at, look), IsOk());
  EXPECT_EQ(found, 5u);
  history::journal other(directory.get());
  ASSERT_THAT(other.open(), IsOk());
  EXPECT_THAT(numbers(other), testing::ElementsAre(1u, 5u));
  EXPECT_FALSE(other.was_damaged());
  // Nor is what others have written meanwhile cut off.
  writes = 0;
  {
    const test::injection again({.bytes_max = 10, .os_errno_of = [&](std::string_view name) {
                                   if (name == "ftruncate") return EIO;
                                   return test::is_write(name) && ++writes == 3 ? ENOSPC : 0;
                                 }});
    EXPECT_FALSE(log.append(record_of(6), room));
  }
  EXPECT_THAT(numbers(other), testing::IsEmpty());
  ASSERT_THAT(other.append(record_of(7), room), IsOk());
  EXPECT_THAT(numbers(log), testing::ElementsAre(7u));
  EXPECT_THAT(log.append(record_of(8), room), IsOk());
  EXPECT_THAT(numbers(other), testing::ElementsAre(8u));
  EXPECT_FALSE(other.was_damaged());
}

/// What has failed is told until everything is recorded again.
TEST_F(HistoryFault, ATroubleOfTheMomentGoes) {
  const auto store = begun_with({{"a", "0"}});
  const auto look_while_full = [&] {
    test::injection injected(test::full_disk());
    (void)store->changes({});
    injected.end();
  };
  write("a", "1");
  for (int i = 0; i < 2; ++i) { // the control: as long as it goes on, it is told
    look_while_full();
    EXPECT_THAT(store->state().trouble, testing::HasSubstr("disk of the history is full")) << i;
  }
  EXPECT_THAT(store->changes({.look = false}), IsOk());
  EXPECT_NE(store->state().trouble, "");
  EXPECT_EQ(told(store->changes({})), "modified a by other; ");
  EXPECT_EQ(store->state().trouble, "");
  // What is lost is read first.
  const std::string large(2'000'000, 'b');
  write("b", large);
  int writes = 0;
  test::injection injected({.os_errno_of = [&](std::string_view name) {
    return test::is_write(name) && ++writes == 1 ? ENOSPC : 0;
  }});
  (void)store->changes({});
  injected.end();
  EXPECT_NE(store->state().trouble, "");
  run(*store, "true");
  EXPECT_EQ(store->state().trouble, "");
  const auto now = store->make_checkpoint("");
  ASSERT_THAT(now, IsOk());
  EXPECT_TRUE(store->bytes_at(now->number, "b")->value_or("") == large);
}

/// A sweep that cannot read what is kept leaves it where it is.
TEST_F(HistoryFault, ASweepThatCannotReadLosesNothing) {
  int failed = 0;
  for (int failing = 1; failing < 30; ++failing) {
    {
      // In one pack: what stays, and what nothing needs once its checkpoint is gone.
      const auto store = begun();
      write("kept" + std::to_string(failing), std::string(1'000, 'k') + std::to_string(failing));
      for (int i = 0; i < 2; ++i)
        run(*store, "head -c 100000 /dev/urandom > changed");
    }
    const auto fresh = open({.checkpoints_max = 1}); // its first use sweeps
    int reads = 0;
    test::injection injected({.os_errno_of = [&](std::string_view name) {
      return name == "pread" && ++reads == failing ? EIO : 0;
    }});
    (void)fresh->checkpoints();
    injected.end();
    failed += fresh->state().trouble.empty() ? 0 : 1;
    const auto checked = fresh->verify();
    ASSERT_THAT(checked, IsOk());
    EXPECT_THAT(checked->damaged, testing::IsEmpty()) << failing;
  }
  EXPECT_GT(failed, 0); // the control: it was hit
}

/// What takes the place of something is on the disk before that goes.
TEST_F(HistoryFault, ASweepSyncsBeforeItRemoves) {
  {
    const auto store = begun();
    for (int i = 0; i < 4; ++i)
      run(*store, "head -c 100000 /dev/urandom > changed; echo " + std::to_string(i) + " > kept");
  }
  const auto fresh = open({.checkpoints_max = 1}); // its first use sweeps
  std::vector<std::string> calls;
  test::injection injected({.os_errno_of = [&](std::string_view name) {
    calls.emplace_back(name);
    return 0;
  }});
  EXPECT_EQ(fresh->checkpoints().size(), 1u);
  injected.end();
  bool is_written = false, is_named = false;
  std::size_t removed = 0, synced = 0;
  for (const std::string& name : calls) {
    if (test::is_write(name)) is_written = is_named = true;
    if (name == "fdatasync") is_written = false;
    if (name == "fsync") is_named = false, ++synced;
    if (name != "unlinkat") continue;
    ++removed;
    EXPECT_FALSE(is_written);
    EXPECT_FALSE(is_named);
  }
  EXPECT_GT(removed, 0u);
  EXPECT_GT(synced, 0u);
}

/// What a restore brings is on the disk before it takes a place, and that before the old one goes.
TEST_F(HistoryFault, ARestoreSyncsBeforeItReplacesAndBeforeItRemoves) {
  for (const int files : {2, 40}) { // each, and the whole file system
    for (int i = 0; i < files; ++i)
      write("f" + std::to_string(i), "old");
    const auto store = begun();
    run(*store, "for f in f*; do echo new > $f; done");
    bool is_unsynced = false, is_moved = false;
    std::size_t exchanged = 0, removed = 0;
    test::injection injected({.os_errno_of = [&](std::string_view name) {
      if (test::is_write(name)) is_unsynced = true;
      if (name == "fsync" || name == "fdatasync" || name == "syncfs")
        is_unsynced = is_moved = false;
      if (name == "renameat2" && test::injection::rename_flags() == RENAME_EXCHANGE) {
        EXPECT_FALSE(is_unsynced);
        is_moved = true;
        ++exchanged;
      }
      if (name == "unlinkat") {
        EXPECT_FALSE(is_moved);
        ++removed;
      }
      return 0;
    }});
    EXPECT_THAT(store->restore({}), IsOk());
    injected.end();
    EXPECT_EQ(exchanged, static_cast<std::size_t>(files)); // the controls
    EXPECT_GE(removed, static_cast<std::size_t>(files));
    EXPECT_EQ(tree.content("ws/f1"), "old");
  }
}

/// What the files of the workspace hold, whatever their names are.
std::multiset<std::string> contents_in(const std::string& top) {
  std::multiset<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    all.emplace(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return all;
}

/// A process exchanges two directories at any moment of a restore, once or all the time. What a
/// person has in them is there afterwards; what is not as it is to be is told.
TEST_F(HistoryFault, DirectoriesThatAreExchangedMeanwhileLoseNothing) {
  const auto exchange = [this] {
    const std::string one = workspace() + "/one", two = workspace() + "/two";
    EXPECT_EQ(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), RENAME_EXCHANGE), 0);
  };
  std::size_t clean = 0, told_of = 0;
  for (const std::size_t every : {0u, 1u, 2u, 3u}) {
    for (std::size_t at = 1;; at += every == 0 ? 3 : 47) {
      shell("rm -rf one two plain paddock-kept-*; rm -rf ../state/*");
      for (const char* name : {"one/f", "one/kept", "two/kept", "one/only1", "two/f", "two/only2",
                               "two/deep/only3", "plain"})
        write(name, std::string("what ") + name + " held");
      const auto before = contents_in(workspace());
      const auto store = begun();
      run(*store, "echo agent > one/f; echo agents > two/f; echo x > plain; rm one/only1; echo n > "
                  "two/new; rm -r two/deep");
      const auto changed = contents_in(workspace());
      // The agent's process, or somebody else's.
      auto going =
          at % 2 == 0 ? store->before_command("startProcess", "exchange") : history::recording();
      std::size_t exchanged = 0;
      const auto disturb = [&](std::size_t call) {
        const bool is_hit = every == 0 ? call == at : call >= at && (call - at) % every == 0;
        if (!is_hit) return;
        exchange();
        ++exchanged;
      };
      test::injection injected({.before = disturb});
      const auto back = store->restore({.force = true});
      injected.end();
      if (exchanged == 0) break;
      if (exchanged % 2 != 0) exchange();
      const auto after = contents_in(workspace());
      const bool is_clean = back && back->conflicts.empty() && back->left.empty() &&
                            back->kept.empty() && back->restored != 0;
      if (is_clean) {
        ++clean;
        // What the agent has made may be somebody else's by then.
        EXPECT_TRUE(std::ranges::includes(after, before))
            << "at " << at << " every " << every << "\n"
            << now();
      } else {
        ++told_of;
      }
      // What was a person's alone all the time is there in any case.
      EXPECT_TRUE(after.contains("what two/only2 held")) << "at " << at << " every " << every;
      const std::string why = back ? "" : explain(back.error());
      if (why.find("nothing was restored") != why.npos) {
        EXPECT_EQ(after, changed) << "at " << at << " every " << every << ": " << why;
      }
      (void)going.finish();
      // And when nothing moves any more, all of it comes back.
      const auto again = store->restore({.paths = {"one", "two", "plain"}, .force = true});
      EXPECT_THAT(again, IsOk());
      shell("rm -rf paddock-kept-*");
      EXPECT_EQ(contents_in(workspace()), before)
          << "at " << at << " every " << every << " " << now();
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(clean, 2u);
  EXPECT_GT(told_of, 10u);
}

/// A directory that is read under both names, because it is exchanged for the other one in between,
/// has its files once: they are not taken away at one of the two for being new there.
TEST_F(HistoryFault, WhatIsSeenTwiceIsNotTakenAway) {
  for (const char* name : {"one/kept", "two/kept", "one/a", "two/b"})
    write(name, std::string("what ") + name + " held");
  const auto before = contents_in(workspace());
  const auto store = begun();
  auto going = store->before_command("startProcess", "exchange");
  int read = 0;
  test::injection injected({.os_errno_of = [&](std::string_view name) {
    // The store, the top and the first directory are read, each to its end.
    read += name == "getdents64" ? 1 : 0;
    if (read != 6 || name == "getdents64") return 0;
    ++read;
    fs::rename(workspace() + "/one", workspace() + "/between");
    fs::rename(workspace() + "/two", workspace() + "/one");
    fs::rename(workspace() + "/between", workspace() + "/two");
    return 0;
  }});
  const auto back = store->restore({.force = true});
  injected.end();
  EXPECT_GT(read, 6); // the control
  EXPECT_TRUE(std::ranges::includes(contents_in(workspace()), before)) << now();
  // The directories are not the ones that were read under their names.
  ASSERT_FALSE(back);
  EXPECT_THAT(explain(back.error()), testing::HasSubstr("is another one by now"));
  EXPECT_EQ(going.finish(), "");
  ASSERT_THAT(store->restore({.force = true}), IsOk());
  EXPECT_EQ(contents_in(workspace()), before);
  EXPECT_EQ(tree.content("ws/one/a"), "what one/a held");
}

/// A mode that was given is taken back where the time cannot be: the failed restore is one deed.
TEST_F(HistoryFault, AModeIsTakenBackWhereItsTimeCannotBeSet) {
  const auto store = begun_with({{"a", "1"}});
  run(*store, "chmod 600 a; touch -d 2001-01-01 a");
  const std::string changed = now();
  test::injection injected({.os_errno_of = [n = 0](std::string_view name) mutable {
    return name == "utimensat" && ++n == 1 ? EPERM : 0;
  }});
  EXPECT_FALSE(store->restore({}));
  const bool was_hit = test::injection::failed() != 0;
  injected.end();
  EXPECT_TRUE(was_hit); // the control
  EXPECT_EQ(now(), changed);
}

/// Whoever asks for the state waits for nobody: here it is asked in the midst of an operation.
TEST_F(HistoryFault, TheStateIsToldInTheMidstOfAnOperation) {
  const auto store = begun_with({{"a", "1"}});
  write("b", "2");
  std::size_t asked = 0;
  test::injection injected({.os_errno_of = [&](std::string_view) {
    EXPECT_EQ(store->state().files, 1u);
    ++asked;
    return 0;
  }});
  store->look();
  injected.end();
  EXPECT_GT(asked, 0u);
  EXPECT_EQ(store->state().files, 2u);
}

/// An agent could fill the disk to make undo forget: dropping checkpoints would not help there.
TEST_F(HistoryFault, AStartOnAFullDiskForgetsNothing) {
  write("a", "1");
  std::uint64_t point = 0;
  std::size_t known = 0;
  {
    const auto store = begun();
    const auto made = store->make_checkpoint("one");
    ASSERT_THAT(made, IsOk());
    point = made->number;
    run(*store, "echo ruin > a");
    ASSERT_THAT(store->make_checkpoint("two"), IsOk());
    known = store->checkpoints().size();
  }
  shell("echo late > b");
  test::injection injected(test::full_disk());
  const auto store = open();
  EXPECT_THAT(store->checkpoints(), testing::SizeIs(known));
  EXPECT_THAT(store->state().trouble, testing::HasSubstr("disk of the history is full"));
  EXPECT_THAT(store->state().trouble, testing::Not(testing::HasSubstr("history gc")));
  injected.end();
  EXPECT_GT(test::injection::failed(), 0U);
  // The start is recorded when there is room.
  EXPECT_THAT(store->checkpoints(), testing::SizeIs(known + 1));
  EXPECT_TRUE(store->checkpoints().back().is_start);
  EXPECT_EQ(store->state().start, store->checkpoints().back().number);
  EXPECT_THAT(store->read_in(), IsOk());
  store->look();
  EXPECT_EQ(store->state().trouble, "");
  EXPECT_THAT(store->restore({.to = point, .paths = {""}, .force = true}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "1");
}

/// The store has a disk of its own, which is really full for a while.
TEST_F(HistoryFault, AFullDiskIsSurvived) {
  write("a", "1");
  const auto own_disk = [&] {
    return test::private_mounts() && test::mount_tmpfs(state_directory(), "size=2m,mode=0700");
  };
  const auto end = test::in_child(own_disk, [&] {
    const std::string filler = state_directory() + "/filler";
    const auto fill = [&] {
      const file_descriptor out(
          ::open(filler.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
      const std::string block(512, 'x');
      while (::write(out.get(), block.data(), block.size()) > 0) {
      }
    };
    const auto store = begun();
    run(*store, "echo 2 > a");
    fill();
    // Work goes on, and what is lost is said.
    auto recording = store->before_command("exec", "work");
    write("a", "3");
    write("b", std::string(300'000, 'b'));
    EXPECT_NE(recording.finish(), "");
    EXPECT_NE(store->state().trouble, "");
    EXPECT_THAT(told(store->changes({})), testing::HasSubstr("modified a by exec"));
    EXPECT_THAT(store->verify(), IsOk());
    // Another process opens it meanwhile.
    const auto other = open();
    const std::vector<std::string> paths{"c"};
    auto another = other->before_tool("write", paths);
    write("c", "c");
    (void)another.finish(); // what is left of a page may be enough for it
    // There is room again.
    ::unlink(filler.c_str());
    EXPECT_THAT(store->read_in(), IsOk());
    run(*store, "echo 4 > a; echo d > d");
    run(*other, "echo e > e");
    const auto checked = store->verify();
    EXPECT_TRUE(checked && checked->damaged.empty());
    const auto back = store->restore({.paths = {""}, .force = true});
    EXPECT_THAT(back, IsOk());
    EXPECT_EQ(tree.content("ws/a"), "1");
    for (const char* name : {"ws/b", "ws/c", "ws/d", "ws/e"})
      EXPECT_FALSE(tree.exists(name)) << name;
  });
  if (end == test::child_end::refused) GTEST_SKIP() << "needs a mount namespace";
}

} // namespace
