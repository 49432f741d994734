// SPDX-License-Identifier: MIT

// The record of a change of several files: what is written is read again, what is not whole is not
// read, and what somebody else has written leads to nothing that a tool could not do.

#include "change/change_record.hpp"
#include "file/leftover.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/file/change_set.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using kind = change_step::kind;

const std::string first = std::string(temporary_prefix) + std::string(32, 'a');
const std::string second = std::string(temporary_prefix) + std::string(32, 'b');

change_record sample() {
  return {.is_durable = true,
          .places = {{"", 1, 2}, {"p/new\nline", UINT64_MAX, 0}},
          .directories = {"p", "p/new\nline"},
          .steps = {{.what = kind::create,
                     .path = "p/new\nline/x %-",
                     .temporary = first,
                     .fresh = mark_of("x")},
                    {.what = kind::replace,
                     .path = "-",
                     .temporary = first,
                     .aside = second,
                     .fresh = mark_of(""),
                     .old = mark_of("old"),
                     .old_mode = 0640},
                    {.what = kind::remove, .path = "\xff", .temporary = second, .old = {7, {}}},
                    {.what = kind::move, .path = "to", .from = "from", .old = mark_of("y")}}};
}

change_record read(std::string_view bytes) {
  auto parsed = parse_change_record(bytes);
  EXPECT_THAT(parsed, IsOk());
  EXPECT_TRUE(parsed->has_value());
  return parsed && *parsed ? **std::move(parsed) : change_record();
}

TEST(change_record_test, what_is_written_is_read_with_its_stage) {
  change_record record = sample();
  std::string bytes = render(record);
  EXPECT_EQ(read(bytes), record);
  for (const auto stage : {change_stage::staged, change_stage::done, change_stage::undone}) {
    bytes += stage_line(stage);
    record.stage = stage;
    EXPECT_EQ(read(bytes), record);
    EXPECT_EQ(read(bytes + "sta"), record); // the next line is not whole
  }
}

TEST(change_record_test, what_is_cut_or_changed_anywhere_is_no_record) {
  const std::string bytes = render(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto cut = parse_change_record(std::string_view(bytes).substr(0, i));
    EXPECT_TRUE(cut && !*cut) << i;
    for (const char other : {'\0', 'a', ' ', '\n', '\xa5'}) {
      std::string changed = bytes;
      if (std::exchange(changed[i], other) == other) continue;
      const auto parsed = parse_change_record(changed);
      EXPECT_TRUE(!parsed || !*parsed) << i; // another version is an error
    }
  }
}

TEST(change_record_test, paths_and_names_are_those_that_a_change_can_have) {
  const std::pair<const char*, void (*)(change_record&)> rows[] = {
      {"an absolute path", [](change_record& r) { r.steps[0].path = "/etc/passwd"; }},
      {"no path", [](change_record& r) { r.steps[0].path = ""; }},
      {"a NUL", [](change_record& r) { r.steps[0].path = std::string("a\0b", 3); }},
      {"a path that is too long",
       [](change_record& r) { r.steps[0].path = std::string(5000, 'x'); }},
      {"a name that is not temporary", [](change_record& r) { r.steps[0].temporary = "x"; }},
      {"no temporary name", [](change_record& r) { r.steps[0].temporary = ""; }},
      {"from where nothing moves", [](change_record& r) { r.steps[0].from = "x"; }},
      {"from an absolute path", [](change_record& r) { r.steps[3].from = "/x"; }},
      {"an absolute directory", [](change_record& r) { r.directories[0] = "/x"; }},
  };
  for (const auto& [name, spoil] : rows) {
    change_record record = sample();
    spoil(record);
    if (!record.steps[0].temporary.starts_with(temporary_prefix)) {
      record.steps[0].temporary.insert(0, std::string(temporary_prefix));
    }
    const auto parsed = parse_change_record(render(record));
    EXPECT_TRUE(parsed && !*parsed) << name;
  }
}

TEST(change_record_test, what_is_beyond_the_bounds_is_no_record) {
  const auto marked = [](std::initializer_list<std::uint64_t> sizes) {
    change_record record;
    for (const std::uint64_t size : sizes)
      record.steps.push_back(
          {.what = kind::create, .path = "x", .temporary = first, .fresh = {size, 1}});
    return record;
  };
  const auto lines = [](std::size_t steps, std::size_t directories) {
    change_record record;
    record.steps.assign(
        steps, {.what = kind::remove, .path = "x", .temporary = first, .old = {UINT64_MAX, {}}});
    record.directories.assign(directories, "d");
    return record;
  };
  constexpr std::uint64_t all = change_record_marked_bytes_max;
  constexpr std::size_t most = change_record_lines_max;
  const struct {
    const char* name;
    change_record record;
    bool is_read;
  } rows[] = {
      {"as much as may be", marked({all}), true},
      {"a byte more", marked({all + 1}), false},
      {"in two halves", marked({all / 2, all / 2}), true},
      {"in two, and a byte more", marked({all / 2, all / 2 + 1}), false},
      {"a sum that would wrap around", marked({UINT64_MAX, 2}), false},
      {"as many lines as may be", lines(most - 1, 1), true},
      {"one more", lines(most, 1), false},
      {"directories alone", lines(0, most + 1), false},
  };
  for (const auto& row : rows) {
    const auto parsed = parse_change_record(render(row.record));
    ASSERT_THAT(parsed, IsOk()) << row.name;
    EXPECT_EQ(parsed->has_value(), row.is_read) << row.name;
    EXPECT_EQ(check_extent(row.record).has_value(), row.is_read) << row.name;
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
  std::optional<root> root_;
  const std::vector<file_change> one_{{.action = change_action::create, .path = "x", .bytes = "1"}};
};
INSTANTIATE_TEST_SUITE_P(every, planted_record_test,
                         testing::Values(resolver::automatic, resolver::walker),
                         [](const auto& suite) {
                           return suite.param == resolver::walker ? "walker" : "automatic";
                         });

/// A move that is to be taken back: what is at `to` goes to `from`.
change_record taking(std::string to, std::string from) {
  return {.steps = {{.what = kind::move,
                     .path = std::move(to),
                     .from = std::move(from),
                     .old = {4, mark_of("evil").sum}}}};
}
const std::string staged(stage_line(change_stage::staged));

TEST_P(planted_record_test, what_lies_in_the_workspace_is_never_carried_out) {
  std::string of_before = render(taking("evil", "moved"));
  of_before.replace(of_before.find("changes 2"), 9, "changes 1");
  const std::string rows[] = {render(taking("evil", "moved")) + staged,
                              render(taking("evil", ".git/hooks/pre-commit")) + staged,
                              of_before + staged, "my notes\n", ""};
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
  const std::string whole = render(taking("evil", "moved"));
  for (const std::string& bytes :
       {std::string(), std::string(100'000, '\0'), whole.substr(0, 5), whole + whole}) {
    t.file(own_state() + "/record", bytes);
    EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
    EXPECT_TRUE(t.exists("ws/evil"));
    EXPECT_FALSE(t.exists(own_state() + "/record"));
    std::filesystem::remove(t / "ws/x");
  }
  // Of a version to come: nobody knows what it says.
  t.file(own_state() + "/record", "paddock changes 3 durable\n");
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
    change_record record = taking("d/evil", "moved");
    record.places = {{"d", s.st_dev, is_same ? s.st_ino : s.st_ino + 1}};
    t.file(own_state() + "/record", render(record) + staged);
    EXPECT_THAT(recover_changes(*root_, state()), IsOk());
    EXPECT_EQ(t.exists("ws/d/evil"), !is_same);
    EXPECT_EQ(t.exists("ws/moved"), is_same);
  }
}

/// The rules that count are those of now, and what comes back is what was taken away.
TEST_P(planted_record_test, a_record_is_carried_out_under_the_rules_and_with_what_it_left) {
  EXPECT_THAT(apply_changes(*root_, one_, {.state_directory = state()}), IsOk());
  const auto recover = [&](const change_record& record) {
    t.file(own_state() + "/record", render(record) + staged);
    EXPECT_THAT(recover_changes(*root_, state()), IsOk());
    EXPECT_FALSE(t.exists(own_state() + "/record"));
  };
  for (const char* path : {".git/hooks/pre-commit", ".envrc"}) {
    recover(taking("evil", path));
    EXPECT_FALSE(t.exists("ws/" + std::string(path)));
    EXPECT_EQ(t.content("ws/evil"), "evil");
  }
  const change_record removal{
      .steps = {
          {.what = kind::remove, .path = "gone", .temporary = first, .old = mark_of("mine")}}};
  const change_record exchange{.steps = {{.what = kind::replace,
                                          .path = "put",
                                          .temporary = first,
                                          .aside = second,
                                          .fresh = mark_of("new!"),
                                          .old = mark_of("mine")}}};
  for (const char* found : {"evil", "mine"}) { // the second one is the control
    const bool is_theirs = std::string_view(found) == "mine";
    t.file("ws/" + first, found);
    recover(removal);
    EXPECT_EQ(t.exists("ws/gone"), is_theirs);
    EXPECT_EQ(t.exists("ws/" + first), !is_theirs); // somebody's: it stays
    std::filesystem::remove(t / ("ws/" + first));
    for (const std::string& name : {first, second}) { // exchanged, or in two steps
      t.file("ws/put", "new!");
      t.file("ws/" + name, found);
      recover(exchange);
      EXPECT_EQ(t.content("ws/put"), is_theirs ? "mine" : "new!");
      EXPECT_EQ(t.exists("ws/" + name), !is_theirs);
      std::filesystem::remove(t / ("ws/" + name));
    }
  }
}

} // namespace
} // namespace paddock
