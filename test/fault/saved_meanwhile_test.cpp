// SPDX-License-Identifier: MIT

// An editor saves a file at every moment of an operation on what it held before: nothing that was
// saved is lost, with history or without.

#include "support/fault/faulty_sys.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/file/file.hpp>

namespace paddock {
namespace {

using test::IsOk;

/// Calls `look` after `work` in which the file was saved before each call in turn. `exchanges`:
/// how many succeed before all others fail.
void save_before_each(const std::function<void(const root&)>& work,
                      const std::function<void(const test::temp_tree&)>& look,
                      std::size_t exchanges = SIZE_MAX) {
  std::size_t calls = 1;
  for (std::size_t at = 1; at <= calls; ++at) {
    SCOPED_TRACE(at);
    const test::temp_tree t;
    t.directory("ws");
    t.file("ws/f", "one\ntwo\n");
    t.file("saved", "one\nsaved\n");
    const auto top = root::open(t / "ws");
    ASSERT_THAT(top, IsOk());
    std::size_t exchanged = 0;
    test::injection injected({.os_errno_of =
                                  [&](std::string_view call) {
                                    const bool is_exchange =
                                        call == "renameat2" &&
                                        test::injection::rename_flags() == RENAME_EXCHANGE;
                                    return is_exchange && exchanged++ >= exchanges ? EIO : 0;
                                  },
                              .before =
                                  [&](std::size_t call) {
                                    if (call == at)
                                      std::filesystem::rename(t / "saved", t / "ws/f");
                                  }});
    work(*top);
    injected.end();
    calls = test::injection::calls();
    if (!t.exists("saved")) look(t);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(calls, 5U);
}

TEST(saved_meanwhile, is_not_lost_by_an_edit) {
  save_before_each(
      [](const root& top) { (void)edit_file(top, "f", {.old_text = "one", .new_text = "1"}); },
      [](const test::temp_tree& t) {
        const std::string now = t.content("ws/f");
        EXPECT_TRUE(now == "one\nsaved\n" || now == "1\nsaved\n") << now;
      });
}

/// Where the file cannot be put back either.
TEST(saved_meanwhile, is_left_aside_at_worst) {
  save_before_each(
      [](const root& top) { (void)edit_file(top, "f", {.old_text = "one", .new_text = "1"}); },
      [](const test::temp_tree& t) {
        const std::filesystem::directory_iterator all(t / "ws");
        EXPECT_TRUE(std::any_of(begin(all), end(all), [&](const auto& each) {
          return t.content("ws/" + each.path().filename().string()).ends_with("saved\n");
        }));
      },
      1);
}

TEST(saved_meanwhile, is_not_removed_for_what_was_there_before) {
  const auto is_as_it_was = [](std::string_view content) { return content == "one\ntwo\n"; };
  save_before_each([&](const root& top) { (void)remove_file(top, "f", {.only_if = is_as_it_was}); },
                   [](const test::temp_tree& t) { EXPECT_EQ(t.content("ws/f"), "one\nsaved\n"); });
}

} // namespace
} // namespace paddock
