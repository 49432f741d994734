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

/// Calls `look` after `work` in which the file was saved before each call in turn.
void save_before_each(const std::function<void(const root&)>& work,
                      const std::function<void(const test::temp_tree&)>& look) {
  std::size_t calls = 1;
  for (std::size_t at = 1; at <= calls; ++at) {
    SCOPED_TRACE(at);
    const test::temp_tree t;
    t.directory("ws");
    t.file("ws/f", "one\ntwo\n");
    t.file("saved", "one\nsaved\n");
    const auto top = root::open(t / "ws");
    ASSERT_THAT(top, IsOk());
    test::injection injected({.before = [&](std::size_t call) {
      if (call == at) std::filesystem::rename(t / "saved", t / "ws/f");
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

TEST(saved_meanwhile, is_not_removed_for_what_was_there_before) {
  const auto is_as_it_was = [](std::string_view content) { return content == "one\ntwo\n"; };
  save_before_each([&](const root& top) { (void)remove_file(top, "f", {.only_if = is_as_it_was}); },
                   [](const test::temp_tree& t) { EXPECT_EQ(t.content("ws/f"), "one\nsaved\n"); });
}

} // namespace
} // namespace paddock
