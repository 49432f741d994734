// SPDX-License-Identifier: MIT

// What a person changes between two commands of the agent, and what a command changes, in every way
// that Linux has, where looks go by inotify, where there are too few watches for that, and where
// they are whole scans: it is put down to whose it is, and what was there is held.

#include "support/history/history_fixture.hpp"

#include <sys/mman.h>

#include <ctime>

using namespace paddock;
using history::command_reach;
using test::HoldsValue;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

struct person {
  std::string name;
  std::string commands; ///< of a shell in the workspace; in them $put stands for "writes into"
  std::function<void(const std::string& workspace)> act = nullptr; ///< what no command does
};

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A mapping of a file that nobody has open any more.
class mapping {
public:
  explicit mapping(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    at_ = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    EXPECT_NE(at_, MAP_FAILED);
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() { ::munmap(at_, 1); }
  void store(char byte) const { *static_cast<volatile char*>(at_) = byte; }

private:
  void* at_;
};

/// What has just been written may be looked at again by anybody, as its time says nothing.
void let_times_pass() {
  const auto now = [] {
    timespec at{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &at);
    return at.tv_sec * 1'000'000'000 + at.tv_nsec;
  };
  constexpr long several_ticks = 60'000'000;
  for (const auto end = now() + several_ticks; now() < end;) {
  }
}

constexpr std::size_t enough = 60'000, too_few = 2;

class HistoryWatch : public test::history_fixture, public testing::WithParamInterface<std::size_t> {
protected:
  [[nodiscard]] std::shared_ptr<history::store> settled() const {
    fs::remove_all(workspace());
    fs::remove_all(tree.path() + "/out");
    fs::create_directories(tree.path() + "/out");
    fs::create_directories(workspace());
    for (const char* name : {"d/f", "d/other", "e/x", "top", ".paddock-changes/x"})
      write(name, "first");
    fs::remove_all(state_directory());
    tree.directory("state");
    EXPECT_EQ(::chmod(state_directory().c_str(), 0700), 0);
    auto made = begun({.watches_max = GetParam()});
    let_times_pass();
    for (int i = 0; made && i < 3; ++i)
      run(*made, "true");
    return made;
  }
  void work(const person& as) const {
    if (as.act) return as.act(workspace());
    std::string commands = "set -e; " + as.commands;
    for (std::size_t at = 0; (at = commands.find("$put", at)) != commands.npos;)
      commands.replace(at, 4, "printf person >");
    shell(commands);
  }
  [[nodiscard]] static bool hears() { return GetParam() == enough; }
  /// A command that is confined to the workspace.
  static void run_confined(history::store& in, const std::function<void()>& act,
                           command_reach reach = command_reach::workspace) {
    auto recording = in.before_command("exec", "act");
    act();
    EXPECT_EQ(recording.finish(reach), "");
  }
  /// That what is there now is held, asked without a whole scan: the next command writes over it.
  void expect_held(history::store& in) const {
    std::map<std::string, std::string> all;
    for (const char* name : {"d/f", "d/other", "e/x", "e/second", "n/m/f", "top"})
      if (fs::exists(workspace() + '/' + name)) all[name] = bytes_of(name);
    run_confined(in, [&] {
      for (const auto& [path, bytes] : all)
        put(workspace() + '/' + path, "over");
    });
    for (const auto& [path, bytes] : all) {
      const auto states = in.states_of(path);
      ASSERT_THAT(states, IsOk());
      EXPECT_TRUE(std::ranges::any_of(*states, [&](const history::entry_state& each) {
        const auto held = in.content(each.content);
        return held && *held == bytes;
      })) << path;
    }
  }
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ifstream in(workspace() + '/' + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

INSTANTIATE_TEST_SUITE_P(By, HistoryWatch, testing::Values(enough, too_few, 0), [](const auto& of) {
  if (of.param == enough) return "watches";
  return of.param == too_few ? "too_few_watches" : "scans";
});

const std::vector<person>& all_ways() {
  static const std::vector<person> all{
      {"write", "$put d/f"},
      {"write at the top", "$put top"},
      {"a file that stays open", "",
       [](const std::string& ws) {
         static int fd = -1;
         if (fd >= 0) ::close(fd);
         fd = ::open((ws + "/d/f").c_str(), O_WRONLY | O_CLOEXEC);
         EXPECT_EQ(::write(fd, "P", 1), 1);
       }},
      {"mapping", "", [](const std::string& ws) { mapping(ws + "/d/f").store('P'); }},
      {"truncate", "truncate -s 2 d/f"},
      {"mode", "chmod 711 d/f"},
      {"time", "touch -d @1 d/f"},
      {"replace", "$put d/new; mv d/new d/f"},
      {"remove", "rm d/f"},
      {"make", "$put d/made"},
      {"second name within", "ln d/f e/second; $put e/second; rm e/second"},
      {"second name like that of a tool's new file",
       "n=e/.paddock-tmp-1; ln d/f $n; $put $n; rm $n"},
      {"second name that moves as a tool's new file does",
       "n=e/.paddock-tmp-" + std::string(32, 'a') +
           "; ln d/f $n; mv $n e/x; $put e/x; $put $n; mv $n e/x"},
      {"second name in a directory that versions before hid",
       "n=.paddock-changes/second; ln d/f $n; $put $n; rm $n"},
      {"second name that stays, within", "ln d/f e/second; $put e/second"},
      {"second name in place of another", "rm e/x; ln d/f e/x; $put e/x; rm e/x"},
      {"second name, and another in its place", "ln d/f e/second; $put e/second; mv e/x e/second"},
      {"second name in a directory that goes, too",
       "mkdir n; ln d/f n/second; $put n/second; rm -r n"},
      {"second name in a directory that stays",
       "mkdir n; ln d/f n/second; $put n/second; rm n/second"},
      {"second name that moves twice, and goes",
       "ln d/f e/second; $put e/second; mv e/second e/x; $put e/third; mv e/third e/x"},
      {"through a name that went meanwhile",
       "exec 3<>d/f; ln d/f e/second; $put d/new; mv d/new d/f; printf P >&3"},
      {"two that change places", "",
       [](const std::string& ws) {
         EXPECT_EQ(::renameat2(AT_FDCWD, (ws + "/d/f").c_str(), AT_FDCWD, (ws + "/e/x").c_str(),
                               RENAME_EXCHANGE),
                   0);
         put(ws + "/d/f", "person");
       }},
      {"more than the queue holds", "",
       [](const std::string& ws) {
         constexpr int events_max = 20'000;
         for (int i = 0; i < events_max; ++i)
           EXPECT_EQ(::chmod((ws + (i % 2 == 0 ? "/top" : "/e/x")).c_str(), 0644), 0);
         put(ws + "/d/f", "person");
       }},
      {"directory out and in", "mv d ../out/d; $put ../out/d/f; mv ../out/d d"},
      {"another directory in its place",
       "mkdir ../out/n; $put ../out/n/f; mv d ../out/d; mv ../out/n d"},
      {"new directory", "mkdir -p n/m; $put n/m/f"},
      {"many", "for i in $(seq 1500); do $put d/many$i; done"},
  };
  return all;
}

TEST_P(HistoryWatch, APersonsWorkIsThePersonsAndComesBack) {
  for (const person& each : all_ways()) {
    SCOPED_TRACE(each.name);
    const auto store = settled();
    ASSERT_NE(store, nullptr);
    work(each);
    const std::string mine = now();
    run(*store, "rm -rf d e n top");
    const auto list = store->changes({.since = store->state().start});
    ASSERT_THAT(list, IsOk());
    EXPECT_THAT(store->restore({.to = store->state().start, .force = false}), IsOk());
    EXPECT_EQ(now(), mine);
  }
}

TEST_P(HistoryWatch, ACommandsWorkIsHeldBehindIt) {
  for (const person& each : all_ways()) {
    SCOPED_TRACE(each.name);
    const auto store = settled();
    ASSERT_NE(store, nullptr);
    const bool is_linked = each.name.find("name") != std::string::npos;
    run_confined(
        *store, [&] { work(each); },
        is_linked ? command_reach::workspace : command_reach::workspace_without_links);
    expect_held(*store);
    const std::string list = told(store->changes({.since = store->state().start}));
    EXPECT_EQ(list.find("by other"), std::string::npos) << list;
    EXPECT_THAT(store->restore({.to = store->state().start, .force = false}), IsOk());
    EXPECT_EQ(bytes_of("d/f") + bytes_of("d/other") + bytes_of("e/x") + bytes_of("top"),
              "firstfirstfirstfirst");
  }
}

/// Gives a file a second name outside, writes through that one and removes it: only a look at
/// everything finds it.
TEST_P(HistoryWatch, BehindACommandWithoutLinksOnlyWhatWasHeardOfIsLookedAt) {
  for (const auto reach : {command_reach::workspace, command_reach::workspace_without_links}) {
    const auto store = settled();
    ASSERT_NE(store, nullptr);
    run_confined(
        *store,
        [&] {
          fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
          put(tree.path() + "/out/f", "unheard");
          fs::remove(tree.path() + "/out/f");
          put(workspace() + "/d/passing", "agent");
          fs::remove(workspace() + "/d/passing");
          fs::remove_all(workspace() + "/e");
          fs::create_directories(workspace() + "/n/m");
          fs::rename(workspace() + "/d/other", workspace() + "/n/m/other");
          put(workspace() + "/n/m/f", "agent");
        },
        reach);
    // And what is new is watched.
    run_confined(*store, [&] { put(workspace() + "/n/m/f", "agent's second"); });
    run_confined(*store, [&] { put(workspace() + "/n/m/f", "agent's third"); });
    const bool is_unheard = hears() && reach == command_reach::workspace_without_links;
    EXPECT_THAT(store->states_of("d/f"), HoldsValue(testing::SizeIs(is_unheard ? 1 : 2)));
    EXPECT_THAT(store->states_of("n/m/f"), HoldsValue(testing::SizeIs(3)));
    EXPECT_THAT(store->restore({.to = store->state().start, .force = false}), IsOk());
    EXPECT_EQ(bytes_of("d/other") + bytes_of("e/x"), "firstfirst");
  }
}

TEST_P(HistoryWatch, ADirectoryThatMovesAwayAndBackIsHeardUnderItsName) {
  const auto store = settled();
  ASSERT_NE(store, nullptr);
  const auto act = [&](const std::function<void()>& what) {
    run_confined(*store, what, command_reach::workspace_without_links);
  };
  act([&] { fs::rename(workspace() + "/d", workspace() + "/away"); });
  act([&] { fs::rename(workspace() + "/away", workspace() + "/d"); });
  act([] {});
  act([&] { put(workspace() + "/d/f", "agent"); });
  act([&] { put(workspace() + "/d/f", "agent's second"); });
  act([&] { fs::remove(workspace() + "/d/other"); });
  EXPECT_THAT(store->states_of("d/f"), HoldsValue(testing::SizeIs(3)));
  const std::string list = told(store->changes({.since = store->state().start}));
  EXPECT_EQ(list.find("by other"), std::string::npos) << list;
  EXPECT_THAT(store->restore({.to = store->state().start, .force = false}), IsOk());
  EXPECT_EQ(bytes_of("d/other"), "first");
}

/// Why it matters whether a command has made one.
TEST_P(HistoryWatch, ALinkThatIsNotReportedHidesAWrite) {
  const auto store = settled();
  ASSERT_NE(store, nullptr);
  run_confined(
      *store,
      [&] {
        fs::create_directory(workspace() + "/n");
        fs::create_hard_link(workspace() + "/d/f", workspace() + "/n/second");
        put(workspace() + "/n/second", "agent");
        fs::remove(workspace() + "/n/second");
      },
      command_reach::workspace_without_links);
  run_confined(*store, [&] { put(workspace() + "/d/f", "over"); });
  const auto states = store->states_of("d/f");
  ASSERT_THAT(states, IsOk());
  EXPECT_EQ(states->size(), hears() ? 2U : 3U);
}

/// Its directory has a new time all the same.
TEST_P(HistoryWatch, WhatMovesOnLeavesItsDirectoryAsItWas) {
  const auto store = settled();
  ASSERT_NE(store, nullptr);
  const std::string before = now();
  run_confined(*store, [&] {
    put(workspace() + "/d/new", "agent");
    fs::rename(workspace() + "/d/new", workspace() + "/moved");
  });
  EXPECT_THAT(store->restore({.to = store->state().start}), IsOk());
  EXPECT_EQ(now(), before);
}

TEST_P(HistoryWatch, ASecondNameInPlaceOfASecondNameIsSeen) {
  const auto store = settled();
  fs::create_hard_link(workspace() + "/top", workspace() + "/e/second");
  run(*store, "true");
  run_confined(*store, [&] {
    fs::remove(workspace() + "/e/second");
    fs::create_hard_link(workspace() + "/d/f", workspace() + "/e/second");
    put(workspace() + "/e/second", "agent");
  });
  expect_held(*store);
}

TEST_P(HistoryWatch, WhatAProcessWritesIntoAMappingIsHeldBehindIt) {
  const auto store = settled();
  auto process = store->before_command("startProcess", "work");
  {
    const mapping at(workspace() + "/d/f");
    at.store('1');
    run_confined(*store, [] {});
    at.store('2');
    let_times_pass();
    run_confined(*store, [] {});
    at.store('3');
  }
  EXPECT_EQ(process.finish(command_reach::workspace), "");
  expect_held(*store);
}

/// What a command does unheard although it is confined is its own by the time of change.
TEST_P(HistoryWatch, WhatACommandDidUnheardIsItsOwn) {
  const auto store = settled();
  run_confined(*store, [&] {
    let_times_pass();
    fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
    put(tree.path() + "/out/f", "agent");
    fs::remove(tree.path() + "/out/f");
    let_times_pass();
  });
  run_confined(*store, [&] { put(workspace() + "/top", "agent"); });
  EXPECT_EQ(told(store->changes({.since = store->state().start})),
            "modified d/f by exec; modified top by exec; ");
}

/// The control that a look behind a command goes by what was heard, if the command is confined.
TEST_P(HistoryWatch, BehindACommandThatIsNotConfinedEverythingIsLookedAt) {
  for (const auto reach : {command_reach::workspace, command_reach::anywhere}) {
    const auto store = settled();
    auto recording = store->before_command("exec", "act");
    fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
    put(tree.path() + "/out/f", "out");
    fs::remove(tree.path() + "/out/f");
    EXPECT_EQ(recording.finish(reach), "");
    run(*store, "echo agent > d/f");
    const auto states = store->states_of("d/f");
    ASSERT_THAT(states, IsOk());
    const bool is_heard_only = hears() && reach == command_reach::workspace;
    EXPECT_EQ(states->size(), is_heard_only ? 2U : 3U);
  }
}

TEST_P(HistoryWatch, ASecondNameFromBeforeIsAlwaysLookedAt) {
  const auto store = settled();
  fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
  run(*store, "true");
  put(tree.path() + "/out/f", "person");
  run(*store, "echo agent > d/f");
  EXPECT_THAT(store->restore({.to = store->state().start}), IsOk());
  EXPECT_EQ(bytes_of("d/f"), "person");
}

/// Nobody hears of these. They are found behind the command, and still are the person's.
TEST_P(HistoryWatch, WhatNobodyHearsOfIsFoundBehindTheCommand) {
  const auto by_name = [this] {
    fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
    put(tree.path() + "/out/f", "person");
    fs::remove(tree.path() + "/out/f");
  };
  {
    const auto store = settled();
    by_name();
    let_times_pass();
    run(*store, "echo agent > top");
    EXPECT_EQ(told(store->changes({.since = store->state().start})),
              "modified d/f by other; modified top by exec; ");
  }
  const auto store = settled();
  const mapping held(workspace() + "/d/other");
  run(*store, "true");
  held.store('P');
  let_times_pass();
  run(*store, "true");
  EXPECT_EQ(told(store->changes({.since = store->state().start})), "modified d/other by other; ");
}

/// The price: what such a one had written is not held if the command writes over it at once. It is
/// the control, too, that watches are at work.
TEST_P(HistoryWatch, WhatNobodyHearsOfIsNotHeldBeforeTheCommand) {
  const auto store = settled();
  fs::create_hard_link(workspace() + "/d/f", tree.path() + "/out/f");
  put(tree.path() + "/out/f", "person");
  fs::remove(tree.path() + "/out/f");
  run(*store, "echo agent > d/f");
  EXPECT_THAT(store->restore({.to = store->state().start, .paths = {"d/f"}}), IsOk());
  EXPECT_EQ(bytes_of("d/f"), hears() ? "first" : "person");
}

} // namespace
