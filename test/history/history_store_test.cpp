// SPDX-License-Identifier: MIT

// The store: who may have one where, what it keeps, what damage does to it, and who shares it.

#include "support/history/history_fixture.hpp"

#include <ostream>

using namespace paddock;
using test::IsError;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class HistoryStore : public test::history_fixture {
protected:
  [[nodiscard]] std::string store_directory() const {
    for (const auto& entry : fs::directory_iterator(state_directory()))
      return entry.path().string();
    return {};
  }
  [[nodiscard]] std::uint64_t disk_bytes() const {
    std::uint64_t all = 0;
    for (const auto& entry : fs::recursive_directory_iterator(state_directory()))
      if (entry.is_regular_file()) all += entry.file_size();
    return all;
  }
  result<std::shared_ptr<history::store>, detailed_error> try_open(const std::string& where) const {
    auto top = root::open(workspace());
    EXPECT_TRUE(top);
    history::options how;
    how.directory = where;
    return history::store::open(std::make_shared<const root>(*std::move(top)), how);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
};

struct hostile_place {
  const char* name;
  const char* prepare; ///< in the directory that holds `ws` and `state`
  const char* where;   ///< below it
  const char* says;
};
void PrintTo(const hostile_place& place, std::ostream* out) {
  *out << place.where;
}
class HistoryPlace : public HistoryStore, public testing::WithParamInterface<hostile_place> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryPlace,
    testing::Values(
        hostile_place{"Inside", "true", "ws/state", "lies in the workspace"},
        hostile_place{"DeepInside", "mkdir -p ws/a/b", "ws/a/b", "lies in the workspace"},
        hostile_place{"LinkInside", "ln -s ws/in out; mkdir ws/in", "out", "lies in the workspace"},
        hostile_place{"LinkFromInside", "ln -s ../state ws/l", "ws/l", "lies in the workspace"},
        hostile_place{"Writable", "mkdir w; chmod 777 w", "w", "may write"},
        hostile_place{"WritableForGroup", "mkdir w; chmod 770 w", "w", "written by others"},
        hostile_place{"BelowWritable", "mkdir -p w/s; chmod 777 w", "w/s", "may write"},
        hostile_place{"AFile", "echo > w", "w", ""},
        hostile_place{"LinkLoop", "ln -s w v; ln -s v w", "w", "leads nowhere"}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryPlace, IsRefused) {
  shell(std::string("cd .. && { ") + GetParam().prepare + "; }");
  const auto made = try_open(tree.path() + '/' + GetParam().where);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().detail, testing::HasSubstr(GetParam().says));
  EXPECT_FALSE(made.error().detail.empty());
}

/// Every directory lies in a workspace that is the top of all.
TEST_F(HistoryStore, IsRefusedForTheTopOfAll) {
  auto top = root::open("/");
  ASSERT_THAT(top, IsOk());
  const auto all = std::make_shared<const root>(*std::move(top));
  shell("cd .. && ln -s " + state_directory() + " absolute");
  for (const std::string& where : {state_directory(), tree.path() + "/absolute"}) {
    history::options how;
    how.directory = where;
    EXPECT_THAT(history::store::open(all, how),
                IsError(error_code::denied_by_policy, testing::HasSubstr("lies in the workspace")));
  }
  EXPECT_TRUE(fs::is_empty(state_directory()));
}

TEST_F(HistoryStore, IsRefusedWhereItBelongsToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives directories away";
  ASSERT_EQ(::chown(state_directory().c_str(), 12345, 12345), 0);
  EXPECT_THAT(try_open(state_directory()), IsError(error_code::denied_by_policy));
}

/// The control of the refusals.
TEST_F(HistoryStore, IsMadeWhereItMayLie) {
  shell("cd .. && mkdir sticky && chmod 1777 sticky && ln -s state good");
  for (const char* where : {"state", "good", "state/made/deeper", "sticky/own"})
    EXPECT_THAT(try_open(tree.path() + '/' + where), IsOk()) << where;
  struct stat s{};
  ASSERT_EQ(::stat(store_directory().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0700u);
}

TEST_F(HistoryStore, OfAVersionToComeIsRefused) {
  {
    const auto store = begun();
  }
  std::string head = read(store_directory() + "/head");
  head.replace(0, std::string("paddock history 1").size(), "paddock history 2");
  put(store_directory() + "/head", head);
  EXPECT_THAT(try_open(state_directory()),
              IsError(error_code::unsupported, testing::HasSubstr("later version")));
}

TEST_F(HistoryStore, SaysWhichStoreIsDamaged) {
  {
    const auto store = begun();
  }
  put(store_directory() + "/head", "nonsense");
  EXPECT_THAT(try_open(state_directory()),
              IsError(error_code::io, testing::HasSubstr("remove " + store_directory())));
}

TEST_F(HistoryStore, NeverTakesMoreThanItsBudget) {
  history::options how;
  how.store_bytes_max = 400'000;
  write("a", std::string(50'000, 'a'));
  const auto store = begun(how);
  bool was_over = false;
  for (int i = 0; i < 40; ++i) {
    auto recording = store->before_command("exec", "write");
    // No two are the same, and none can be made smaller.
    std::string bytes;
    for (std::uint32_t at = static_cast<std::uint32_t>(i) * 1'000'003; bytes.size() < 50'000;
         at = at * 1664525 + 1013904223)
      bytes += static_cast<char>(at >> 24U);
    write("a", bytes);
    EXPECT_THAT(recording.finish(),
                testing::AnyOf("", testing::HasSubstr("the store had no room")));
    EXPECT_LE(disk_bytes(), how.store_bytes_max) << i;
    (void)store->make_checkpoint("");
    EXPECT_LE(disk_bytes(), how.store_bytes_max) << i;
    const auto list = store->changes({.since = store->checkpoints().back().number});
    ASSERT_THAT(list, IsOk());
    was_over = was_over || store->state_at(store->checkpoints().back().number, "a")->held ==
                               history::holding::over_budget;
  }
  EXPECT_TRUE(was_over); // and it is told
  EXPECT_GT(disk_bytes(), how.store_bytes_max / 4);
}

TEST_F(HistoryStore, DropsTheOldestCheckpoints) {
  history::options how;
  how.checkpoints_max = 5;
  write("a", "0");
  std::uint64_t first = 0;
  for (int i = 1; i <= 9; ++i) {
    const auto store = begun(how);
    if (first == 0) first = store->state().start;
    run(*store, "echo " + std::to_string(i) + " > a");
  }
  const auto store = begun(how);
  EXPECT_LE(store->checkpoints().size(), 6u);
  EXPECT_THAT(store->changes({.since = first}), IsError(error_code::not_found));
  const auto oldest = store->checkpoints().front().number;
  ASSERT_THAT(store->restore({.to = oldest}), IsOk());
  EXPECT_NE(tree.content("ws/a"), "9\n");
  const auto swept = store->collect_garbage();
  ASSERT_THAT(swept, IsOk());
  EXPECT_LE(swept->bytes_after, swept->bytes_before);
  EXPECT_EQ(swept->bytes_after, disk_bytes());
  ASSERT_THAT(store->verify(), IsOk());
  EXPECT_TRUE(store->verify()->damaged.empty());
}

TEST_F(HistoryStore, IsSharedByProcesses) {
  const auto store = begun_with({{"a", "1"}});
  const std::uint64_t start = store->state().start;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto other = open();
    for (int i = 0; i < 20; ++i) {
      auto recording = other->before_command("exec", "child");
      write("child" + std::to_string(i), "c");
      if (!recording.finish().empty()) ::_exit(1);
    }
    ::_exit(0);
  }
  for (int i = 0; i < 20; ++i) {
    const std::vector<std::string> paths{"parent" + std::to_string(i)};
    auto recording = store->before_tool("write", paths);
    write(paths.front(), "p");
    EXPECT_EQ(recording.finish(), "");
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto list = store->changes({.since = start});
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->total, 40u);
  std::set<std::uint64_t> numbers;
  const auto events = store->events(0);
  ASSERT_THAT(events, IsOk());
  for (const history::event& each : *events)
    EXPECT_TRUE(numbers.insert(each.number).second) << each.number;
  EXPECT_TRUE(store->verify()->damaged.empty());
  ASSERT_THAT(store->restore({.to = start, .paths = {""}, .force = true}), IsOk());
  EXPECT_EQ(told(store->changes({.since = start})), "");
}

TEST_F(HistoryStore, IsSharedByThreads) {
  const auto store = begun();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::vector<std::string> paths{std::to_string(t) + "-" + std::to_string(i)};
        auto recording = store->before_tool("write", paths);
        write(paths.front(), "x");
        EXPECT_EQ(recording.finish(), "");
        EXPECT_TRUE(store->changes({.look = false}));
      }
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(store->changes({})->total, 40u);
}

/// Another one that sweeps out takes nothing from who has the store open.
TEST_F(HistoryStore, IsSweptWhileOthersHaveIt) {
  const auto store = begun_with({{"a", "1"}});
  run(*store, "echo 2 > a");
  const auto other = begun();
  ASSERT_THAT(other->collect_garbage(), IsOk());
  run(*store, "echo 3 > b");
  EXPECT_EQ(told(store->changes({})), "modified a by exec; created b by exec; ");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "1");
}

/// Files whose times are in the future, or before 1970, or step back: what counts is that they
/// differ.
TEST_F(HistoryStore, TrustsNoClock) {
  write("future", "1");
  write("past", "1");
  shell("touch -d 2040-01-01 future; touch -d 1965-01-01 past");
  const auto store = begun();
  const std::string before = now();
  run(*store,
      "echo 2 > future; echo 2 > past; touch -d 2040-01-01 future; touch -d 1965-01-01 past");
  EXPECT_EQ(told(store->changes({})), "modified future by exec; modified past by exec; ");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(now(), before);
}

TEST_F(HistoryStore, SeesAChangeOfTheSameSizeAtOnce) {
  const auto store = begun();
  for (int i = 0; i < 50; ++i) {
    write("a", "x");
    store->look();
    const auto point = store->make_checkpoint("");
    ASSERT_THAT(point, IsOk());
    write("a", "y");
    EXPECT_THAT(store->bytes_at(point->number, "a"),
                test::HoldsValue(testing::Optional(std::string("x"))));
    ASSERT_EQ(store->changes({.since = point->number})->total, 1u) << i;
  }
}

/// Each byte of each file of a small store is wrong once, and each file ends early everywhere.
/// Nothing crashes, and no content comes back that was never there.
TEST_F(HistoryStore, DamageIsToldAndHarmless) {
  write("a", "first content");
  write("b/c", "second");
  {
    const auto store = begun();
    run(*store, "echo changed > a; rm -r b");
    ASSERT_THAT(store->make_checkpoint("end"), IsOk());
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::directory_iterator(store_directory()))
    files.emplace_back(entry.path().string(), read(entry.path().string()));
  ASSERT_GE(files.size(), 4u);
  const auto look = [&](const std::string& what) {
    const auto made = try_open(state_directory());
    if (!made) return;
    history::store& store = **made;
    for (const history::checkpoint& each : store.checkpoints())
      for (const char* path : {"a", "b/c"}) {
        const auto bytes = store.bytes_at(each.number, path);
        if (!bytes || !*bytes) continue;
        EXPECT_TRUE(**bytes == "first content" || **bytes == "second" || **bytes == "changed\n")
            << what << **bytes;
      }
    (void)store.changes({});
    (void)store.events(0);
    (void)store.verify();
    (void)store.restore({.effect = history::restore_effect::check});
  };
  const auto reset = [&] {
    for (const auto& entry : fs::directory_iterator(store_directory()))
      fs::remove(entry.path());
    for (const auto& [path, bytes] : files)
      put(path, bytes);
  };
  for (const auto& [path, bytes] : files) {
    const std::size_t step = bytes.size() < 300 ? 1 : 3;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reset();
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ (at % 2 == 0 ? 0x01 : 0xFF));
      put(path, wrong);
      look(path + " byte " + std::to_string(at));
      reset();
      put(path, bytes.substr(0, at));
      look(path + " cut at " + std::to_string(at));
      if (HasFailure()) return;
    }
  }
  // The control: undamaged, all of it is there.
  reset();
  const auto store = open();
  EXPECT_TRUE(store->verify()->damaged.empty());
  EXPECT_GE(store->verify()->operations, 1u);
  ASSERT_THAT(store->restore({.to = store->checkpoints().front().number}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "first content");
}

/// A record is lost, and a later one says how a file is since: what it was before is not forgotten.
TEST_F(HistoryStore, WhatALostRecordSaidFollowsFromThoseAroundIt) {
  write("a", "first content");
  write("b", "second");
  std::uint64_t point = 0;
  {
    const auto store = begun();
    const auto made = store->make_checkpoint("one");
    ASSERT_THAT(made, IsOk());
    point = made->number;
    run(*store, "echo changed > a; echo changed > b; # lost-command");
    shell("chmod 600 a; chmod 644 a"); // the same, at another time: it is seen again
    run(*store, "echo once more > b"); // from what it was after the lost one
    ASSERT_THAT(store->make_checkpoint("two"), IsOk());
  }
  const std::string path = store_directory() + "/journal";
  std::string bytes = read(path);
  const auto at = bytes.find("lost-command");
  ASSERT_NE(at, bytes.npos);
  bytes[at] = 'L';
  put(path, bytes);
  const auto store = open();
  EXPECT_FALSE(store->verify()->damaged.empty());
  const auto holds = [&](const char* name, const char* text) {
    EXPECT_THAT(store->bytes_at(point, name),
                test::HoldsValue(testing::Optional(std::string(text))));
  };
  holds("a", "first content");
  holds("b", "second");
  ASSERT_THAT(store->restore({.to = point, .paths = {""}, .force = true}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "first content");
  EXPECT_EQ(tree.content("ws/b"), "second");
}

/// While a server has it open, or before the next one opens it.
TEST_F(HistoryStore, AJournalThatIsCutEmptiedOrRemovedIsNoticed) {
  for (const std::string how : {"left", "cut", "emptied", "removed"})
    for (const bool is_open : {true, false}) {
      SCOPED_TRACE(how + (is_open ? " while open" : ""));
      fs::remove_all(store_directory());
      shell("find . -mindepth 1 -delete");
      write("a", "1");
      write("b", "1");
      write("c", "1");
      auto store = begun();
      ASSERT_THAT(store->make_checkpoint("one"), IsOk());
      run(*store, "echo 2 > a; echo new > d");
      if (!is_open) store.reset();
      const std::string journal = store_directory() + "/journal";
      if (how == "cut" && !is_open) continue; // as a kill leaves it
      if (how == "cut") fs::resize_file(journal, fs::file_size(journal) / 2);
      if (how == "emptied") fs::resize_file(journal, 0);
      if (how == "removed") fs::remove(journal);
      const bool is_wrong = how != "left";
      if (!is_open) {
        store = open();
        EXPECT_EQ(store->verify()->damaged.empty(), !is_wrong); // before anything is mended
      }
      const std::vector<std::string> paths{"b"};
      auto tool = store->before_tool("write", paths);
      write("b", "2");
      const std::string said = tool.finish();
      EXPECT_EQ(said.empty(), !is_wrong) << said;
      EXPECT_EQ(store->state().trouble.empty(), !is_wrong);
      EXPECT_EQ(store->verify()->damaged.empty(), !is_wrong);
      EXPECT_EQ(open()->verify()->damaged.empty(), !is_wrong);
      if (!is_wrong) continue;
      // Once is enough for each answer; whoever asks for undo hears it until garbage is collected.
      run(*store, "rm c; echo 3 > e");
      // Since then all is recorded, and nothing that was there is taken for new.
      ASSERT_THAT(store->restore({.to = store->checkpoints().back().number}), IsOk());
      EXPECT_EQ(tree.content("ws/b"), "1");
      EXPECT_EQ(tree.content("ws/c"), "1");
      EXPECT_EQ(tree.content("ws/d"), "new\n");
      EXPECT_FALSE(tree.exists("ws/e"));
      EXPECT_THAT(store->collect_garbage(), IsOk());
      EXPECT_EQ(store->state().trouble, "");
    }
}

TEST_F(HistoryStore, AJournalThatIsRemovedWhileACommandRunsIsSaid) {
  const auto store = begun_with({{"a", "1"}});
  auto command = store->before_command("exec", "work");
  fs::remove(store_directory() + "/journal");
  shell("rm a; echo n > new");
  EXPECT_THAT(command.finish(), testing::HasSubstr("removed"));
  run(*store, "echo 2 > new"); // and the next is recorded
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(tree.content("ws/new"), "n\n");
}

TEST_F(HistoryStore, VerifyFindsADamagedContent) {
  write("a", std::string(5'000, 'x') + "end");
  run(*begun(), "echo another > a"); // what is there now would be read once more
  for (const auto& entry : fs::directory_iterator(store_directory()))
    if (entry.path().filename().string().starts_with("pack-")) {
      std::string bytes = read(entry.path().string());
      bytes[bytes.size() / 2] = '?';
      put(entry.path().string(), bytes);
    }
  const auto store = open();
  EXPECT_FALSE(store->verify()->damaged.empty());
}

} // namespace
