// SPDX-License-Identifier: MIT

// What a person changes between two commands of the agent, in every way that Linux has, where the
// look before a command goes by inotify and where it is a whole scan: it is the person's, and a
// restore of the command brings it back.

#include "support/history/history_fixture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ctime>
#include <functional>
#include <string>
#include <vector>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

struct person {
  std::string name;
  std::function<void(const std::string& workspace)> act;
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

class HistoryWatch : public test::history_fixture, public testing::WithParamInterface<std::size_t> {
protected:
  [[nodiscard]] std::shared_ptr<history::store> settled() const {
    fs::remove_all(workspace());
    fs::remove_all(tree.path() + "/out");
    fs::create_directories(tree.path() + "/out");
    fs::create_directories(workspace());
    for (const char* name : {"d/f", "d/other", "e/x", "top"})
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
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ifstream in(workspace() + '/' + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

INSTANTIATE_TEST_SUITE_P(By, HistoryWatch, testing::Values(60'000, 0),
                         [](const auto& of) { return of.param != 0 ? "watches" : "scans"; });

const std::vector<person>& all_ways() {
  static const std::vector<person> all{
      {"write", [](const std::string& ws) { put(ws + "/d/f", "person"); }},
      {"write at the top", [](const std::string& ws) { put(ws + "/top", "person"); }},
      {"a file that stays open",
       [](const std::string& ws) {
         static int fd = -1;
         if (fd >= 0) ::close(fd);
         fd = ::open((ws + "/d/f").c_str(), O_WRONLY | O_CLOEXEC);
         EXPECT_EQ(::write(fd, "P", 1), 1);
       }},
      {"mapping",
       [](const std::string& ws) {
         const mapping at(ws + "/d/f");
         at.store('P');
       }},
      {"truncate",
       [](const std::string& ws) { EXPECT_EQ(::truncate((ws + "/d/f").c_str(), 2), 0); }},
      {"mode", [](const std::string& ws) { EXPECT_EQ(::chmod((ws + "/d/f").c_str(), 0711), 0); }},
      {"time",
       [](const std::string& ws) {
         const timespec old[2]{{1, 0}, {1, 0}};
         EXPECT_EQ(::utimensat(AT_FDCWD, (ws + "/d/f").c_str(), old, 0), 0);
       }},
      {"replace",
       [](const std::string& ws) {
         put(ws + "/d/new", "person");
         fs::rename(ws + "/d/new", ws + "/d/f");
       }},
      {"remove", [](const std::string& ws) { fs::remove(ws + "/d/f"); }},
      {"make", [](const std::string& ws) { put(ws + "/d/made", "person"); }},
      {"second name within",
       [](const std::string& ws) {
         fs::create_hard_link(ws + "/d/f", ws + "/e/second");
         put(ws + "/e/second", "person");
         fs::remove(ws + "/e/second");
       }},
      {"second name that stays, within",
       [](const std::string& ws) {
         fs::create_hard_link(ws + "/d/f", ws + "/e/second");
         put(ws + "/e/second", "person");
       }},
      {"second name in place of another",
       [](const std::string& ws) {
         fs::remove(ws + "/e/x");
         fs::create_hard_link(ws + "/d/f", ws + "/e/x");
         put(ws + "/e/x", "person");
         fs::remove(ws + "/e/x");
       }},
      {"second name, and another in its place",
       [](const std::string& ws) {
         fs::create_hard_link(ws + "/d/f", ws + "/e/second");
         put(ws + "/e/second", "person");
         fs::rename(ws + "/e/x", ws + "/e/second");
       }},
      {"directory out and in",
       [](const std::string& ws) {
         fs::rename(ws + "/d", ws + "/../out/d");
         put(ws + "/../out/d/f", "person");
         fs::rename(ws + "/../out/d", ws + "/d");
       }},
      {"another directory in its place",
       [](const std::string& ws) {
         fs::create_directories(ws + "/../out/n");
         put(ws + "/../out/n/f", "person");
         fs::rename(ws + "/d", ws + "/../out/d");
         fs::rename(ws + "/../out/n", ws + "/d");
       }},
      {"new directory",
       [](const std::string& ws) {
         fs::create_directories(ws + "/n/m");
         put(ws + "/n/m/f", "person");
       }},
      {"many",
       [](const std::string& ws) {
         for (int i = 0; i < 1'500; ++i)
           put(ws + "/d/many" + std::to_string(i), "person");
       }},
  };
  return all;
}

TEST_P(HistoryWatch, APersonsWorkIsThePersonsAndComesBack) {
  for (const person& each : all_ways()) {
    SCOPED_TRACE(each.name);
    const auto store = settled();
    ASSERT_NE(store, nullptr);
    each.act(workspace());
    const std::string mine = now();
    run(*store, "rm -rf d e n top");
    const auto list = store->changes({.since = store->state().start});
    ASSERT_THAT(list, IsOk());
    EXPECT_THAT(store->restore({.to = store->state().start, .force = false}), IsOk());
    EXPECT_EQ(now(), mine);
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
  EXPECT_EQ(bytes_of("d/f"), GetParam() != 0 ? "first" : "person");
}

} // namespace
