// SPDX-License-Identifier: MIT

// Histories of workspaces that nobody opens any more: which go, and what stays.

#include "support/history/history_fixture.hpp"

#include <paddock/file/change_set.hpp>

#include <sys/file.h>

#include <ctime>
#include <ostream>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class UnusedStores : public test::history_fixture {
protected:
  [[nodiscard]] result<std::shared_ptr<history::store>, detailed_error>
  try_open(const std::string& name, history::session by = history::session::serve) const {
    tree.directory(name);
    auto where = root::open(tree.path() + '/' + name);
    EXPECT_THAT(where, IsOk());
    history::options how;
    how.directory = state_directory();
    return history::store::open(std::make_shared<const root>(*std::move(where)), how, by);
  }
  [[nodiscard]] std::shared_ptr<history::store>
  open_for(const std::string& name, history::session by = history::session::serve) const {
    auto made = try_open(name, by);
    EXPECT_THAT(made, IsOk());
    return made ? *made : nullptr;
  }
  [[nodiscard]] std::set<std::string> entries() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(state_directory()))
      all.insert(entry.path().filename().string());
    return all;
  }
  /// Makes a workspace with a store, and returns the store's directory.
  [[nodiscard]] fs::path make_store(const std::string& name) const {
    const auto before = entries();
    tree.directory(name);
    tree.file(name + "/a", "0");
    EXPECT_THAT(open_for(name)->read_in(), IsOk());
    for (const std::string& each : entries())
      if (!before.contains(each)) return fs::path(state_directory()) / each;
    ADD_FAILURE() << name;
    return {};
  }
  /// As if nobody had been there for so many days.
  static void age(const fs::path& store, int days) {
    const timespec then{.tv_sec = std::time(nullptr) - std::int64_t{days} * 86'400, .tv_nsec = 0};
    const std::array<timespec, 2> times{then, then};
    for (const auto& entry : fs::directory_iterator(store))
      ::utimensat(AT_FDCWD, entry.path().c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
    ::utimensat(AT_FDCWD, store.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  }
  /// A start of a server elsewhere, whose last one was just before.
  void start_elsewhere() const {
    (void)open_for("ws");
    (void)open_for("ws");
  }
};

struct unused_case {
  const char* name;
  int days;
  const char* change; ///< in the store's directory
  bool goes;
};
void PrintTo(const unused_case& each, std::ostream* out) {
  *out << each.name;
}
class UnusedStore : public UnusedStores, public testing::WithParamInterface<unused_case> {};

INSTANTIATE_TEST_SUITE_P(
    , UnusedStore,
    testing::Values(unused_case{"Old", 31, "true", true}, unused_case{"Fresh", 29, "true", false},
                    unused_case{"OldWithMarks", 31, "echo > mark-0; echo > intent.failed", true},
                    unused_case{"WithRestore", 31, "echo > intent", false},
                    unused_case{"OfAnotherVersion", 31, "sed -i '1s/1/2/' head", false},
                    unused_case{"DamagedHead", 31, "echo > head", false},
                    unused_case{"WithoutHead", 31, "rm head", false},
                    unused_case{"WithoutLock", 31, "rm lock", false},
                    unused_case{"WithAFileOfSomebody", 31, "echo > notes", false},
                    unused_case{"WithADirectory", 31, "mkdir pack-1", false},
                    unused_case{"WithALink", 31, "ln -s /etc/passwd pack-ffffffff", false},
                    unused_case{"HeadIsALink", 31, "mv head ../../head; ln -s ../../head head",
                                false},
                    unused_case{"NotPrivate", 31, "chmod 755 .", false}),
    [](const auto& each) { return each.param.name; });

TEST_P(UnusedStore, GoesOrStays) {
  start_elsewhere();
  const fs::path store = make_store("other");
  shell("cd " + store.string() + " && " + GetParam().change);
  age(store, GetParam().days);
  const std::string before = test::describe_entries(store.string());
  start_elsewhere();
  EXPECT_EQ(!fs::exists(store), GetParam().goes);
  if (!GetParam().goes) {
    EXPECT_EQ(test::describe_entries(store.string()), before);
  }
  EXPECT_EQ(entries().size(), GetParam().goes ? 1u : 2u);
  EXPECT_EQ(tree.content("other/a"), "0"); // it is about histories alone
}

TEST_F(UnusedStores, WhatIsInUseStays) {
  start_elsewhere();
  const fs::path open = make_store("open"), locked = make_store("locked"),
                 used = make_store("used");
  auto holder = open_for("open", history::session::look);
  const int lock = ::open((locked / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  for (const fs::path& store : {open, locked, used})
    age(store, 400);
  tree.file("used/a", "1");
  (void)open_for("used", history::session::look); // a look is a use
  start_elsewhere();
  EXPECT_TRUE(fs::exists(open));
  EXPECT_TRUE(fs::exists(locked));
  EXPECT_TRUE(fs::exists(used));
  // It works as before.
  age(open, 400);
  start_elsewhere();
  tree.file("open/a", "1");
  EXPECT_EQ(told(holder->changes({})), "modified a by other; ");
  // The control: they go when they are free.
  holder.reset();
  ::close(lock);
  for (const fs::path& store : {open, locked, used})
    age(store, 400);
  start_elsewhere();
  EXPECT_EQ(entries().size(), 1u);
}

/// So do the place for changes of several files and the notes of commands that were killed.
TEST_F(UnusedStores, WhatElseNobodyUsesGoes) {
  start_elsewhere();
  const auto make = [&](const char* name) {
    tree.directory(name);
    const auto before = entries();
    const std::vector<file_change> one{
        {.action = change_action::create, .path = "x", .bytes = "1"}};
    const auto where = root::open(tree.path() + '/' + name);
    EXPECT_THAT(apply_changes(*where, one, {.state_directory = state_directory()}), IsOk());
    for (const std::string& each : entries())
      if (!before.contains(each)) return fs::path(state_directory()) / each;
    return fs::path();
  };
  const fs::path old = make("old"), fresh = make("fresh"), needed = make("needed"),
                 locked = make("locked");
  tree.file((needed / "record").string().substr(tree.path().size() + 1), "x");
  const fs::path mark = fs::path(state_directory()) / "command-1-2-3",
                 held = fs::path(state_directory()) / "command-1-2-4",
                 note = fs::path(state_directory()) / ".staging-00",
                 another = fs::path(state_directory()) / "notes";
  for (const fs::path& each : {mark, held, note, another})
    std::ofstream(each) << "x";
  const int in_use = ::open((locked / "lock").c_str(), O_RDWR | O_CLOEXEC),
            running = ::open(held.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(in_use, LOCK_EX | LOCK_NB), 0);
  ASSERT_EQ(::flock(running, LOCK_EX | LOCK_NB), 0);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
  for (const fs::path& each : {old, needed, locked, mark, held, note, another})
    fs::last_write_time(each, long_ago);
  start_elsewhere();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_FALSE(fs::exists(note));
  for (const fs::path& each : {fresh, needed, locked, held, another})
    EXPECT_TRUE(fs::exists(each)) << each;
  ::close(in_use);
  ::close(running);
  fs::remove(tree.path() + "/old/x");
  (void)make("old"); // and is made again
  EXPECT_TRUE(fs::exists(old));
}

TEST_F(UnusedStores, NothingElseIsTouched) {
  start_elsewhere();
  const fs::path store = make_store("other"), top = state_directory();
  fs::rename(store, tree.path() + "/elsewhere");
  fs::create_directory_symlink(tree.path() + "/elsewhere", top / "0123456789abcdef");
  fs::create_directory_symlink(tree.path() + "/elsewhere", top / "1123456789abcdef.removed");
  for (const char* name : {"backup", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdef.old",
                           "0123456789abcdef-", "x.removed"}) {
    fs::copy(tree.path() + "/elsewhere", top / name);
    fs::permissions(top / name, fs::perms::owner_all);
    age(top / name, 400);
  }
  fs::create_directories(top / "fedcba9876543210" / "photos");
  std::ofstream(top / "0000000000000000") << "a file";
  age(tree.path() + "/elsewhere", 400);
  const std::string elsewhere = test::describe_entries(tree.path() + "/elsewhere");
  const auto before = entries();
  start_elsewhere();
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(test::describe_entries(tree.path() + "/elsewhere"), elsewhere);
  for (const auto& entry : fs::directory_iterator(top / "backup"))
    EXPECT_TRUE(entry.is_regular_file());
  EXPECT_TRUE(fs::exists(top / "backup" / "journal"));
  // The control: by its own name that store goes.
  fs::rename(tree.path() + "/elsewhere", store);
  start_elsewhere();
  EXPECT_FALSE(fs::exists(store));
}

TEST_F(UnusedStores, AFewGoAtATimeTheOldestFirst) {
  start_elsewhere();
  std::vector<fs::path> stores;
  for (int i = 0; i < 6; ++i)
    stores.push_back(make_store("w" + std::to_string(i)));
  for (int i = 0; i < 6; ++i)
    age(stores[static_cast<std::size_t>(i)], 100 - i);
  (void)open_for("ws", history::session::look); // who only looks removes nothing
  EXPECT_EQ(entries().size(), 7u);
  (void)open_for("ws");
  EXPECT_EQ(entries().size(), 3u);
  EXPECT_TRUE(fs::exists(stores[4]));
  EXPECT_TRUE(fs::exists(stores[5]));
  (void)open_for("ws");
  EXPECT_EQ(entries().size(), 1u);
}

/// Age counts from the last use of all: who comes back after a year finds what was there.
TEST_F(UnusedStores, ALongPauseTakesNothing) {
  const fs::path own = make_store("ws"), other = make_store("other"), older = make_store("older");
  age(own, 400);
  age(other, 380);
  age(older, 440);
  (void)open_for("ws");
  EXPECT_TRUE(fs::exists(other));
  EXPECT_FALSE(fs::exists(older)); // the control: that was not used long before, either
  (void)open_for("ws");
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(UnusedStores, ARemovalThatWasCutShortIsFinished) {
  start_elsewhere();
  for (const char* left : {"true", "rm journal", "rm lock journal pack-*", "rm *"}) {
    const fs::path store = make_store("other");
    const fs::path passing = store.string() + ".removed";
    fs::rename(store, passing);
    shell("cd " + passing.string() + " && " + left);
    (void)open_for("other"); // has another one
    EXPECT_EQ(entries().size(), 2u) << left;
    EXPECT_FALSE(fs::exists(passing)) << left;
    fs::remove_all(store);
  }
}

/// Whoever opens a store while it is removed has a whole one: the old one or another.
TEST_F(UnusedStores, OpeningAndRemovingAtOnce) {
  start_elsewhere();
  const fs::path store = make_store("other");
  int fresh = 0;
  for (int i = 0; i < 100; ++i) {
    const auto journal = fs::directory_entry(store / "journal").file_size();
    age(store, 400);
    std::thread elsewhere([&] { (void)open_for("ws"); });
    {
      const auto opened = try_open("other");
      ASSERT_THAT(opened, IsOk());
      ASSERT_THAT((*opened)->make_checkpoint("mine"), IsOk());
      elsewhere.join();
      ASSERT_EQ((*opened)->checkpoints().back().label, "mine");
      EXPECT_EQ((*opened)->state().trouble, "");
    }
    const auto again = open_for("other");
    ASSERT_EQ(again->checkpoints().back().is_start, true);
    ASSERT_THAT(again->verify(), IsOk());
    EXPECT_THAT(again->verify()->damaged, testing::IsEmpty());
    fresh += fs::directory_entry(store / "journal").file_size() < journal ? 1 : 0;
  }
  EXPECT_EQ(entries().size(), 2u);
  RecordProperty("removed", fresh);
}

} // namespace
