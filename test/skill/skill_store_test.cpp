// SPDX-License-Identifier: MIT

// Skills on disk: what is a skill and what is not, what others change meanwhile, and changes that
// happen in one step or not at all.

#include "path/directory_moves.hpp"
#include "support/files/skill_fixture.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <sys/file.h>
#include <utime.h>

namespace paddock {
namespace {

using test::described;
using test::IsError;
using test::IsOk;
using test::skill_md;
using testing::ElementsAre;
using testing::IsEmpty;
using enum error_code;

class skill_store_test : public test::skill_fixture {
protected:
  /// The list of a fresh store, which has to be readable.
  [[nodiscard]] std::shared_ptr<const skill_list> list_of(const skill_store& store) const {
    auto list = store.list();
    EXPECT_THAT(list, IsOk());
    return list ? *list : std::make_shared<const skill_list>();
  }

  /// Lets what the store has seen grow old enough to be trusted, without waiting: the store only
  /// asks how long ago a file changed, and that the kernel alone decides. So this waits for the
  /// kernel's clock, not for anything that happens.
  static void let_the_clock_tick() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
    while (std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
  }
};

TEST_F(skill_store_test, missing_directories_are_empty_lists) {
  const auto store = open_store();
  const auto list = list_of(store);
  EXPECT_THAT(list->skills, IsEmpty());
  EXPECT_THAT(list->not_loaded, IsEmpty());
  EXPECT_FALSE(t.exists("ws/.agents")) << "looking makes nothing";
  EXPECT_THAT(store.find("x"), IsError(not_found));
  EXPECT_THAT(store.remove("x"), IsError(not_found));
  EXPECT_THAT(store.edit("x", {.name = "y"}), IsError(not_found));
  EXPECT_FALSE(t.exists("ws/.agents"));
}

TEST_F(skill_store_test, options_that_cannot_be_meant_are_refused) {
  const auto r = std::make_shared<const root>(test::open_root(canary.ws(), resolver::automatic));
  EXPECT_THAT(skill_store::open(r, {.threads_max = 0}), IsError(invalid_argument));
  EXPECT_THAT(skill_store::open(r, {.system_directory = "a/", .user_directory = "a"}),
              IsError(invalid_argument));
  EXPECT_THAT(skill_store::open(r, {.user_directory = "../out"}), IsError(escapes_root));
  EXPECT_THAT(skill_store::open(r, {.user_directory = ".perstack/skills"}),
              IsError(protected_entry));
  t.file("ws/file");
  EXPECT_THAT(skill_store::open(r, {.user_directory = "file"}), IsError(not_a_directory));
}

TEST_F(skill_store_test, lists_skills_of_both_directories_by_id) {
  put_user("b", "user b");
  put_user("a", "user a");
  put_system("c", "system c");
  put_system("A", "system A");
  const auto list = list_of(open_store());
  EXPECT_THAT(described(*list),
              ElementsAre("A: system A", "a: user a", "b: user b", "c: system c"));
  EXPECT_EQ(list->skills[0].source, skill_source::system);
  EXPECT_EQ(list->skills[0].path, ".agents/sys.skills/A/SKILL.md");
  EXPECT_EQ(list->skills[1].source, skill_source::user);
  EXPECT_EQ(list->skills[1].path, ".agents/skills/a/SKILL.md");
  EXPECT_THAT(list->not_loaded, IsEmpty());
}

TEST_F(skill_store_test, a_system_skill_wins_over_a_user_skill_of_its_id) {
  put_user("same", "of the user");
  put_system("same", "of the system");
  const auto store = open_store();
  const auto list = list_of(store);
  EXPECT_THAT(described(*list), ElementsAre("same: of the system"));
  ASSERT_EQ(list->not_loaded.size(), 1U);
  EXPECT_EQ(list->not_loaded[0].why, not_a_skill::shadowed);
  EXPECT_EQ(list->not_loaded[0].path, ".agents/skills/same");
  const auto found = store.find("same");
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->source, skill_source::system);

  // Only what is a skill wins.
  t.file("ws/.agents/sys.skills/same/SKILL.md", "nothing");
  EXPECT_THAT(described(*list_of(store)), ElementsAre("same: of the user"));
  t.file("ws/.agents/sys.skills/same/SKILL.md", skill_md("same", "is back"));
  EXPECT_THAT(described(*list_of(store)), ElementsAre("same: is back"));
}

TEST_F(skill_store_test, says_of_each_directory_why_it_is_no_skill) {
  t.directory("ws/.agents/skills/empty");
  t.directory("ws/.agents/skills/lower");
  t.file("ws/.agents/skills/lower/skill.md", skill_md("lower", "d"));
  put(user, "plain", "# Just text\n");
  t.directory("ws/.agents/skills/fifo");
  ASSERT_EQ(0, ::mkfifo(skill_path("fifo/SKILL.md").c_str(), 0600));
  t.directory("ws/.agents/skills/folder/SKILL.md");
  t.directory("ws/.agents/skills/leaves");
  t.link("ws/.agents/skills/leaves/SKILL.md", canary.out() + "/secret");
  t.link("ws/.agents/skills/leaves-too", canary.out());
  t.link("ws/.agents/skills/dangling", "nowhere");
  // None of these is a directory of skills at all.
  t.directory("ws/.agents/skills/.hidden");
  t.file("ws/.agents/skills/.hidden/SKILL.md", skill_md("hidden", "d"));
  t.file("ws/.agents/skills/README.md", "text");
  t.link("ws/.agents/skills/to-a-file", "README.md");

  const auto list = list_of(open_store());
  EXPECT_THAT(list->skills, IsEmpty());
  struct row {
    std::string id;
    not_a_skill why;
    std::optional<error_code> reason;
    bool operator==(const row&) const = default;
  };
  std::vector<row> found;
  for (const auto& one : list->not_loaded)
    found.push_back({one.id, one.why, one.reason ? std::optional(one.reason->code) : std::nullopt});
  using enum not_a_skill;
  EXPECT_THAT(found, ElementsAre(row{"dangling", unreadable, dangling_symlink},
                                 row{"empty", no_skill_file, std::nullopt},
                                 row{"fifo", unreadable, not_regular},
                                 row{"folder", unreadable, is_a_directory},
                                 row{"leaves", unreadable, absolute_symlink},
                                 row{"leaves-too", unreadable, absolute_symlink},
                                 row{"lower", wrong_case, std::nullopt},
                                 row{"plain", invalid_frontmatter, std::nullopt}));
  EXPECT_FALSE(list->not_loaded[7].diagnostics.empty());
}

TEST_F(skill_store_test, directories_beyond_the_bound_are_named_each) {
  for (const char* id : {"e", "b", "d", "a", "c"})
    put_user(id);
  const auto store = open_store({.entries_max = 3});
  const auto left_out = [&] {
    std::vector<std::string> ids;
    for (const auto& one : list_of(store)->not_loaded) {
      EXPECT_EQ(one.why, not_a_skill::left_out);
      EXPECT_EQ(one.path, ".agents/skills/" + one.id);
      EXPECT_EQ(one.reason->code, too_many);
      ids.push_back(one.id);
    }
    return ids;
  };
  EXPECT_THAT(described(*list_of(store)),
              ElementsAre("a: For tests.", "b: For tests.", "c: For tests."));
  EXPECT_THAT(left_out(), ElementsAre("d", "e"));
  const auto before = list_of(store);
  EXPECT_EQ(list_of(store), before); // nothing has changed
  put_user("f");
  EXPECT_THAT(left_out(), ElementsAre("d", "e", "f"));
  ASSERT_THAT(store.remove("a"), IsOk());
  EXPECT_THAT(left_out(), ElementsAre("e", "f"));
  EXPECT_THAT(store.find("f"), IsOk()); // by its id it is found all the same
}

TEST_F(skill_store_test, links_beneath_the_root_are_followed_for_user_skills_only) {
  t.directory("ws/shared/tool");
  t.file("ws/shared/tool/SKILL.md", skill_md("tool", "shared"));
  put_user("real");
  t.link("ws/.agents/skills/linked", "../../shared/tool");
  t.directory("ws/.agents/skills/inner");
  t.link("ws/.agents/skills/inner/SKILL.md", "../../../shared/tool/SKILL.md");
  t.directory("ws/.agents/sys.skills");
  t.link("ws/.agents/sys.skills/official", "../../shared/tool");
  const auto store = open_store();
  const auto list = list_of(store);
  EXPECT_THAT(described(*list), ElementsAre("inner: shared", "linked: shared", "real: For tests."));
  ASSERT_EQ(list->not_loaded.size(), 1U);
  EXPECT_EQ(list->not_loaded[0].id, "official");
  ASSERT_TRUE(list->not_loaded[0].reason);
  EXPECT_EQ(list->not_loaded[0].reason->code, denied_by_policy);
  // What is behind a link is looked at every time.
  t.file("ws/shared/tool/SKILL.md", skill_md("tool", "changed"));
  EXPECT_THAT(described(*list_of(store)),
              ElementsAre("inner: changed", "linked: changed", "real: For tests."));
}

TEST_F(skill_store_test, a_protected_entry_that_was_moved_in_is_no_skill) {
  t.directory("ws/.perstack");
  t.file("ws/.perstack/SKILL.md", skill_md("secret", "OUTSIDE"));
  put_user("mine");
  const auto store = open_store();
  EXPECT_THAT(described(*list_of(store)), ElementsAre("mine: For tests."));
  std::filesystem::rename(t / "ws/.perstack", skill_path("moved"));
  const auto list = list_of(store);
  EXPECT_THAT(described(*list), ElementsAre("mine: For tests."));
  ASSERT_EQ(list->not_loaded.size(), 1U);
  EXPECT_EQ(list->not_loaded[0].reason->code, protected_entry);
  EXPECT_THAT(store.find("moved"), IsError(not_found));
}

TEST_F(skill_store_test, the_same_list_while_nothing_changes) {
  put_user("a");
  put_system("b");
  t.directory("ws/.agents/skills/none");
  put_user("hidden-by-system");
  put_system("hidden-by-system");
  const auto store = open_store();
  const auto first = list_of(store);
  EXPECT_EQ(list_of(store).get(), first.get()) << "just written";
  let_the_clock_tick();
  EXPECT_EQ(list_of(store).get(), first.get()) << "read again";
  EXPECT_EQ(list_of(store).get(), first.get()) << "only looked at";
}

TEST_F(skill_store_test, every_change_elsewhere_is_seen_by_the_next_call) {
  put_user("a", "one");
  put_user("b", "one");
  const auto store = open_store();
  (void)list_of(store);
  let_the_clock_tick();
  const auto first = list_of(store);
  const auto change = [&](const char* what, auto&& how, std::vector<std::string> expected) {
    how();
    EXPECT_EQ(described(*list_of(store)), expected) << what;
    EXPECT_EQ(described(*list_of(open_store())), expected) << what << ", seen freshly";
  };
  change("same size, in place",
         [&] { t.file("ws/.agents/skills/a/SKILL.md", skill_md("a", "two")); },
         {"a: two", "b: one"});
  change("same size, in place, in the same tick of the clock",
         [&] { t.file("ws/.agents/skills/a/SKILL.md", skill_md("a", "six")); },
         {"a: six", "b: one"});
  change("same size, in place, with the old time of change",
         [&] {
           let_the_clock_tick();
           (void)list_of(store);
           struct stat s{};
           ASSERT_EQ(0, ::stat(skill_path("a/SKILL.md").c_str(), &s));
           t.file("ws/.agents/skills/a/SKILL.md", skill_md("a", "ten"));
           const timespec times[2] = {s.st_atim, s.st_mtim};
           ASSERT_EQ(0, ::utimensat(AT_FDCWD, skill_path("a/SKILL.md").c_str(), times, 0));
         },
         {"a: ten", "b: one"});
  change("renamed over",
         [&] {
           t.file("ws/new", skill_md("a", "new"));
           std::filesystem::rename(t / "ws/new", skill_path("a/SKILL.md"));
         },
         {"a: new", "b: one"});
  change("two directories exchanged",
         [&] {
           std::filesystem::rename(skill_path("a"), skill_path("c"));
           std::filesystem::rename(skill_path("b"), skill_path("a"));
           std::filesystem::rename(skill_path("c"), skill_path("b"));
         },
         {"a: one", "b: new"});
  change("added", [&] { put_user("c", "three"); }, {"a: one", "b: new", "c: three"});
  change("a file gone", [&] { std::filesystem::remove(skill_path("c/SKILL.md")); },
         {"a: one", "b: new"});
  change("a directory gone", [&] { std::filesystem::remove_all(skill_path("a")); }, {"b: new"});
  change("moved out of the root, with a link in its place",
         [&] {
           let_the_clock_tick();
           (void)list_of(store);
           std::filesystem::rename(skill_path("b"), canary.out() + "/b");
           t.link("ws/.agents/skills/b", canary.out() + "/b");
         },
         {});
  change("the whole directory gone", [&] { std::filesystem::remove_all(t / user); }, {});
  change("and made again", [&] { put_user("z", "last"); }, {"z: last"});
}

TEST_F(skill_store_test, bounds_what_it_looks_at_and_says_so) {
  for (int i = 0; i < 12; ++i)
    put_user("s" + std::to_string(i));
  const auto list = list_of(open_store({.entries_max = 10}));
  EXPECT_EQ(list->skills.size(), 10U);
  ASSERT_EQ(list->not_loaded.size(), 2U);
  EXPECT_EQ(list->not_loaded[0].reason->code, too_many);
  EXPECT_EQ(list->not_loaded[0].path, ".agents/skills/s8");
  EXPECT_THAT(list_of(open_store({.entries_max = 12}))->not_loaded, IsEmpty());
}

TEST_F(skill_store_test, every_number_of_threads_and_resolver_gives_the_same_list) {
  for (int i = 0; i < 700; ++i) {
    if (i % 50 == 7)
      put(user, "s" + std::to_string(i), "no skill");
    else
      put_user("s" + std::to_string(i), "number " + std::to_string(i));
  }
  // One whose frontmatter does not end within the first read.
  put(
      user, "long", "---\nname: long\nmetadata:\n" + [] {
        std::string keys;
        for (int i = 0; i < 600; ++i)
          keys += "  key" + std::to_string(i) + ": value\n";
        return keys;
      }() + "description: at the end\n---\n");
  const auto expected = described(*list_of(open_store({.threads_max = 1})));
  EXPECT_EQ(expected.size(), 687U);
  EXPECT_THAT(expected, testing::Contains("long: at the end"));
  for (const unsigned threads : {2U, 3U, 8U})
    EXPECT_EQ(described(*list_of(open_store({.threads_max = threads}))), expected) << threads;
  EXPECT_EQ(described(*list_of(open_store({.threads_max = 2}, resolver::walker))), expected);
}

TEST_F(skill_store_test, may_be_listed_and_changed_from_many_threads) {
  for (int i = 0; i < 20; ++i)
    put_user("s" + std::to_string(i));
  const auto store = open_store();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      const std::string id = "own" + std::to_string(n);
      for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(store.add(id, id, "Added."), IsOk());
        const auto list = store.list();
        ASSERT_THAT(list, IsOk());
        EXPECT_GE((*list)->skills.size(), 21U);
        EXPECT_THAT(store.edit(id, {.description = "Edited."}), IsOk());
        EXPECT_THAT(store.remove(id), IsOk());
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(list_of(store)->skills.size(), 20U);
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_store_test, lists_the_files_of_a_skill) {
  put_user("s");
  t.directory("ws/.agents/skills/s/scripts/deep");
  t.file("ws/.agents/skills/s/scripts/run.py", "12345");
  t.link("ws/.agents/skills/s/out", canary.out());
  const auto files = open_store().files("s");
  ASSERT_THAT(files, IsOk());
  std::vector<std::string> paths;
  for (const auto& file : *files)
    paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("SKILL.md", "out", "scripts", "scripts/deep", "scripts/run.py"));
  EXPECT_EQ((*files)[1].kind, entry_kind::symlink);
  EXPECT_EQ((*files)[2].kind, entry_kind::directory);
  EXPECT_EQ((*files)[4].size, 5U);
  EXPECT_THAT(open_store().files("../skills/s"), IsError(not_found));
  t.directory("ws/.agents/skills/none");
  EXPECT_THAT(open_store().files("none"), test::HoldsValue(IsEmpty()));
}

// --- changing
// -------------------------------------------------------------------------------------

TEST_F(skill_store_test, adds_a_skill_that_reads_back_to_the_same_texts) {
  const auto store = open_store();
  for (const std::string_view text :
       {"plain", "a: b # c", "\"quoted\" and 'single'", "* star", "- dash", "@at `tick`",
        "技能 мой навык 🐎", "back\\slash \\n", "{curly} [square]", "null", "1.0", "--- three"}) {
    const auto made = store.add("s", text, text);
    ASSERT_THAT(made, IsOk()) << text;
    EXPECT_EQ(made->name, text);
    EXPECT_EQ(made->description, text);
    EXPECT_EQ(made->path, ".agents/skills/s/SKILL.md");
    // Nothing in it needs repair.
    const auto strict = open_store({.policy = frontmatter::policy::strict}).find("s");
    ASSERT_THAT(strict, IsOk()) << text;
    EXPECT_EQ(strict->description, text);
    ASSERT_THAT(store.remove("s"), IsOk());
  }
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_store_test, lines_of_a_description_become_one) {
  const auto made = open_store().add("s", "s", "First line.\nSecond\tline.\r\n");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->description, "First line. Second line.");
}

TEST_F(skill_store_test, refuses_ids_and_texts_that_cannot_be_written) {
  const auto store = open_store();
  const std::string long_id(256, 'x');
  const std::string_view bad_ids[] = {"",
                                      ".",
                                      "..",
                                      ".hidden",
                                      "a/b",
                                      "../up",
                                      "a\\b",
                                      "c:",
                                      "a\nb",
                                      "a\x7f",
                                      "\xff",
                                      "a\xc2\x85",
                                      " a",
                                      "a ",
                                      "a.",
                                      "a\xe2\x80\xae",
                                      long_id,
                                      "\xe2\x80\xa8",
                                      ".staging-0123456789abcdef0123456789abcdef"};
  for (const auto id : bad_ids) {
    const auto made = store.add(id, "name", "description");
    EXPECT_THAT(made, IsError(invalid_argument)) << id;
    if (!made) {
      EXPECT_STREQ(made.error().operation, "id");
    }
  }
  for (const std::string_view bad : {"", "  ", "\xff", "nul\x01"}) {
    const auto name = store.add("s", bad, "description");
    EXPECT_THAT(name, IsError(invalid_argument)) << bad;
    if (!name) {
      EXPECT_STREQ(name.error().operation, "name");
    }
    const auto description = store.add("s", "name", bad);
    EXPECT_THAT(description, IsError(invalid_argument)) << bad;
    if (!description) {
      EXPECT_STREQ(description.error().operation, "description");
    }
  }
  EXPECT_THAT(store.add("s", "two\nlines", "description"), IsError(invalid_argument));
  EXPECT_THAT(store.add("s", "s", std::string(70'000, 'x')), IsError(invalid_argument));
  EXPECT_FALSE(t.exists("ws/.agents"));
  for (const std::string_view good : {"a", "A b", "技能", "x_y-z.1", "..."}) {
    if (good == "...") continue;
    EXPECT_THAT(store.add(good, "name", "description"), IsOk()) << good;
  }
}

TEST_F(skill_store_test, adding_never_replaces) {
  put_user("there", "old");
  put_system("sys");
  t.file("ws/.agents/skills/file", "a file");
  const auto store = open_store();
  const auto before = test::describe_tree(skill_path("there"));
  EXPECT_THAT(store.add("there", "n", "d"), IsError(already_exists));
  EXPECT_THAT(store.add("sys", "n", "d"), IsError(already_exists));
  EXPECT_THAT(store.add("file", "n", "d"), IsError(already_exists));
  EXPECT_EQ(test::describe_tree(skill_path("there")), before);
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_store_test, an_edit_changes_two_fields_and_nothing_else) {
  put(user, "s",
      "---\n# kept\nname: s\nlicense: MIT\ndescription: |\n  old\n---\n\nBody: stays\r\n");
  ASSERT_EQ(0, ::chmod(skill_path("s/SKILL.md").c_str(), 0640));
  t.file("ws/.agents/skills/s/other", "other");
  const auto store = open_store();
  const auto edited = store.edit("s", {.description = "new: with colon"});
  ASSERT_THAT(edited, IsOk());
  EXPECT_EQ(edited->name, "s");
  EXPECT_EQ(edited->description, "new: with colon");
  const auto text = t.content("ws/.agents/skills/s/SKILL.md");
  EXPECT_THAT(text, testing::StartsWith("---\n# kept\n"));
  EXPECT_THAT(text, testing::HasSubstr("license: MIT\n"));
  EXPECT_THAT(text, testing::EndsWith("---\n\nBody: stays\r\n"));
  struct stat s{};
  ASSERT_EQ(0, ::stat(skill_path("s/SKILL.md").c_str(), &s));
  EXPECT_EQ(s.st_mode & 07777U, 0640U);
  ASSERT_THAT(store.edit("s", {.name = "renamed"}), IsOk());
  EXPECT_THAT(described(*list_of(store)), ElementsAre("s: new: with colon"));
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_store_test, an_edit_leaves_what_is_there_whatever_it_is) {
  const std::string rest =
      "description: \u200B\u202Eمی\u200Cخواهم \\u0007 👩\u200D💻 查询行情 ok\n---\n";
  put(user, "s", "---\nname: s\n" + rest);
  const auto store = open_store();
  ASSERT_THAT(store.edit("s", {.name = "t"}), IsOk());
  EXPECT_EQ(t.content("ws/.agents/skills/s/SKILL.md"), "---\nname: t\n" + rest);
  // As a new text, what nobody sees is refused, and what spells is not.
  EXPECT_THAT(store.edit("s", {.description = "a\u200Bb"}), IsError(invalid_argument));
  EXPECT_THAT(store.edit("s", {.description = "a\U000E0041b"}), IsError(invalid_argument));
  const auto edited = store.edit("s", {.description = "می\u200Cخواهم 👩\u200D💻 ❤\uFE0F"});
  ASSERT_THAT(edited, IsOk());
  EXPECT_EQ(edited->description, "می\u200Cخواهم 👩\u200D💻 ❤\uFE0F");
}

TEST_F(skill_store_test, an_edit_that_is_refused_changes_nothing) {
  put_user("s");
  put_system("sys");
  put(user, "broken", "no frontmatter");
  t.directory("ws/.agents/skills/empty");
  put_user("locked");
  ASSERT_EQ(0, ::chmod(skill_path("locked/SKILL.md").c_str(), 0444));
  const auto store = open_store();
  const auto before = test::describe_tree(t / "ws");
  EXPECT_THAT(store.edit("sys", {.name = "n"}), IsError(read_only));
  EXPECT_THAT(store.edit("missing", {.name = "n"}), IsError(not_found));
  EXPECT_THAT(store.edit("empty", {.name = "n", .description = "d"}), IsError(not_found));
  EXPECT_THAT(store.edit("../skills/s", {.name = "n"}), IsError(not_found));
  EXPECT_THAT(store.edit("s", {.name = "two\nlines"}), IsError(invalid_argument));
  EXPECT_THAT(store.edit("s", {.description = " "}), IsError(invalid_argument));
  EXPECT_THAT(store.edit("broken", {.name = "n"}), IsError(invalid_argument));
  EXPECT_THAT(store.edit("locked", {.name = "n"}), IsError(read_only));
  EXPECT_EQ(test::describe_tree(t / "ws"), before);
}

TEST_F(skill_store_test, removes_user_skills_whole_and_system_skills_never) {
  put_user("s");
  t.directory("ws/.agents/skills/s/a/b");
  t.file("ws/.agents/skills/s/a/b/c", "c");
  t.link("ws/.agents/skills/s/a/out", canary.out());
  t.link("ws/.agents/skills/link", canary.out());
  t.directory("ws/.agents/skills/not-loaded");
  t.file("ws/.agents/skills/file", "somebody's");
  put_system("sys");
  put_system("both");
  put_user("both");
  put_user("skills-evil");
  const auto outside = canary.describe_outside();
  const auto store = open_store();
  EXPECT_THAT(store.remove("s"), IsOk());
  EXPECT_THAT(store.remove("s"), IsError(not_found));
  EXPECT_THAT(store.remove("link"), IsOk());
  EXPECT_THAT(store.remove("not-loaded"), IsOk());
  EXPECT_THAT(store.remove("file"), IsError(not_a_directory));
  EXPECT_EQ(t.content("ws/.agents/skills/file"), "somebody's");
  EXPECT_THAT(store.remove("sys"), IsError(read_only));
  EXPECT_THAT(store.remove("both"), IsOk()) << "the user's, which is not loaded";
  EXPECT_THAT(store.remove("both"), IsError(read_only));
  for (const std::string_view bad :
       {"", ".", "..", "../skills/skills-evil", "../sys.skills", "a/b"})
    EXPECT_THAT(store.remove(bad), IsError(not_found)) << bad;
  EXPECT_THAT(described(*list_of(store)),
              ElementsAre("both: For tests.", "skills-evil: For tests.", "sys: For tests."));
  EXPECT_THAT(hidden(), IsEmpty());
  EXPECT_EQ(canary.describe_outside(), outside);
}

TEST_F(skill_store_test, removes_nothing_for_its_name) {
  put_user("s");
  const std::string tree = ".staging-00000000000000000000000000000001";
  const std::string empty = ".staging-00000000000000000000000000000002";
  const std::string link = ".staging-00000000000000000000000000000003";
  t.directory("ws/.agents/skills/" + tree + "/a/b");
  t.file("ws/.agents/skills/" + tree + "/a/b/c", "dear");
  t.directory("ws/.agents/skills/" + empty);
  t.link("ws/.agents/skills/" + link, canary.out());
  t.directory("ws/.agents/skills/.git");
  const auto outside = canary.describe_outside();

  const auto store = open_store();
  (void)list_of(store);
  EXPECT_THAT(store.add("new", "n", "d"), IsOk());
  EXPECT_THAT(store.edit("s", {.description = "other"}), IsOk());
  EXPECT_THAT(store.remove("new"), IsOk());
  auto left = hidden();
  std::sort(left.begin(), left.end());
  EXPECT_THAT(left, ElementsAre(".git", tree, empty, link));
  EXPECT_EQ("dear", t.content("ws/.agents/skills/" + tree + "/a/b/c"));
  EXPECT_EQ(canary.describe_outside(), outside);
}

TEST_F(skill_store_test, works_where_the_skills_are_behind_a_link_beneath_the_root) {
  t.directory("ws/agents/skills");
  t.link("ws/.agents", "agents");
  const auto store = open_store();
  ASSERT_THAT(store.add("s", "s", "Through a link."), IsOk());
  EXPECT_TRUE(t.exists("ws/agents/skills/s/SKILL.md"));
  EXPECT_THAT(described(*list_of(store)), ElementsAre("s: Through a link."));
  ASSERT_THAT(store.edit("s", {.name = "t"}), IsOk());
  ASSERT_THAT(store.remove("s"), IsOk());
}

TEST_F(skill_store_test, never_works_behind_a_link_that_leaves_the_root) {
  const auto store = open_store();
  t.directory("out/skills/victim");
  t.link("ws/.agents", "../out");
  const auto outside = canary.describe_outside();
  EXPECT_THAT(store.add("s", "s", "d"), IsError(escapes_root));
  EXPECT_THAT(store.remove("victim"), IsError(escapes_root));
  EXPECT_THAT(store.list(), IsError(escapes_root));
  EXPECT_EQ(canary.describe_outside(), outside);
}

TEST_F(skill_store_test, permission_is_said_and_other_skills_are_listed) {
  put_user("open");
  put_user("closed");
  ASSERT_EQ(0, ::chmod(skill_path("closed/SKILL.md").c_str(), 0));
  test::give_to_nobody(t.path());
  const auto body = [&] {
    const auto list = list_of(open_store());
    EXPECT_THAT(described(*list), ElementsAre("open: For tests."));
    ASSERT_EQ(list->not_loaded.size(), 1U);
    EXPECT_EQ(list->not_loaded[0].why, not_a_skill::unreadable);
    EXPECT_EQ(list->not_loaded[0].reason->code, permission_denied);
  };
  if (test::in_child(test::become_nobody, body) == test::child_end::refused && ::geteuid() == 0)
    GTEST_SKIP() << "cannot become an ordinary user";
}

/// What a running command has found protected by its place is neither replaced nor removed.
TEST_F(skill_store_test, a_directory_that_a_command_keeps_stays_in_its_place) {
  const auto store = open_store();
  ASSERT_THAT(store.add("one", "One", "d"), IsOk());
  {
    const kept_directories kept(store.root_shared()->status(), {".agents/skills/one"});
    EXPECT_THAT(store.remove("one"), IsError(conflict));
    EXPECT_TRUE(t.exists("ws/.agents/skills/one/SKILL.md"));
  }
  EXPECT_THAT(store.remove("one"), IsOk()); // the control
}

} // namespace
} // namespace paddock
