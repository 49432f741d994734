// SPDX-License-Identifier: MIT

// The tool applyChanges: several files, all or none.

#include "change/change_record.hpp"
#include "support/mcp/tool_fixture.hpp"

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class tools_changes : public coding_fixture {
protected:
  void SetUp() override {
    coding_fixture::SetUp();
    tree.directory("d");
    for (const auto& [name, text] : before)
      tree.file(name, text);
  }
  /// Every file and what it has.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path()))
      if (entry.is_regular_file() && !entry.is_symlink()) {
        const std::string name = std::filesystem::relative(entry.path(), tree.path());
        all[name] = tree.content(name);
      }
    return all;
  }
  /// What a call changes, as lines "name: content" and "name: (gone)".
  std::string changed() const {
    std::string out;
    auto now = files();
    for (const auto& [name, text] : before)
      if (!now.contains(name)) out += name + ": (gone)\n";
    for (const auto& [name, text] : now)
      if (const auto old = before.find(name); old == before.end() || old->second != text)
        out += name + ": " + text + "\n";
    return out;
  }
  void restore() {
    for (const auto& entry : std::filesystem::directory_iterator(tree.path()))
      std::filesystem::remove_all(entry.path());
    tree.directory("d");
    for (const auto& [name, text] : before)
      tree.file(name, text);
  }

  const std::map<std::string, std::string> before = {
      {"a", "one\ntwo\n"}, {"b", "one\nthree\n"}, {"d/c", "c\n"}};
};

struct change_case {
  const char* name;
  const char* changes; ///< the arguments, without the braces
  const char* changed; ///< on the disk
  const char* files;   ///< of the answer, hashes left out
};

constexpr change_case change_cases[] = {
    {"edits of one file", R"("changes":[{"path":"a","edits":[{"oldText":"two","newText":"2"}]}])",
     "a: one\n2\n\n", R"([{"path":"a","action":"edited","added":1,"removed":1}])"},
    {"the same in many",
     R"("changes":[{"paths":["a","b"],"edits":[{"oldText":"one","newText":"1\n1"}]}])",
     "a: 1\n1\ntwo\n\nb: 1\n1\nthree\n\n",
     R"([{"path":"a","action":"edited","added":2,"removed":1},{"path":"b","action":"edited","added":2,"removed":1}])"},
    {"of every kind",
     R"("changes":[{"path":"n/new","text":"x\n"},{"path":"b","text":""},{"path":"d/c","delete":true},{"path":"a","moveTo":"m/a","edits":[{"oldText":"two","newText":"2"}]}])",
     "a: (gone)\nd/c: (gone)\nb: \nm/a: one\n2\n\nn/new: x\n\n",
     R"([{"path":"n/new","action":"created","added":1,"removed":0},{"path":"b","action":"edited","added":0,"removed":2},{"path":"d/c","action":"deleted","added":0,"removed":1},{"path":"m/a","action":"moved","from":"a","added":1,"removed":1}])"},
    {"a move alone", R"("changes":[{"path":"a","moveTo":"z"}])", "a: (gone)\nz: one\ntwo\n\n",
     R"([{"path":"z","action":"moved","from":"a","added":0,"removed":0}])"},
    {"a patch that comes back to a file",
     R"("patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n--- a/a\n+++ b/a\n@@ -2 +2,2 @@\n-2\n+3\n+4\n")",
     "a: one\n3\n4\n\n", R"([{"path":"a","action":"edited","added":2,"removed":1}])"},
    {"a patch that makes a file and comes back to it",
     R"("patch":"*** Begin Patch\n*** Add File: n/n\n+x\n*** Update File: n/n\n@@\n-x\n+y\n*** End Patch")",
     "n/n: y\n\n", R"([{"path":"n/n","action":"created","added":1,"removed":0}])"},
    {"a series: changed, renamed, changed",
     R"("patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\ndiff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -2 +2 @@\n-2\n+3\n")",
     "a: (gone)\nz: one\n3\n\n",
     R"([{"path":"z","action":"moved","from":"a","added":1,"removed":1}])"},
    {"a series: renamed, changed, renamed",
     R"("patch":"diff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -2 +2 @@\n-two\n+2\ndiff --git a/z b/n/z\nrename from z\nrename to n/z\n")",
     "a: (gone)\nn/z: one\n2\n\n",
     R"([{"path":"n/z","action":"moved","from":"a","added":1,"removed":1}])"},
    {"a series: made, renamed with a change",
     R"("patch":"--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\ndiff --git a/n b/m\nrename from n\nrename to m\n--- a/n\n+++ b/m\n@@ -2 +2 @@\n-2\n+3\n")",
     "m: 1\n3\n\n", R"([{"path":"m","action":"created","added":2,"removed":0}])"},
    {"a series: renamed twice",
     R"("patch":"diff --git a/a b/y\nrename from a\nrename to y\ndiff --git a/y b/z\nrename from y\nrename to z\n")",
     "a: (gone)\nz: one\ntwo\n\n",
     R"([{"path":"z","action":"moved","from":"a","added":0,"removed":0}])"},
    {"a series: made, edited, deleted, and another file edited",
     R"("patch":"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n--- a/n\n+++ b/n\n@@ -1 +1 @@\n-1\n+3\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-3\n--- a/a\n+++ b/a\n@@ -2 +2 @@\n-2\n+4\n")",
     "a: one\n4\n\n", R"([{"path":"a","action":"edited","added":1,"removed":1}])"},
    {"a series: edited, then deleted",
     R"("patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-2\n")",
     "a: (gone)\n", R"([{"path":"a","action":"deleted","added":0,"removed":2}])"},
    {"a series: renamed, then deleted, then made anew",
     R"("patch":"diff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/z b/z\ndeleted file mode 100644\n--- a/z\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\ndiff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+5\n")",
     "a: 5\n\n", R"([{"path":"a","action":"edited","added":1,"removed":2}])"},
    {"a series: deleted, then made anew, then edited",
     R"("patch":"--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+5\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-5\n+6\n")",
     "a: 6\n\n", R"([{"path":"a","action":"edited","added":1,"removed":2}])"},
    {"a series: made and deleted", // all that it does
     R"("patch":"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")",
     "", "[]"},
    {"a unified patch",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ b/n/e\n@@ -0,0 +1 @@\n+new\n")",
     "a: one\n2\n\nn/e: new\n\n",
     R"([{"path":"a","action":"edited","added":1,"removed":1},{"path":"n/e","action":"created","added":1,"removed":0}])"},
    {"a patch of diff -ruN",
     R"("patch":"diff -ruN a/a b/a\n--- a/a\t2024-01-01 00:00:00.000000000 +0100\n+++ b/a\t1970-01-01 01:00:00.000000000 +0100\n@@ -1,2 +0,0 @@\n-one\n-two\ndiff -ruN a/n b/n\n--- a/n\t1969-12-31 19:00:00.000000000 -0500\n+++ b/n\t2024-01-01 00:00:00.000000000 +0100\n@@ -0,0 +1 @@\n+x\n")",
     "a: (gone)\nn: x\n\n",
     R"([{"path":"a","action":"deleted","added":0,"removed":2},{"path":"n","action":"created","added":1,"removed":0}])"},
    {"a patch of the other format",
     R"("patch":"*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** Delete File: b\n*** Add File: n\n+x\n*** End Patch")",
     "b: (gone)\na: one\n2\n\nn: x\n\n",
     R"([{"path":"a","action":"edited","added":1,"removed":1},{"path":"b","action":"deleted","added":0,"removed":2},{"path":"n","action":"created","added":1,"removed":0}])"},
    {"a patch that renames and one that copies",
     R"("patch":"diff --git a/a b/z\nsimilarity index 100%\nrename from a\nrename to z\ndiff --git a/b b/y\nsimilarity index 50%\ncopy from b\ncopy to y\n--- a/b\n+++ b/y\n@@ -1,2 +1,2 @@\n one\n-three\n+3\n")",
     "a: (gone)\ny: one\n3\n\nz: one\ntwo\n\n",
     R"([{"path":"z","action":"moved","from":"a","added":0,"removed":0},{"path":"y","action":"created","added":2,"removed":0}])"},
    {"changes and a patch",
     R"("changes":[{"path":"d/c","delete":true}],"patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n")",
     "d/c: (gone)\na: one\n2\n\n",
     R"([{"path":"d/c","action":"deleted","added":0,"removed":1},{"path":"a","action":"edited","added":1,"removed":1}])"},
    {"no counts", R"("changes":[{"path":"d/c","delete":true}],"diff":"none")", "d/c: (gone)\n",
     R"([{"path":"d/c","action":"deleted"}])"},
    {"white space",
     R"("changes":[{"path":"a","edits":[{"oldText":" one","newText":" 1"}]}],"matching":"whitespace")",
     "a: 1\ntwo\n\n",
     R"([{"path":"a","action":"edited","added":1,"removed":1,"matchedWith":"whitespace; new lines are indented as the file is","matchedLines":[1]}])"},
    {"white space behind the words",
     R"("changes":[{"path":"a","edits":[{"oldText":"one \n","newText":"1\n"}]}],"matching":"whitespace")",
     "a: 1\ntwo\n\n",
     R"([{"path":"a","action":"edited","added":1,"removed":1,"matchedWith":"whitespace","matchedLines":[1]}])"},
    {"a patch with other white space",
     R"("patch":"--- a/b\n+++ b/b\n@@ -1,2 +1,3 @@\n one\n-\tthree\n+\t3\n+\t\t4\n","matching":"whitespace")",
     "b: one\n\t3\n\t\t4\n\n",
     R"([{"path":"b","action":"edited","added":2,"removed":1,"matchedWith":"whitespace; new lines are indented as they were given, for the lines that matched do not tell how the file would have them: look at them","matchedLines":[2]}])"},
    {"full", R"("changes":[{"path":"d/c","text":"C\n"}],"diff":"full")", "d/c: C\n\n",
     R"([{"path":"d/c","action":"edited","added":1,"removed":1,"diff":"--- a/d/c\n+++ b/d/c\n@@ -1 +1 @@\n-c\n+C\n"}])"},
    {"what stays as it is", R"("changes":[{"path":"a","text":"one\ntwo\n"}])", "",
     R"([{"path":"a","action":"edited","added":0,"removed":0}])"},
};

std::string without_hashes(std::string json) {
  for (std::size_t at; (at = json.find(R"("hash":")")) != json.npos;)
    json.erase(at - 1, R"(,"hash":"0123456789abcdef")"s.size());
  return json;
}

TEST_F(tools_changes, are_made_in_all_files_or_tried) {
  for (const auto& each : change_cases) {
    SCOPED_TRACE(each.name);
    const std::string trial = std::string("{") + each.changes + R"(,"dryRun":true})";
    const auto tried = call("applyChanges", trial);
    EXPECT_EQ("", changed());
    const auto done = call("applyChanges", "{"s + each.changes + "}");
    EXPECT_EQ(each.changed, changed());
    EXPECT_EQ("applied files", done.keys()) << done.json;
    EXPECT_EQ("true", done["applied"].text());
    EXPECT_EQ("false", tried["applied"].text());
    EXPECT_EQ(each.files, without_hashes(done["files"].text()));
    EXPECT_EQ(each.files, without_hashes(tried["files"].text()));
    done["files"].for_each_element([&](mcp::json_view file) {
      if (file["action"].string() == "deleted") {
        EXPECT_FALSE(file["hash"].exists());
        return;
      }
      const std::string path(file["path"].string().value_or(""));
      EXPECT_EQ(call_path("readTextFile", path).string("hash"), file["hash"].string()) << path;
    });
    restore();
  }
}

struct refused_case {
  const char* name;
  const char* changes;
  const char* error;
  const char* rest; ///< of the answer, behind the message
  const char* said; ///< in the message: parts, with … between them
};

const refused_case refused_cases[] = {
    {"the second edit of the second change",
     R"("changes":[{"path":"a","delete":true},{"paths":["b","d/c"],"edits":[{"oldText":"one","newText":"1"},{"oldText":"e","newText":"E"}]}])",
     "ambiguous", R"("path":"b","edit":1,"occurrencesAt":[2,2],"hash":")",
     "b: changes[1].edits[1].oldText occurs 2 times … nothing was changed"},
    {"a path that is not there",
     R"("changes":[{"path":"a","text":"x"},{"path":"no","edits":[{"oldText":"one","newText":"1"}]}])",
     "not_found", R"("path":"no"})", "no: no such file … nothing was changed"},
    {"one of the paths is not there",
     R"("changes":[{"paths":["a","no"],"edits":[{"oldText":"one","newText":"1"}]}])", "not_found",
     R"("path":"no"})", ", or leave it out of paths; nothing was changed"},
    {"a move to a directory", R"("changes":[{"path":"a","moveTo":"d"}])", "is_a_directory",
     R"("path":"a"})",
     "a: to move it to d: a directory is there; give d/a to move it in there; nothing was changed"},
    {"a line behind @@ that is not there",
     R"("patch":"*** Begin Patch\n*** Update File: a\n@@ int foo()\n-two\n+2\n*** End Patch")",
     "no_match", R"("path":"a","edit":0,"hash":")",
     "hunk 1 (line 3 of the patch) follows @@ int foo(), which is no line of the file; copy a "
     "whole line that is there, or leave it out"},
    {"a line behind @@ that is not there, and lines to add",
     R"("patch":"*** Begin Patch\n*** Update File: a\n@@ on\n+2\n*** End Patch")", "no_match",
     R"("path":"a","edit":0,"hash":")", "follows @@ on, which is no line of the file"},
    {"hunks that are not in the order of the file",
     R"("patch":"*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n@@\n-one\n+1\n*** End Patch")",
     "no_match", R"("path":"a","edit":1,"hash":")",
     "at line 1, but not after the hunk before it … in the order of the file"},
    {"a hunk that does not show what follows",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n one\n+x\n")", "no_match",
     R"("path":"a","edit":0,"hash":")", R"(show the next line, too: "two"; nothing was changed)"},
    {"a part of a line", R"("patch":"--- a/b\n+++ b/b\n@@ -2 +2 @@\n-thr\n+3\n")", "no_match",
     R"("path":"b")", "the nearest place is line 2"},
    {"the end of a line", R"("patch":"--- a/b\n+++ b/b\n@@ -2 +2 @@\n-hree\n+3\n")", "no_match",
     R"("path":"b")",
     "hunk 1 (line 3 of the patch) shows what is only a part of line 2; show whole lines"},
    {"an end without a newline that is none",
     R"("patch":"--- a/b\n+++ b/b\n@@ -2 +2 @@\n-three\n\\ No newline at end of file\n+3\n")",
     "no_match", R"("path":"b")",
     "says that the file ends without a newline there, which it does not; leave the line \\ No "
     "newline"},
    {"short lines that are as they are to be",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n")", "no_match",
     R"("kind":"already_applied")", "a: hunk 1 is already applied (line 1); nothing was changed"},
    {"a line at the end that is there",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n one\n+two\n")", "no_match", R"("path":"a")",
     "a: hunk 1 is already applied (line 1)"},
    {"a line that went, and is gone",
     R"("patch":"*** Begin Patch\n*** Update File: a\n@@\n one\n-2\n two\n*** End Patch")",
     "no_match", R"("path":"a")", "a: hunk 1 is already applied (line 1)"},
    {"a short line alone that stands elsewhere",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+two\n")", "no_match", R"("path":"a")",
     "a: hunk 1 (line 3 of the patch) shows lines that do not occur"},
    {"a line that would go from an empty place",
     R"("patch":"--- a/a\n+++ b/a\n@@ -1 +0,0 @@\n-2\n")", "no_match", R"("path":"a")",
     "a: hunk 1 (line 3 of the patch) shows lines that do not occur"},
    {"white space, and what allows it",
     R"("patch":"--- a/b\n+++ b/b\n@@ -2 +2 @@\n-  three\n+3\n")", "no_match", R"("path":"b")",
     "or allow it with matching: \"whitespace\""},
    {"two places but for white space",
     R"("changes":[{"path":"b","edits":[{"oldText":"one\nthree\n","newText":"x\nx\n"},{"oldText":" x","newText":"y"}]}],"matching":"whitespace")",
     "ambiguous", R"("path":"b")",
     "occurs 2 times (lines 1, 1) but for white space, which has to be one place; give more of the "
     "text around"},
    {"a hunk that has no place",
     R"("patch":"--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n one\n-threee\n+3\n")", "no_match",
     R"("path":"b","edit":0,"nearest":{"line":1,"kind":"similar","wanted":"threee","found":"one\nthree\n"},"hash":")",
     "b: hunk 1 (line 3 of the patch) … which is similar; copy"},
    {"a hunk of two places",
     R"("changes":[{"path":"a","delete":true}],"patch":"*** Begin Patch\n*** Update File: b\n@@\n+x\n*** End Patch")",
     "ambiguous", R"("path":"b","edit":0,"hash":")", "does not say where its lines belong"},
    {"a patch that is none", R"("patch":"hello")", "invalid_argument", R"(nothing was changed"})",
     "patch: there is no patch in the input"},
    {"a patch that deletes another content",
     R"("patch":"--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n")", "no_match", R"("path":"b")",
     "not show all of its lines"},
    {"a misspelt path", R"("patch":"--- a/B\n+++ b/B\n@@ -1 +1 @@\n-one\n+x\n")", "not_found",
     R"("path":"B"})", "B: no such file or directory; did you mean b?; nothing was changed"},
    {"a path through a file", R"("changes":[{"path":"a/y","text":"x"}])", "not_a_directory",
     R"("path":"a/y"})",
     "a/y: a is a file, not a directory; correct the path; nothing was changed"},
    {"the same of a patch", R"("patch":"*** Begin Patch\n*** Add File: a/y\n+x\n*** End Patch")",
     "not_a_directory", R"("path":"a/y"})", "a/y: a is a file, not a directory"},
    {"a new file with a slash", R"("changes":[{"path":"newd/","text":"x"}])", "is_a_directory",
     R"("path":"newd/"})",
     "no directory has this name; leave off the slash at the end to name a file"},
    {"a move to where it is", R"("changes":[{"path":"a","moveTo":"./a"}])", "invalid_argument",
     R"("path":"./a"})", "moveTo is where the file is already"},
    {"an absolute path elsewhere", R"("changes":[{"path":"/absent/x/y","text":"x"}])",
     "escapes_root", R"("path":"/absent/x/y"})", "the path leaves the workspace"},
    {"what is there already", R"("patch":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch")",
     "already_exists", R"("path":"a"})", "a: something has this name already"},
    {"a move to where something is", R"("changes":[{"path":"a","moveTo":"b"}])", "already_exists",
     R"("path":"b"})", "nothing was changed"},
    {"out of the workspace", R"("changes":[{"path":"a","text":"x"},{"path":"../x","text":"x"}])",
     "escapes_root", R"("path":"../x"})", ""},
    {"a protected name",
     R"("changes":[{"path":"a","text":"x"},{"path":".git/hooks/pre-commit","text":"x"}])",
     "write_protected", R"("path":".git/hooks/pre-commit"})", ""},
    {"a move to a protected name", R"("changes":[{"path":"a","moveTo":".git/hooks/a"}])",
     "write_protected", R"("path":"a"})", "a: to move it to .git/hooks/a: this entry"},
    {"home", R"("changes":[{"path":"a","moveTo":"~/a"}])", "invalid_argument", R"("path":"~/a"})",
     "~ is not expanded"},
    {"neither path nor paths", R"("changes":[{"text":"x"}])", "invalid_argument",
     R"(nothing was changed"})", "changes[0]: give either path or paths"},
    {"nothing to do", R"("changes":[{"path":"a"}])", "invalid_argument", R"("path":"a"})",
     "changes[0]: nothing to change; give"},
    {"two things to do", R"("changes":[{"path":"a","text":"x","delete":true}])", "invalid_argument",
     R"("path":"a"})", "give one of"},
    {"the same text in many", R"("changes":[{"paths":["a","b"],"text":"x"}])", "invalid_argument",
     "", "paths goes with"},
    {"nothing at all", R"("dryRun":true)", "invalid_argument", "", "give changes, a patch"},
    {"a stale one",
     R"("changes":[{"path":"b","delete":true},{"path":"a","text":"x","ifHash":"880553fca8fcea94"}])",
     "stale", R"("path":"a","hash":")", "read it again"},
    {"white space that was not asked for",
     R"("changes":[{"path":"a","edits":[{"oldText":" one","newText":"1"}]}])", "no_match",
     R"("path":"a","edit":0,"nearest":{"line":1,"kind":"white_space","wanted":" one","found":"one\n"},"hash":")",
     "only white space differs"},
    {"a directory", R"("changes":[{"path":"d","text":"x"}])", "is_a_directory", R"("path":"d"})",
     ""},
    {"removed twice", R"("changes":[{"path":"a","delete":true},{"path":"./a","delete":true}])",
     "invalid_argument", R"("path":"./a"})",
     "changes[1] names a file that changes[0] names too (as a); give each file one change … "
     "nothing was changed"},
    {"edited in two changes",
     R"("changes":[{"path":"a","edits":[{"oldText":"two","newText":"2"}]},{"path":"d/../a","edits":[{"oldText":"no","newText":"3"}],"ifHash":"0000000000000000"}])",
     "invalid_argument", R"("path":"d/../a"})",
     "(as a); give each file one change, with all of its edits in it"},
    {"made and then edited",
     R"("changes":[{"path":"n/n","text":"x"},{"path":"n/./n","edits":[{"oldText":"x","newText":"y"}]}])",
     "invalid_argument", R"("path":"n/./n"})", "(as n/n); give each file one change"},
    {"moved and then made anew", R"("changes":[{"path":"a","moveTo":"n"},{"path":"a","text":"x"}])",
     "invalid_argument", R"("path":"a"})", "changes[1] names a file that changes[0] names too"},
    {"moved to one place from two",
     R"("changes":[{"path":"a","moveTo":"n"},{"path":"b","moveTo":"./n"}])", "invalid_argument",
     R"("path":"./n"})", "changes[1] names a file that changes[0] names too (as n)"},
    {"one file by two of the paths",
     R"("changes":[{"paths":["a","b","./a"],"edits":[{"oldText":"one","newText":"one one"}]}])",
     "invalid_argument", R"("path":"./a"})",
     "changes[0] names this file twice (also as a); name it once"},
    {"one file by changes and a patch",
     R"("changes":[{"path":"a","edits":[{"oldText":"one","newText":"1"}]}],"patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n")",
     "invalid_argument", R"("path":"a"})",
     "the patch names a file that changes[0] names too (as a)"},
    {"renamed, and another in its place",
     R"("patch":"diff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n")",
     "invalid_argument", R"("path":"a"})",
     "the patch names this file after it has moved it away; name it as it is called by then, or "
     "split the patch here and apply one part after the other"},
    {"a chain of renames",
     R"("patch":"diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\ndiff --git a/b b/z\nsimilarity index 100%\nrename from b\nrename to z\n")",
     "invalid_argument", R"("path":"b"})",
     "an earlier part of the patch puts another file in the place of this one; give the part for "
     "this file first, and the rest in another call"},
    {"a swap of names",
     R"("patch":"diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\ndiff --git a/b b/a\nsimilarity index 100%\nrename from b\nrename to a\n")",
     "invalid_argument", R"("path":"b"})",
     "the patch swaps this file and another, which one call cannot; move one of them to a free "
     "name first"},
    {"a file that was renamed away, edited under its old name",
     R"("patch":"diff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n")",
     "invalid_argument", R"("path":"a"})", "the patch names this file after it has moved it away"},
    {"the same in the other format",
     R"("patch":"*** Begin Patch\n*** Update File: a\n*** Move to: z\n@@\n-two\n+2\n*** Update File: a\n@@\n-one\n+1\n*** End Patch")",
     "invalid_argument", R"("path":"a"})", "the patch names this file after it has moved it away"},
    {"a file that was renamed away, deleted under its old name",
     R"("patch":"diff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")",
     "invalid_argument", R"("path":"a"})", "the patch names this file after it has moved it away"},
    {"a file with lines deleted by a head alone",
     R"("patch":"diff --git a/a b/a\ndeleted file mode 100644\nindex e69de29..0000000\n")",
     "no_match", R"("path":"a"})", "does not show all of its lines"},
    {"a series that goes on under the old name",
     R"("patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\ndiff --git a/a b/z\nrename from a\nrename to z\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2 +2 @@\n-2\n+3\n")",
     "invalid_argument", R"("path":"a"})",
     "the patch names this file after it has moved it away; name it as it is called by then"},
    {"a series that makes what is there, and deletes it",
     R"("patch":"--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")",
     "already_exists", R"("path":"a"})", "a: "},
    {"a series that deletes other lines than it has made",
     R"("patch":"--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")",
     "no_match", R"("path":"n"})", "does not show all of its lines"},
    {"a series that edits what it has deleted",
     R"("patch":"--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n")",
     "invalid_argument", R"("path":"a"})",
     "the patch changes this file again in a way that cannot be one change"},
    {"the second part of a patch for one file",
     R"("patch":"--- a/b\n+++ b/b\n@@ -2 +2 @@\n-three\n+3\n--- a/b\n+++ b/b\n@@ -2 +2 @@\n-three\n+4\n")",
     "no_match", R"("hash":"c9b0fb1fa00b3a5c"})",
     "b: hunk 1 (line 8 of the patch) … the parts of the patch before it have changed this file; "
     "its lines are as they are by then"},
    {"a link of a patch",
     R"("patch":"--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\ndiff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n")",
     "unsupported_type", R"(nothing was changed"})", "patch: line 7:  … symbolic link … exec"},
};

TEST_F(tools_changes, what_is_refused_changes_nothing_and_says_why) {
  for (const auto& each : refused_cases) {
    SCOPED_TRACE(each.name);
    for (const char* more : {"", R"(,"dryRun":true)"}) {
      if (std::string_view(each.name) == "nothing at all" && *more != '\0') continue;
      const auto got = call("applyChanges", "{"s + each.changes + more + "}");
      EXPECT_EQ(each.error, got.error());
      EXPECT_THAT(got.json, HasSubstr(each.rest));
      expect_parts(got.message(), each.said);
      EXPECT_EQ("", changed());
    }
  }
}

TEST_F(tools_changes, a_link_is_moved_or_what_it_leads_to_is_edited_and_not_both) {
  std::filesystem::create_symlink("a", tree.path() + "/la");
  const std::string change = R"({"path":"la","moveTo":"lz")";
  const auto both = call("applyChanges", R"({"changes":[)" + change +
                                             R"(,"edits":[{"oldText":"one","newText":"1"}]}]})");
  EXPECT_EQ("invalid_argument", both.error());
  EXPECT_THAT(both.message(), AllOf(StartsWith("la: this is a symbolic link"),
                                    HasSubstr("name the file itself, or make two changes")));
  EXPECT_EQ("", changed());
  EXPECT_FALSE(call("applyChanges", R"({"changes":[)" + change + "}]}").failed); // the control
  EXPECT_TRUE(std::filesystem::is_symlink(tree.path() + "/lz"));
  EXPECT_EQ("", changed());
}

TEST_F(tools_changes, a_file_that_is_named_through_a_link_is_the_same_file) {
  std::filesystem::create_symlink("a", tree.path() + "/la");
  const std::string edits = R"("edits":[{"oldText":"one","newText":"one one"}]})";
  const auto twice = call("applyChanges", R"({"changes":[{"paths":["a","la"],)" + edits + "]}");
  EXPECT_EQ("invalid_argument", twice.error());
  EXPECT_THAT(twice.message(), StartsWith("la: changes[0] names this file twice"));
  EXPECT_EQ("", changed());
  // The link by itself is another entry; and so is what it leads to where it is named once.
  EXPECT_FALSE(call("applyChanges", R"({"changes":[{"path":"a","text":"x"},)"
                                    R"({"path":"la","delete":true}]})")
                   .failed);
  EXPECT_EQ("a: x\n", changed());
  std::filesystem::create_symlink("b", tree.path() + "/lb");
  EXPECT_FALSE(call("applyChanges", R"({"changes":[{"path":"lb","text":"y"}]})").failed);
  EXPECT_EQ("a: x\nb: y\n", changed());
}

struct mode_case {
  const char* name;
  const char* patch;
  const char* modes; ///< afterwards, of each file that one may run
};

constexpr mode_case mode_cases[] = {
    {"control: nothing", R"(--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\n)", "run"},
    {"a mode alone", R"(diff --git a/a b/a\nold mode 100644\nnew mode 100755\n)", "a run"},
    {"taken away", R"(diff --git a/run b/run\nold mode 100755\nnew mode 100644\n)", ""},
    {"renamed, else as it was",
     R"(diff --git a/a b/z\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from a\nrename to z\n)",
     "run z"},
    {"renamed, no longer run",
     R"(diff --git a/run b/z\nold mode 100755\nnew mode 100644\nsimilarity index 100%\nrename from run\nrename to z\n)",
     ""},
    {"renamed and changed",
     R"(diff --git a/run b/z\nsimilarity index 50%\nrename from run\nrename to z\n--- a/run\n+++ b/z\n@@ -1 +1 @@\n-run\n+z\n)",
     "z"},
    {"a copy", R"(diff --git a/run b/z\nsimilarity index 100%\ncopy from run\ncopy to z\n)",
     "run z"},
    {"a copy that is changed",
     R"(diff --git a/run b/z\nsimilarity index 50%\ncopy from run\ncopy to z\n--- a/run\n+++ b/z\n@@ -1 +1 @@\n-run\n+z\n)",
     "run z"},
    {"a copy that is not to be run",
     R"(diff --git a/run b/z\nold mode 100755\nnew mode 100644\nsimilarity index 100%\ncopy from run\ncopy to z\n)",
     "run"},
    {"a copy of another", R"(diff --git a/a b/z\nsimilarity index 100%\ncopy from a\ncopy to z\n)",
     "run"},
    {"new",
     R"(diff --git a/z b/z\nnew file mode 100755\n--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+z\n)",
     "run z"},
    {"of a file that the patch has changed before",
     R"(--- a/a\n+++ b/a\n@@ -2 +2 @@\n-two\n+2\ndiff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n)",
     "a run"},
    {"of a file that the patch has made",
     R"(--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+z\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n)",
     "run z"},
};

TEST_F(tools_changes, of_a_patch_make_files_that_one_may_run) {
  for (const mode_case& each : mode_cases) {
    SCOPED_TRACE(each.name);
    tree.file("run", "run\n");
    std::filesystem::permissions(tree.path() + "/run", std::filesystem::perms(0755));
    const auto got = call("applyChanges", R"({"patch":")" + std::string(each.patch) + "\"}");
    EXPECT_FALSE(got.failed) << got.json;
    std::string modes;
    for (const auto& [name, text] : files())
      if (const auto mode = std::filesystem::status(tree.path() + "/" + name).permissions();
          (mode & std::filesystem::perms::owner_exec) != std::filesystem::perms::none)
        modes += (modes.empty() ? "" : " ") + name;
    EXPECT_EQ(each.modes, modes);
    restore();
  }
}

TEST_F(tools_changes, a_hash_is_of_the_file_that_was_read) {
  const std::string hash = call_path("readTextFile", "a").string("hash");
  const auto change = [&] {
    return call("applyChanges", R"({"changes":[{"path":"a","text":"x","ifHash":")" + hash +
                                    R"("},{"path":"b","text":"y"}]})");
  };
  EXPECT_FALSE(change().failed);
  restore();
  tree.file("a", "meanwhile");
  const auto got = change();
  EXPECT_EQ("stale", got.error());
  EXPECT_EQ(call_path("readTextFile", "a").string("hash"), got.string("hash"));
  EXPECT_EQ("a: meanwhile\n", changed());
}

/// What a killed process leaves before a move.
std::string record_of_move(const std::string& from, const std::string& to, entry_kind kind,
                           const struct stat& s) {
  return render(
      {.how = {.is_beside = true, .asks_rules = true},
       .staging = ".paddock-tmp-" + std::string(32, 'a'),
       .moves = {{.now = from,
                  .home = to,
                  .object = {.kind = kind,
                             .size = static_cast<std::uint64_t>(s.st_size),
                             .modified_ns = s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec,
                             .inode = s.st_ino}}}});
}

TEST_F(tools_changes, a_link_that_the_rest_of_one_moves_is_looked_at) {
  test::temp_tree outside;
  outside.directory("state");
  ASSERT_EQ(0, ::chmod((outside / "state").c_str(), 0700));
  serve_coding({.state_directory = outside / "state"});
  const auto change = [&] {
    return call("applyChanges", R"({"changes":[{"path":"b","text":"b"}],"diff":"none"})");
  };
  EXPECT_FALSE(change().failed);
  for (const char* each : {".git/objects", ".git/refs", ".git/worktrees/wt"})
    std::filesystem::create_directories(tree / each);
  tree.file(".git/HEAD", "ref: refs/heads/main\n");
  tree.file(".git/worktrees/wt/HEAD", "ref: refs/heads/wt\n");
  tree.file(".git/worktrees/wt/commondir", "../..\n");
  tree.file(".git/worktrees/wt/gitdir", tree / "wt/.git\n");
  std::filesystem::create_symlink(outside / "state", tree / "moved");
  struct stat s{};
  ASSERT_EQ(0, ::lstat((tree / "moved").c_str(), &s));
  const std::string record =
      record_of_move("moved", "wt", entry_kind::symlink, s) + render_staged({});
  for (const auto& each : std::filesystem::directory_iterator(outside / "state"))
    outside.file("state/" + each.path().filename().string() + "/record", record);
  EXPECT_THAT(change().string("notice"), HasSubstr("gitdir.made-by-command"));
  EXPECT_TRUE(std::filesystem::is_symlink(tree / "wt"));
  EXPECT_FALSE(tree.exists(".git/worktrees/wt/gitdir"));
}

TEST_F(tools_changes, what_was_interrupted_is_ended_before_and_told) {
  test::temp_tree outside;
  outside.directory("state");
  ASSERT_EQ(0, ::chmod((outside / "state").c_str(), 0700));
  serve_coding({.state_directory = outside / "state"});
  const auto change = [&] {
    return call(
        "applyChanges",
        R"({"changes":[{"path":"a","edits":[{"oldText":"two","newText":"2"}]}],"diff":"none"})");
  };
  EXPECT_THAT(change().json, testing::Not(HasSubstr("notice")));
  for (const bool is_ready : {false, true}) {
    restore();
    if (is_ready) std::filesystem::rename(tree / "a", tree / "moved");
    struct stat s{};
    ASSERT_EQ(0, ::stat((tree / (is_ready ? "moved" : "a")).c_str(), &s));
    const std::string record =
        record_of_move(is_ready ? "moved" : "a", is_ready ? "a" : "moved", entry_kind::file, s) +
        (is_ready ? render_staged({}) : "");
    tree.file(".paddock-changes", record); // a command may have written it
    if (is_ready) {
      EXPECT_EQ("not_found", change().error());
    }
    for (const auto& each : std::filesystem::directory_iterator(outside / "state"))
      outside.file("state/" + each.path().filename().string() + "/record", record);
    EXPECT_THAT(change().string("notice"),
                HasSubstr(is_ready ? "interrupted was finished" : "interrupted was undone"));
    std::filesystem::remove(tree / ".paddock-changes");
    EXPECT_EQ("a: one\n2\n\n", changed());
  }
}

TEST_F(tools_changes, a_mark_of_utf8_is_no_part_of_the_first_line) {
  const std::string mark = "\xEF\xBB\xBF";
  struct marked {
    const char* name;
    const char* changes;
    std::string after;
  };
  const marked table[] = {
      {"a patch that does not show it",
       R"("patch":"--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n")", mark + "1\ntwo\n"},
      {"a patch that does",
       R"("patch":"--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n-\uFEFFone\n+1\n two\n")", "1\ntwo\n"},
      {"an edit but for white space",
       R"("changes":[{"path":"m","edits":[{"oldText":"one\n two","newText":"1"}]}],"matching":"whitespace")",
       mark + "1\n"},
      {"an edit that shows it",
       R"("changes":[{"path":"m","edits":[{"oldText":"\uFEFFone","newText":"1"}]}])", "1\ntwo\n"},
      {"an edit that does not",
       R"("changes":[{"path":"m","edits":[{"oldText":"one","newText":"1"}]}])", mark + "1\ntwo\n"},
  };
  for (const marked& each : table) {
    tree.file("m", mark + "one\ntwo\n");
    EXPECT_EQ("(no error)", call("applyChanges", "{"s + each.changes + "}").error()) << each.name;
    EXPECT_EQ(each.after, tree.content("m")) << each.name;
  }
  // The difference shows the mark, for whoever applies it elsewhere.
  tree.file("m", mark + "one\n");
  const auto got = call(
      "applyChanges",
      R"({"changes":[{"path":"m","moveTo":"new \"m\"","edits":[{"oldText":"one","newText":"1"}]}],"diff":"full","dryRun":true})");
  std::string diff;
  got["files"].for_each_element(
      [&](mcp::json_view file) { diff = file["diff"].string().value_or(""); });
  EXPECT_EQ(diff, "diff --git a/m \"b/new \\\"m\\\"\"\nrename from m\nrename to \"new \\\"m\\\"\"\n"
                  "--- a/m\n+++ \"b/new \\\"m\\\"\"\n@@ -1 +1 @@\n-" +
                      mark + "one\n+" + mark + "1\n");
}

TEST_F(tools_changes, diffs_are_bounded_all_together) {
  std::string changes, text;
  for (int i = 0; i < 1000; ++i)
    text += "line\n";
  for (int i = 0; i < 10; ++i)
    changes += (i == 0 ? "" : ",") + R"({"path":"n)"s + std::to_string(i) + R"(","text":)" +
               json_string(i == 0 ? "short\n" : text) + "}";
  const auto got = call("applyChanges", R"({"diff":"full","changes":[)" + changes + "]}");
  ASSERT_FALSE(got.failed) << got.json;
  std::size_t size = 0, cut = 0;
  got["files"].for_each_element([&](mcp::json_view file) {
    size += file["diff"].string().value_or("").size();
    cut += file["diffTruncated"].boolean().value_or(false) ? 1U : 0U;
  });
  EXPECT_LE(size, 16U * 1024);
  EXPECT_GT(size, 10'000U);
  EXPECT_EQ(7U, cut);
}

TEST_F(tools_changes, are_made_of_utf16_and_stay_it) {
  const std::string wide = "\xFF\xFE"s + "o\0n\0e\0\r\0\n\0\xE9\0"s;
  tree.file("w", wide);
  EXPECT_EQ("(no error)",
            call("applyChanges",
                 R"({"changes":[{"path":"w","edits":[{"oldText":"one\né","newText":"1\né"}]}]})")
                .error());
  EXPECT_EQ("\xFF\xFE"s + "1\0\r\0\n\0\xE9\0"s, tree.content("w"));
  EXPECT_EQ("(no error)",
            call("editFile", R"({"path":"w","edits":[{"oldText":"1","newText":"one"}]})").error());
  EXPECT_EQ(wide, tree.content("w"));
  EXPECT_EQ("(no error)",
            call("applyChanges", R"({"changes":[{"path":"w","text":"é\n"}]})").error());
  EXPECT_EQ("\xFF\xFE\xE9\0\n\0"s, tree.content("w"));
  tree.file("w", wide + "x");
  EXPECT_EQ("not_text",
            call("editFile", R"({"path":"w","edits":[{"oldText":"o","newText":"x"}]})").error());
  EXPECT_EQ(wide + "x", tree.content("w"));
}

TEST_F(tools_changes, texts_are_bounded_one_by_one) {
  const auto write = [&](std::size_t size) {
    return call("applyChanges",
                R"({"changes":[{"path":"n","text":")" + std::string(size, 'x') + R"("}]})")
        .error();
  };
  EXPECT_EQ("(no error)", write(1'000'000));
  EXPECT_EQ("invalid_argument", write(1'000'001));
  const auto edit = [&](std::size_t size) {
    tree.file("a", std::string(size, 'x'));
    return call("applyChanges", R"({"changes":[{"path":"a","edits":[{"oldText":")" +
                                    std::string(size, 'x') + R"(","newText":"y"}]}]})")
        .error();
  };
  EXPECT_EQ("(no error)", edit(100'000));
  EXPECT_EQ("invalid_argument", edit(100'001));
}

TEST_F(tools_changes, are_of_the_coding_set_and_change) {
  const auto has_it = [&](mcp::workspace_options options) {
    serve(std::move(options));
    return std::ranges::any_of(server().tools(),
                               [](const mcp::tool& each) { return each.name == "applyChanges"; });
  };
  EXPECT_TRUE(has_it({.tools = mcp::toolset::coding}));
  EXPECT_FALSE(has_it({}));
  EXPECT_FALSE(has_it({.tools = mcp::toolset::coding, .access = mcp::workspace_access::read_only}));
}

TEST_F(tools_changes, two_who_change_the_same_files_lose_nothing) {
  tree.file("a", "end\n");
  tree.file("b", "end\n");
  constexpr int rounds = 30;
  const auto add = [&](const std::string& who) {
    const auto server = another_server();
    for (int i = 0; i < rounds; ++i) {
      const std::string line = who + std::to_string(i) + "\\nend\\n";
      const auto answers = server->handle_line(
          R"({"jsonrpc":"2.0","id":")" + who +
          R"(","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"applyChanges","arguments":{"changes":[{"paths":["a","b"],"edits":[{"oldText":"end\n","newText":")" +
          line + R"("}]}]}}})");
      EXPECT_THAT(answers.back(), HasSubstr(R"("applied":true)"));
    }
  };
  {
    std::jthread one([&] { add("x"); });
    std::jthread two([&] { add("y"); });
  }
  EXPECT_EQ(2 * rounds + 1, std::ranges::count(tree.content("a"), '\n'));
  EXPECT_EQ(tree.content("a"), tree.content("b"));
}

} // namespace
} // namespace paddock::test
