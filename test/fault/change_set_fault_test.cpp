// SPDX-License-Identifier: MIT

// A change of several files is broken off: its process is killed at every boundary of a system
// call, or each of its calls fails. All files are as they were then or all as they were to become,
// at once where a call failed, and after the recovery where the process has gone; and nothing else
// is left.

#include "change/change_record.hpp"
#include "file/leftover.hpp"
#include "support/campaign.hpp"
#include "support/fault/change_cases.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/fault/kill_at.hpp"
#include "support/matchers.hpp"
#include "support/process/descriptors.hpp"

#include <linux/fs.h>

namespace paddock {
namespace {

using test::change_case;
using test::ending;
using test::fault;
using test::injection;
using test::IsOk;
using test::lasting;
using test::picture;
using test::run_until;
using test::workbench;
using testing::IsEmpty;

constexpr std::size_t never = static_cast<std::size_t>(-1);

class change_set_fault_test : public testing::TestWithParam<resolver> {
protected:
  void SetUp() override {
    std::size_t stops = 0;
    can_trace_ = run_until([] { return true; }, 1, stops) != ending::untraceable;
  }

  /// A file system that does not know these flags of renameat2.
  [[nodiscard]] fault file_system_without(unsigned flags) const {
    if (flags == 0) return {.files = w.files};
    return {.os_errno_of =
                [flags](std::string_view call) {
                  return call == "renameat2" && (injection::rename_flags() & flags) != 0 ? EINVAL
                                                                                         : 0;
                },
            .files = w.files};
  }
  /// Without waiting for disks.
  bool make(const change_case& change, durability how, unsigned unknown_flags = 0) const {
    const injection none(file_system_without(unknown_flags));
    return apply_changes(*w.root, change.changes, {.durability = how, .state_directory = w.state()})
        .has_value();
  }
  [[nodiscard]] picture now() const { return picture_of(w.t, "ws"); }

  /// Without directories and what has temporary names.
  static picture files_of(picture all) {
    test::take_leftovers(all);
    std::erase_if(all, [](const auto& entry) { return entry.second.ends_with(" directory"); });
    return all;
  }

  /// Where the record is, beneath the tree.
  [[nodiscard]] std::string record() const {
    for (const auto& each : std::filesystem::directory_iterator(w.state()))
      return "state/" + each.path().filename().string() + "/record";
    return "state/none";
  }

  struct ends {
    picture before, after;
  };
  ends ends_of(const change_case& change) {
    w.reset();
    ends both{.before = now(), .after = {}};
    EXPECT_TRUE(make(change, durability::none));
    both.after = now();
    EXPECT_NE(both.before, both.after);
    EXPECT_FALSE(w.t.exists(record()));
    return both;
  }

  /// Whoever comes next: the start of a server, or another change.
  void recover(bool by_another_change) const {
    if (!by_another_change) {
      ASSERT_THAT(recover_changes(*w.root, w.state()), IsOk());
      return;
    }
    const std::vector<file_change> other{
        {.action = change_action::create, .path = "sweeper", .bytes = ""}};
    ASSERT_THAT(apply_changes(*w.root, other, {.state_directory = w.state()}), IsOk());
    std::filesystem::remove(w.t / "ws/sweeper");
  }

  /// The second way to resolve paths makes more calls of the same kinds.
  [[nodiscard]] static std::size_t stride_of_control() {
    return GetParam() == resolver::walker ? 7 : 1;
  }
  [[nodiscard]] static std::size_t stride() { return test::campaign_step() * stride_of_control(); }

  workbench w{GetParam()};
  bool can_trace_ = false;
};
INSTANTIATE_TEST_SUITE_P(every, change_set_fault_test, test::both_resolvers,
                         test::name_of_resolver);

TEST_P(change_set_fault_test, a_kill_at_any_system_call_is_all_or_none_after_recovery) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  std::size_t kills = 0;
  std::size_t torn_before_recovery = 0;
  std::size_t undone = 0, finished = 0;
  for (const auto& change : test::change_cases()) {
    SCOPED_TRACE(change.name);
    const auto how = kills == 0 ? durability::none : durability::full;
    const ends both = ends_of(change);
    for (std::size_t at = 1;; at += stride(), ++kills) {
      w.reset();
      std::size_t stops = 0;
      if (run_until([&] { return make(change, how); }, at, stops) != ending::killed) break;
      picture left = now();
      const bool as_before = left == both.before, as_after = left == both.after;
      test::take_leftovers(left);
      torn_before_recovery += !as_before && left != both.after ? 1U : 0U;
      recover(at % 2 == 0);
      const picture found = now();
      EXPECT_TRUE(found == both.before || found == both.after) << "boundary " << at;
      undone += !as_before && found == both.before ? 1U : 0U;
      finished += !as_after && found == both.after ? 1U : 0U;
    }
    EXPECT_TRUE(both.after == now()); // the last one was not killed
  }
  EXPECT_GT(torn_before_recovery,
            test::campaign_met(40)); // or the kills do not fall into the middle of anything
  EXPECT_GT(undone, test::campaign_met(10));
  EXPECT_GT(finished, test::campaign_met(10));
  std::cout << "kills: " << kills << ", torn before recovery: " << torn_before_recovery << '\n';
}

TEST_P(change_set_fault_test, a_kill_where_a_rename_takes_two_steps_is_all_or_none_too) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  constexpr unsigned both_flags = RENAME_NOREPLACE | RENAME_EXCHANGE;
  const change_case& change = test::change_cases().back();
  const ends both = ends_of(change);
  std::size_t between = 0; // the two steps
  for (std::size_t at = 1;; at += stride()) {
    w.reset();
    std::size_t stops = 0;
    const auto work = [&] { return make(change, durability::none, both_flags); };
    if (run_until(work, at, stops) != ending::killed) break;
    for (const auto& [path, what] : now())
      if (test::is_leftover(path) && std::filesystem::hard_link_count(w.t / ("ws/" + path)) == 2) {
        ++between;
        break;
      }
    const injection old_disk(file_system_without(both_flags));
    recover(at % 2 == 0);
    const picture found = now();
    EXPECT_TRUE(found == both.before || found == both.after) << "boundary " << at;
  }
  EXPECT_TRUE(both.after == now());
  EXPECT_TRUE(between > 6 || stride() > 1);
}

TEST_P(change_set_fault_test, a_recovery_ends_soon_after_it_is_cancelled) {
  constexpr std::size_t files = 100;
  const auto name = [](const char* of, std::size_t i) { return of + std::to_string(i); };
  std::size_t cancellations = 0;
  (void)ends_of(test::change_cases().front()); // makes the place of the record
  for (std::size_t at = 1;; at += 25 * test::campaign_step()) {
    w.reset();
    change_plan plan{.how = {.is_beside = true, .asks_rules = true},
                     .staging = std::string(temporary_prefix) + std::string(32, 'a')};
    for (std::size_t i = 0; i < files; ++i) {
      w.t.file("ws/" + name("old", i), "x");
      const auto where = w.root->locate(name("old", i), final_link::keep);
      ASSERT_THAT(where, IsOk());
      plan.moves.push_back({.now = name("old", i),
                            .home = name("new", i),
                            .object = stamp_of(where->existing.value())});
    }
    w.t.file(this->record(), render(plan) + render_staged({}));
    std::atomic<bool> is_cancelled = false;
    injection watched(
        {.before = [&](std::size_t call) { is_cancelled = call >= at; }, .files = w.files});
    const auto found = recover_changes(*w.root, w.state(), {.cancelled = &is_cancelled});
    watched.end();
    if (injection::calls() < at) break; // the control: not cancelled
    SCOPED_TRACE(at);
    // The root is opened in fewer than 60; of moves alone there are a hundred.
    EXPECT_LE(injection::calls(), std::max(at, std::size_t{60}) + 40);
    if (found) continue;
    ++cancellations;
    EXPECT_EQ(found.error().code, error_code::cancelled);
    EXPECT_TRUE(w.t.exists(this->record()));
    recover(false);
    EXPECT_FALSE(w.t.exists("ws/old0"));
    EXPECT_TRUE(w.t.exists("ws/" + name("new", files - 1)));
  }
  EXPECT_GT(cancellations, test::campaign_met(20));
  EXPECT_FALSE(w.t.exists("ws/old0"));
  EXPECT_FALSE(w.t.exists(this->record()));
}

TEST_P(change_set_fault_test, a_recovery_that_is_killed_is_recovered) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  std::size_t kills = 0;
  const change_case& change = test::change_cases().back();
  const ends both = ends_of(change);
  std::size_t boundaries = 0;
  w.reset();
  (void)run_until([&] { return make(change, durability::none); }, never, boundaries);
  for (std::size_t at = boundaries / 3; at < boundaries; at += 167) {
    for (std::size_t again = 1;; again += stride(), ++kills) {
      w.reset();
      std::size_t stops = 0;
      ASSERT_EQ(run_until([&] { return make(change, durability::none); }, at, stops),
                ending::killed);
      const auto first = [&] { return recover_changes(*w.root, w.state()).has_value(); };
      const bool is_last = run_until(first, again, stops) != ending::killed;
      if (!is_last) recover(false);
      const picture found = now();
      EXPECT_TRUE(found == both.before || found == both.after) << at << ", then " << again;
      if (is_last) break;
    }
  }
  EXPECT_GT(kills, test::campaign_met(50 / stride_of_control()));
  std::cout << "kills of a recovery: " << kills << '\n';
}

/// What may go another time is left for then; else what was made is taken back.
TEST_P(change_set_fault_test, what_cannot_be_carried_to_its_end_is_taken_back) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  const change_case& change = test::change_cases().back();
  const ends both = ends_of(change);
  std::size_t taken_back = 0, left = 0;
  for (const int os_errno : {EACCES, EIO})
    for (std::size_t at = 1;; at += 3 * stride()) {
      w.reset();
      std::size_t stops = 0, renames = 0;
      if (run_until([&] { return make(change, durability::none); }, at, stops) != ending::killed)
        break;
      const picture found = now();
      injection failing({.os_errno_of =
                             [&](std::string_view call) {
                               return call == "renameat2" && ++renames == 1 ? os_errno : 0;
                             },
                         .files = w.files});
      const auto ended = recover_changes(*w.root, w.state());
      failing.end();
      SCOPED_TRACE(std::to_string(at) + ' ' + ::strerrorname_np(os_errno));
      if (renames == 0) continue; // nothing was left to be made
      EXPECT_EQ(ended.has_value(), os_errno == EACCES);
      left += ended ? 0U : 1U;
      taken_back += ended && now() != found ? 1U : 0U;
      if (ended) {
        EXPECT_EQ(*ended, interrupted_change::undone);
        EXPECT_EQ(now(), both.before);
      }
      recover(false);
      EXPECT_TRUE(now() == (ended ? both.before : both.after));
    }
  EXPECT_TRUE(taken_back > 3 || stride() > 1);
  EXPECT_TRUE(left > 3 || stride() > 1);
}

constexpr int injected[] = {EINTR, ENOSPC, EIO, EACCES};

TEST_P(change_set_fault_test, a_call_that_fails_is_all_or_none_at_once) {
  std::size_t faults = 0;
  std::size_t refused = 0;
  const change_case& change = test::change_cases().back();
  const ends both = ends_of(change);
  w.reset();
  injection counting({.files = w.files});
  ASSERT_THAT(apply_changes(*w.root, change.changes,
                            {.durability = durability::full, .state_directory = w.state()}),
              IsOk());
  counting.end();
  const std::size_t calls = injection::calls();
  for (std::size_t at = 1; at <= calls; at += stride())
    for (const std::size_t turn : {at, at + 1}) {                // two of them for each call
      const int os_errno = injected[turn % std::size(injected)]; // NOLINT: the index is in range
      w.reset();
      const auto descriptors = test::open_descriptors();
      injection bad_day({.at = at, .os_errno = os_errno, .files = w.files});
      const auto done = apply_changes(
          *w.root, change.changes, {.durability = durability::full, .state_directory = w.state()});
      bad_day.end();
      faults += injection::failed();
      refused += done ? 0U : 1U;
      const std::string failing(injection::failing());
      SCOPED_TRACE("call " + std::to_string(at) + ' ' + failing + ", " +
                   ::strerrorname_np(os_errno) +
                   (done ? "" : ", said " + std::string(wire_name(done.error().code))));
      EXPECT_EQ(descriptors, test::open_descriptors());
      EXPECT_TRUE(done || os_errno != EINTR);
      picture found = now();
      test::take_leftovers(found);
      EXPECT_TRUE(done || done.error().made == change_extent::none);
      EXPECT_TRUE(found == (done ? both.after : both.before));
      recover(false);
      EXPECT_TRUE(now() == found);
    }
  EXPECT_GT(faults, test::campaign_met(80));
  EXPECT_GT(refused, test::campaign_met(30));
  std::cout << "faults injected: " << faults << ", refused: " << refused << '\n';
}

TEST_P(change_set_fault_test, when_everything_fails_from_a_call_on_the_next_one_makes_it_whole) {
  std::size_t mixed = 0;
  std::size_t torn = 0;
  for (const auto& change : test::change_cases()) {
    const ends both = ends_of(change);
    for (std::size_t at = 1;; at += stride()) {
      w.reset();
      injection bad_day({.at = at, .os_errno = EIO, .lasting = lasting::ever, .files = w.files});
      const auto done = apply_changes(*w.root, change.changes, {.state_directory = w.state()});
      bad_day.end();
      if (injection::failed() == 0) break;
      SCOPED_TRACE(std::string(change.name) + ", call " + std::to_string(at));
      picture found = now();
      mixed += found == both.before || found == both.after ? 0U : 1U;
      const picture files = files_of(found);
      const bool is_whole = files == files_of(both.before) || files == files_of(both.after);
      EXPECT_TRUE(is_whole || (!done && done.error().made == change_extent::some));
      torn += is_whole ? 0U : 1U;
      recover(at % 2 == 0);
      found = now();
      // Where not even the record could say that it has failed, it is carried to its end.
      const bool is_open = !done && done.error().made == change_extent::some;
      EXPECT_TRUE(found == (done ? both.after : both.before) || (is_open && found == both.after));
    }
  }
  EXPECT_GT(mixed, test::campaign_met(10));
  EXPECT_TRUE(torn > 0 || stride() > 7);
}

TEST_P(change_set_fault_test, a_full_disk_in_the_middle_of_a_write_changes_nothing) {
  const change_case& change = test::change_cases().back();
  const ends both = ends_of(change);
  std::size_t refused = 0;
  for (std::size_t at = 1;; at += stride()) {
    w.reset();
    injection bad_day({.at = at, .os_errno = ENOSPC, .bytes_max = 700, .files = w.files});
    const auto done = apply_changes(*w.root, change.changes, {.state_directory = w.state()});
    bad_day.end();
    if (injection::failed() == 0) break;
    refused += done ? 0U : 1U;
    recover(false);
    EXPECT_TRUE(now() == (done ? both.after : both.before)) << at << ' ' << injection::failing();
  }
  EXPECT_GT(refused, test::campaign_met(5));
}

TEST_P(change_set_fault_test, on_file_systems_that_can_do_less_it_is_the_same) {
  const struct {
    const char* name;
    unsigned unknown; ///< of the flags of renameat2
    bool can_link;
  } rows[] = {{"no exchange", RENAME_EXCHANGE, true},
              {"no flags", RENAME_EXCHANGE | RENAME_NOREPLACE, true},
              {"no exchange and no links", RENAME_EXCHANGE, false}};
  std::size_t undone = 0;
  for (const auto& change : test::change_cases())
    for (const auto& row : rows) {
      const ends both = ends_of(change);
      bool has_broken = true;
      for (std::size_t break_at = 0; has_broken || break_at == 1; ++break_at) {
        SCOPED_TRACE(std::string(change.name) + ", " + row.name + ", " + std::to_string(break_at));
        w.reset();
        std::size_t renames = 0;
        has_broken = false;
        injection old_disk({.os_errno_of =
                                [&](std::string_view call) {
                                  if (call == "linkat" && !row.can_link) return EPERM;
                                  if (call != "renameat2") return 0;
                                  if ((injection::rename_flags() & row.unknown) != 0) return EINVAL;
                                  if (++renames != break_at) return 0;
                                  has_broken = true;
                                  return EIO;
                                },
                            .files = w.files});
        const auto done = apply_changes(*w.root, change.changes, {.state_directory = w.state()});
        old_disk.end();
        EXPECT_EQ(done.has_value(), !has_broken);
        EXPECT_TRUE(now() == (done ? both.after : both.before));
        undone += done ? 0U : 1U;
      }
    }
  EXPECT_GT(undone, 10U);
}

TEST_P(change_set_fault_test, what_was_made_is_taken_back_whatever_its_name_means_by_then) {
  const std::vector<file_change> changes{
      {.action = change_action::create, .path = "p/HEAD", .bytes = "1"},
      {.action = change_action::move, .path = "p/moved", .from = "n"},
      {.action = change_action::create, .path = "p/last", .bytes = "3"}};
  for (const char* mark : {"objects", "other"}) { // the second one is the control
    SCOPED_TRACE(mark);
    w.reset();
    w.t.file("ws/n", "moved");
    const picture before = now();
    std::size_t renames = 0;
    injection others({.os_errno_of =
                          [&](std::string_view call) {
                            if (call != "renameat2" || ++renames != 3) return 0;
                            std::filesystem::create_directory(w.t / ("ws/p/" + std::string(mark)));
                            return EIO;
                          },
                      .files = w.files});
    const auto done = apply_changes(*w.root, changes, {.state_directory = w.state()});
    others.end();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().made, change_extent::none);
    picture left = now();
    EXPECT_EQ(left.erase("p/" + std::string(mark)), 1U); // somebody else's
    EXPECT_EQ(left.erase("p"), 1U);
    EXPECT_EQ(left, before);
  }
}

/// Of several renames that are taken back one fails: the others go back all the same, and where
/// nobody tries again later nobody says so.
TEST_P(change_set_fault_test, what_cannot_go_back_keeps_nothing_else_from_it) {
  const std::vector<file_change> changes{
      {.action = change_action::replace, .path = "f", .bytes = "new"},
      {.action = change_action::replace, .path = "d/x", .bytes = "new"},
      {.action = change_action::create, .path = "made", .bytes = "new"}};
  for (const bool has_record : {true, false}) {
    w.reset();
    const std::string was = w.t.content("ws/f"), other = w.t.content("ws/d/x");
    std::size_t renames = 0;
    injection failing({.os_errno_of =
                           [&](std::string_view call) {
                             if (call != "renameat2") return 0;
                             ++renames;
                             return renames == 3 || renames == 4 ? EIO : 0;
                           },
                       .files = w.files});
    const auto done =
        apply_changes(*w.root, changes, {.state_directory = has_record ? w.state() : ""});
    failing.end();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().made, change_extent::some);
    EXPECT_EQ(w.t.content("ws/f"), was);
    EXPECT_EQ(w.t.content("ws/d/x"), "new");
    EXPECT_EQ(done.error().detail.find("next change") != std::string::npos, has_record)
        << done.error().detail;
    recover(true);
    EXPECT_EQ(w.t.content("ws/d/x"), has_record ? other : "new"); // the first one is the control
    if (has_record) continue;
    std::size_t kept = 0; // what nobody takes back is there still
    for (const auto& each : std::filesystem::directory_iterator(w.t / "ws/d"))
      kept += test::is_leftover(each.path().string()) ? 1U : 0U;
    EXPECT_EQ(kept, 1u);
  }
}

/// What gets the place of a directory that was looked at is another one, and nothing comes into it.
TEST_P(change_set_fault_test, what_is_meant_for_one_directory_is_not_put_into_another) {
  const std::vector<file_change> changes{
      {.action = change_action::replace, .path = "p/f", .bytes = "new", .before = "agent's"},
      {.action = change_action::create, .path = "p/made", .bytes = "new"},
      {.action = change_action::move, .path = "p/moved", .from = "n"}};
  std::size_t refused = 0, made = 0;
  for (std::size_t at = 1;; ++at) {
    w.reset();
    w.t.file("ws/n", "moved");
    w.t.directory("ws/p");
    w.t.directory("ws/person");
    w.t.file("ws/p/f", "agent's");
    w.t.file("ws/person/f", "mine");
    bool is_hit = false;
    injection others({.before =
                          [&](std::size_t call) {
                            if (call != at) return;
                            is_hit = true;
                            const std::string one = w.t / "ws/p", other = w.t / "ws/person";
                            (void)::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
                                              RENAME_EXCHANGE);
                          },
                      .files = w.files});
    const auto done = apply_changes(*w.root, changes, {.state_directory = w.state()});
    others.end();
    (done ? made : refused) += 1;
    const bool is_person = w.t.content("ws/person/f") == "mine";
    const std::string persons = is_person ? "ws/person" : "ws/p";
    EXPECT_EQ(w.t.content(persons + "/f"), "mine") << at;
    for (const char* name : {"/made", "/moved"})
      EXPECT_FALSE(w.t.exists(persons + name)) << "at " << at << name;
    if (HasFailure() || !is_hit) break;
  }
  EXPECT_GT(made, 1u); // the last one is undisturbed, and so it is at the end
  EXPECT_GT(refused, 5u);
}

// The controls: what is tried above can go wrong.

TEST_P(change_set_fault_test, control_files_one_by_one_are_torn) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  const auto one_by_one = [&] {
    return write_file(*w.root, "f", "1").has_value() &&
           write_file(*w.root, "d/x", "2").has_value() && write_file(*w.root, "n", "3").has_value();
  };
  w.reset();
  const picture before = now();
  ASSERT_TRUE(one_by_one());
  const picture after = now();
  std::size_t torn = 0;
  for (std::size_t at = 1;; at += stride_of_control()) {
    w.reset();
    std::size_t stops = 0;
    if (run_until(one_by_one, at, stops) != ending::killed) break;
    recover(false);
    const picture found = now();
    torn += found == before || found == after ? 0U : 1U;
  }
  EXPECT_GT(torn, 1U);
}

TEST_P(change_set_fault_test, control_without_its_record_a_kill_leaves_a_mixture) {
  if (!can_trace_) GTEST_SKIP() << "no process may be traced here";
  const change_case& change = test::change_cases().front();
  const ends both = ends_of(change);
  std::size_t torn = 0;
  for (std::size_t at = 1;; at += stride_of_control()) {
    w.reset();
    std::size_t stops = 0;
    if (run_until([&] { return make(change, durability::none); }, at, stops) != ending::killed)
      break;
    std::filesystem::remove(w.t / record());
    recover(false);
    picture found = now();
    test::take_leftovers(found);
    torn += found == both.before || found == both.after ? 0U : 1U;
  }
  EXPECT_GT(torn, 1U);
}

} // namespace
} // namespace paddock
