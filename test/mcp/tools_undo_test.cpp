// SPDX-License-Identifier: MIT

// The tools checkpoint, listChanges and restore, and what all tools put down in the history.

#include "support/mcp/tool_fixture.hpp"

#include <paddock/history/history.hpp>

#include <sys/file.h>

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class tools_undo : public coding_fixture {
protected:
  void SetUp() override {
    if (!history::have_history()) GTEST_SKIP() << "built without xxHash";
    tree.directory("d");
    tree.file("a", "one\ntwo\n");
    tree.file("d/b", "b\n");
    tree.link("l", "a");
    serve_with_history({});
  }
  void serve_with_history(mcp::workspace_options options,
                          confinement_policy confinement = confinement_policy::best_effort()) {
    auto opened = root::open(tree.path());
    ASSERT_TRUE(opened);
    auto made = history::store::open(std::make_shared<const root>(*std::move(opened)),
                                     {.directory = stores / "h"});
    ASSERT_TRUE(made) << explain(made.error());
    store = *made;
    ASSERT_TRUE(store->read_in());
    options.history = store;
    options.confinement = std::move(confinement);
    serve_coding(std::move(options));
  }
  /// "created a by tool; modified b by exec", as listChanges tells.
  std::string changes(std::string_view arguments = "{}") {
    const auto got = call("listChanges", arguments);
    if (got.failed) return got.error() + ": " + got.message();
    std::string out;
    got["changes"].for_each_element([&](mcp::json_view each) {
      out.append(out.empty() ? "" : "; ").append(*each["kind"].string()).append(" ");
      if (const auto from = each["from"].string()) out.append(*from).append(" to ");
      out.append(*each["path"].string()).append(" by ").append(*each["by"].string());
    });
    return out;
  }
  std::string everything() const {
    std::string out;
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path()))
      all.push_back(entry.path());
    std::ranges::sort(all);
    for (const auto& path : all) {
      const auto name = std::filesystem::relative(path, tree.path()).string();
      out += name;
      if (std::filesystem::is_symlink(path))
        out += " -> " + std::filesystem::read_symlink(path).string();
      else if (std::filesystem::is_regular_file(path))
        out += " = " + tree.content(name);
      out += '\n';
    }
    return out;
  }

  temp_tree stores;
  std::shared_ptr<history::store> store;
};

struct recorded_case {
  const char* name;
  const char* tool;
  const char* arguments;
  const char* changes; ///< afterwards; empty: none
};

constexpr recorded_case recorded[] = {
    {"a file", "writeTextFile", R"({"path":"n","text":"x"})", "created n by tool"},
    {"a file and what it lies in", "writeTextFile", R"({"path":"n/m/f","text":"x"})",
     "created n by tool"},
    {"a new content", "writeTextFile", R"({"path":"a","text":"x"})", "modified a by tool"},
    {"the same content", "editFile", R"({"path":"a","edits":[{"oldText":"one","newText":"one"}]})",
     ""},
    {"by an absolute path", "writeTextFile", R"({"path":"@/n/f","text":"x"})", "created n by tool"},
    {"through a link", "appendTextFile", R"({"path":"l","text":"x"})", "modified a by tool"},
    {"an edit", "editTextFile", R"({"path":"a","oldText":"one","newText":"1"})",
     "modified a by tool"},
    {"edits", "editFile", R"({"path":"a","edits":[{"oldText":"one","newText":"1"}]})",
     "modified a by tool"},
    {"a trial", "editFile",
     R"({"path":"a","edits":[{"oldText":"one","newText":"1"}],"dryRun":true})", ""},
    {"several files", "applyChanges",
     R"({"changes":[{"path":"a","text":"x"},{"path":"d/b","delete":true},{"path":"n","text":""}]})",
     "modified a by tool; deleted d/b by tool; created n by tool"},
    {"the same in several", "applyChanges",
     R"({"changes":[{"paths":["a"],"edits":[{"oldText":"one","newText":"1"}]}]})",
     "modified a by tool"},
    {"one that goes elsewhere", "applyChanges", R"({"changes":[{"path":"d/b","moveTo":"e/c"}]})",
     "created e by tool; moved d/b to e/c by tool"},
    {"a patch", "applyChanges",
     R"({"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n"})",
     "modified a by tool; created n by tool"},
    {"a move", "moveFile", R"({"source":"a","destination":"z"})", "moved a to z by tool"},
    {"a directory's move", "moveFile", R"({"source":"d","destination":"e"})",
     "moved d to e by tool"},
    {"a deletion", "deleteFile", R"({"path":"a"})", "deleted a by tool"},
    {"a link's", "deleteFile", R"({"path":"l"})", "deleted l by tool"},
    {"a directory", "createDirectory", R"({"path":"x/y"})", "created x by tool"},
    {"a directory's deletion", "deleteDirectory", R"({"path":"d","recursive":true})",
     "deleted d by tool"},
    {"a refused one", "deleteFile", R"({"path":"d"})", ""},
    {"a command", "exec", R"({"command":"sh","args":["-c","echo x >a; rm d/b"]})",
     "modified a by exec; deleted d/b by exec"},
    {"one that changes nothing", "exec", R"({"command":"true"})", ""},
};

TEST_F(tools_undo, every_tool_is_recorded_and_taken_back) {
  const std::string before = everything();
  for (const recorded_case& each : recorded) {
    SCOPED_TRACE(each.name);
    const std::string mark = call("checkpoint").string("checkpoint");
    std::string arguments = each.arguments;
    if (const auto at = arguments.find('@'); at != arguments.npos && arguments[at + 1] == '/')
      arguments.replace(at, 1, tree.path());
    const auto done = call(each.tool, arguments);
    EXPECT_FALSE(done["undo"].exists()) << done.json;
    const std::string since = R"({"since":")" + mark + "\"}", to = R"({"to":")" + mark + "\"}";
    EXPECT_EQ(each.changes, changes(since));
    if (*each.changes != '\0') {
      EXPECT_NE(before, everything());
    } // the control
    const auto back = call("restore", to);
    ASSERT_FALSE(back.failed) << back.json;
    EXPECT_EQ(0U, back["conflicts"].size());
    EXPECT_EQ(*each.changes != '\0', back["checkpoint"].exists()) << back.json;
    EXPECT_EQ(before, everything());
    EXPECT_EQ("", changes(since));
  }
}

TEST_F(tools_undo, a_restore_is_taken_back_as_well) {
  call("writeTextFile", R"({"path":"a","text":"x"})");
  const std::string changed = everything();
  const auto back = call("restore");
  EXPECT_NE(changed, everything());
  const auto forth = call("restore", R"({"to":")" + back.string("checkpoint") + "\"}");
  EXPECT_FALSE(forth.failed) << forth.json;
  EXPECT_EQ(changed, everything());
}

TEST_F(tools_undo, some_paths_are_taken_back_alone) {
  call("writeTextFile", R"({"path":"a","text":"x"})");
  call("writeTextFile", R"({"path":"d/b","text":"x"})");
  call("writeTextFile", R"({"path":"d/c","text":"x"})");
  EXPECT_EQ("modified d/b by tool; created d/c by tool", changes(R"({"paths":["d"]})"));
  EXPECT_EQ("modified d/b by tool", changes(R"({"paths":["./d/../d/b"]})"));
  const auto tried = call("restore", R"({"paths":["d"],"dryRun":true})");
  EXPECT_THAT(tried.string("notice"), HasSubstr("nothing was changed"));
  EXPECT_FALSE(tried["checkpoint"].exists());
  EXPECT_EQ("x", tree.content("d/b"));
  EXPECT_FALSE(call("restore", R"({"paths":["d"]})").failed);
  EXPECT_EQ("b\n", tree.content("d/b"));
  EXPECT_FALSE(std::filesystem::exists(tree / "d/c"));
  EXPECT_EQ("x", tree.content("a"));
  EXPECT_FALSE(call("restore", R"({"paths":["."]})").failed);
  EXPECT_EQ("one\ntwo\n", tree.content("a"));
}

TEST_F(tools_undo, what_a_person_changed_is_theirs) {
  call("writeTextFile", R"({"path":"a","text":"agent"})");
  tree.file("a", "person");
  tree.file("mine", "mine");
  EXPECT_EQ("modified a by other; created mine by other", changes());
  const auto refused = call("restore");
  EXPECT_EQ(0, refused.integer("restored"));
  EXPECT_EQ(1U, refused["conflicts"].size());
  EXPECT_THAT(refused.string("notice"), AllOf(HasSubstr("force"), HasSubstr("paths")));
  EXPECT_EQ("person", tree.content("a"));
  const auto forced = call("restore", R"({"force":true})");
  EXPECT_FALSE(forced.failed) << forced.json;
  EXPECT_EQ("one\ntwo\n", tree.content("a"));
  EXPECT_EQ("mine", tree.content("mine"));
}

TEST_F(tools_undo, differences_are_shown_as_far_as_they_have_room) {
  call("writeTextFile", R"({"path":"a","text":"one\n2\n"})");
  call("writeTextFile", R"({"path":"n/m","text":"new\n"})");
  call("deleteFile", R"({"path":"d/b"})");
  tree.file("blob", "\0\1"s);
  tree.link("link", "a");
  EXPECT_FALSE(call("listChanges")["diff"].exists());
  const auto got = call("listChanges", R"({"diff":true})");
  EXPECT_THAT(got.string("diff"),
              AllOf(HasSubstr("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
                    HasSubstr("--- /dev/null\n+++ b/n/m\n@@ -0,0 +1 @@\n+new\n"),
                    HasSubstr("--- a/d/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"),
                    HasSubstr("--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+a\n\\ No newline"),
                    HasSubstr("Binary files differ, or are not held: blob\n")));
  EXPECT_FALSE(got["diffTruncated"].exists());
  std::string lines;
  for (int i = 0; i < 20'000; ++i)
    lines += std::to_string(i) + "\n";
  tree.file("long", lines);
  const auto cut = call("listChanges", R"({"diff":true})");
  EXPECT_LE(cut.string("diff").size(), 16U * 1024);
  EXPECT_EQ("true", cut["diffTruncated"].text());
}

TEST_F(tools_undo, differences_of_utf16_are_of_its_text) {
  tree.file("wide", "\xFF\xFEo\0n\0e\0\n\0"s);
  ASSERT_FALSE(call("checkpoint", R"({"label":"wide"})").failed);
  EXPECT_FALSE(
      call("editFile", R"({"path":"wide","edits":[{"oldText":"one","newText":"é"}]})").failed);
  EXPECT_EQ("\xFF\xFE\xE9\0\n\0"s, tree.content("wide"));
  EXPECT_THAT(call("listChanges", R"({"diff":true,"since":"wide"})").string("diff"),
              HasSubstr("--- a/wide\n+++ b/wide\n@@ -1 +1 @@\n-one\n+é\n"));
}

TEST_F(tools_undo, what_changed_since_a_hash_is_shown_with_what_is_stale) {
  const std::string read = call_path("readTextFile", "a").string("hash");
  const std::string written =
      call("writeTextFile", R"({"path":"a","text":"one\n2\n"})").string("hash");
  tree.file("a", "one\n3\n");
  const auto edit = [&](const std::string& hash) {
    return call("editFile", R"({"path":"a","edits":[{"oldText":"one","newText":"1"}],"ifHash":")" +
                                hash + "\"}");
  };
  EXPECT_EQ("stale", edit(read).error());
  EXPECT_EQ("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+3\n", edit(read).string("diff"));
  EXPECT_EQ("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-2\n+3\n", edit(written).string("diff"));
  const auto several = call("applyChanges", R"({"changes":[{"path":"l","text":"x","ifHash":")" +
                                                written + R"("}]})");
  EXPECT_EQ("stale", several.error());
  EXPECT_THAT(several.string("diff"), HasSubstr("-2\n+3\n"));
  const auto unknown = edit("0123456789abcdef"); // the control
  EXPECT_EQ("stale", unknown.error());
  EXPECT_FALSE(unknown["diff"].exists());
  EXPECT_EQ("one\n3\n", tree.content("a"));
}

TEST_F(tools_undo, lists_are_cut_where_asked) {
  for (int i = 0; i < 5; ++i)
    call("writeTextFile", R"({"path":"n)" + std::to_string(i) + R"(","text":"x"})");
  const auto got = call("listChanges", R"({"limit":2})");
  EXPECT_EQ(2U, got["changes"].size());
  EXPECT_EQ("true", got["truncated"].text());
  EXPECT_EQ(5, got.integer("total"));
  EXPECT_EQ("false", call("listChanges")["truncated"].text());
}

TEST_F(tools_undo, checkpoints_are_listed_and_found_by_their_labels) {
  EXPECT_FALSE(call("listChanges")["checkpoints"].exists()); // the control
  const std::string mark =
      call("checkpoint", R"({"label":"before the merge"})").string("checkpoint");
  call("checkpoint");
  call("writeTextFile", R"({"path":"a","text":"x"})");
  const auto got = call("listChanges", R"({"since":"before the merge"})");
  ASSERT_EQ(2U, got["checkpoints"].size()) << got.json;
  EXPECT_THAT(got["checkpoints"].text(),
              HasSubstr(R"({"checkpoint":")" + mark + R"(","label":"before the merge"})"));
  EXPECT_EQ(1U, got["changes"].size());
  EXPECT_EQ(1, call("restore", R"({"to":"before the merge"})").integer("restored"));
  EXPECT_EQ("one\ntwo\n", tree.content("a"));
}

TEST_F(tools_undo, only_what_is_shown_is_counted) {
  tree.directory("sub");
  tree.file("sub/b", "one\n");
  serve_with_history({});
  call("writeTextFile", R"({"path":"sub/b","text":"x"})"); // that changes the time of sub, too
  const auto back = call("restore");
  EXPECT_EQ(R"(["sub/b"])", back["paths"].text());
  EXPECT_EQ(1, back.integer("restored"));
}

TEST_F(tools_undo, what_git_keeps_is_one_change_and_no_difference) {
  tree.directory(".git");
  tree.file(".git/description", "1");
  serve_with_history({});
  call("exec",
       R"({"command":"sh","args":["-c","echo x >.git/description; echo x >.git/new; echo x >a"]})");
  const auto got = call("listChanges", R"({"diff":true})");
  EXPECT_EQ("modified .git by exec; modified a by exec", changes());
  EXPECT_THAT(
      got["changes"].text(),
      HasSubstr(R"("path":".git","kind":"modified","by":"exec","restorable":true,"files":2)"));
  EXPECT_THAT(got.string("diff"), testing::Not(HasSubstr(".git")));
  // The control: asked for by name, it is told.
  EXPECT_THAT(call("listChanges", R"({"diff":true,"paths":[".git"]})").string("diff"),
              HasSubstr(".git/new"));
}

TEST_F(tools_undo, one_file_in_a_new_directory_is_counted) {
  call("writeTextFile", R"({"path":"n/f","text":"x"})");
  EXPECT_THAT(call("listChanges")["changes"].text(), HasSubstr(R"("files":1)"));
  call("writeTextFile", R"({"path":"a","text":"x"})");
  EXPECT_THAT(call("listChanges", R"({"paths":["a"]})")["changes"].text(),
              testing::Not(HasSubstr("files")));
}

TEST_F(tools_undo, a_restore_of_nothing_says_why) {
  EXPECT_EQ("there was nothing to restore", call("restore").string("notice")); // the control
  tree.file("mine", "mine");
  EXPECT_THAT(call("restore").string("notice"), HasSubstr("are not yours"));
  EXPECT_THAT(call("restore", R"({"paths":["ketp"]})").string("notice"),
              HasSubstr("nothing is or was at ketp"));
}

TEST_F(tools_undo, conflicts_are_cut_and_counted) {
  for (int i = 0; i < 60; ++i)
    call("writeTextFile", R"({"path":"n)" + std::to_string(i) + R"(","text":"x"})");
  for (int i = 0; i < 60; ++i)
    tree.file("n" + std::to_string(i), "mine");
  const auto got = call("restore");
  EXPECT_EQ(50U, got["conflicts"].size());
  EXPECT_EQ(60, got.integer("conflictsTotal"));
}

TEST_F(tools_undo, what_did_not_come_back_whole_is_told) {
  std::filesystem::permissions(tree.path() + "/a", std::filesystem::perms::set_uid,
                               std::filesystem::perm_options::add);
  serve_with_history({});
  call("exec", R"({"command":"sh","args":["-c","echo x >a"]})");
  const auto tried = call("restore", R"({"dryRun":true})");
  ASSERT_EQ(1U, tried["left"].size()) << tried.json;
  EXPECT_THAT(tried.string("notice"), HasSubstr("left lists what would not be restored whole"));
  const auto got = call("restore");
  ASSERT_EQ(1U, got["left"].size()) << got.json;
  EXPECT_THAT(got.string("notice"), HasSubstr("left lists what was not restored whole"));
}

TEST_F(tools_undo, what_a_process_changes_is_its_own_while_it_runs) {
  const auto begun = call("startProcess", R"({"command":"sh","args":["-c",)"
                                          R"("echo x >made; echo ready; read line; echo y >made"],)"
                                          R"("until":"ready","waitMs":20000})");
  ASSERT_EQ("running", begun.string("state")) << begun.json;
  const std::string process = R"({"process":")" + begun.string("process") + "\"";
  EXPECT_EQ("created made by exec", changes());
  const auto list = store->changes({});
  ASSERT_TRUE(list);
  EXPECT_THAT(list->changes.front().command, StartsWith("sh -c echo x"));
  EXPECT_THAT(call("restore").string("notice"),
              AllOf(HasSubstr("startProcess sh -c"), HasSubstr("is still running"),
                    HasSubstr("stopProcess")));
  EXPECT_FALSE(tree.exists("made"));
  call("writeProcess", process + R"(,"text":"go\n"})");
  EXPECT_EQ("exited",
            call("readProcess", process + R"(,"waitMs":20000,"until":"never"})").string("state"));
  EXPECT_EQ("created made by exec", changes());
  EXPECT_FALSE(call("restore")["notice"].exists()); // the control
  EXPECT_FALSE(tree.exists("made"));
}

/// Nobody hears of what is changed by a name outside of the workspace. A confined command can make
/// none; behind one that is not, everything is looked at.
TEST_F(tools_undo, what_a_command_changes_by_a_name_outside_is_held_behind_it) {
  const std::string line =
      "ln a " + stores / "x" + "; echo out >" + stores / "x" + "; rm -f " + stores / "x" + "; true";
  for (const auto& policy : {confinement_policy::host(), confinement_policy::best_effort()}) {
    serve_with_history({}, policy);
    for (int i = 0; i < 3; ++i)
      call("exec", R"({"command":"true"})");
    call("exec", R"({"command":"sh","args":["-c",")" + line + R"("]})");
    const std::string held = tree.content("a");
    if (policy.file_system == demand::off) {
      EXPECT_EQ(held, "out\n"); // the control
    }
    call("exec", R"({"command":"sh","args":["-c","echo over >a"]})");
    const auto states = store->states_of("a");
    ASSERT_TRUE(states);
    EXPECT_TRUE(std::ranges::any_of(*states, [&](const history::entry_state& each) {
      const auto bytes = store->content(each.content);
      return bytes && *bytes == held;
    }));
    tree.file("a", "one\ntwo\n");
  }
}

/// Until what is there has older file times than what a command does next.
void wait_for_next_tick() {
  const auto now_ns = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  for (const auto began_ns = now_ns(CLOCK_REALTIME); now_ns(CLOCK_REALTIME_COARSE) <= began_ns;)
    std::this_thread::yield();
}

/// What a person makes while a command runs, and where that could change nothing, is the person's.
TEST_F(tools_undo, what_a_command_could_not_change_is_not_its_own) {
  namespace fs = std::filesystem;
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::protected_entries).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  constexpr std::string_view hook = ".git/hooks/pre-commit";
  const std::string script = "echo x >made; until test -e go; do :; done";
  for (const std::string_view tool : {"exec", "startProcess"})
    for (const auto& policy : {confinement_policy::best_effort(), confinement_policy::host()}) {
      for (const auto& each : fs::directory_iterator(tree.path()))
        fs::remove_all(each.path());
      for (const char* each : {".git/hooks", ".git/objects", ".git/refs"})
        tree.directory(each);
      tree.file(".git/HEAD", "ref: refs/heads/main\n");
      tree.file(".git/config", "[core]\n");
      wait_for_next_tick();
      serve_with_history({}, policy);
      std::thread person([&] {
        while (!tree.exists("made"))
          std::this_thread::yield();
        tree.file(hook, "a person's\n");
        tree.file("go", "");
      });
      const auto ran = call(tool, R"({"command":"sh","args":["-c",)" + json_string(script) + "]}");
      person.join();
      EXPECT_FALSE(ran.failed) << ran.json;
      if (tool == "startProcess")
        (void)call("stopProcess", R"({"process":")" + ran.string("process") + "\"}");
      const bool is_confined = policy.protected_entries != demand::off;
      EXPECT_EQ(changes().find(".git by other") != std::string::npos, is_confined) << changes();
      (void)call("restore", R"({"paths":["made",".git"]})");
      EXPECT_FALSE(tree.exists("made"));
      EXPECT_EQ(tree.exists(hook), is_confined) << tool; // the control: it was there to be removed
    }
}

/// The process ends while nobody asks for anything; what a person does then is the person's.
TEST_F(tools_undo, what_comes_after_the_end_of_a_process_is_not_its_own) {
  const auto threads = [] {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto begun = call("startProcess", R"({"command":"sh","args":["-c",)"
                                          R"("echo x >made; until test -e go; do :; done"],)"
                                          R"("waitMs":0})");
  ASSERT_EQ("running", begun.string("state")) << begun.json;
  const auto with_it = threads();
  tree.file("go", "");
  // Its thread has put down by then what it changed.
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (threads() >= with_it && std::chrono::steady_clock::now() < latest)
    std::this_thread::yield();
  ASSERT_LT(threads(), with_it);
  tree.file("thesis", "by hand");
  EXPECT_EQ("created go by exec; created made by exec; created thesis by other", changes());
  EXPECT_FALSE(call("restore").failed);
  EXPECT_EQ("by hand", tree.content("thesis"));
  EXPECT_FALSE(tree.exists("made"));
}

TEST_F(tools_undo, what_is_not_covered_is_named) {
  tree.file(".gitignore", "out/\n");
  tree.directory("out");
  tree.file("out/made", "1");
  serve_with_history({});
  call("exec", R"({"command":"sh","args":["-c","echo 2 >out/made"]})");
  const auto got = call("listChanges");
  ASSERT_EQ(1U, got["notCovered"].size()) << got.json;
  EXPECT_THAT(got["notCovered"].text(), AllOf(HasSubstr("out"), HasSubstr("ignored")));
}

struct refused_undo {
  const char* name;
  const char* tool;
  const char* arguments;
  const char* error;
  const char* words;
};

TEST_F(tools_undo, refusals_say_what_to_do) {
  call("checkpoint", R"({"label":"before the merge"})");
  const std::string long_label = R"({"label":")" + std::string(201, 'x') + "\"}";
  const refused_undo table[] = {
      {"no number", "listChanges", R"({"since":"yesterday"})", "not_found", "before the merge"},
      {"an unknown one", "restore", R"({"to":"999"})", "not_found", "there are: start"},
      {"a negative one", "restore", R"({"to":"-1"})", "not_found", "there are"},
      {"an empty one", "restore", R"({"to":""})", "invalid_argument", "to"},
      {"a path outside", "restore", R"({"paths":["../x"]})", "invalid_argument", "no path in"},
      {"another", "listChanges", R"({"paths":["/etc/passwd"]})", "invalid_argument", "no path in"},
      {"no paths", "restore", R"({"paths":[]})", "invalid_argument", "paths"},
      {"a long label", "checkpoint", long_label.c_str(), "invalid_argument", "200"},
      {"a label taken", "checkpoint", R"({"label":"start"})", "invalid_argument", "another label"},
  };
  for (const refused_undo& each : table) {
    SCOPED_TRACE(each.name);
    const auto got = call(each.tool, each.arguments);
    EXPECT_EQ(each.error, got.error());
    EXPECT_THAT(got.message(), HasSubstr(each.words));
  }
  EXPECT_FALSE(call("restore", R"({"to":"start"})").failed); // the control
}

TEST_F(tools_undo, without_history_the_tools_say_why) {
  serve_coding({.no_history = "the server was started with --history off"});
  for (const char* tool : {"checkpoint", "listChanges", "restore"}) {
    const auto got = call(tool);
    EXPECT_EQ("unsupported", got.error());
    EXPECT_THAT(got.message(), AllOf(HasSubstr("--history off"), HasSubstr("git")));
  }
  EXPECT_FALSE(call("writeTextFile", R"({"path":"n","text":"x"})").failed);
  EXPECT_EQ("off: the server was started with --history off", call("healthCheck").string("undo"));
  serve_with_history({});
  EXPECT_THAT(call("healthCheck").string("undo"), StartsWith("on"));
  serve({});
  EXPECT_FALSE(call("healthCheck")["undo"].exists());
}

TEST_F(tools_undo, where_nothing_can_be_changed_there_is_nothing_to_take_back) {
  serve_coding({.access = mcp::workspace_access::read_only});
  for (const mcp::tool& each : server().tools())
    EXPECT_TRUE(each.name != "restore" && each.name != "listChanges" && each.name != "checkpoint");
}

/// Somebody else has the store locked: what a call may take of time, its look may not take longer.
TEST_F(tools_undo, a_deadline_ends_the_look_and_the_work_goes_on) {
  mcp::workspace_options options{.tools = mcp::toolset::coding,
                                 .limits = mcp::limits_of(mcp::toolset::coding),
                                 .confinement = confinement_policy::best_effort()};
  options.history = store;
  options.limits->tool_timeout_ms = 100;
  serve(options);
  const auto own = std::filesystem::directory_iterator(stores / "h")->path().string();
  const file_descriptor lock(::open((own + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(0, ::flock(lock.get(), LOCK_EX));
  const auto ran = call("exec", R"({"command":"sh","args":["-c","echo x >a"]})");
  EXPECT_FALSE(ran.failed) << ran.json;
  EXPECT_THAT(ran.string("undo"), HasSubstr("the time of the call was over"));
  EXPECT_EQ("x\n", tree.content("a"));
  const auto begun = call("startProcess", R"({"command":"true"})");
  EXPECT_FALSE(begun.failed) << begun.json;
  EXPECT_THAT(begun.string("undo"), HasSubstr("the time of the call was over"));
  const auto written = call("writeTextFile", R"({"path":"n","text":"x"})");
  EXPECT_FALSE(written.failed) << written.json;
  EXPECT_THAT(written.string("undo"), HasSubstr("the time of the call was over"));
  ASSERT_EQ(0, ::flock(lock.get(), LOCK_UN));
  options.limits->tool_timeout_ms = 0; // the control, for as long as the machine needs
  serve(options);
  EXPECT_THAT(call("exec", R"({"command":"true"})").json, testing::Not(HasSubstr("undo")));
}

/// A call whose client may cancel it as soon as it begins to wait, as a transport would have it.
class waiting_call final : public mcp::call {
public:
  enum class client : std::uint8_t { waits, cancels };
  waiting_call(std::string_view arguments, client is) : client_(is) {
    const auto parsed = document_.parse(arguments);
    EXPECT_TRUE(parsed) << arguments;
    if (parsed) arguments_ = *parsed;
  }
  void on_cancel(std::function<void()> f) override {
    if (f && cancelled_) f();
  }
  void may_block() override { cancelled_ = client_ == client::cancels; }
  bool wants_progress() const noexcept override { return false; }
  void progress(double, std::string_view) override {}
  void log(mcp::log_level, std::string_view) override {}
  std::size_t message_bytes_max() const noexcept override { return std::size_t{1} << 20; }

private:
  mcp::json_document document_;
  const client client_;
};

constexpr recorded_case written_by_all[] = {
    {"", "writeTextFile", R"({"path":"a","text":"x"})", "modified a by tool"},
    {"", "appendTextFile", R"({"path":"a","text":"x"})", "modified a by tool"},
    {"", "editTextFile", R"({"path":"a","oldText":"one","newText":"1"})", "modified a by tool"},
    {"", "editFile", R"({"path":"a","edits":[{"oldText":"one","newText":"1"}]})",
     "modified a by tool"},
    {"", "applyChanges", R"({"changes":[{"path":"d/b","delete":true}]})", "deleted d/b by tool"},
    {"", "moveFile", R"({"source":"a","destination":"z"})", "moved a to z by tool"},
    {"", "deleteFile", R"({"path":"a"})", "deleted a by tool"},
    {"", "createDirectory", R"({"path":"x"})", "created x by tool"},
    {"", "deleteDirectory", R"({"path":"d","recursive":true})", "deleted d by tool"},
    {"", "exec", R"({"command":"rm","args":["a"],"env":{},"cwd":".","stdout":true,"stderr":true})",
     "deleted a by exec"},
    {"", "startProcess",
     R"({"command":"rm","args":["a"],"cwd":".","until":"never","waitMs":20000})",
     "deleted a by exec"},
};

/// Somebody else has the store locked. What is not in the history must not be done.
TEST_F(tools_undo, what_is_cancelled_while_it_waits_for_the_history_changes_nothing) {
  using enum waiting_call::client;
  const auto own = std::filesystem::directory_iterator(stores / "h")->path().string();
  const file_descriptor lock(::open((own + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  const std::string before = everything();
  std::vector<std::string> left;
  for (const mcp::tool& each : server().tools())
    if (each.output_schema.find(R"("undo":{)") != std::string::npos && each.name != "healthCheck")
      left.push_back(each.name);
  for (const recorded_case& each : written_by_all) {
    SCOPED_TRACE(each.tool);
    std::erase(left, each.tool);
    const auto tool = std::ranges::find(server().tools(), each.tool, &mcp::tool::name);
    ASSERT_NE(tool, server().tools().end());
    const std::string mark = call("checkpoint").string("checkpoint");
    const std::string since = R"({"since":")" + mark + "\"}", to = R"({"to":")" + mark + "\"}";
    ASSERT_EQ(0, ::flock(lock.get(), LOCK_EX));
    waiting_call given_up(each.arguments, cancels);
    EXPECT_EQ("cancelled", tool->handler(given_up).error);
    ASSERT_EQ(0, ::flock(lock.get(), LOCK_UN));
    EXPECT_EQ("", changes(since));
    EXPECT_EQ(before, everything());
    waiting_call control(each.arguments, waits);
    const mcp::tool_result done = tool->handler(control);
    EXPECT_FALSE(done.failed()) << done.json;
    EXPECT_EQ(each.changes, changes(since));
    EXPECT_NE(before, everything());
    EXPECT_FALSE(call("restore", to).failed);
    EXPECT_EQ(before, everything());
  }
  EXPECT_THAT(left, testing::IsEmpty());
}

TEST_F(tools_undo, a_restore_cancelled_while_it_waits_restores_nothing) {
  const auto own = std::filesystem::directory_iterator(stores / "h")->path().string();
  const file_descriptor lock(::open((own + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  call("writeTextFile", R"({"path":"a","text":"x"})");
  const auto tool = std::ranges::find(server().tools(), "restore", &mcp::tool::name);
  ASSERT_NE(tool, server().tools().end());
  ASSERT_EQ(0, ::flock(lock.get(), LOCK_EX));
  waiting_call given_up(R"({"to":"start"})", waiting_call::client::cancels);
  EXPECT_TRUE(tool->handler(given_up).failed());
  ASSERT_EQ(0, ::flock(lock.get(), LOCK_UN));
  EXPECT_EQ("x", tree.content("a"));
  waiting_call control(R"({"to":"start"})", waiting_call::client::waits);
  EXPECT_FALSE(tool->handler(control).failed());
  EXPECT_EQ("one\ntwo\n", tree.content("a"));
}

} // namespace
} // namespace paddock::test
