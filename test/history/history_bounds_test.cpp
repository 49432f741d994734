// SPDX-License-Identifier: MIT

// What ends a call ends the first look of its store as well, wherever that is; and what begins
// without a look is said to be beyond undoing.

#include "support/fault/faulty_sys.hpp"
#include "support/history/history_fixture.hpp"
#include "sys/syscall.hpp"

#include <sys/mman.h>

using namespace paddock;
using test::IsOk;

namespace {

class HistoryBounds : public test::history_fixture {
protected:
  void make_directories(int count) const {
    for (int i = 0; i < count; ++i)
      write("d" + std::to_string(i) + "/f", "1");
  }
  static constexpr const char* told_late = "the time of the call was over";
};

/// With the number of directories that were read; `at_first` is called when the first one is.
template <class First> std::size_t directories_read(First at_first, auto work) {
  std::atomic<std::size_t> read = 0;
  test::injection injected({.os_errno_of = [&](std::string_view name) {
    if (name == "getdents64" && ++read == 1) at_first();
    return 0;
  }});
  work();
  injected.end();
  return read;
}

TEST_F(HistoryBounds, WhoIsCancelledDuringTheFirstLookWaitsForNoMoreOfIt) {
  make_directories(200);
  for (const bool is_cancelled : {false, true}) {
    const auto store = open({.threads_max = 1});
    std::atomic<bool> cancelled = false;
    std::string lost;
    // The store's own directory is read before the workspace is.
    const auto read = directories_read(
        [&] { cancelled = is_cancelled; },
        [&] { lost = store->before_command("exec", "work", {.cancelled = &cancelled}).finish(); });
    EXPECT_EQ(lost, "");
    if (is_cancelled) {
      EXPECT_LT(read, 10u);
    } else {
      EXPECT_GT(read, 200u); // the control
    }
  }
}

TEST_F(HistoryBounds, TheFirstReadingInTheBackgroundEndsInTheMidstOfItsLook) {
  make_directories(200);
  const auto store = open({.threads_max = 1});
  std::atomic<bool> cancelled = false;
  result<void> done;
  const auto read = directories_read([&] { cancelled = true; },
                                     [&] { done = store->read_in({.cancelled = &cancelled}); });
  EXPECT_THAT(done, test::IsError(error_code::cancelled));
  EXPECT_LT(read, 10u);
  EXPECT_EQ(store->state().trouble, "");
  EXPECT_THAT(store->read_in(), IsOk()); // the control
  EXPECT_EQ(store->state().files_read, 200u);
}

/// The command goes on, and so does the tool: what is lost is told.
TEST_F(HistoryBounds, AfterTheDeadlineWorkGoesOnWithoutUndo) {
  write("a", "1");
  const std::vector<std::string> paths{"a"};
  for (const bool is_command : {false, true}) {
    const auto store = open();
    const auto begin = [&](const work_bounds& bounds) {
      return is_command ? store->before_command("exec", "work", bounds)
                        : store->before_tool("write", paths, history::author::tool, bounds);
    };
    auto late = begin({.deadline_ms = 0});
    EXPECT_THAT(late.lost(), testing::HasSubstr(told_late));
    write("a", is_command ? "2" : "3");
    EXPECT_THAT(late.finish(), testing::HasSubstr(told_late));
    EXPECT_EQ(store->state().trouble, "");
    auto again = begin({}); // the control
    EXPECT_EQ(again.lost(), "");
    write("a", is_command ? "4" : "5");
    EXPECT_EQ(again.finish(), "");
    EXPECT_THAT(told(store->changes({})), testing::HasSubstr("modified a by "));
  }
}

/// Another thread is in the midst of the first look, and stays there.
TEST_F(HistoryBounds, TheDeadlineEndsTheWaitForAnothersFirstLook) {
  write("a", "1");
  const auto store = open({.threads_max = 1});
  std::atomic<bool> is_looking = false, may_go_on = false;
  std::string lost;
  result<void> read;
  (void)directories_read(
      [&] {
        is_looking = true;
        while (!may_go_on)
          std::this_thread::yield();
      },
      [&] {
        std::thread other([&] { read = store->read_in(); });
        while (!is_looking)
          std::this_thread::yield();
        lost = store->before_command("exec", "work", {.deadline_ms = deadline_in(10)}).lost();
        may_go_on = true;
        other.join();
      });
  EXPECT_THAT(lost, testing::HasSubstr(told_late));
  EXPECT_THAT(read, IsOk());
}

/// A page that is mapped may be written to without a new time as long as the command runs, also one
/// that nobody has looked before.
TEST_F(HistoryBounds, WhatACommandChangesThatBeganLateIsReadAgain) {
  write("mapped", std::string(4096, 'a'));
  const auto store = begun();
  auto late = store->before_command("exec", "map", {.deadline_ms = 0});
  const int fd = ::open((workspace() + "/mapped").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto* bytes = static_cast<char*>(at);
  bytes[0] = 'b';
  struct stat status{};
  ASSERT_EQ(::fstat(fd, &status), 0);
  const std::int64_t changed_ns =
      status.st_ctim.tv_sec * std::int64_t{1'000'000'000} + status.st_ctim.tv_nsec;
  while (sys::file_clock_ns() <= changed_ns) // a look in the same tick would be one too many
    std::this_thread::yield();
  store->look();
  store->look();
  bytes[1] = 'c';
  ::munmap(at, 4096);
  ::close(fd);
  const auto point = store->make_checkpoint("");
  ASSERT_THAT(point, IsOk());
  EXPECT_EQ(store->bytes_at(point->number, "mapped")->value_or("").substr(0, 3), "bca");
  EXPECT_THAT(late.finish(), testing::HasSubstr(told_late));
}

} // namespace
