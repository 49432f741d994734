// SPDX-License-Identifier: MIT

// Locks that cannot be had: somebody else holds them, they fail, or the file system has none.

#include "support/fault/faulty_sys.hpp"
#include "support/files/skill_fixture.hpp"
#include "support/matchers.hpp"

namespace paddock {
namespace {

using test::injection;
using test::IsError;
using test::IsOk;

test::fault no_flock(int os_errno) {
  return {.os_errno_of = [=](std::string_view name) { return name == "flock" ? os_errno : 0; }};
}

class skill_lock_test : public test::skill_fixture {};

TEST_F(skill_lock_test, a_failure_is_an_error_but_where_there_are_no_locks) {
  put_user("a");
  const auto store = open_store();
  for (const int os_errno : {EIO, ENOMEM}) {
    const injection injected(no_flock(os_errno));
    EXPECT_THAT(store.add("b", "b", "d"), testing::Not(IsOk())) << os_errno;
    EXPECT_THAT(store.edit("a", {.description = "other"}), testing::Not(IsOk())) << os_errno;
    EXPECT_THAT(store.remove("a"), testing::Not(IsOk())) << os_errno;
  }
  EXPECT_FALSE(t.exists("ws/.agents/skills/b"));
  EXPECT_TRUE(t.exists("ws/.agents/skills/a"));
  for (const int os_errno : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    const injection injected(no_flock(os_errno));
    EXPECT_THAT(store.add("b", "b", "d"), IsOk()) << os_errno;
    EXPECT_THAT(store.remove("b"), IsOk()) << os_errno;
  }
}

TEST_F(skill_lock_test, an_import_that_waits_can_be_cancelled) {
  const auto store = open_store();
  const auto text = test::skill_md("m", "d");
  const std::vector<uploaded_file> files = {{"SKILL.md", text}};
  std::atomic<bool> cancelled = false;
  const import_options options{.id = "p",
                               .on_progress = [&](auto, auto, auto) { cancelled = true; },
                               .cancelled = &cancelled};
  injection injected(no_flock(EAGAIN));
  EXPECT_THAT(store.import_files(files, "p", options), IsError(error_code::cancelled));
  injected.end();
  EXPECT_EQ(injection::failed(), 1U);
  EXPECT_FALSE(t.exists("ws/.agents/skills/p"));
}

} // namespace
} // namespace paddock
