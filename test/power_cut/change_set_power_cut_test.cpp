// SPDX-License-Identifier: MIT

// The power fails behind every change that a change of several files makes to the file system, the
// disk keeps what it had to keep and any part of the rest, and what is found then is recovered: all
// files are as before or all as after, and after it where `full` was asked for and success
// reported.

#include "support/fault/change_cases.hpp"
#include "support/fault/power_cut.hpp"
#include "support/matchers.hpp"

#include <ctime>

namespace paddock {
namespace {

using test::change_case;
using test::disk;
using test::IsOk;
using test::picture;
using test::workbench;

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
    disk d(w.t.path());
    struct stat s{};
    EXPECT_EQ(0, ::stat((w.t / "ws").c_str(), &s));
    {
      const test::injection without_waiting_for_disks({.files = w.files});
      test::recording recorder(s.st_dev);
      EXPECT_THAT(
          apply_changes(*w.root, change.changes, {.durability = how, .state_directory = w.state()}),
          IsOk());
      d.take_down(std::move(recorder.changes));
    }
    const picture after = picture_of(w.t, "ws");
    tally t;
    std::set<picture> seen; // many fates come to the same
    for (std::size_t at = d.changes() + 1; at-- > 0 && (t.torn == 0 || t.lost == 0);)
      d.after_power_cut(at,
                        [&](const picture& found, const test::identities& more) {
                          const bool done = at == d.changes();
                          if (!seen.insert(found).second || (t.torn > 0 && t.lost > 0)) return;
                          ++t.states;
                          put_back(found, more);
                          picture files = picture_of(w.t, "ws");
                          test::take_leftovers(files);
                          t.torn_before_recovery += files == before || files == after ? 0U : 1U;
                          const picture recovered = recover();
                          const bool is_new = recovered == after;
                          const bool is_old = recovered == before;
                          t.torn += is_new || is_old ? 0U : 1U;
                          t.lost += is_old && done ? 1U : 0U;
                        },
                        {});
    return t;
  }

  /// Makes workspace and state what a picture says, with its times. New files have new inode
  /// numbers; a status says the old ones.
  void put_back(const picture& found, const test::identities& more) {
    for (const char* top : {"ws", "state"})
      for (const auto& entry : std::filesystem::directory_iterator(w.t / top))
        std::filesystem::remove_all(entry.path());
    inodes_.clear();
    for (const auto& [path, what] : found) {
      if (!path.starts_with("ws") && !path.starts_with("state")) continue;
      const std::string rest = what.substr(what.find(' ') + 1);
      if (rest == "directory")
        w.t.directory(path);
      else if (rest.starts_with("link "))
        w.t.link(path, rest.substr(5));
      else
        w.t.file(path, rest.substr(5));
      if (!rest.starts_with("link ")) {
        ASSERT_EQ(0, ::chmod((w.t / path).c_str(), static_cast<mode_t>(std::stoul(what))));
      }
      const auto ns = static_cast<std::int64_t>(more.at(path).modified_ns);
      const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                                 {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000}};
      ASSERT_EQ(0, ::utimensat(AT_FDCWD, (w.t / path).c_str(), times, AT_SYMLINK_NOFOLLOW));
      struct stat s{};
      ASSERT_EQ(0, ::lstat((w.t / path).c_str(), &s));
      inodes_[s.st_ino] = more.at(path).inode;
    }
  }

  [[nodiscard]] picture recover() const {
    const test::injection without_waiting_for_disks(
        {.files = w.files, .inode_told = [&](std::uint64_t inode) {
           constexpr std::uint64_t of_others = std::uint64_t{1} << 40U;
           const auto old = inodes_.find(inode);
           return old != inodes_.end() ? old->second : inode + of_others;
         }});
    EXPECT_THAT(recover_changes(*w.root, w.state()), IsOk());
    return picture_of(w.t, "ws");
  }

  std::map<std::uint64_t, std::uint64_t> inodes_;
  workbench w{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(every, change_set_power_cut_test, test::both_resolvers,
                         test::name_of_resolver);

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
