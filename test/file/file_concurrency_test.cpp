// SPDX-License-Identifier: MIT

// Many callers at one file: no change is lost, no name is overwritten, no reader sees a mixture.

#include "file/replace.hpp"
#include "support/files/canary.hpp"
#include "support/matchers.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using enum error_code;

/// Runs `body(n)` in `count` threads at once.
void in_threads(int count, const std::function<void(int)>& body) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n)
    threads.emplace_back([&, n] {
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      body(n);
    });
  for (auto& thread : threads)
    thread.join();
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

class concurrency_test : public testing::TestWithParam<resolver> {
protected:
  [[nodiscard]] std::size_t temporaries() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(canary.ws()))
      if (entry.path().filename().string().starts_with(".paddock-tmp-")) ++count;
    return count;
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), GetParam());
};
INSTANTIATE_TEST_SUITE_P(every, concurrency_test,
                         testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

TEST_P(concurrency_test, no_edit_is_lost) {
  constexpr int threads = 8;
  constexpr int edits = 200;
  std::string content;
  for (int n = 0; n < threads; ++n)
    content += "thread " + std::to_string(n) + ": \n";
  t.file("ws/f", content);
  t.link("ws/l", "f");
  const root other = test::open_root(canary.ws(), GetParam()); // the same files, another root
  in_threads(threads, [&](int n) {
    const std::string head = "thread " + std::to_string(n) + ": ";
    const std::string longer = head + "x";
    for (int i = 0; i < edits; ++i)
      EXPECT_THAT(edit_file(n % 2 == 0 ? r : other, n % 3 == 0 ? "l" : "f",
                            {.old_text = head, .new_text = longer}),
                  IsOk());
  });
  EXPECT_EQ(count_of(t.content("ws/f"), "x"), std::size_t{threads * edits});
  EXPECT_EQ(temporaries(), 0U);
}

TEST_P(concurrency_test, no_append_is_lost_beside_edits) {
  constexpr int threads = 8;
  constexpr int changes = 200;
  t.file("ws/f", "head:\n");
  in_threads(threads, [&](int n) {
    for (int i = 0; i < changes; ++i) {
      if (n % 2 == 0)
        EXPECT_THAT(append_file(r, "f", "appended\n"), IsOk());
      else
        EXPECT_THAT(edit_file(r, "f", {.old_text = "head:", .new_text = "head:+"}), IsOk());
    }
  });
  const std::string content = t.content("ws/f");
  EXPECT_EQ(count_of(content, "appended\n"), std::size_t{threads / 2 * changes});
  const auto edited = content.find_first_not_of('+', std::string_view("head:").size());
  EXPECT_EQ(edited, std::string_view("head:").size() + std::size_t{threads / 2 * changes});
}

TEST_P(concurrency_test, readers_see_one_content_or_the_other) {
  const std::string contents[] = {std::string(30'000, 'a'), std::string(50'000, 'b')};
  t.file("ws/f", contents[0]);
  in_threads(4, [&](int n) {
    for (int i = 0; i < 300; ++i) {
      if (n < 2) {
        EXPECT_THAT(write_file(r, "f", contents[(i + n) % 2 == 0 ? 0 : 1]), IsOk());
        continue;
      }
      const auto got = read_file(r, "f");
      ASSERT_THAT(got, IsOk());
      EXPECT_TRUE(got->bytes == contents[0] || got->bytes == contents[1]) << got->bytes.size();
    }
  });
}

TEST_P(concurrency_test, one_move_to_a_destination_wins) {
  constexpr int threads = 4;
  for (int round = 0; round < 100; ++round) {
    for (int n = 0; n < threads; ++n)
      t.file("ws/from" + std::to_string(n), std::to_string(n));
    std::atomic<int> winners{0};
    std::atomic<int> winner{-1};
    in_threads(threads, [&](int n) {
      const auto got = move_entry(r, "from" + std::to_string(n), "d/to");
      if (got) {
        ++winners;
        winner = n;
      } else {
        EXPECT_EQ(got.error().code, already_exists);
      }
    });
    ASSERT_EQ(winners, 1);
    EXPECT_EQ(t.content("ws/d/to"), std::to_string(winner));
    for (int n = 0; n < threads; ++n)
      EXPECT_EQ(t.exists("ws/from" + std::to_string(n)), n != winner);
    ASSERT_THAT(remove_file(r, "d/to"), IsOk());
  }
}

TEST_P(concurrency_test, one_of_many_moves_of_a_source_wins) {
  for (int round = 0; round < 100; ++round) {
    t.file("ws/f", "x");
    std::atomic<int> winners{0};
    in_threads(4, [&](int n) {
      const std::string to = "to" + std::to_string(n);
      if (move_entry(r, "f", to)) {
        ++winners;
        EXPECT_THAT(remove_file(r, to), IsOk());
      }
    });
    ASSERT_EQ(winners, 1);
  }
}

TEST_P(concurrency_test, an_edit_neither_brings_back_nor_doubles_a_file) {
  for (int round = 0; round < 1000; ++round) {
    t.file("ws/f", "old");
    const bool move = round % 2 == 0;
    std::atomic<bool> edited{false};
    in_threads(2, [&](int n) {
      if (n == 0)
        edited = edit_file(r, "f", {.old_text = "old", .new_text = "new"}).has_value();
      else if (move)
        EXPECT_THAT(move_entry(r, "f", "moved"), IsOk());
      else
        EXPECT_THAT(remove_file(r, "f"), IsOk());
    });
    ASSERT_FALSE(t.exists("ws/f")) << "in round " << round;
    if (!move) continue;
    EXPECT_EQ(t.content("ws/moved"), edited ? "new" : "old");
    ASSERT_THAT(remove_file(r, "moved"), IsOk());
  }
}

/// Another program that edits in place, without any lock of ours.
TEST_P(concurrency_test, an_edit_starts_again_after_an_outside_change) {
  constexpr int rounds = 300;
  const std::string path = canary.ws() + "/f";
  std::size_t conflicts = 0;
  for (int round = 0; round < rounds; ++round) {
    t.file("ws/f", "count\n");
    std::thread outside([&] {
      const std::string next = canary.ws() + "/next";
      // A careful program: it writes the whole new content and renames it.
      const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      EXPECT_EQ(15, ::write(fd, "count, outside\n", 15));
      ::close(fd);
      EXPECT_EQ(0, ::rename(next.c_str(), path.c_str()));
    });
    const auto got = edit_file(r, "f", {.old_text = "count", .new_text = "edited"});
    outside.join();
    if (!got) {
      EXPECT_EQ(got.error().code, conflict);
      ++conflicts;
    }
    const std::string now = t.content("ws/f");
    // Never a mixture; the outside change may come last and take the edit with it.
    EXPECT_TRUE(now == "edited, outside\n" || now == "count, outside\n" || now == "edited\n")
        << now;
  }
  EXPECT_EQ(temporaries(), 0U);
  EXPECT_LT(conflicts, std::size_t{rounds});
}

TEST_P(concurrency_test, writers_of_one_new_path_all_succeed) {
  for (int round = 0; round < 50; ++round) {
    const std::string path = "new" + std::to_string(round) + "/deep/er/f";
    in_threads(8, [&](int n) { EXPECT_THAT(write_file(r, path, std::to_string(n)), IsOk()); });
    EXPECT_EQ(t.content("ws/" + path).size(), 1U);
  }
}

/// Two processes, as two servers on one workspace are.
class TwoProcesses : public testing::Test {
protected:
  [[nodiscard]] root open(const std::string& lock_file) const {
    auto made = root::open(canary.ws(), {.lock_file = lock_file});
    EXPECT_THAT(made, IsOk());
    return *std::move(made);
  }
  /// Runs `body` in a process of its own.
  template <class Body> static pid_t start(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    return child;
  }
  static bool has_succeeded(pid_t child) {
    int status = -1;
    return ::waitpid(child, &status, 0) == child && status == 0;
  }
  /// Runs `body` while another process has what `hold` gets it.
  template <class Hold, class Body> void while_held(const Hold& hold, const Body& body) const {
    int told[2], asked[2];
    ASSERT_EQ(::pipe(told), 0);
    ASSERT_EQ(::pipe(asked), 0);
    const pid_t holder = start([&] {
      const root other = open(locks);
      const auto held = hold(other);
      char byte = held ? 1 : 0;
      return ::write(told[1], &byte, 1) == 1 && ::read(asked[0], &byte, 1) == 1;
    });
    char is_held = 0;
    ASSERT_EQ(::read(told[0], &is_held, 1), 1);
    ASSERT_EQ(is_held, 1);
    body();
    ASSERT_EQ(::write(asked[1], "", 1), 1);
    EXPECT_TRUE(has_succeeded(holder));
    for (const int fd : {told[0], told[1], asked[0], asked[1]})
      ::close(fd);
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const std::string locks = t.path() + "/locks";
};

TEST_F(TwoProcesses, LoseNoEditOfEachOther) {
  constexpr int edits = 150;
  t.file("ws/edited", "process 0: \nprocess 1: \n");
  t.file("ws/appended", "");
  const auto work = [&](int n) {
    const root own = open(locks);
    const std::string mark = "process " + std::to_string(n) + ": ";
    for (int i = 0; i < edits; ++i) {
      if (!edit_file(own, "edited", {.old_text = mark, .new_text = mark + 'x'})) return false;
      if (!append_file(own, "appended", "y")) return false;
      if (i % 2 == n && !rewrite_file(own, "appended", [](std::string_view content) {
            return result<std::optional<std::string>>(std::string(content) + 'y');
          }))
        return false;
    }
    return true;
  };
  const pid_t one = start([&] { return work(0); }), other = start([&] { return work(1); });
  EXPECT_TRUE(has_succeeded(one));
  EXPECT_TRUE(has_succeeded(other));
  EXPECT_EQ(count_of(t.content("ws/edited"), "x"), 2u * edits);
  EXPECT_EQ(count_of(t.content("ws/appended"), "y"), 3u * edits);
}

/// Who holds the lock for ever keeps others waiting as long as they want to, and those who do not
/// share it not at all.
TEST_F(TwoProcesses, WaitForEachOtherAsLongAsTheBoundsAllow) {
  t.file("ws/f", "old");
  const root sharing = open(locks), alone = open("");
  const auto hold = [&](const root&) {
    struct flock all{};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    const int fd = ::open(locks.c_str(), O_RDWR);
    return ::fcntl(fd, F_OFD_SETLK, &all) == 0;
  };
  while_held(hold, [&] {
    EXPECT_THAT(write_file(alone, "f", "alone"), IsOk());
    EXPECT_THAT(write_file(sharing, "f", "new", {.bounds = {.deadline_ms = deadline_in(50)}}),
                IsError(timed_out));
    EXPECT_EQ(t.content("ws/f"), "alone");
    const auto refused = write_file(sharing, "f", "new");
    ASSERT_THAT(refused, IsError(conflict));
    EXPECT_STREQ(refused.error().operation, content_lock_operation);
  });
  EXPECT_THAT(write_file(sharing, "f", "new"), IsOk());
  EXPECT_EQ(t.content("ws/f"), "new");
}

/// Servers of all workspaces share one lock file: a long edit in one holds up no write in another,
/// however many files it changes.
TEST_F(TwoProcesses, HoldUpNoWriteToOtherFiles) {
  std::vector<std::string> edited;
  for (int i = 0; i < 500; ++i)
    edited.push_back("edited-" + std::to_string(i));
  const root own = open(locks);
  const auto hold = [&](const root& other) { return lock_contents(other, edited, {}); };
  while_held(hold, [&] {
    const work_bounds soon{.deadline_ms = deadline_in(2'000)};
    EXPECT_THAT(write_file(own, "f", "new", {.bounds = soon}), IsOk());
    EXPECT_THAT(write_file(own, edited[0], "new", {.bounds = soon}), IsError(timed_out))
        << "the control";
  });
}

/// What is not a file of this user's is no lock file, and keeps nobody from work.
TEST_F(TwoProcesses, DoWithoutALockFileThatCannotBe) {
  t.directory("directory");
  t.file("file", "");
  t.link("link", "file");
  for (const std::string name : {"/directory", "/link", "/not/there", "relative"}) {
    const root own = open(name == "relative" ? name : t.path() + name);
    EXPECT_EQ(own.lock_descriptor(), -1) << name;
    EXPECT_THAT(write_file(own, "f", name), IsOk()) << name;
  }
  EXPECT_GE(open(locks).lock_descriptor(), 0);
}

} // namespace
} // namespace paddock
