// SPDX-License-Identifier: MIT

// A process is killed at every boundary of a system call, before it and after it, of every
// operation that changes something. Afterwards each file is old or new and never torn; what is left
// over is an ordinary entry, which the next operations list and keep.

#include "support/campaign.hpp"
#include "support/fault/fault_fixture.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/fault/kill_at.hpp"
#include "support/matchers.hpp"

#include <sys/ptrace.h>
#include <sys/syscall.h>

namespace paddock {
namespace {

using test::ending;
using test::has;
using test::is_part_of;
using test::operation;
using test::outcome_of;
using test::picture;
using test::trait;
using test::workbench;
using namespace std::string_view_literals;

constexpr std::size_t never = static_cast<std::size_t>(-1);

/// Calls that are not the library's, or that it does not count on.
bool is_incidental(std::uint64_t number) {
  switch (number) {
  case SYS_brk:
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mremap:
  case SYS_madvise:
  case SYS_futex:
  case SYS_geteuid:
  case SYS_exit_group:
    return true;
  default:
    return false;
  }
}

/// How many system calls an operation makes, as the kernel counts.
std::size_t calls_in_child(const workbench& w, const operation& op) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    (void)op.run(w);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0,
            ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD));
  std::size_t calls = 0;
  for (;;) {
    EXPECT_EQ(0, ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr));
    EXPECT_EQ(child, ::waitpid(child, &status, 0));
    if (!WIFSTOPPED(status)) return calls;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) continue;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY && !is_incidental(info.entry.nr)) ++calls;
  }
}

/// Runs the operation in a child and kills it at the `boundary`-th stop; `stops` counts them.
ending run_until(const workbench& w, const operation& op, std::size_t boundary,
                 std::size_t& stops) {
  SCOPED_TRACE(op.name);
  const auto work = [&] {
    const test::injection only_without_waiting_for_disks({.files = w.files});
    return !op.run(w).error;
  };
  return test::run_until(work, boundary, stops);
}

bool replaces_a_file(const operation& op) {
  const std::string_view name = op.name;
  return name.starts_with("write_") || name.starts_with("edit") || name.starts_with("skill_edit");
}

struct states {
  picture before;
  picture after;
};

/// Directories are made one by one, and what was made before the kill stays.
bool is_old_but_for_directories(const picture& now, const states& s) {
  if (!is_part_of(s.before, now)) return false;
  for (const auto& [path, what] : now) {
    if (s.before.contains(path)) continue;
    const auto wanted = s.after.find(path);
    if (wanted == s.after.end() || wanted->second != what || !what.ends_with(" directory"))
      return false;
  }
  return true;
}

bool is_consistent(const operation& op, const picture& now, const states& s) {
  return now == s.after || is_old_but_for_directories(now, s) ||
         (has(op.traits, trait::partial) && is_part_of(now, s.before)); // a removal in steps
}

class crash_test : public testing::TestWithParam<resolver> {
protected:
  void SetUp() override {
    std::size_t stops = 0;
    const operation nothing{"nothing", [](const auto&) { return test::outcome{}; }};
    if (run_until(w, nothing, 1, stops) == ending::untraceable)
      GTEST_SKIP() << "no process may be traced here";
  }

  struct tally {
    std::size_t kills = 0;
    std::size_t torn = 0;      ///< neither old nor new
    std::size_t leftovers = 0; ///< kills that left something
    std::size_t kept = 0;      ///< of these, still there after the next operations
  };

  tally kill_everywhere(const operation& op, std::size_t stride = 1) {
    states s;
    std::size_t boundaries = 0;
    w.reset();
    s.before = picture_of(w.t, "ws");
    EXPECT_EQ(run_until(w, op, never, boundaries), ending::finished);
    s.after = picture_of(w.t, "ws");
    EXPECT_NE(s.before, s.after) << op.name;
    tally t;
    bool dirty = true;
    for (std::size_t at = 1; at <= boundaries; at += stride) {
      if (dirty) w.reset();
      std::size_t stops = 0;
      if (run_until(w, op, at, stops) != ending::killed) break;
      ++t.kills;
      picture now = picture_of(w.t, "ws");
      dirty = now != s.before;
      const bool left = !test::take_leftovers(now).empty();
      if (!is_consistent(op, now, s)) {
        ++t.torn;
        last_torn = std::string(op.name) + ", boundary " + std::to_string(at);
      }
      if (!left) continue;
      ++t.leftovers;
      w.sweep();
      if (after_a_kill) after_a_kill();
      now = picture_of(w.t, "ws");
      if (!test::take_leftovers(now).empty()) ++t.kept;
    }
    return t;
  }

  workbench w{GetParam()};
  std::string last_torn;
  std::function<void()> after_a_kill;
};
INSTANTIATE_TEST_SUITE_P(every, crash_test, test::both_resolvers, test::name_of_resolver);

TEST_P(crash_test, a_kill_at_any_system_call_tears_nothing) {
  const std::size_t step = test::campaign_step();
  std::size_t kills = 0;
  std::size_t leftovers = 0;
  for (const auto& op : test::changing_operations()) {
    const tally t = kill_everywhere(op, step);
    EXPECT_GT(t.kills, test::campaign_met(10)) << op.name;
    EXPECT_EQ(t.torn, 0U) << last_torn;
    EXPECT_EQ(t.kept, t.leftovers) << op.name << ": something was removed for its name";
    if (w.files == test::nameless_files::known && replaces_a_file(op)) {
      // A call is two stops. A file that was looked at is exchanged, compared, and then removed.
      EXPECT_LE(t.leftovers, 6U) << op.name
                                 << ": only from getting a name to the removal of the old";
    }
    kills += t.kills;
    leftovers += t.leftovers;
  }
  EXPECT_GT(leftovers,
            test::campaign_met(50)); // or the kills do not fall into the middle of anything
  std::cout << "kills: " << kills << ", of which left something: " << leftovers << '\n';
}

// What the fault tests count is what there is: no call gets to the kernel past the wrappers.
class skill_crash_test : public crash_test {
protected:
  [[nodiscard]] skill_store open_store(const std::string& state_directory) const {
    auto made = skill_store::open(w.skills->root_shared(), {.state_directory = state_directory});
    if (!made) std::abort();
    return *std::move(made);
  }
  /// As before, but with a change of skills by `next` after each kill.
  tally kill_and_go_on(const operation& op, const skill_store& next) {
    states s;
    w.reset();
    s.before = picture_of(w.t, "ws");
    EXPECT_FALSE(op.run(w).error);
    s.after = picture_of(w.t, "ws");
    tally t;
    const auto look = [&](std::size_t at) {
      picture now = picture_of(w.t, "ws");
      ++t.kills;
      t.leftovers += test::take_leftovers(now).empty() ? 0U : 1U;
      EXPECT_TRUE(is_consistent(op, now, s)) << op.name << " at " << at;
      EXPECT_TRUE(next.add("next", "Next", "Comes next."));
      now = picture_of(w.t, "ws");
      t.kept += test::take_leftovers(now).empty() ? 0U : 1U;
      EXPECT_TRUE(std::filesystem::is_empty(notes)) << op.name << " at " << at;
    };
    const auto prepare = [&] {
      w.reset();
      std::filesystem::remove_all(notes);
      std::filesystem::create_directory(notes);
      std::filesystem::permissions(notes, std::filesystem::perms::owner_all);
    };
    const auto work = [&] { return !op.run(w).error; };
    EXPECT_TRUE(test::kill_at_each({.stride = test::campaign_step()}, prepare, work, look));
    return t;
  }

  const std::string notes = w.t / "notes";
};
INSTANTIATE_TEST_SUITE_P(every, skill_crash_test, testing::Values(resolver::automatic));

TEST_P(skill_crash_test, the_next_change_removes_what_a_killed_one_has_left) {
  for (const std::string& state : {notes, std::string()}) { // the second is the control
    const skill_store store = open_store(state);
    const auto importing = [&](const std::string& id) {
      return [&store, id](const workbench& bench) {
        return outcome_of(
            store.import(bench.t / "source", {.id = id, .overwrite = overwrite::replace}));
      };
    };
    const operation changes[] = {
        {"add", [&](const auto&) { return outcome_of(store.add("beta", "Beta", "New.")); }},
        {"import", importing("imp")},
        {"overwrite", importing("alpha")},
        {"remove", [&](const auto&) { return outcome_of(store.remove("alpha")); }}};
    for (const operation& op : changes) {
      const tally t = kill_and_go_on(op, store);
      EXPECT_GT(t.leftovers, test::campaign_met(2)) << op.name;
      EXPECT_EQ(t.kept, state.empty() ? t.leftovers : 0U) << op.name;
    }
  }
}

TEST_P(crash_test, control_the_wrappers_see_every_call) {
  if (test::instrumented) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  for (const auto& op : test::changing_operations()) {
    if (has(op.traits, trait::foreign)) continue;
    w.reset();
    const std::size_t calls = calls_in_child(w, op);
    w.reset();
    test::injection counting({});
    (void)op.run(w);
    counting.end();
    EXPECT_EQ(test::injection::calls(), calls) << op.name;
  }
}

TEST_P(crash_test, control_a_writer_in_place_is_torn) {
  const operation in_place{"in place", [](const workbench& bench) {
                             const int fd = ::openat(bench.root->descriptor(), "f",
                                                     O_WRONLY | O_TRUNC | O_CLOEXEC);
                             const bool written = ::write(fd, "all of it", 9) == 9;
                             ::close(fd);
                             if (!written) return test::outcome{error{error_code::io}, ""};
                             return test::outcome{};
                           }};
  EXPECT_GT(kill_everywhere(in_place).torn, 0U);
}

TEST_P(crash_test, control_what_is_removed_for_its_name_is_seen) {
  // What the library did once: a listing that removes what looks like a leftover.
  const operation& op = *std::ranges::find_if(
      test::changing_operations(), [](const operation& o) { return o.name == "skill_add"sv; });
  after_a_kill = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(w.t / "ws/.agents/skills"))
      if (test::is_leftover(entry.path().string())) std::filesystem::remove_all(entry.path());
  };
  const tally t = kill_everywhere(op);
  EXPECT_GT(t.leftovers, 0U);
  EXPECT_LT(t.kept, t.leftovers);
}

} // namespace
} // namespace paddock
