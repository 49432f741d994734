// SPDX-License-Identifier: MIT

// The power fails behind every change that an operation makes to the file system, and the disk
// keeps what it had to keep and any part of the rest. `durability` promises what may be found then:
// with `full`, old or new before success is reported and new after it; with `data`, old or new at
// any time; with `none`, nothing.

#include "support/fault/faulty_sys.hpp"
#include "support/fault/power_cut.hpp"
#include "support/matchers.hpp"

#include <sys/syscall.h>

namespace paddock {
namespace {

using test::disk;
using test::durable_operation;
using test::outcome;
using test::outcome_of;
using test::picture;
using test::renames;
using test::workbench;

/// Those of all, and what takes a store of its own.
const std::vector<durable_operation>& operations() {
  static const std::vector<durable_operation> all = [] {
    auto made = test::durable_operations();
    made.push_back({"add the first skill", [](const workbench& w, durability how) {
                      const auto store =
                          skill_store::open(w.skills->root_shared(),
                                            {.user_directory = "own/place", .durability = how});
                      return outcome_of(store->add("beta", "Beta", "For tests."));
                    }});
    return made;
  }();
  return all;
}

/// Its content may be in between: all of the old, then anything.
bool is_in_place(const durable_operation& op) {
  return op.name == std::string_view("append");
}

/// As asked, and in pieces that reach the disk one by one.
constexpr std::size_t written_at_once[] = {0, 240};

/// Without the permission bits, which `data` does not promise.
picture without_modes(const picture& from) {
  picture all;
  for (const auto& [path, what] : from)
    all.emplace(path, what.substr(what.find(' ') + 1));
  return all;
}

class power_cut_test : public testing::TestWithParam<resolver> {
protected:
  struct tally {
    std::size_t points = 0;
    std::size_t states = 0;
    std::size_t torn = 0; ///< neither old nor new
    std::size_t lost = 0; ///< old after success was reported
    std::string first;    ///< bad state
  };

  tally cut_everywhere(const durable_operation& op, durability how,
                       renames moving = renames::one_step, std::size_t bytes_max = 0) {
    w.reset();
    const picture before = picture_of(w.t, "ws");
    disk d((w.t / "ws"));
    record(op, how, bytes_max, d, moving);
    picture after = picture_of(w.t, "ws");
    EXPECT_NE(before, after) << op.name;
    EXPECT_TRUE(test::take_leftovers(after).empty()) << op.name;
    bool as_it_is = false; // the control of the model: one of its states is what really is there
    tally t;
    for (std::size_t at = 0; at <= d.changes(); ++at, ++t.points)
      t.states += d.after_power_cut(at, [&](picture found) {
        test::take_leftovers(found);
        const bool done = at == d.changes();
        as_it_is = as_it_is || (done && found == after);
        const bool is_new = same(found, after, how);
        const bool is_old = old_but_for_directories(found, before, after, how);
        const bool between = is_in_place(op) && appended_in_part(found, before);
        const bool whole = is_new || is_old || between;
        const bool lost = whole && done && !is_new;
        t.torn += whole ? 0 : 1;
        t.lost += lost ? 1 : 0;
        if ((!whole || lost) && t.first.empty())
          t.first = std::string(op.name) + ", behind change " + std::to_string(at) + " of " +
                    std::to_string(d.changes()) + (whole ? ", lost" : ", torn");
      });
    EXPECT_TRUE(as_it_is) << op.name;
    return t;
  }

  workbench w{GetParam()};

private:
  void record(const durable_operation& op, durability how, std::size_t bytes_max, disk& d,
              renames moving) {
    struct stat s{};
    ASSERT_EQ(0, ::stat((w.t / "ws").c_str(), &s));
    std::vector<test::change> changes;
    {
      const test::injection without_waiting_for_disks({.bytes_max = bytes_max, .files = w.files});
      test::recording recorder(s.st_dev);
      const outcome said = op.run(w, how);
      EXPECT_FALSE(said.error) << op.name;
      changes = std::move(recorder.changes);
    }
    d.take_down(std::move(changes), moving);
    EXPECT_GT(d.changes(), 0U) << op.name;
  }

  static bool same(const picture& a, const picture& b, durability how) {
    return how == durability::full ? a == b : without_modes(a) == without_modes(b);
  }

  /// Directories are made one by one, and some may be on the disk already.
  static bool old_but_for_directories(const picture& found, const picture& before,
                                      const picture& after, durability how) {
    picture rest = found;
    for (auto at = rest.begin(); at != rest.end();) {
      const auto here = at++;
      if (!before.contains(here->first) && here->second.ends_with(" directory") &&
          after.contains(here->first))
        rest.erase(here);
    }
    return same(rest, before, how);
  }

  static bool appended_in_part(picture found, const picture& before) {
    const auto& old = before.at("f");
    auto& now = found["f"];
    if (!now.starts_with(old)) return false;
    now = old;
    return found == before;
  }
};
INSTANTIATE_TEST_SUITE_P(every, power_cut_test, test::both_resolvers, test::name_of_resolver);

TEST_P(power_cut_test, with_full_what_was_reported_is_there_and_nothing_is_torn) {
  std::size_t states = 0;
  std::size_t points = 0;
  for (const auto& op : operations()) {
    for (const std::size_t bytes_max : written_at_once) {
      const tally t = cut_everywhere(op, durability::full, renames::one_step, bytes_max);
      EXPECT_EQ(t.torn, 0U) << t.first;
      EXPECT_EQ(t.lost, 0U) << t.first;
      points += t.points;
      states += t.states;
    }
  }
  EXPECT_GT(states, 5'000U);
  std::cout << "power cuts: " << points << ", states of the disk: " << states << '\n';
}

TEST_P(power_cut_test, with_data_nothing_is_torn) {
  std::size_t states = 0;
  std::size_t lost = 0;
  for (const auto& op : operations()) {
    for (const std::size_t bytes_max : written_at_once) {
      const tally t = cut_everywhere(op, durability::data, renames::one_step, bytes_max);
      EXPECT_EQ(t.torn, 0U) << t.first;
      if (is_in_place(op)) {
        EXPECT_EQ(t.lost, 0U) << t.first;
      }
      states += t.states;
      lost += t.lost;
    }
  }
  EXPECT_GT(states, 5'000U);
  EXPECT_GT(lost, 0U); // or `full` were good for nothing
  std::cout << "states of the disk: " << states << '\n';
}

// The model itself is tried: what may go wrong without barriers has to go wrong in it.

TEST_P(power_cut_test, control_without_barriers_content_is_torn_and_lost) {
  std::size_t torn = 0;
  for (const auto& op : operations()) {
    const tally t = cut_everywhere(op, durability::none);
    EXPECT_GT(t.lost, 0U) << op.name;
    torn += t.torn > 0 ? 1 : 0;
  }
  EXPECT_GE(torn, 9U); // all that write content, but for appending, and all that remove it
}

/// Replaces a file by hand, with the barriers at the places of the caller's choice.
enum class order : unsigned char { right, rename_first, no_directory, no_file };
outcome replace_by_hand(const workbench& w, order how) {
  const int top = ::openat(w.root->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int fd = ::openat(top, "t", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  bool fine = ::write(fd, "all of it", 9) == 9;
  const auto rename = [&] { fine = fine && ::syscall(SYS_renameat2, top, "t", top, "f", 0) == 0; };
  if (how == order::rename_first) rename();
  if (how != order::no_file) fine = fine && ::fsync(fd) == 0;
  if (how != order::rename_first) rename();
  if (how != order::no_directory) fine = fine && ::fsync(top) == 0;
  ::close(fd);
  ::close(top);
  return fine ? outcome{std::nullopt, "ok"} : outcome{error{error_code::io}, ""};
}

TEST_P(power_cut_test, control_each_barrier_and_their_order_count) {
  const auto by_hand = [&](order how) {
    const durable_operation op{"by hand", [how](const workbench& bench, durability) {
                                 return replace_by_hand(bench, how);
                               }};
    return cut_everywhere(op, durability::full);
  };
  // The name "t" is no leftover that anybody knows, so even the right order leaves foreign states.
  const tally right = by_hand(order::right);
  EXPECT_EQ(right.lost, 0U);
  EXPECT_GT(by_hand(order::rename_first).torn, right.torn);
  EXPECT_GT(by_hand(order::no_directory).lost, 0U);
  EXPECT_GT(by_hand(order::no_file).torn, right.torn);
}

TEST_P(power_cut_test, control_a_rename_in_two_steps_would_lose_what_is_moved) {
  for (const auto& op : operations())
    if (std::string_view(op.name) == "move_file") {
      EXPECT_GT(cut_everywhere(op, durability::full, renames::two_steps).torn, 0U);
    }
}

} // namespace
} // namespace paddock
