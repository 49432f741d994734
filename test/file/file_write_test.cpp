// SPDX-License-Identifier: MIT

// Changing files one call at a time: write, append, edit, move, remove, and what is left behind
// when the disk is full or the process is killed.

#include "support/campaign.hpp"
#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <sched.h>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using testing::ElementsAre;
using enum error_code;

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

class write_test : public testing::TestWithParam<resolver> {
protected:
  void SetUp() override {
    t.directory("ws/d");
    t.file("ws/f", "old");
    t.link("ws/l", "f");
    t.link("ws/dl", "d");
    t.link("ws/dang", "d/made");
    outside = canary.describe_outside();
  }
  void TearDown() override { EXPECT_EQ(outside, canary.describe_outside()); }
  [[nodiscard]] struct stat status(std::string_view name) const {
    struct stat s{};
    EXPECT_EQ(0, ::lstat((t / name).c_str(), &s)) << name;
    return s;
  }
  void mode(std::string_view name, mode_t bits) const {
    ASSERT_EQ(0, ::chmod((t / name).c_str(), bits));
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), GetParam());
  std::string outside;
};
INSTANTIATE_TEST_SUITE_P(every, write_test, testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

// --- write --------------------------------------------------------------------------------------

TEST_P(write_test, what_a_path_leads_a_write_to) {
  const struct {
    const char* path;
    const char* resolved;
  } rows[] = {{"f", "f"},
              {"new", "new"},
              {"l", "f"},
              {"dang", "d/made"},
              {"dl/x", "d/x"},
              {"d/../f", "f"},
              {"m/n/o", "m/n/o"},
              {"dl/m/n", "d/m/n"},
              {"./d//y", "d/y"},
              {"-rf", "-rf"},
              {"new\nline", "new\nline"},
              {"\xff", "\xff"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path);
    const std::string content = std::string("content of ") + row.path;
    const auto got = write_file(r, row.path, content);
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(*got, row.resolved);
    EXPECT_EQ(t.content(std::string("ws/") + row.resolved), content);
  }
  EXPECT_TRUE(S_ISLNK(status("ws/l").st_mode));
  EXPECT_TRUE(S_ISLNK(status("ws/dang").st_mode));
}

TEST_P(write_test, what_is_refused_changes_nothing) {
  ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  t.link("ws/deep", "nope/deep");
  t.file("ws/ro", "old");
  mode("ws/ro", 0444);
  const struct {
    const char* path;
    error_code code;
  } rows[] = {{"d", is_a_directory},        {"d/", is_a_directory},   {"dl", is_a_directory},
              {"dl/", is_a_directory},      {"new/", is_a_directory}, {"f/", not_a_directory},
              {"l/", not_a_directory},      {"f/x", not_a_directory}, {"f/x/y", not_a_directory},
              {"fifo", not_regular},        {"ro", read_only},        {"deep", dangling_symlink},
              {"dang/x", dangling_symlink}, {".", workspace_root},    {"d/..", workspace_root},
              {"nope/../x", not_found}};
  const std::string before = test::describe_tree(canary.ws());
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path);
    EXPECT_THAT(write_file(r, row.path, "new"), IsError(row.code));
  }
  EXPECT_THAT(write_file(r, "m/n", "x", {.missing = parents::require}), IsError(not_found));
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
}

TEST_P(write_test, mode_and_owner_survive_without_set_id_bits) {
  for (const auto& [old, want] :
       {std::pair(0640U, 0640U), std::pair(0755U, 0755U), std::pair(04755U, 0755U),
        std::pair(02775U, 0775U), std::pair(0600U, 0600U), std::pair(0666U, 0666U)}) {
    mode("ws/f", old);
    ASSERT_THAT(write_file(r, "f", "new"), IsOk());
    EXPECT_EQ(status("ws/f").st_mode & 07777U, want);
    mode("ws/f", old);
    ASSERT_THAT(edit_file(r, "f", {.old_text = "new", .new_text = "newer"}), IsOk());
    EXPECT_EQ(status("ws/f").st_mode & 07777U, want);
  }
  if (::geteuid() != 0) return;
  ASSERT_EQ(0, ::chown((t / "ws/f").c_str(), 1234, 5678));
  ASSERT_THAT(write_file(r, "l", "new"), IsOk());
  EXPECT_EQ(status("ws/f").st_uid, 1234U);
  EXPECT_EQ(status("ws/f").st_gid, 5678U);
}

TEST_P(write_test, appending_takes_set_id_bits_away) {
  for (const auto& [old, want] :
       {std::pair(04755U, 0755U), std::pair(02775U, 0775U), std::pair(06777U, 0777U),
        std::pair(02664U, 0664U), std::pair(01644U, 01644U), std::pair(0640U, 0640U)}) {
    mode("ws/f", old);
    ASSERT_THAT(append_file(r, "l", "more"), IsOk());
    EXPECT_EQ(status("ws/f").st_mode & 07777U, want);
  }
  // The control: a write by root leaves them, so it is not the kernel that took them.
  mode("ws/f", 04755);
  const int fd = ::open((t / "ws/f").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(1, ::write(fd, "x", 1));
  ::close(fd);
  EXPECT_EQ(status("ws/f").st_mode & 07777U, ::geteuid() == 0 ? 04755U : 0755U);
  // Nothing but a rename happens to what is moved.
  mode("ws/f", 04755);
  ASSERT_THAT(move_entry(r, "f", "moved"), IsOk());
  EXPECT_EQ(status("ws/moved").st_mode & 07777U, 04755U);
}

TEST_P(write_test, appending_by_an_ordinary_user_takes_set_id_bits_away) {
  t.file("ws/theirs", "old");
  ASSERT_EQ(0, ::chmod(canary.ws().c_str(), 0777));
  if (::geteuid() == 0) {
    ASSERT_EQ(0, ::chown((t / "ws/f").c_str(), test::nobody, test::nobody));
  }
  mode("ws/f", 06777);      // its own
  mode("ws/theirs", 06777); // of somebody else: only the kernel can
  if (test::in_child(test::become_nobody, [&] {
        EXPECT_THAT(append_file(r, "f", "more"), IsOk());
        EXPECT_THAT(append_file(r, "theirs", "more"), IsOk());
      }) == test::child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
  EXPECT_EQ(status("ws/f").st_mode & 07777U, 0777U);
  EXPECT_EQ(status("ws/theirs").st_mode & 07777U, 0777U);
}

TEST_P(write_test, a_new_file_takes_the_umask) {
  const mode_t old = ::umask(027);
  ASSERT_THAT(write_file(r, "new", "x"), IsOk());
  ASSERT_THAT(write_file(r, "p/q", "x"), IsOk());
  ::umask(old);
  EXPECT_EQ(status("ws/new").st_mode & 07777U, 0640U);
  EXPECT_EQ(status("ws/p").st_mode & 0777U, 0750U);
}

// --- changes that depend on the content ----------------------------------------------------------

TEST_P(write_test, a_change_is_made_only_of_the_content_that_is_meant) {
  const auto is_old = [](std::string_view content) { return content == "old"; };
  const auto is_other = [](std::string_view content) { return content == "other"; };
  const text_edit edit{.old_text = "old", .new_text = "new"};
  EXPECT_THAT(edit_file(r, "l", edit, {.only_if = is_other}), IsError(stale));
  EXPECT_THAT(move_entry(r, "f", "d/g", {.only_if = is_other}), IsError(stale));
  EXPECT_THAT(remove_file(r, "f", {.only_if = is_other}), IsError(stale));
  EXPECT_THAT(move_entry(r, "d", "e", {.only_if = is_old}), IsError(is_a_directory));
  EXPECT_THAT(move_entry(r, "l", "e", {.only_if = is_old}), IsError(not_regular));
  EXPECT_THAT(remove_file(r, "l", {.only_if = is_old}), IsError(not_regular));
  EXPECT_THAT(names_in(canary.ws()), ElementsAre("d", "dang", "dl", "f", "l"));
  EXPECT_EQ("old", t.content("ws/f"));
  EXPECT_THAT(move_entry(r, "f", "d/g", {.only_if = is_old}), IsOk()); // the controls
  EXPECT_THAT(edit_file(r, "d/g", edit, {.only_if = is_old}), IsOk());
  EXPECT_THAT(remove_file(r, "d/g", {.only_if = is_old}), IsError(stale));
  EXPECT_THAT(remove_file(r, "d/g"), IsOk());
}

TEST_P(write_test, a_content_is_made_of_the_one_before) {
  const auto twice = [](std::string_view content) -> result<std::optional<std::string>> {
    return std::optional(std::string(content) + std::string(content));
  };
  EXPECT_THAT(rewrite_file(r, "l", twice), IsOk());
  EXPECT_EQ("oldold", t.content("ws/f"));
  const auto inode = status("ws/f").st_ino;
  const auto same = [](std::string_view) -> result<std::optional<std::string>> {
    return std::optional<std::string>();
  };
  const auto fails = [](std::string_view) -> result<std::optional<std::string>> {
    return error{no_match};
  };
  EXPECT_THAT(rewrite_file(r, "f", same), IsOk());
  EXPECT_THAT(rewrite_file(r, "f", fails), IsError(no_match));
  EXPECT_EQ(inode, status("ws/f").st_ino);
  for (const auto& [path, code] : {std::pair("new", not_found), std::pair("d", is_a_directory),
                                   std::pair("../out", escapes_root)})
    EXPECT_THAT(rewrite_file(r, path, twice), IsError(code)) << path;
  EXPECT_THAT(rewrite_file(r, "f", twice, {.file_bytes_max = 5}), IsError(too_large));
}

TEST_P(write_test, a_content_is_made_again_where_another_process_was_faster) {
  unsigned asked = 0;
  const auto add = [&](std::string_view content) -> result<std::optional<std::string>> {
    if (asked++ == 0) t.file("ws/f", "theirs"); // behind the back of the lock
    return std::optional(std::string(content) + " and mine");
  };
  EXPECT_THAT(rewrite_file(r, "f", add), IsOk());
  EXPECT_EQ("theirs and mine", t.content("ws/f"));
  EXPECT_EQ(2U, asked);
}

TEST_P(write_test, a_hard_link_is_cut_not_written_through) {
  t.file("out2", "shared");
  ASSERT_EQ(0, ::link((t / "out2").c_str(), (t / "ws/hard").c_str()));
  EXPECT_THAT(append_file(r, "hard", "x"), IsError(hard_linked));
  ASSERT_THAT(edit_file(r, "hard", {.old_text = "shared", .new_text = "mine"}), IsOk());
  EXPECT_EQ(t.content("ws/hard"), "mine");
  EXPECT_EQ(t.content("out2"), "shared");
  ASSERT_THAT(append_file(r, "hard", "x"), IsOk()); // now it is the workspace's own
}

TEST_P(write_test, readers_keep_the_old_content) {
  const int fd = ::open((t / "ws/f").c_str(), O_RDONLY | O_CLOEXEC);
  for (const auto how : {durability::none, durability::data, durability::full})
    ASSERT_THAT(write_file(r, "f", "new", {.durability = how}), IsOk());
  char bytes[4] = {};
  EXPECT_EQ(3, ::read(fd, bytes, sizeof bytes));
  EXPECT_STREQ(bytes, "old");
  ::close(fd);
  EXPECT_THAT(names_in(canary.ws()), ElementsAre("d", "dang", "dl", "f", "l"));
}

TEST_P(write_test, a_directory_that_cannot_be_read_can_be_written_durably) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user needs privilege";
  t.directory("ws/drop");
  ASSERT_EQ(0, ::chown((t / "ws/drop").c_str(), test::nobody, test::nobody));
  mode("ws/drop", 0300);
  if (test::in_child(test::become_nobody, [&] {
        const root mine = test::open_root(canary.ws(), GetParam());
        EXPECT_THAT(write_file(mine, "drop/f", "x"), IsOk());
        const auto synced = write_file(mine, "drop/g", "x", {.durability = durability::full});
        // What is reported has to be what is there.
        EXPECT_EQ(synced.has_value(), inspect(mine, "drop/g").has_value());
      }) == test::child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
  mode("ws/drop", 0700);
}

// --- append and edit ----------------------------------------------------------------------------

TEST_P(write_test, append_adds_at_the_end_and_nothing_else) {
  const auto inode = status("ws/f").st_ino;
  for (const char* path : {"f", "l", "./d/../f"})
    EXPECT_THAT(append_file(r, path, std::string("\0\xff\r\n", 4)), IsOk());
  EXPECT_THAT(append_file(r, "f", "", {.durability = durability::data}), IsOk());
  EXPECT_EQ(t.content("ws/f"), "old" + std::string("\0\xff\r\n\0\xff\r\n\0\xff\r\n", 12));
  EXPECT_EQ(status("ws/f").st_ino, inode);
  for (const auto& [path, code] :
       {std::pair("new", not_found), std::pair("dang", not_found), std::pair("d", is_a_directory),
        std::pair("f/", not_a_directory), std::pair("new/x", not_found)})
    EXPECT_THAT(append_file(r, path, "x"), IsError(code)) << path;
  mode("ws/f", 0444);
  EXPECT_THAT(append_file(r, "f", "x"), IsError(read_only));
}

TEST_P(write_test, edit_changes_the_match_and_no_other_byte) {
  const struct {
    const char* name;
    std::string before, from, to, after;
    std::uint64_t occurrences, line;
  } rows[] = {
      {"first_of_three", "a b a b a", "a", "x", "x b a b a", 3, 0},
      {"crlf_stays", "one\r\ntwo\r\nthree\r\n", "two", "2", "one\r\n2\r\nthree\r\n", 1, 1},
      {"crlf_matches_lf", "one\r\ntwo\r\n", "one\ntwo", "1\n2", "1\r\n2\r\n", 1, 0},
      {"invalid_utf8_stays", "\xff\xfe old \x80\n", "old", "new", "\xff\xfe new \x80\n", 1, 0},
      {"dollar_is_literal", "cost", "cost", "$& $1 $$ $`", "$& $1 $$ $`", 1, 0},
      {"to_nothing", "abc", "b", "", "ac", 1, 0},
      {"everything", "abc", "abc", "", "", 1, 0},
      {"same", "abc", "abc", "abc", "abc", 1, 0},
      {"no_final_newline", "a\nb", "b", "c", "a\nc", 1, 1},
      {"nul", std::string("a\0b", 3), std::string("\0", 1), "-", "a-b", 1, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    t.file("ws/f", row.before);
    const auto got = edit_file(r, "l", {.old_text = row.from, .new_text = row.to});
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(t.content("ws/f"), row.after);
    EXPECT_EQ(got->path, "f");
    EXPECT_EQ(got->occurrences, row.occurrences);
    EXPECT_EQ(got->line_index, row.line);
  }
  const auto inode = status("ws/f").st_ino;
  EXPECT_THAT(edit_file(r, "f", {.old_text = "not there", .new_text = ""}), IsError(no_match));
  EXPECT_THAT(edit_file(r, "f", {.old_text = "", .new_text = "x"}), IsError(invalid_argument));
  EXPECT_THAT(edit_file(r, "d", {.old_text = "a", .new_text = "x"}), IsError(is_a_directory));
  EXPECT_THAT(edit_file(r, "no", {.old_text = "a", .new_text = "x"}), IsError(not_found));
  EXPECT_THAT(edit_file(r, "f", {.old_text = "a", .new_text = "x"}, {.file_bytes_max = 2}),
              IsError(too_large));
  mode("ws/f", 0444);
  EXPECT_THAT(edit_file(r, "f", {.old_text = "a", .new_text = "x"}), IsError(read_only));
  EXPECT_EQ(status("ws/f").st_ino, inode);
  EXPECT_TRUE(S_ISLNK(status("ws/l").st_mode));
}

// --- move and remove ----------------------------------------------------------------------------

TEST_P(write_test, move_never_overwrites) {
  t.file("ws/d/g", "g");
  t.file("ws/ro", "ro");
  mode("ws/ro", 0444);
  t.directory("ws/e");
  t.directory("ws/.perstack");
  const struct {
    const char *from, *to;
    error_code code;
  } rows[] = {{"f", "d/g", already_exists},
              {"f", "f", already_exists},
              {"f", "dang", already_exists},
              {"f", "l", already_exists},
              {"f", "d", already_exists},
              {"d", "e", already_exists},
              {"d", "d/in", invalid_argument},
              {"d", "dl/in", invalid_argument},
              {"nope", "x", not_found},
              {".", "x", workspace_root},
              {"f", ".", workspace_root},
              {"f", "x/", not_a_directory},
              {"f/", "x", not_a_directory},
              {"dl/", "x", not_a_directory},
              {"f", "../out/x", escapes_root},
              {"../out/f", "x", escapes_root},
              {"f", ".perstack/x", protected_entry},
              {".perstack", "x", protected_entry},
              {"ro", "x", read_only},
              {"f", "d/g/x", not_a_directory},
              {"f", "d/..", workspace_root},
              {"d/..", "x", workspace_root}};
  const std::string before = test::describe_tree(canary.ws());
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.from) + " to " + row.to);
    EXPECT_THAT(move_entry(r, row.from, row.to), IsError(row.code));
  }
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
}

TEST_P(write_test, what_fails_takes_its_new_parents_back) {
  EXPECT_THAT(move_entry(r, "d", "d/in/it/self"), IsError(invalid_argument));
  EXPECT_THAT(move_entry(r, "f", "p/q/r/"), IsError(not_a_directory));
  EXPECT_THAT(write_file(r, "p/q/r/", "x"), IsError(is_a_directory));
  EXPECT_THAT(write_file(r, "p/q/" + std::string(256, 'n'), "x"), IsError(name_too_long));
  EXPECT_THAT(names_in(canary.ws()), ElementsAre("d", "dang", "dl", "f", "l"));
  EXPECT_THAT(names_in(canary.ws() + "/d"), testing::IsEmpty());
  // Those that were there stay, empty as they may be.
  t.directory("ws/p");
  EXPECT_THAT(move_entry(r, "f", "p/q/r/"), IsError(not_a_directory));
  EXPECT_TRUE(t.exists("ws/p"));
  EXPECT_FALSE(t.exists("ws/p/q"));
}

TEST_P(write_test, move_takes_the_entry_itself) {
  const auto inode = status("ws/f").st_ino;
  const auto got = move_entry(r, "./f", "m/n/f2");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->source, "f");
  EXPECT_EQ(got->destination, "m/n/f2");
  EXPECT_EQ(status("ws/m/n/f2").st_ino, inode);
  ASSERT_THAT(move_entry(r, "l", "l2"), IsOk()); // dangling by now
  EXPECT_TRUE(S_ISLNK(status("ws/l2").st_mode));
  ASSERT_THAT(move_entry(r, "d/", "d2/"), IsOk());
  ASSERT_THAT(move_entry(r, "d2", "m/d3"), IsOk());
  EXPECT_TRUE(S_ISDIR(status("ws/m/d3").st_mode));
  t.link("ws/out", "../out");
  ASSERT_THAT(move_entry(r, "out", "out2"), IsOk());
  EXPECT_TRUE(S_ISLNK(status("ws/out2").st_mode));
  ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  ASSERT_THAT(move_entry(r, "fifo", "fifo2"), IsOk());
}

TEST_P(write_test, remove_takes_the_entry_itself) {
  t.link("ws/out", "../out/f");
  t.file("ws/ro", "x");
  mode("ws/ro", 0444);
  ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  for (const auto& [path, code] :
       {std::pair("d", is_a_directory), std::pair("dl/", not_a_directory),
        std::pair("f/", not_a_directory), std::pair("nope", not_found),
        std::pair(".", workspace_root), std::pair("ro", read_only),
        std::pair("../out/f", escapes_root)})
    EXPECT_THAT(remove_file(r, path), IsError(code)) << path;
  for (const char* path : {"l", "dl", "dang", "out", "fifo"})
    EXPECT_THAT(remove_file(r, path), IsOk()) << path;
  EXPECT_THAT(names_in(canary.ws()), ElementsAre("d", "f", "ro"));
  EXPECT_THAT(remove_file(r, "d/../f"), IsOk());
}

// --- a full disk, a killed process ---

TEST_P(write_test, a_full_disk_leaves_the_old_content) {
  const std::string old(100'000, 'o');
  const std::string big(2'000'000, 'n');
  if (test::in_child(
          [&] { return test::private_mounts() && test::mount_tmpfs(canary.ws(), "size=1m"); },
          [&] {
            const root small = test::open_root(canary.ws(), GetParam());
            t.file("ws/f", old);
            EXPECT_THAT(write_file(small, "f", big), IsError(no_space));
            EXPECT_THAT(write_file(small, "new", big), IsError(no_space));
            EXPECT_THAT(append_file(small, "f", big), IsError(no_space));
            EXPECT_THAT(edit_file(small, "f", {.old_text = "o", .new_text = big}),
                        IsError(no_space));
            EXPECT_TRUE(t.content("ws/f") == old);
            EXPECT_THAT(names_in(canary.ws()), ElementsAre("f"));
            EXPECT_THAT(append_file(small, "f", "x"), IsOk());
          }) == test::child_end::refused)
    GTEST_SKIP() << "mounting needs privilege";
}

TEST_P(write_test, a_killed_writer_leaves_old_or_new_content) {
  const auto rounds = static_cast<int>(test::campaign_part(150));
  const std::string contents[] = {std::string(40'000, 'a'), std::string(60'000, 'b')};
  t.file("ws/f", contents[0]);
  std::minstd_rand random(20260101);
  int changes = 0;
  std::string last = contents[0];
  for (int round = 0; round < rounds; ++round) {
    int ready[2];
    ASSERT_EQ(0, ::pipe2(ready, O_CLOEXEC));
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int i = 0;; ++i) {
        if (!write_file(r, "f", contents[i % 2])) ::_exit(1);
        if (i == 0 && ::write(ready[1], "", 1) != 1) ::_exit(1);
      }
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(1, ::read(ready[0], &byte, 1)); // it is writing now
    ::close(ready[0]);
    for (auto spins = random() % 2000; spins > 0; --spins)
      if (spins % 64 == 0) ::sched_yield();
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(pid, ::waitpid(pid, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    const std::string now = t.content("ws/f");
    ASSERT_TRUE(now == contents[0] || now == contents[1]) << now.size();
    changes += now != last ? 1 : 0;
    last = now;
  }
  EXPECT_GT(changes, 0);
  // What is left over is recognisable by its name and nothing else.
  for (const auto& name : names_in(canary.ws())) {
    if (!name.starts_with(".paddock-tmp-")) continue;
    EXPECT_EQ(name.size(), 13U + 32U);
    EXPECT_THAT(remove_file(r, name), IsOk());
  }
  EXPECT_THAT(names_in(canary.ws()), ElementsAre("d", "dang", "dl", "f", "l"));
}

} // namespace
} // namespace paddock
