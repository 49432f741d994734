// SPDX-License-Identifier: MIT

// Several files at once: all changes or none, and each refusal names its path.

#include "support/fault/fault_fixture.hpp"
#include "support/matchers.hpp"

#include <paddock/file/change_set.hpp>

#include <sys/file.h>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using test::picture;
using testing::HasSubstr;
using testing::IsEmpty;
using enum change_action;

class change_set_test : public testing::TestWithParam<resolver> {
protected:
  change_set_test() { reset(); }

  void reset() {
    std::filesystem::remove_all(t / "ws");
    t.directory("state");
    ASSERT_EQ(0, ::chmod((t / "state").c_str(), 0700));
    t.directory("ws/d/e");
    t.directory("ws/empty");
    t.directory("ws/.git/hooks");
    t.file("ws/.git/HEAD", "ref: refs/heads/main\n");
    t.file("ws/.git/config", "[core]\n");
    t.file("ws/.envrc", "export A=1\n");
    t.file("ws/a", "one\n");
    t.file("ws/b", "two\n");
    t.file("ws/d/c", "three\n");
    t.link("ws/link", "d/c");
    t.link("ws/nowhere", "not/there");
    t.link("ws/out", "../outside");
    t.file("outside", "not ours\n");
    ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0644));
    auto opened = root::open(t / "ws", {.resolver = GetParam()});
    ASSERT_THAT(opened, IsOk());
    root_.emplace(*std::move(opened));
  }

  [[nodiscard]] picture now() const {
    std::filesystem::remove(t / "ws/fifo"); // nobody writes to it
    picture all = picture_of(t, "ws");
    EXPECT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0644));
    return all;
  }
  [[nodiscard]] std::string state() const { return t / "state"; }
  [[nodiscard]] unsigned mode(const std::string& name) const {
    struct stat s{};
    EXPECT_EQ(0, ::lstat((t / name).c_str(), &s)) << name;
    return s.st_mode & 07777U;
  }

  test::temp_tree t;
  std::optional<root> root_;
};
INSTANTIATE_TEST_SUITE_P(every, change_set_test, test::both_resolvers, test::name_of_resolver);

TEST_P(change_set_test, all_kinds_of_changes_at_once) {
  const std::vector<file_change> all{
      {.action = create, .path = "new/deep/n", .bytes = "fresh\n"},
      {.action = create, .path = "run.sh", .bytes = "#!/bin/sh\n", .is_executable = true},
      {.action = replace, .path = "a", .bytes = "ONE\n", .before = "one\n"},
      {.action = replace, .path = "./link", .bytes = "THREE\n"},
      {.action = remove, .path = "nowhere"},
      {.action = move, .path = "new/b", .from = "b", .bytes = "TWO\n"},
      {.action = move, .path = "empty/out", .from = "out"},
  };
  const auto done = apply_changes(*root_, all);
  ASSERT_THAT(done, IsOk());
  ASSERT_EQ(done->size(), all.size());
  EXPECT_EQ((*done)[3].path, "d/c");
  EXPECT_EQ((*done)[5].from, "b");
  EXPECT_EQ(t.content("ws/new/deep/n"), "fresh\n");
  EXPECT_EQ(t.content("ws/a"), "ONE\n");
  EXPECT_EQ(t.content("ws/d/c"), "THREE\n");
  EXPECT_TRUE(std::filesystem::is_symlink(t / "ws/link"));
  EXPECT_FALSE(t.exists("ws/nowhere"));
  EXPECT_FALSE(t.exists("ws/b"));
  EXPECT_EQ(t.content("ws/new/b"), "TWO\n");
  EXPECT_EQ(std::filesystem::read_symlink(t / "ws/empty/out"), "../outside");
  EXPECT_EQ(t.content("outside"), "not ours\n");
  EXPECT_NE(mode("ws/run.sh") & 0100U, 0U);
  EXPECT_EQ(mode("ws/new/deep/n") & 0111U, 0U);
  picture left = now();
  EXPECT_FALSE(left.contains(".paddock-changes"));
  EXPECT_THAT(test::take_leftovers(left), IsEmpty());
}

struct refused_change {
  const char* name;
  std::vector<file_change> changes; ///< the last one is refused
  error_code code;
  const char* detail = "";
};

std::vector<refused_change> refused_changes() {
  const file_change fine{.action = replace, .path = "a", .bytes = "ONE\n"};
  const auto with = [&](file_change bad) { return std::vector{fine, std::move(bad)}; };
  using enum error_code;
  return {
      {"create what is there", with({.action = create, .path = "b", .bytes = ""}), already_exists},
      {"create over a link that leads nowhere",
       with({.action = create, .path = "nowhere", .bytes = ""}), already_exists},
      {"create where a directory is", with({.action = create, .path = "d", .bytes = ""}),
       is_a_directory},
      {"create a directory", with({.action = create, .path = "x/", .bytes = ""}), is_a_directory},
      {"create beneath a file", with({.action = create, .path = "b/x", .bytes = ""}),
       not_a_directory},
      {"create far beneath a file", with({.action = create, .path = "b/x/y", .bytes = ""}),
       not_a_directory},
      {"create beneath a link that leads nowhere",
       with({.action = create, .path = "nowhere/x", .bytes = ""}), dangling_symlink},
      {"create outside", with({.action = create, .path = "../x", .bytes = ""}), escapes_root},
      {"create outside by a link", with({.action = create, .path = "out/x", .bytes = ""}),
       escapes_root},
      {"create among what is hidden", with({.action = create, .path = ".perstack/x", .bytes = ""}),
       protected_entry},
      {"create a hook", with({.action = create, .path = ".git/hooks/h", .bytes = ""}),
       write_protected},
      {"create a protected name with parents",
       with({.action = create, .path = ".vscode/x/tasks.json", .bytes = ""}), write_protected},
      {"create without content", with({.action = create, .path = "x"}), invalid_argument,
       "content is missing"},
      {"replace what is not there", with({.action = replace, .path = "x", .bytes = ""}), not_found},
      {"replace without content", with({.action = replace, .path = "b"}), invalid_argument,
       "content is missing"},
      {"replace a directory", with({.action = replace, .path = "d", .bytes = ""}), is_a_directory},
      {"replace a FIFO", with({.action = replace, .path = "fifo", .bytes = ""}), not_regular},
      {"replace outside", with({.action = replace, .path = "out", .bytes = ""}), escapes_root},
      {"replace what a person's programs obey",
       with({.action = replace, .path = ".envrc", .bytes = ""}), write_protected},
      {"replace what has changed",
       with({.action = replace, .path = "b", .bytes = "", .before = "2\n"}), stale},
      {"remove what has changed", with({.action = remove, .path = "b", .before = "2\n"}), stale},
      {"move what has changed", with({.action = move, .path = "x", .from = "b", .before = "2\n"}),
       stale},
      {"remove a directory", with({.action = remove, .path = "empty"}), is_a_directory},
      {"remove what is not there", with({.action = remove, .path = "x"}), not_found},
      {"remove with content", with({.action = remove, .path = "b", .bytes = "x"}),
       invalid_argument},
      {"move onto a file", with({.action = move, .path = "d/c", .from = "b"}), already_exists},
      {"move a directory", with({.action = move, .path = "x", .from = "d"}), is_a_directory},
      {"move nothing", with({.action = move, .path = "x"}), invalid_argument, "from where"},
      {"move onto itself", with({.action = move, .path = "b", .from = "b"}), invalid_argument,
       "twice"},
      {"move into what is protected", with({.action = move, .path = ".envrc", .from = "b"}),
       write_protected},
      {"move and change a link", with({.action = move, .path = "x", .from = "link", .bytes = "x"}),
       not_regular},
      {"the root", with({.action = remove, .path = "."}), workspace_root},
      {"no path", with({.action = remove, .path = ""}), invalid_argument},
      {"a path twice", with({.action = remove, .path = "a"}), invalid_argument, "twice"},
      {"a path twice by another spelling", with({.action = remove, .path = "d/../a"}),
       invalid_argument, "twice"},
      {"a move's target is also removed",
       {{.action = move, .path = "x", .from = "a"}, {.action = create, .path = "x", .bytes = ""}},
       invalid_argument,
       "twice"},
      {"what is moved away is also replaced",
       {{.action = move, .path = "x", .from = "b"}, {.action = replace, .path = "b", .bytes = ""}},
       invalid_argument,
       "twice"},
      {"a file twice through a link",
       {{.action = replace, .path = "d/c", .bytes = "x"},
        {.action = replace, .path = "link", .bytes = "y"}},
       invalid_argument,
       "twice"},
      {"a directory where another change has a file",
       {{.action = create, .path = "x", .bytes = ""},
        {.action = create, .path = "x/y/z", .bytes = ""}},
       not_a_directory,
       "'x'"},
      {"a mode without content",
       with({.action = move, .path = "x", .from = "b", .is_executable = true}), invalid_argument},
  };
}

TEST_P(change_set_test, what_is_refused_is_named_and_nothing_is_touched) {
  for (const auto& row : refused_changes()) {
    for (const auto effect : {change_effect::check, change_effect::apply}) {
      SCOPED_TRACE(row.name);
      const picture before = now();
      const auto done = apply_changes(*root_, row.changes, {.effect = effect});
      ASSERT_FALSE(done);
      EXPECT_EQ(wire_name(done.error().code), wire_name(row.code));
      EXPECT_EQ(done.error().change, row.changes.size() - 1);
      EXPECT_EQ(done.error().path, row.changes.back().path);
      EXPECT_THAT(done.error().detail, HasSubstr(row.detail));
      EXPECT_EQ(before, now());
    }
  }
  EXPECT_EQ(t.content("outside"), "not ours\n");
}

TEST_P(change_set_test, a_check_says_what_would_become_and_does_nothing) {
  const picture before = now();
  const auto said =
      apply_changes(*root_,
                    std::vector<file_change>{{.action = create, .path = "p/q/n", .bytes = "x"},
                                             {.action = replace, .path = "a", .bytes = "one\n"}},
                    {.effect = change_effect::check});
  ASSERT_THAT(said, IsOk());
  EXPECT_TRUE((*said)[0].is_changed);
  EXPECT_FALSE((*said)[1].is_changed);
  EXPECT_EQ(before, now());
}

TEST_P(change_set_test, what_is_as_it_is_to_be_is_left_alone) {
  struct stat before{};
  struct stat after{};
  ASSERT_EQ(0, ::stat((t / "ws/a").c_str(), &before));
  const auto done = apply_changes(
      *root_, std::vector<file_change>{
                  {.action = replace, .path = "a", .bytes = "one\n", .is_executable = false}});
  ASSERT_THAT(done, IsOk());
  EXPECT_FALSE(done->front().is_changed);
  ASSERT_EQ(0, ::stat((t / "ws/a").c_str(), &after));
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_FALSE(t.exists("ws/.paddock-changes"));
}

TEST_P(change_set_test, modes_are_kept_or_become_as_wanted) {
  ASSERT_EQ(0, ::chmod((t / "ws/a").c_str(), 0640));
  ASSERT_EQ(0, ::chmod((t / "ws/b").c_str(), 0755));
  ASSERT_EQ(0, ::chmod((t / "ws/d/c").c_str(), 0750));
  const std::vector<file_change> changes{
      {.action = replace, .path = "a", .bytes = "one\n", .is_executable = true},
      {.action = move, .path = "b2", .from = "b", .bytes = "TWO\n"},
      {.action = replace, .path = "d/c", .bytes = "x", .is_executable = false},
  };
  ASSERT_THAT(apply_changes(*root_, changes), IsOk());
  EXPECT_EQ(mode("ws/a"), 0750U);
  EXPECT_EQ(mode("ws/b2"), 0755U);
  EXPECT_EQ(mode("ws/d/c"), 0640U);
}

TEST_P(change_set_test, bounds_hold) {
  const std::vector<file_change> two{{.action = create, .path = "x", .bytes = "12345"},
                                     {.action = create, .path = "y", .bytes = "123456"}};
  EXPECT_THAT(apply_changes(*root_, two, {.files_max = 1}), IsError(error_code::too_many));
  const auto large = apply_changes(*root_, two, {.bytes_max = 5});
  EXPECT_THAT(large, IsError(error_code::too_large));
  EXPECT_EQ(large.error().change, 1U);
  const std::atomic<bool> cancelled = true;
  EXPECT_THAT(apply_changes(*root_, two, {.bounds = {.cancelled = &cancelled}}),
              IsError(error_code::cancelled));
  EXPECT_FALSE(t.exists("ws/x"));
  EXPECT_FALSE(t.exists("ws/.paddock-changes"));
  EXPECT_THAT(apply_changes(*root_, two, {.files_max = 2, .bytes_max = 6}), IsOk());
}

TEST_P(change_set_test, somebody_at_work_is_waited_for) {
  const std::vector<file_change> one{{.action = create, .path = "x", .bytes = "1"}};
  ASSERT_THAT(apply_changes(*root_, one, {.state_directory = state()}), IsOk());
  std::filesystem::remove(t / "ws/x");
  std::string lock;
  for (const auto& each : std::filesystem::directory_iterator(state()))
    lock = each.path() / "lock";
  const int held = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, ::flock(held, LOCK_EX));
  EXPECT_THAT(apply_changes(*root_, one, {.wait_ms = 20, .state_directory = state()}),
              IsError(error_code::conflict));
  const auto looked = recover_changes(*root_, state());
  ASSERT_THAT(looked, IsOk());
  EXPECT_EQ(*looked, interrupted_change::under_way);
  ::close(held);
  EXPECT_THAT(apply_changes(*root_, one, {.state_directory = state()}), IsOk());
}

/// Adds one to the number in each of three files, which are always the same.
bool add_one(const root& where, const std::string& state) {
  for (;;) {
    std::vector<file_change> changes;
    for (const char* path : {"a", "b", "d/c"}) {
      auto content = read_file(where, path);
      if (!content) return false;
      auto more = std::to_string(std::stoul(content->bytes) + 1);
      changes.push_back({.action = replace,
                         .path = path,
                         .bytes = std::move(more),
                         .before = std::move(content->bytes)});
    }
    const auto done = apply_changes(where, changes, {.wait_ms = 60'000, .state_directory = state});
    if (done) return true;
    // Between their reads somebody was faster.
    if (done.error().code != error_code::stale) return false;
  }
}

TEST_P(change_set_test, of_many_agents_none_loses_a_change) {
  for (const char* name : {"ws/a", "ws/b", "ws/d/c"})
    t.file(name, "0");
  constexpr int workers = 3;
  constexpr int rounds = 8;
  std::vector<pid_t> others;
  for (int i = 0; i < workers; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool fine = true;
      for (int round = 0; round < rounds; ++round)
        fine = fine && add_one(*root_, state());
      ::_exit(fine ? 0 : 1);
    }
    others.push_back(child);
  }
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round)
        failures += add_one(*root_, state()) ? 0 : 1;
    });
  for (auto& thread : threads)
    thread.join();
  for (const pid_t child : others) {
    int status = 0;
    EXPECT_EQ(child, ::waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(failures, 0);
  for (const char* name : {"ws/a", "ws/b", "ws/d/c"})
    EXPECT_EQ(t.content(name), std::to_string(2 * workers * rounds)) << name;
  picture left = now();
  EXPECT_FALSE(left.contains(".paddock-changes"));
  EXPECT_THAT(test::take_leftovers(left), IsEmpty());
}

TEST_P(change_set_test, what_has_the_name_of_a_record_stands_in_nobodys_way) {
  const std::vector<file_change> one{{.action = create, .path = "x", .bytes = "1"}};
  const std::pair<const char*, std::function<void(const std::string&)>> rows[] = {
      {"a directory", [](const auto& path) { std::filesystem::create_directory(path); }},
      {"a link", [](const auto& path) { std::filesystem::create_symlink("a", path); }},
      {"a link out", [](const auto& path) { std::filesystem::create_symlink("../outside", path); }},
      {"a FIFO", [](const auto& path) { ASSERT_EQ(0, ::mkfifo(path.c_str(), 0600)); }},
  };
  for (const auto& [name, make] : rows) {
    SCOPED_TRACE(name);
    make(t / "ws/.paddock-changes");
    EXPECT_THAT(recover_changes(*root_, state()), IsOk());
    EXPECT_THAT(apply_changes(*root_, one, {.state_directory = state()}), IsOk());
    EXPECT_TRUE(has_foreign_record(*root_));
    std::filesystem::remove(t / "ws/.paddock-changes");
    std::filesystem::remove(t / "ws/x");
  }
  EXPECT_EQ(t.content("ws/a"), "one\n");
  EXPECT_EQ(t.content("outside"), "not ours\n");
}

} // namespace
} // namespace paddock
