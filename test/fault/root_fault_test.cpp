// SPDX-License-Identifier: MIT

// A root on a kernel that is old, busy or without procfs, and in a tree that somebody changes at
// each look: a look-up succeeds, or ends with an error that names the reason. None goes on for
// ever.

#include "support/fault/faulty_sys.hpp"
#include "support/files/canary.hpp"
#include "support/matchers.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

namespace paddock {
namespace {

using test::fault;
using test::injection;
using test::IsError;
using test::IsOk;
using test::open_root;
using enum error_code;

/// The first `times` calls of this name fail.
fault first_calls_fail(std::string_view call, int os_errno, std::size_t times) {
  return {.os_errno_of = [=, left = times](std::string_view name) mutable {
    if (name != call || left == 0) return 0;
    --left;
    return os_errno;
  }};
}
constexpr std::size_t always = std::string::npos;

class root_fault_test : public testing::Test {
protected:
  void SetUp() override {
    const auto kernel = root::open(canary.ws(), {.resolver = resolver::openat2});
    if (!kernel) GTEST_SKIP() << "openat2 is not available";
    t.directory("ws/a/b");
    t.file("ws/f", "inside");
    t.link("ws/l", "f");
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
};

TEST_F(root_fault_test, a_change_elsewhere_is_waited_out_for_a_while) {
  const root r = open_root(canary.ws(), resolver::openat2);
  const struct {
    std::size_t times;
    std::optional<error_code> code;
  } rows[] = {
      {1, {}}, {resolve_retries_max, {}}, {resolve_retries_max + 1, {}}, {always, conflict}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.times);
    injection busy(first_calls_fail("openat2", EAGAIN, row.times));
    const auto got = r.open_beneath("f", access::read);
    busy.end();
    EXPECT_GE(injection::failed(), std::min<std::size_t>(row.times, resolve_retries_max));
    if (row.code)
      EXPECT_THAT(got, IsError(*row.code));
    else
      EXPECT_THAT(got, IsOk());
  }
}

TEST_F(root_fault_test, a_kernel_without_openat2_is_told_or_done_without) {
  for (const int os_errno : {ENOSYS, EPERM}) {
    const injection old(first_calls_fail("openat2", os_errno, always));
    EXPECT_THAT(root::open(canary.ws(), {.resolver = resolver::openat2}), IsError(unsupported));
    for (const auto asked : {resolver::automatic, resolver::walker}) {
      const auto r = root::open(canary.ws(), {.resolver = asked});
      ASSERT_THAT(r, IsOk());
      EXPECT_EQ(r->resolver(), resolver::walker);
      EXPECT_THAT(read_file(*r, "l"), IsOk());
    }
  }
}

TEST_F(root_fault_test, without_procfs_the_spelling_that_was_given_names_the_root) {
  t.link("alias", "ws");
  const injection none(first_calls_fail("readlinkat", ENOENT, 1));
  const auto r = root::open(t / "alias");
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->path(), t / "alias");
  EXPECT_THAT(read_file(*r, t / "alias/f"), IsOk());
  EXPECT_THAT(read_file(*r, canary.ws() + "/f"), IsError(escapes_root));
}

// Root looks at what it is about to open, and then opens the same object by procfs.

TEST_F(root_fault_test, without_procfs_what_was_looked_at_is_opened_by_its_name) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root looks before it opens";
  for (const auto how : {resolver::openat2, resolver::walker}) {
    const root r = open_root(canary.ws(), how);
    injection none(first_calls_fail("open", ENOENT, always));
    const auto content = read_file(r, "f");
    none.end();
    EXPECT_EQ(injection::failing(), "open");
    ASSERT_THAT(content, IsOk());
    EXPECT_EQ(content->bytes, "inside");
  }
}

TEST_F(root_fault_test, without_procfs_what_was_not_looked_at_is_not_opened) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root looks before it opens";
  const root r = open_root(canary.ws(), resolver::openat2);
  const struct {
    const char* name;
    std::function<void()> meanwhile;
    error_code code;
  } rows[] = {
      {"replaced",
       [&] {
         t.file("ws/other", "an impostor");
         std::filesystem::rename(t / "ws/other", t / "ws/f");
       },
       conflict},
      {"removed", [&] { std::filesystem::remove(t / "ws/f"); }, not_found},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    t.file("ws/f", "inside");
    injection none({.os_errno_of = [&](std::string_view call) {
      if (call != "open") return 0;
      row.meanwhile();
      return ENOENT;
    }});
    const auto got = r.open_beneath("f", access::read);
    none.end();
    EXPECT_THAT(got, IsError(row.code));
  }
}

// --- changed at each look -----------------------------------------------------------------------

TEST_F(root_fault_test, a_path_that_never_stays_the_same_is_given_up) {
  const struct {
    const char* name;
    int os_errno; ///< of each openat2
    std::function<std::optional<error>(const root&)> look;
    error_code code;
  } rows[] = {
      {"a link at each look, opened", ELOOP,
       [](const root& r) {
         const auto got = r.open_beneath("f", access::read);
         return got ? std::nullopt : std::optional(got.error());
       },
       conflict},
      {"a link at each look, located", ELOOP,
       [](const root& r) {
         const auto got = r.locate("a/b/f", final_link::follow);
         return got ? std::nullopt : std::optional(got.error());
       },
       conflict},
      {"parents that go as soon as they come", ENOENT,
       [](const root& r) {
         const auto got = r.locate("a/b/f", final_link::follow, parents::create);
         return got ? std::nullopt : std::optional(got.error());
       },
       conflict},
      {"not there when it is opened", ENOENT,
       [](const root& r) {
         const auto got = r.open_beneath("f", access::read);
         return got ? std::nullopt : std::optional(got.error());
       },
       not_found},
  };
  const root r = open_root(canary.ws(), resolver::openat2);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    injection restless(first_calls_fail("openat2", row.os_errno, always));
    const auto failed = row.look(r);
    restless.end();
    ASSERT_TRUE(failed);
    EXPECT_EQ(wire_name(failed->code), wire_name(row.code));
  }
}

TEST_F(root_fault_test, a_name_that_is_a_link_whenever_it_should_be_none_is_given_up) {
  const root r = open_root(canary.ws(), resolver::openat2);
  const auto replace_f = [&](bool by_link) {
    std::filesystem::remove(t / "ws/f");
    if (by_link)
      t.link("ws/f", "elsewhere");
    else
      t.file("ws/f", "inside");
  };
  // `l` leads to `f`, which is a file while the links are followed and a link when it is looked at.
  injection restless({.os_errno_of = [&](std::string_view call) {
    if (call == "openat2" || call == "readlinkat") replace_f(call == "openat2");
    return 0;
  }});
  const auto located = r.locate("l", final_link::follow);
  const auto written = write_file(r, "l", "new");
  restless.end();
  EXPECT_THAT(located, IsError(conflict));
  EXPECT_THAT(written, IsError(conflict));
  EXPECT_FALSE(t.exists("ws/elsewhere"));
}

} // namespace
} // namespace paddock
