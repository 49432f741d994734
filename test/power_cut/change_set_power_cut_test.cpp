// SPDX-License-Identifier: MIT

// The power fails behind every change that a change of several files makes to the file system, the
// disk keeps what it had to keep and any part of the rest, and what is found then is recovered: all
// files are as before or all as after, and after it where `full` was asked for and success
// reported.

#include "support/fault/change_cases.hpp"
#include "support/fault/power_cut.hpp"
#include "support/matchers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <set>

namespace paddock {
namespace {

using test::change_case;
using test::disk;
using test::IsOk;
using test::picture;
using test::workbench;

/// Makes the directory what a picture says.
void put_back(const test::temp_tree& t, const picture& wanted) {
  std::filesystem::remove_all(t / "found");
  t.directory("found");
  for (const auto& [path, what] : wanted) {
    const std::string name = "found/" + path;
    const auto space = what.find(' ');
    const std::string rest = what.substr(space + 1);
    if (rest == "directory") {
      t.directory(name);
      continue;
    }
    if (rest.starts_with("link ")) {
      t.link(name, rest.substr(5));
      continue;
    }
    t.file(name, rest.substr(5));
    ASSERT_EQ(0, ::chmod((t / name).c_str(), static_cast<mode_t>(std::stoul(what))));
  }
}

class change_set_power_cut_test : public testing::TestWithParam<resolver> {
protected:
  struct tally {
    std::size_t states = 0;
    std::size_t torn = 0;
    std::size_t lost = 0; ///< old after success was reported
    std::size_t torn_before_recovery = 0;
  };

  tally cut_everywhere(const change_case& change, durability how) {
    w.reset();
    const picture before = picture_of(w.t, "ws");
    disk d(w.t / "ws");
    struct stat s{};
    EXPECT_EQ(0, ::stat((w.t / "ws").c_str(), &s));
    {
      const test::injection without_waiting_for_disks({.files = w.files});
      test::recording recorder(s.st_dev);
      EXPECT_THAT(apply_changes(*w.root, change.changes, {.durability = how}), IsOk());
      d.take_down(std::move(recorder.changes));
    }
    const picture after = picture_of(w.t, "ws");
    tally t;
    std::set<picture> seen; // many fates come to the same
    for (std::size_t at = d.changes() + 1; at-- > 0 && (t.torn == 0 || t.lost == 0);)
      d.after_power_cut(at, [&](const picture& found) {
        const bool done = at == d.changes();
        if (!seen.insert(found).second || (t.torn > 0 && t.lost > 0)) return;
        ++t.states;
        const picture recovered = recover(found);
        const bool is_new = recovered == after;
        const bool is_old = recovered == before;
        t.torn += is_new || is_old ? 0U : 1U;
        t.lost += is_old && done ? 1U : 0U;
        picture files = found;
        files.erase(test::record_name);
        test::take_leftovers(files);
        t.torn_before_recovery += files == before || files == after ? 0U : 1U;
      });
    return t;
  }

  [[nodiscard]] picture recover(const picture& found) const {
    put_back(w.t, found);
    const auto opened = root::open(w.t / "found", {.resolver = GetParam()});
    EXPECT_THAT(opened, IsOk());
    const test::injection without_waiting_for_disks({.files = w.files});
    auto ended = recover_changes(*opened);
    if (!ended && ended.error().code == error_code::not_regular) {
      // Rubbish in its place cannot be told from what a person has written: they put it away.
      EXPECT_FALSE(w.t.content("found/.paddock-changes").starts_with("paddock changes "));
      std::filesystem::remove(w.t / "found/.paddock-changes");
      ended = recover_changes(*opened);
    }
    EXPECT_THAT(ended, IsOk());
    return picture_of(w.t, "found");
  }

  workbench w{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(every, change_set_power_cut_test,
                         testing::Values(resolver::automatic, resolver::walker),
                         [](const auto& suite) {
                           return suite.param == resolver::walker ? "walker" : "automatic";
                         });

TEST_P(change_set_power_cut_test, with_full_all_or_none_and_all_after_success) {
  tally all;
  for (const auto& change : test::change_cases()) {
    const tally t = cut_everywhere(change, durability::full);
    EXPECT_EQ(t.torn, 0U) << change.name;
    EXPECT_EQ(t.lost, 0U) << change.name;
    all.states += t.states;
    all.torn_before_recovery += t.torn_before_recovery;
  }
  EXPECT_GT(all.torn_before_recovery, 50U); // or there was nothing to recover
  std::cout << "states of the disk: " << all.states << '\n';
}

TEST_P(change_set_power_cut_test, with_data_all_or_none) {
  for (const auto& change : test::change_cases())
    EXPECT_EQ(cut_everywhere(change, durability::data).torn, 0U) << change.name;
}

TEST_P(change_set_power_cut_test, control_without_barriers_it_is_torn_and_lost) {
  const tally t = cut_everywhere(test::change_cases().front(), durability::none);
  EXPECT_GT(t.torn, 0U);
  EXPECT_GT(t.lost, 0U);
}

} // namespace
} // namespace paddock
