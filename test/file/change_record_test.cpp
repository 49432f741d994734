// SPDX-License-Identifier: MIT

// The record of a change of several files: what is written is read again, what is not whole is not
// read, and what somebody else has written leads to nothing that a tool could not do.

#include "file/change_record.hpp"
#include "file/leftover.hpp"
#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/file/change_set.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
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
    t.directory("ws/d/.git/hooks");
    t.directory("ws/.git/hooks");
    t.directory("ws/.perstack");
    t.file("ws/.git/HEAD", "ref: refs/heads/main\n");
    t.file("ws/.git/config", "[core]\n");
    t.file("ws/.perstack/state", "secret");
    t.file("ws/.envrc", "mine");
    t.file("ws/locked", "locked");
    EXPECT_EQ(0, ::chmod((t / "ws/locked").c_str(), 0444));
    t.file("ws/evil", "evil");
    t.directory("outside");
    t.file("outside/file", "evil");
    t.file("outside/" + first, "evil");
    t.link("ws/out", "../outside");
    t.link("ws/out-file", "../outside/file");
    t.link("ws/inside", "d");
    t.directory("ws/d/sub");
    t.file("ws/d/" + first, "evil");
    t.file("ws/" + first, "evil");
    t.file("ws/d/.git/hooks/" + first, "evil");
    t.file("ws/.git/hooks/" + first, "evil");
  }

  void plant(const change_record& record) const {
    t.file("ws/.paddock-changes", render(record) + std::string(stage_line(change_stage::staged)));
  }

  [[nodiscard]] std::string all() const {
    std::string text;
    std::vector<std::filesystem::path> paths;
    for (const auto& each : std::filesystem::recursive_directory_iterator(t.path()))
      paths.push_back(each.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      const auto name = path.string().substr(t.path().size() + 1);
      text += name;
      if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path)))
        text += ": " + t.content(name);
      text += '\n';
    }
    return text;
  }

  test::temp_tree t;
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
/// A removal that is to be taken back: what has the temporary name gets this one.
change_record giving(std::string path) {
  return {.steps = {{.what = kind::remove, .path = std::move(path), .temporary = first}}};
}

TEST_P(planted_record_test, nothing_changes_that_a_tool_could_not_change) {
  change_record directory;
  directory.directories = {".perstack", "out", "d/.git/hooks"};
  change_record replaced{.steps = {{.what = kind::replace,
                                    .path = ".envrc",
                                    .temporary = first,
                                    .aside = second,
                                    .fresh = mark_of("mine"),
                                    .old = mark_of("evil")}}};
  change_record locked = replaced;
  locked.steps[0].path = "locked";
  locked.steps[0].fresh = mark_of("locked");
  change_record created{.steps = {{.what = kind::create,
                                   .path = "locked",
                                   .temporary = second,
                                   .fresh = mark_of("locked")}}};
  change_record huge = taking("evil", "moved");
  huge.steps[0].old.size = UINT64_MAX;
  const std::pair<const char*, change_record> rows[] = {
      {"a hook", taking("evil", ".git/hooks/pre-commit")},
      {"a hook further down", taking("evil", "d/.git/hooks/pre-commit")},
      {"what is hidden", taking("evil", ".perstack/x")},
      {"out of what is hidden", taking(".perstack/state", "state")},
      {"outside", taking("evil", "../outside/new")},
      {"outside by a link", taking("evil", "out/new")},
      {"from outside by a link", taking("out/file", "new")},
      {"through a link inside", taking("inside/" + first, "new")},
      {"what is read-only", taking("locked", "new")},
      {"a name that is given back", giving(".envrc2/x")},
      {"a hook that is given back", giving(".git/hooks/pre-commit")},
      {"given back outside", giving("out/new")},
      {"given back further outside", giving("../outside/new")},
      {"an exchange of what is obeyed", replaced},
      {"an exchange of what is read-only", locked},
      {"taking away what is read-only", created},
      {"directories", directory},
      {"a size that nothing has", huge},
      {"the root", taking("evil", ".")},
      {"above the root", taking("evil", "..")},
  };
  for (const auto options : {0, 1}) {
    // Also for a person who allows everything: the record is not theirs.
    root_options how{.resolver = GetParam()};
    if (options == 1) how.protected_names = {};
    for (const auto& [name, record] : rows) {
      SCOPED_TRACE(name);
      const auto opened = root::open(t / "ws", how);
      ASSERT_THAT(opened, IsOk());
      for (const char* spare : {"ws/", "ws/d/"})
        t.file(spare + first, "evil"); // where it was cleared away, as a tool could
      const std::string before = all();
      plant(record);
      EXPECT_THAT(recover_changes(*opened), IsOk());
      for (const char* spare : {"ws/", "ws/d/"})
        t.file(spare + first, "evil");
      EXPECT_EQ(before, all());
    }
  }
}

TEST_P(planted_record_test, what_git_keeps_and_directories_stay_where_they_are) {
  const auto at_temporary = [this](const std::string& directory, bool is_link) {
    const std::string name = directory + first;
    std::filesystem::remove_all(t / name);
    if (is_link)
      t.link(name, "../evil");
    else
      t.directory(name + "/sys.skills");
  };
  change_record aside{.steps = {{.what = kind::replace,
                                 .path = "given",
                                 .temporary = second,
                                 .aside = first,
                                 .fresh = mark_of("x"),
                                 .old = mark_of("evil")}}};
  change_record into_git = aside;
  into_git.steps[0].path = ".git/given";
  change_record directories;
  directories.directories = {".git", ".git/refs", ".git/objects", "d/.git/refs"};
  const struct {
    const char* name;
    std::string directory; ///< where the temporary one is
    bool is_link;
    change_record record;
  } rows[] = {
      {"a directory", "ws/", false, giving("given")},
      {"a directory of skills", "ws/d/", false, giving("d/.agents")},
      {"a directory of git's", "ws/.git/", false, giving(".git/worktrees")},
      {"a directory put aside", "ws/", false, aside},
      {"a directory put aside in git's", "ws/.git/", false, into_git},
      {"a link in git's", "ws/.git/", true, giving(".git/worktrees")},
      {"a link put aside in git's", "ws/.git/", true, into_git},
      {"directories that git needs", "ws/", false, directories},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    for (const char* needed : {"ws/.git/refs", "ws/.git/objects", "ws/d/.git/refs"})
      t.directory(needed);
    const auto opened = root::open(t / "ws", {.resolver = GetParam()});
    ASSERT_THAT(opened, IsOk());
    at_temporary(row.directory, row.is_link);
    const std::string before = all();
    plant(row.record);
    EXPECT_THAT(recover_changes(*opened), IsOk());
    if (row.is_link) at_temporary(row.directory, true); // it is cleared away, as a tool could
    EXPECT_EQ(before, all());
    std::filesystem::remove_all(t / (row.directory + first));
  }
  // The control: a file or link comes back elsewhere, and other directories that are empty go.
  for (const bool is_link : {false, true}) {
    change_record record = giving("d/given");
    record.directories = {"d/sub"};
    t.directory("ws/d/sub");
    at_temporary("ws/d/", true);
    if (!is_link) {
      std::filesystem::remove(t / ("ws/d/" + first));
      t.file("ws/d/" + first, "evil");
    }
    const auto opened = root::open(t / "ws", {.resolver = GetParam()});
    ASSERT_THAT(opened, IsOk());
    plant(record);
    EXPECT_THAT(recover_changes(*opened), IsOk());
    EXPECT_FALSE(t.exists("ws/d/sub"));
    EXPECT_EQ(std::filesystem::is_symlink(t / "ws/d/given"), is_link);
    EXPECT_EQ(t.content("ws/d/given"), "evil");
    std::filesystem::remove(t / "ws/d/given");
  }
}

TEST_P(planted_record_test, control_what_a_tool_could_do_is_done) {
  const auto opened = root::open(t / "ws", {.resolver = GetParam()});
  ASSERT_THAT(opened, IsOk());
  plant(taking("evil", "d/moved"));
  const auto found = recover_changes(*opened);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(*found, interrupted_change::undone);
  EXPECT_EQ(t.content("ws/d/moved"), "evil");
  plant(giving("given"));
  ASSERT_THAT(recover_changes(*opened), IsOk());
  EXPECT_EQ(t.content("ws/given"), "evil");
}

TEST_P(planted_record_test, what_is_no_record_does_nothing_and_stands_in_nobodys_way) {
  const auto opened = root::open(t / "ws", {.resolver = GetParam()});
  ASSERT_THAT(opened, IsOk());
  const std::vector<file_change> one{{.action = change_action::create, .path = "x", .bytes = "1"}};
  const std::string whole = render(taking("evil", "moved"));
  const std::string rows[] = {"", std::string(100'000, '\0'), whole.substr(0, 5),
                              whole.substr(0, whole.size() / 2), whole + whole};
  for (const std::string& bytes : rows) {
    t.file("ws/.paddock-changes", bytes);
    EXPECT_THAT(apply_changes(*opened, one), IsOk());
    EXPECT_FALSE(t.exists("ws/.paddock-changes"));
    EXPECT_TRUE(t.exists("ws/evil"));
    std::filesystem::remove(t / "ws/x");
  }
  // Larger than any record: not read at all.
  t.file("ws/.paddock-changes", whole);
  std::filesystem::resize_file(t / "ws/.paddock-changes", std::uint64_t{1} << 40U);
  EXPECT_THAT(apply_changes(*opened, one), IsOk());
  std::filesystem::remove(t / "ws/x");
  // Of a version to come: nobody knows what it says.
  t.file("ws/.paddock-changes", "paddock changes 2 durable\n");
  EXPECT_THAT(apply_changes(*opened, one), IsError(error_code::unsupported));
  EXPECT_TRUE(t.exists("ws/.paddock-changes"));
}

TEST_P(planted_record_test, a_file_as_large_as_none_is_not_read) {
  const auto opened = root::open(t / "ws", {.resolver = GetParam()});
  ASSERT_THAT(opened, IsOk());
  constexpr std::uint64_t size = std::uint64_t{4} << 40U;
  t.file("ws/sparse", "");
  if (::truncate((t / "ws/sparse").c_str(), static_cast<off_t>(size)) != 0) {
    GTEST_SKIP() << "file system too small";
  }
  plant({.steps = {
             {.what = kind::create, .path = "sparse", .temporary = second, .fresh = {size, 1}}}});
  const std::vector<file_change> one{{.action = change_action::create, .path = "x", .bytes = "1"}};
  EXPECT_THAT(apply_changes(*opened, one), IsOk());
  EXPECT_TRUE(t.exists("ws/sparse"));
}

TEST_P(planted_record_test, what_is_a_persons_keeps_its_content) {
  const auto opened = root::open(t / "ws", {.resolver = GetParam()});
  ASSERT_THAT(opened, IsOk());
  const std::vector<file_change> one{{.action = change_action::create, .path = "x", .bytes = "1"}};
  const std::string whole =
      render(taking("evil", "moved")) + std::string(stage_line(change_stage::staged));
  const std::string before_magic = "Paddock changes 1 durable\n";
  const struct {
    const char* name;
    std::string bytes;
    bool has_second_name;
    error_code code;
    const char* detail;
  } rows[] = {
      {"a file of that name", "my notes\n", false, error_code::not_regular, "another name"},
      {"a short one", "\n", false, error_code::not_regular, "another name"},
      {"one that is almost a record", before_magic, false, error_code::not_regular, "another name"},
      {"a hard link", "my notes\n", true, error_code::hard_linked, "remove this one"},
      {"a hard link to nothing", "", true, error_code::hard_linked, "remove this one"},
      {"a hard link to a record", whole, true, error_code::hard_linked, "remove this one"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    t.file("ws/.paddock-changes", row.bytes);
    if (row.has_second_name) {
      std::filesystem::create_hard_link(t / "ws/.paddock-changes", t / "ws/second");
    }
    EXPECT_THAT(recover_changes(*opened), IsError(row.code));
    const auto done = apply_changes(*opened, one);
    ASSERT_FALSE(done);
    EXPECT_EQ(wire_name(done.error().code), wire_name(row.code));
    EXPECT_EQ(done.error().path, ".paddock-changes");
    EXPECT_EQ(done.error().made, change_extent::none);
    EXPECT_NE(done.error().detail.find(row.detail), std::string::npos) << done.error().detail;
    EXPECT_EQ(t.content("ws/.paddock-changes"), row.bytes);
    EXPECT_TRUE(t.exists("ws/evil"));
    EXPECT_FALSE(t.exists("ws/x"));
    std::filesystem::remove(t / "ws/.paddock-changes");
    std::filesystem::remove(t / "ws/second");
  }
  // The control: what is advised helps.
  EXPECT_THAT(apply_changes(*opened, one), IsOk());
}

TEST_P(planted_record_test, a_record_of_somebody_else_is_left_alone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const auto opened = root::open(t / "ws", {.resolver = GetParam()});
  ASSERT_THAT(opened, IsOk());
  plant(taking("evil", "moved"));
  ASSERT_EQ(0, ::chown((t / "ws/.paddock-changes").c_str(), 65534, 65534));
  EXPECT_THAT(recover_changes(*opened), IsError(error_code::permission_denied));
  EXPECT_TRUE(t.exists("ws/evil"));
  EXPECT_TRUE(t.exists("ws/.paddock-changes"));
}

} // namespace
} // namespace paddock
