// SPDX-License-Identifier: MIT

// Names that an agent may not change, or may not see: what the file tools do about them.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/words.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/protected_names.hpp>
#include <paddock/path/root.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using test::open_root;
using enum error_code;

class protected_names_test : public testing::TestWithParam<resolver> {
protected:
  void SetUp() override {
    for (const char* file :
         {"ws/f", "ws/.git/config", "ws/.git/HEAD", "ws/.git/hooks/pre-commit", "ws/.vscode/tasks",
          "ws/.agents/sys.skills/s/SKILL.md", "ws/.agents/skills/s/SKILL.md", "ws/.envrc",
          "ws/sub/.git/config", "ws/sub/.git/modules/m/config", "ws/sub/.envrc", "ws/plain/.envrc",
          "ws/plain/deep/.perstack/key"})
      put(file);
  }
  /// A file, with its parents.
  void put(const std::string& name, std::string_view content = "host") const {
    t.directory(name.substr(0, name.rfind('/')));
    t.file(name, content);
  }
  [[nodiscard]] root open(const root_options& options = {}) const {
    root_options with = options;
    with.resolver = GetParam();
    auto r = root::open(canary.ws(), with);
    EXPECT_THAT(r, IsOk());
    return *std::move(r);
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
};
INSTANTIATE_TEST_SUITE_P(every, protected_names_test,
                         testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

/// Everything that changes an entry, each with the same answer.
void expect_of_changes(const root& r, const std::string& path, error_code want) {
  SCOPED_TRACE(path);
  EXPECT_THAT(write_file(r, path, "x"), IsError(want));
  EXPECT_THAT(append_file(r, path, "x"), IsError(want));
  EXPECT_THAT(edit_file(r, path, {.old_text = "host", .new_text = "x"}), IsError(want));
  EXPECT_THAT(remove_file(r, path), IsError(want));
  EXPECT_THAT(move_entry(r, path, "elsewhere"), IsError(want));
  EXPECT_THAT(move_entry(r, "f", path), IsError(want));
  EXPECT_THAT(create_directory(r, path), IsError(want));
  EXPECT_THAT(remove_directory(r, path, {.recursive = recursion::yes}), IsError(want));
}

TEST_P(protected_names_test, other_spellings_that_a_file_system_takes_for_them) {
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  for (const char* path :
       {"ENVRC~1", "sub/ENVRC~2", ".envrc:x", ".envrc\\x", ".envrc. ", "\uff0eenvrc",
        ".en\u200dvrc", "GIT~1/config", ".\uff47it/hooks/new", ".git /config", "GITMOD~1"})
    expect_of_changes(r, path, write_protected);
  for (const char* path : {"PERSTA~1", ".perstack ", ".PER\u017ftack.made-by-command-1"})
    EXPECT_THAT(read_file(r, path), IsError(protected_entry)) << path;
  EXPECT_EQ(test::describe_tree(canary.ws()), before);
  for (const char* path : {"ENVRC~", "a~1", "\u2460", "\uff21\uff22"})
    EXPECT_THAT(write_file(r, path, "x"), IsOk()) << path;
}

TEST_P(protected_names_test, what_programs_outside_obey_cannot_be_changed) {
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  for (const std::string& path :
       test::words(".git/config .git/hooks .git/hooks/pre-commit .git/hooks/new .git/commondir "
                   ".git/config.worktree .GIT/Config ./.git/../.git/config .vscode .vscode/tasks "
                   ".vscode/new .envrc .gitmodules .mcp.json perstack.toml sub/perstack.toml "
                   ".claude/settings.json .bashrc .agents/sys.skills "
                   ".agents/sys.skills/s/SKILL.md plain/../.envrc sub/.git/config "
                   "sub/.git/modules/m/config sub/.git/worktrees/w/config.worktree "
                   "sub/.git/modules/m/n/hooks/post-checkout sub/.envrc sub/.vscode/new "
                   "plain/.git/config .con\ufb01g/../.gitcon\ufb01g .envrc. .en\u200bvrc"))
    expect_of_changes(r, path, write_protected);
  EXPECT_EQ(before, test::describe_tree(canary.ws())); // and nothing was made on the way
}

TEST_P(protected_names_test, repositories_of_other_names_cannot_be_changed_either) {
  for (const char* file :
       {"ws/x.git/HEAD", "ws/x.git/config", "ws/x.git/objects/1", "ws/store/g/HEAD",
        "ws/store/g/objects/1", "ws/store/g/hooks/post-update", "ws/store/w/HEAD",
        "ws/store/w/commondir", "ws/half/HEAD", "ws/half/config"})
    put(file);
  t.link("ws/door", "x.git");
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  for (const char* path :
       {"x.git/config", "x.git/hooks", "x.git/hooks/post-receive", "x.git/hooks/deep/new",
        "x.git/config.worktree", "x.git/commondir", "x.git/CONFIG", "x.git/Hoo\u212as/x",
        "./f/../x.git/config", "store/g/config", "store/g/hooks/post-update", "store/w/config",
        "store/w/commondir", "door/config", "door/hooks/x", "x.git/HEAD", "x.git/objects",
        "x.git/refs/heads/config", "x.git/ORIG_HEAD"})
    expect_of_changes(r, path, write_protected);
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  // The controls: the same names where there is no repository, and the rest of one.
  for (const char* path :
       {"half/config", "half/hooks/x", "objects", "HEAD", "plain/config", "plain/hooks/x",
        "x.git/description", "x.git/objects/2", "x.git/logs/refs/heads/config"})
    EXPECT_THAT(write_file(r, path, "x"), IsOk()) << path;
  EXPECT_THAT(write_file(open({.protected_names = {}}), "x.git/config", "x"), IsOk());
  EXPECT_THAT(move_entry(r, "x.git", "y.git"), IsOk()); // it may go as a whole
  EXPECT_THAT(write_file(r, "y.git/config", "x"), IsError(write_protected));
}

TEST_P(protected_names_test, no_repository_is_put_together_around_what_git_obeys) {
  for (const char* file :
       {"ws/a/config", "ws/a/HEAD", "ws/b/hooks/pre-commit", "ws/b/objects/1",
        "ws/c/config.worktree", "ws/c/HEAD", "ws/free/HEAD", "ws/data/config", "ws/data/objects/1",
        "ws/new/1", "ws/w/HEAD", "ws/x/commondir", "ws/y/commondir", "ws/y/objects/1"})
    put(file);
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  for (const char* path :
       {"a/objects/1", "a/objects/deep/1", "a/OBJECTS/1", "b/HEAD", "b/head", "c/commondir",
        "a/objects", "data/HEAD", "w/commondir", "w/CommonDir", "x/HEAD", "y/HEAD"}) {
    EXPECT_THAT(write_file(r, path, "x"), IsError(write_protected)) << path;
    EXPECT_THAT(append_file(r, path, "x"), IsError(write_protected)) << path;
  }
  EXPECT_THAT(move_entry(r, "new", "w/commondir"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "f", "x/HEAD"), IsError(write_protected));
  EXPECT_THAT(create_directory(r, "a/objects"), IsError(write_protected));
  EXPECT_THAT(create_directory(r, "a/objects/pack"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "f", "b/HEAD"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "new", "a/objects"), IsError(write_protected));
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  // The controls: a mark that is not the last, one without anything to obey, and without the rules.
  for (const char* path : {"data/objects/2", "free/objects/1", "a/HEAD", "plain/HEAD", "w/HEAD",
                           "x/commondir", "x/objects/1", "plain2/commondir"})
    EXPECT_THAT(write_file(r, path, "x"), IsOk()) << path;
  EXPECT_THAT(write_file(open({.protected_names = {}}), "b/HEAD", "x"), IsOk());
}

TEST_P(protected_names_test, the_repositories_of_submodules_are_removed_by_git) {
  for (const char* file :
       {"ws/.git/modules/m/HEAD", "ws/.git/modules/m/config", "ws/.git/modules/m/objects/1",
        "ws/.git/modules/m/logs/1", "ws/.git/modules/a/b/HEAD", "ws/.git/modules/a/b/objects/1",
        "ws/.git/modules/m/modules/n/HEAD", "ws/.git/modules/m/modules/n/objects/1",
        "ws/.git/worktrees/w/HEAD", "ws/.git/worktrees/w/commondir", "ws/.git/logs/1",
        "ws/x.git/HEAD", "ws/x.git/objects/1", "ws/x.git/modules/m/HEAD",
        "ws/x.git/modules/m/objects/1", "ws/modules/m/f", "ws/.git/modules/m/modules/n/logs/1"})
    put(file);
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  const auto removed = [](const root& in, const char* path) {
    return remove_directory(in, path, {.recursive = recursion::yes});
  };
  for (const char* path :
       {".git/modules/m", ".git/modules", ".git/modules/a", ".git/modules/a/b", ".git/worktrees/w",
        ".git/worktrees", ".GIT/Modules/m", ".git/modules/m/modules/n", ".git/modules/m/modules",
        "x.git/modules/m", "x.git/modules"})
    EXPECT_THAT(removed(r, path), testing::Not(IsOk())) << path;
  EXPECT_THAT(removed(r, ".git/modules/m"), IsError(write_protected));
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  // The controls: what is in one of them, what is called so elsewhere, and a repository as a whole.
  for (const char* path : {".git/modules/m/modules/n/logs", ".git/modules/m/logs", ".git/logs",
                           "modules", "x.git", "sub"})
    EXPECT_THAT(removed(r, path), IsOk()) << path;
  EXPECT_THAT(removed(open({.protected_names = {}}), ".git/modules/a"), IsOk());
}

TEST_P(protected_names_test, a_workspace_that_is_a_bare_repository_is_one) {
  put("ws/HEAD");
  put("ws/objects/1");
  const root r = open();
  for (const char* path : {"config", "hooks/pre-commit", "commondir"})
    expect_of_changes(r, path, write_protected);
  EXPECT_THAT(write_file(r, "description", "x"), IsOk());
}

TEST_P(protected_names_test, a_repository_beneath_that_of_another_is_one) {
  for (const char* there : {"ws/.git/sep/sub", "ws/sub/.git/x/bare.git"}) {
    put(std::string(there) + "/HEAD");
    put(std::string(there) + "/objects/1");
  }
  put("ws/.git/half/objects/1"); // not yet one
  put("ws/.git/half/config");
  const root r = open();
  for (const char* path : {".git/sep/sub/config", ".git/sep/sub/hooks/x", ".git/sep/sub/commondir",
                           "sub/.git/x/bare.git/config", ".git/half/HEAD"})
    expect_of_changes(r, path, write_protected);
  // The controls: other files of it, and what is called so where there is none.
  for (const char* path : {".git/sep/sub/description", ".git/sep/config", ".git/logs/HEAD",
                           ".git/logs/refs/remotes/origin/HEAD"})
    EXPECT_THAT(write_file(r, path, "x"), IsOk()) << path;
}

TEST_P(protected_names_test, reading_and_everything_else_goes_on) {
  const root r = open();
  for (const char* path : {".git/config", ".vscode/tasks", ".envrc", "sub/.git/config"})
    EXPECT_THAT(read_file(r, path), IsOk()) << path;
  EXPECT_THAT(list_directory(r, ".git/hooks"), IsOk());
  // The controls: the same work on names that mean nothing.
  for (const char* path :
       {".git/description", ".git/logs/refs/heads/config", ".agents/skills/s/SKILL.md",
        ".agents/skills/t/new", "plain/.envrc", "plain/.vscode/tasks", ".vscode2/tasks", "config",
        "hooks/pre-commit", "sub/hooks/x", "new/deep/.mcp.json", "new/perstack.toml",
        ".github/workflows/ci.yml", ".gitignore"})
    EXPECT_THAT(write_file(r, path, "x"), IsOk()) << path;
  EXPECT_THAT(create_directory(r, "empty/.agents"), IsOk());
}

TEST_P(protected_names_test, what_leads_to_a_protected_name_stays_in_place) {
  const root r = open();
  for (const char* path : {".git", ".agents", "sub/.git"}) {
    EXPECT_THAT(move_entry(r, path, "elsewhere"), IsError(write_protected)) << path;
    EXPECT_THAT(remove_directory(r, path, {.recursive = recursion::yes}), IsError(write_protected))
        << path;
    EXPECT_THAT(write_file(r, path, "x"), testing::Not(IsOk())) << path;
  }
  // A file or link called .git leads to another repository.
  EXPECT_THAT(write_file(r, "plain/.git", "gitdir: ../evil"), IsError(write_protected));
  put("ws/linked/.git", "gitdir: ../sub/.git");
  EXPECT_THAT(write_file(r, "linked/.git", "x"), IsError(write_protected));
  EXPECT_THAT(remove_file(r, "linked/.git"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "linked/.git", "elsewhere"), IsError(write_protected));
  // A repository further down may go as a whole: the control.
  EXPECT_THAT(move_entry(r, "sub", "moved"), IsOk());
  EXPECT_THAT(remove_directory(r, "moved", {.recursive = recursion::yes}), IsOk());
}

TEST_P(protected_names_test, what_makes_a_repository_one_is_left_to_git) {
  for (const char* file : {"ws/.git/objects/1", "ws/.git/refs/heads/main", "ws/.git/modules/m/HEAD",
                           "ws/.git/modules/m/objects/1", "ws/.git/modules/m/n"})
    put(file);
  const root r = open();
  const std::string before = test::describe_tree(canary.ws());
  for (const char* path : {".git/HEAD", ".GIT/head", "sub/.git/HEAD", ".git/modules/m/HEAD",
                           ".git/Module\u017f/m/HEAD", ".git/worktrees/w/HEAD"})
    expect_of_changes(r, path, write_protected);
  for (const char* path : {".git/objects", ".git/refs", ".git/modules/m/objects"}) {
    EXPECT_THAT(remove_directory(r, path, {.recursive = recursion::yes}), IsError(write_protected));
    EXPECT_THAT(move_entry(r, path, "elsewhere"), IsError(write_protected));
  }
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  const auto refused = write_file(r, ".git/HEAD", "x");
  ASSERT_FALSE(refused.has_value());
  EXPECT_STREQ(refused.error().operation, git_own_name);
  EXPECT_THAT(write_file(r, ".git/objects/2", "x"), IsOk()); // the controls
  EXPECT_THAT(write_file(r, ".git/modules/m/n", "x"), IsOk());
  EXPECT_THAT(write_file(open({.protected_names = {}}), ".git/HEAD", "x"), IsOk());
}

TEST_P(protected_names_test, directories_and_links_do_not_move_in_what_git_keeps) {
  for (const char* file :
       {"ws/evil/config", "ws/evil/HEAD", "ws/evil/objects/1", "ws/.git/modules/lib/HEAD",
        "ws/.git/refs/heads/main", "ws/x.git/HEAD", "ws/x.git/objects/1",
        "ws/x.git/worktrees/w/HEAD", "ws/x.git/others/b", "ws/modules/m/f"})
    put(file);
  t.link("ws/door", "evil");
  t.link("ws/to_git", ".git");
  const root r = open();
  const auto moved = [](const root& in, const char* from, const char* to) {
    SCOPED_TRACE(std::string(from) + " to " + to);
    return move_entry(in, from, to);
  };
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{{"evil", ".git/modules/new"},
                                                        {"evil", ".GIT/x"},
                                                        {"evil", "sub/.git/modules/deep/x"},
                                                        {"evil", "to_git/x"},
                                                        {"evil", "x.git/worktrees/v"},
                                                        {"door", ".git/modules/new"},
                                                        {".git/modules/lib", "old"},
                                                        {".git/modules", "old"},
                                                        {".git/refs/heads", "old"},
                                                        {".git/modules/lib", ".git/modules/other"},
                                                        {"x.git/worktrees/w", "old"}})
    EXPECT_THAT(moved(r, from, to), IsError(write_protected));
  EXPECT_FALSE(t.exists("ws/sub/.git/modules/deep")); // no parent is left
  // The controls: a file, directories that git does not keep, and without any rule of git's.
  EXPECT_THAT(moved(r, "f", ".git/f"), IsOk());
  EXPECT_THAT(moved(r, "modules/m", "modules/n"), IsOk());
  EXPECT_THAT(moved(r, "x.git/others", "others"), IsOk());
  EXPECT_THAT(moved(open({.protected_names = {{".envrc"}}}), "evil", ".git/modules/new"), IsOk());
}

TEST_P(protected_names_test, a_moved_directory_brings_no_protected_name_into_place) {
  for (const char* file : {"ws/x/sys.skills/e/SKILL.md", "ws/y/skills/e/SKILL.md",
                           "ws/sub2/.agents/sys.skills/e", "ws/sub2/.git/HEAD"})
    put(file);
  const root r = open();
  EXPECT_THAT(move_entry(r, "x", "sub/.agents"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "sub2/.agents", "old"), IsError(write_protected));
  t.link("ws/door", "x");
  EXPECT_THAT(move_entry(r, "door", "sub/.agents"), IsError(write_protected));
  EXPECT_THAT(move_entry(r, "x", "plain/.agents"), IsOk()); // no repository: the controls
  EXPECT_THAT(move_entry(r, "y", "sub/.agents"), IsOk());
}

TEST_P(protected_names_test, rules_of_several_parts_hold_in_submodules) {
  put("ws/.git/modules/m/info/attributes");
  const root r = open({.protected_names = {{".git/info/attributes"}}});
  for (const char* path :
       {".git/info/attributes", ".git/modules/m/info/attributes",
        ".git/MODULES/m/n/Info/attributes", "sub/.git/worktrees/w/info/attributes"})
    expect_of_changes(r, path, write_protected);
  EXPECT_THAT(remove_directory(r, ".git/modules/m/info", {.recursive = recursion::yes}),
              IsError(write_protected));
  EXPECT_THAT(write_file(r, ".git/modules/m/info/exclude", "x"), IsOk()); // the control
}

TEST_P(protected_names_test, a_protected_directory_can_be_made_where_only_its_parts_matter) {
  std::filesystem::remove_all(canary.ws() + "/.agents");
  const root r = open();
  EXPECT_THAT(create_directory(r, ".agents/sys.skills"), IsError(write_protected));
  EXPECT_FALSE(t.exists("ws/.agents"));
  EXPECT_THAT(create_directory(r, ".agents"), IsOk());
  EXPECT_THAT(remove_directory(r, ".agents"), IsOk()); // there is nothing in it to be protected
  EXPECT_THAT(write_file(r, ".agents/skills/x/SKILL.md", "x"), IsOk());
}

TEST_P(protected_names_test, links_lead_to_the_same_answer) {
  t.directory("ws/dot/claude");
  t.link("ws/.claude", "dot/claude");
  t.link("ws/to_config", ".git/config");
  t.link("ws/to_new", ".gitmodules");
  t.link("ws/to_hooks", ".git/hooks");
  t.file("ws/dot/claude/settings.json", "host");
  ASSERT_EQ(0, ::link((canary.ws() + "/.git/config").c_str(), (canary.ws() + "/hard").c_str()));
  const root r = open();
  for (const char* path : {"to_config", "to_new"})
    EXPECT_THAT(write_file(r, path, "x"), IsError(write_protected)) << path;
  EXPECT_THAT(append_file(r, "to_config", "x"), IsError(write_protected));
  EXPECT_THAT(edit_file(r, "to_config", {.old_text = "host", .new_text = "x"}),
              IsError(write_protected));
  expect_of_changes(r, "to_hooks/pre-commit", write_protected);
  expect_of_changes(r, ".claude/settings.json", write_protected);    // by its name
  expect_of_changes(r, "dot/claude/settings.json", write_protected); // and where it really is
  EXPECT_THAT(remove_file(r, ".claude"), IsError(write_protected));
  EXPECT_THAT(append_file(r, "hard", "x"), IsError(hard_linked));
  EXPECT_THAT(write_file(r, "hard", "x"), IsOk()); // replaces that name only
  EXPECT_EQ(t.content("ws/.git/config"), "host");
  EXPECT_THAT(remove_file(r, "to_config"), IsOk()); // the link is nobody's
}

TEST_P(protected_names_test, hidden_entries_are_hidden_at_every_depth) {
  t.link("ws/door", "plain/deep/.perstack");
  t.link("ws/key", "plain/deep/.perstack/key");
  const root r = open();
  for (const char* path : {"plain/deep/.perstack", "plain/deep/.perstack/key",
                           "plain/deep/.PerStack/key", "plain/./deep//.perstack/no/such",
                           "plain/deep/.per\ufb06ack/key", "no/such/.perstack", "door/key"}) {
    expect_of_changes(r, path, protected_entry);
    EXPECT_THAT(read_file(r, path), IsError(protected_entry));
    EXPECT_THAT(list_directory(r, path), IsError(protected_entry));
    EXPECT_THAT(inspect(r, path), IsError(protected_entry));
  }
  EXPECT_THAT(read_file(r, "key"), IsError(protected_entry));
  EXPECT_EQ(list_directory(r, "plain/deep")->total, 0U);
  EXPECT_THAT(remove_directory(r, "plain", {.recursive = recursion::yes}),
              IsError(protected_entry));
  EXPECT_EQ(t.content("ws/plain/deep/.perstack/key"), "host");
  EXPECT_THAT(move_entry(r, "plain", "other"), IsOk()); // it stays hidden
  EXPECT_THAT(read_file(r, "other/deep/.perstack/key"), IsError(protected_entry));
}

TEST_P(protected_names_test, the_list_can_be_changed) {
  root_options options;
  EXPECT_TRUE(unprotect(options.protected_names, ".git/hooks"));
  EXPECT_FALSE(unprotect(options.protected_names, ".git/hooks"));
  protect(options.protected_names, {"Makefile"});
  protect(options.protected_names, {"secrets", protection::hidden});
  protect(options.protected_names, {".envrc", protection::hidden});
  t.file("ws/plain/secrets", "host");
  const root r = open(options);
  EXPECT_THAT(write_file(r, ".git/hooks/pre-commit", "x"), IsOk());
  EXPECT_THAT(write_file(r, ".git/config", "x"), IsError(write_protected));
  EXPECT_THAT(write_file(r, "Makefile", "x"), IsError(write_protected));
  EXPECT_THAT(write_file(r, "sub/makefile", "x"), IsError(write_protected));
  EXPECT_THAT(write_file(r, "plain/Makefile", "x"), IsOk());
  EXPECT_THAT(read_file(r, "plain/secrets"), IsError(protected_entry));
  EXPECT_THAT(read_file(r, ".envrc"), IsError(protected_entry));
  EXPECT_THAT(write_file(open({.protected_names = {}}), ".git/config", "x"), IsOk());
}

TEST_P(protected_names_test, paths_of_the_program_itself_are_read_only) {
  put("ws/build/tools/server");
  const root r = open({.read_only_paths = {canary.ws() + "/build/tools/server", "/usr/bin/true"}});
  expect_of_changes(r, "build/tools/server", write_protected);
  for (const char* path : {"build", "build/tools"}) {
    EXPECT_THAT(move_entry(r, path, "elsewhere"), IsError(write_protected)) << path;
    EXPECT_THAT(remove_directory(r, path, {.recursive = recursion::yes}), IsError(write_protected))
        << path;
  }
  EXPECT_THAT(write_file(r, "build/tools/other", "x"), IsOk());
  EXPECT_THAT(write_file(r, "build/tools/server2", "x"), IsOk());
}

TEST(protected_name, is_relative_and_plain) {
  for (const char* name : {"a", ".git/hooks", "a/b/c", "..a", "a."})
    EXPECT_TRUE(is_valid({name})) << name;
  for (const char* name : {"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a"})
    EXPECT_FALSE(is_valid({name})) << name;
  EXPECT_FALSE(is_valid({"a/b", protection::hidden}));
  for (const auto& each : usual_protected_names())
    EXPECT_TRUE(is_valid(each)) << each.name;
}

TEST(protected_name, is_named_by_the_error) {
  const test::canary_tree canary;
  const root r = open_root(canary.ws(), resolver::automatic);
  const auto refused = write_file(r, ".git/hooks/pre-commit", "x");
  ASSERT_THAT(refused, IsError(write_protected));
  EXPECT_STREQ(refused.error().operation, ".git/hooks");
}

} // namespace
} // namespace paddock
