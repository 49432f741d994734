// SPDX-License-Identifier: MIT

// The record of a change of several files: what is written is read again, what is not whole is not
// read, and what somebody else has written leads to nothing that a tool could not do.

#include "change/change_record.hpp"
#include "file/leftover.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/file/change_set.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;

const std::string name_of_staging = std::string(temporary_prefix) + std::string(32, 'a');

entry_stamp file_stamp(std::uint64_t inode, std::uint64_t size) {
  return {.kind = entry_kind::file,
          .mode = 0640,
          .size = size,
          .modified_ns = -5,
          .inode = inode,
          .device = UINT64_MAX};
}

change_plan sample() {
  return {.how = {.is_beside = true, .is_durable = true},
          .staging = name_of_staging,
          .directories = {{"", 1, 2}, {"p/new\nline", UINT64_MAX, 0}},
          .steps = {{.path = "p", .wanted = {.kind = entry_kind::directory, .mode = 0755}},
                    {.path = "p/new\nline/x %-",
                     .wanted = {.kind = entry_kind::file},
                     .content = {3, UINT64_MAX},
                     .taken_from = "f",
                     .is_executable = false,
                     .of = 7},
                    {.path = "-",
                     .present = file_stamp(1, 2),
                     .wanted = file_stamp(3, 4),
                     .keeps_content = true,
                     .has_wanted_attributes = true,
                     .is_executable = true},
                    {.path = "\xff", .present = {.kind = entry_kind::symlink, .size = 3}}},
          .moves = {{.now = "from", .home = "to", .object = file_stamp(5, 6), .of = 1}}};
}

change_record read(std::string_view bytes) {
  auto parsed = parse_change_record(bytes);
  EXPECT_THAT(parsed, IsOk());
  EXPECT_TRUE(parsed->has_value());
  return parsed && *parsed ? **std::move(parsed) : change_record();
}

TEST(change_record_test, what_is_written_is_read_as_far_as_it_has_got) {
  const change_plan plan = sample();
  const std::vector<entry_stamp> staged{{}, file_stamp(8, 9), {}, {}};
  const std::vector<known_directory> made{{"p", 1, 10}};
  change_record expected{.plan = plan};
  std::string bytes = render(plan);
  const auto expect = [&] {
    expected.whole_bytes = bytes.size();
    EXPECT_EQ(read(bytes), expected);
    EXPECT_EQ(read(bytes + "spqr"), expected); // the next section is not whole
  };
  expect();
  bytes += render_staged(staged);
  expected.is_staged = true;
  expected.staged = staged;
  expect();
  bytes += render_made(made);
  expected.made = made;
  expect();
  bytes += render_way_back();
  expected.goes_back = true;
  expect();
}

TEST(change_record_test, what_is_cut_or_changed_anywhere_is_no_record) {
  const std::string bytes = render(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto cut = parse_change_record(std::string_view(bytes).substr(0, i));
    EXPECT_TRUE(!cut || !*cut) << i; // another version is an error
    for (const char other : {'\0', 'a', ' ', '\n', '\xa5'}) {
      std::string changed = bytes;
      if (std::exchange(changed[i], other) == other) continue;
      const auto parsed = parse_change_record(changed);
      EXPECT_TRUE(!parsed || !*parsed) << i;
    }
  }
}

TEST(change_record_test, stamps_are_those_of_all_steps_or_none) {
  const std::string bytes = render(sample());
  const std::vector<entry_stamp> all(4), few(3), many(5);
  EXPECT_TRUE(read(bytes + render_staged(all)).is_staged); // the control
  EXPECT_FALSE(read(bytes + render_staged(few)).is_staged);
  EXPECT_FALSE(read(bytes + render_staged(many)).is_staged);
}

TEST(change_record_test, paths_and_names_are_those_that_a_change_can_have) {
  const std::pair<const char*, void (*)(change_plan&)> rows[] = {
      {"an absolute path", [](change_plan& p) { p.steps[0].path = "/etc/passwd"; }},
      {"no path", [](change_plan& p) { p.steps[0].path = ""; }},
      {"a path upwards", [](change_plan& p) { p.steps[0].path = "../x"; }},
      {"a path that is not normal", [](change_plan& p) { p.steps[0].path = "a//b"; }},
      {"a NUL", [](change_plan& p) { p.steps[0].path = std::string("a\0b", 3); }},
      {"a path that is too long", [](change_plan& p) { p.steps[0].path = std::string(5000, 'x'); }},
      {"a name that is not temporary", [](change_plan& p) { p.staging = "x"; }},
      {"no temporary name", [](change_plan& p) { p.staging = ""; }},
      {"from an absolute path", [](change_plan& p) { p.moves[0].now = "/x"; }},
      {"to a path upwards", [](change_plan& p) { p.moves[0].home = "a/.."; }},
      {"the attributes of an absolute path", [](change_plan& p) { p.steps[1].taken_from = "/x"; }},
      {"an absolute directory", [](change_plan& p) { p.directories[0].path = "/x"; }},
  };
  for (const auto& [name, spoil] : rows) {
    change_plan plan = sample();
    spoil(plan);
    const auto parsed = parse_change_record(render(plan));
    EXPECT_TRUE(parsed && !*parsed) << name;
  }
}

// --- records that somebody else has written ------------------------------------------------------

class planted_record_test : public testing::TestWithParam<resolver> {
protected:
  planted_record_test() {
    t.directory("ws/.git/hooks");
    t.directory("state");
    EXPECT_EQ(0, ::chmod((t / "state").c_str(), 0700));
    t.file("ws/evil", "evil");
    t.file("ws/.env", "secret");
    auto opened = root::open(t / "ws", {.resolver = GetParam()});
    EXPECT_THAT(opened, IsOk());
    root_ = *std::move(opened);
  }
  [[nodiscard]] std::string state() const { return t / "state"; }
  /// The one directory of this workspace in it.
  [[nodiscard]] std::string own_state() const {
    for (const auto& each : std::filesystem::directory_iterator(t / "state"))
      return "state/" + each.path().filename().string();
    return {};
  }

  test::temp_tree t;
  /// A file as a record knows it.
  [[nodiscard]] entry_stamp stamp(const std::string& name) const {
    const auto where = root_->locate(name, final_link::keep);
    EXPECT_THAT(where, IsOk());
    return where && where->existing ? stamp_of(*where->existing) : entry_stamp();
  }
  /// What moves a file.
  [[nodiscard]] change_plan moving(std::string now, std::string home) const {
    const entry_stamp object = stamp(now);
    return {.how = {.is_beside = true, .asks_rules = true},
            .staging = name_of_staging,
            .moves = {{.now = std::move(now), .home = std::move(home), .object = object}}};
  }
  void recover(const std::string& bytes) {
    t.file(own_state() + "/record", bytes);
    EXPECT_THAT(recover_changes(*root_, state()), IsOk());
    EXPECT_FALSE(t.exists(own_state() + "/record"));
  }

  std::optional<root> root_;
  const std::vector<file_change> one_{{.action = change_action::create, .path = "x", .bytes = "1"}};
};
INSTANTIATE_TEST_SUITE_P(every, planted_record_test,
                         testing::Values(resolver::automatic, resolver::walker),
                         [](const auto& suite) {
                           return suite.param == resolver::walker ? "walker" : "automatic";
                         });

/// The bytes of a record whose steps all may be made.
std::string ready(const change_plan& plan, std::vector<entry_stamp> staged = {}) {
  staged.resize(plan.steps.size());
  return render(plan) + render_staged(staged);
}

TEST_P(planted_record_test, what_lies_in_the_workspace_is_never_carried_out) {
  std::string of_before = ready(moving("evil", "moved"));
  of_before.replace(of_before.find("changes 4"), 9, "changes 1");
  const std::string rows[] = {ready(moving("evil", "moved")),
                              ready(moving("evil", ".git/hooks/pre-commit")), of_before,
                              "my notes\n", ""};
  for (const std::string& bytes : rows)
    for (const std::string& where : {state(), std::string()}) {
      t.file("ws/.paddock-changes", bytes);
      const auto found = recover_changes(*root_, where);
      ASSERT_THAT(found, IsOk());
      EXPECT_EQ(*found, interrupted_change::none);
      EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = where}), IsOk());
      EXPECT_EQ(t.content("ws/.paddock-changes"), bytes);
      EXPECT_TRUE(has_foreign_record(*root_));
      EXPECT_EQ(t.content("ws/evil"), "evil");
      EXPECT_FALSE(t.exists("ws/moved"));
      EXPECT_FALSE(t.exists("ws/.git/hooks/pre-commit"));
      std::filesystem::remove(t / "ws/x");
    }
  std::filesystem::remove(t / "ws/.paddock-changes");
  EXPECT_FALSE(has_foreign_record(*root_));
  // The control: in its place outside it is.
  t.file(own_state() + "/record", rows[0]);
  EXPECT_THAT(recover_changes(*root_, state()), IsOk());
  EXPECT_EQ(t.content("ws/moved"), "evil");
}

TEST_P(planted_record_test, a_place_where_others_may_write_is_none) {
  EXPECT_EQ(0, ::chmod((t / "state").c_str(), 0777));
  for (const std::string& where : {state(), t / "ws/state", std::string("relative")}) {
    EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = where}), IsOk());
    std::filesystem::remove(t / "ws/x");
  }
  EXPECT_TRUE(std::filesystem::is_empty(t / "state"));
  EXPECT_FALSE(t.exists("ws/state/changes"));
}

TEST_P(planted_record_test, what_is_no_whole_record_stands_in_nobodys_way) {
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  std::filesystem::remove(t / "ws/x");
  const std::string whole = render(moving("evil", "moved"));
  for (const std::string& bytes : {std::string(), std::string(100'000, '\0'), whole.substr(0, 5),
                                   whole.substr(0, whole.size() - 1), whole + whole}) {
    t.file(own_state() + "/record", bytes);
    EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
    EXPECT_TRUE(t.exists("ws/evil"));
    EXPECT_FALSE(t.exists(own_state() + "/record"));
    std::filesystem::remove(t / "ws/x");
  }
  // Of a version to come: nobody knows what it says.
  t.file(own_state() + "/record", "paddock changes 5\n");
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}),
              IsError(error_code::unsupported));
  EXPECT_TRUE(t.exists(own_state() + "/record"));
}

/// What a killed change was at work in is another directory by now: it is left as it is.
TEST_P(planted_record_test, a_directory_in_the_place_of_another_is_not_worked_in) {
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  for (const bool is_same : {false, true}) { // the second one is the control
    t.directory("ws/d");
    t.file("ws/d/evil", "evil");
    struct stat s{};
    ASSERT_EQ(0, ::stat((t / "ws/d").c_str(), &s));
    change_plan plan = moving("d/evil", "moved");
    plan.directories = {{"d", s.st_dev, is_same ? s.st_ino : s.st_ino + 1}};
    t.file(own_state() + "/record", ready(plan));
    EXPECT_THAT(recover_changes(*root_, state()), IsOk());
    EXPECT_EQ(t.exists("ws/d/evil"), !is_same);
    EXPECT_EQ(t.exists("ws/moved"), is_same);
  }
}

/// The rules that count are those of now.
TEST_P(planted_record_test, a_record_is_carried_out_under_the_rules_of_now) {
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  for (const char* path : {".git/hooks/pre-commit", ".envrc"}) {
    recover(ready(moving("evil", path)));
    EXPECT_FALSE(t.exists("ws/" + std::string(path)));
    EXPECT_EQ(t.content("ws/evil"), "evil");
  }
  recover(ready(moving("evil", "moved"))); // the control
  EXPECT_EQ(t.content("ws/moved"), "evil");
}

TEST_P(planted_record_test, what_will_be_carried_to_its_end_is_told) {
  EXPECT_TRUE(interrupted_paths(*root_, state()).empty());
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  EXPECT_TRUE(interrupted_paths(*root_, state()).empty());
  t.file(own_state() + "/record", render(moving("evil", "moved"))); // nothing of it will be made
  EXPECT_TRUE(interrupted_paths(*root_, state()).empty());
  t.file(own_state() + "/record", ready(moving("evil", "moved")));
  EXPECT_EQ(interrupted_paths(*root_, state()), (std::vector<std::string>{"evil", "moved"}));
}

/// What is put there is what was made ready, and what goes is what was looked at.
TEST_P(planted_record_test, a_record_is_carried_out_with_what_was_left_alone) {
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  const std::string first = std::string(temporary_prefix) + std::string(24, 'a') + "00000000";
  for (const bool is_other : {true, false}) { // the second one is the control
    for (const char* of : {"what was made ready", "what was looked at"}) {
      SCOPED_TRACE(of);
      t.file("ws/put", "old");
      t.file("ws/" + first, "new!");
      change_plan plan{.how = {.is_beside = true, .asks_rules = true},
                       .staging = name_of_staging,
                       .steps = {{.path = "put", .present = stamp("put"), .wanted = stamp(first)}}};
      const std::string bytes = ready(plan, {stamp(first)});
      const bool is_ready = std::string_view(of) == "what was made ready";
      const std::string changed = is_ready ? "ws/" + first : std::string("ws/put");
      if (is_other) {
        std::filesystem::remove(t / changed);
        t.file("ws/other", "somebody else's");
        std::filesystem::rename(t / "ws/other", t / changed);
      }
      recover(bytes);
      const char* const kept = is_ready ? "old" : "somebody else's";
      EXPECT_EQ(t.content("ws/put"), is_other ? kept : "new!");
      EXPECT_EQ(t.exists("ws/" + first), is_other && is_ready); // somebody's: it stays
      std::filesystem::remove(t / ("ws/" + first));
    }
  }
}

} // namespace
} // namespace paddock
