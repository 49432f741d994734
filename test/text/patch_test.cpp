// SPDX-License-Identifier: MIT

// Patches as people, programs and models write them. git makes random ones, and is their judge, in
// patch_judges.py.

#include "precompiled/tests.hpp"

#include <paddock/text/patch.hpp>

namespace paddock {
namespace {

/// One word and the names of each file.
std::string summary(const std::vector<file_patch>& files) {
  static constexpr const char* actions[] = {"edit", "create", "remove", "move", "copy"};
  std::string out;
  for (const file_patch& file : files) {
    out += std::string(out.empty() ? "" : ", ") + actions[static_cast<std::size_t>(file.action)];
    if (!file.from.empty()) out += " " + file.from;
    out += " " + file.path;
    if (file.is_executable) out += *file.is_executable ? " +x" : " -x";
    if (!file.hunks.empty()) out += " " + std::to_string(file.hunks.size());
  }
  return out;
}

/// Hunks alone are those of the file x.
std::string patch_with(std::string_view hunks) {
  return (hunks.starts_with("@@") ? "--- a/x\n+++ b/x\n" : "") + std::string(hunks);
}

struct readable {
  const char* name;
  std::string_view patch;
  std::string_view said; ///< the summary, or of a refusal the line, from 0
};

void expect_readings(std::span<const readable> table) {
  for (const readable& row : table) {
    const std::string patch = patch_with(row.patch);
    const auto files = parse_patch(patch);
    if (files) {
      EXPECT_EQ(summary(*files), row.said) << row.name;
      continue;
    }
    const auto& e = files.error();
    const std::string code(e.code == error_code::invalid_argument ? "refused" : wire_name(e.code));
    EXPECT_EQ(code + " at " + std::to_string(e.line_index), row.said)
        << row.name << ": " << e.operation;
  }
}

TEST(Patch, IsReadAsItsProgramsWriteIt) {
  const readable table[] = {
      {"diff -u", "--- a.c\t2024-01-01 00:00:00 +0000\n+++ a.c\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n",
       "edit a.c 1"},
      {"diff -u of two trees", "--- old/src/a.c\n+++ new/src/a.c\n@@ -1 +1 @@\n-a\n+b\n",
       "edit src/a.c 1"},
      {"diff -u of a copy", "--- a.c.orig\n+++ a.c\n@@ -1 +1 @@\n-a\n+b\n", "edit a.c 1"},
      {"git",
       "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ int f() {\n-a\n+b\n",
       "edit x 1"},
      {"git, other sides", "diff --git i/x w/x\n--- i/x\n+++ w/x\n@@ -1 +1 @@\n-a\n+b\n",
       "edit x 1"},
      {"git without sides", "diff --git d/x d/x\n--- d/x\n+++ d/x\n@@ -1 +1 @@\n-a\n+b\n",
       "edit d/x 1"},
      {"a folder that is called a", "--- a/a/x\n+++ b/a/x\n@@ -1 +1 @@\n-a\n+b\n", "edit a/x 1"},
      {"created",
       "diff --git a/x b/x\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 "
       "@@\n+a\n",
       "create x +x 1"},
      {"created, empty", "diff --git a/d/x b/d/x\nnew file mode 100644\nindex 0..e\n",
       "create d/x -x"},
      {"created by diff -ruN",
       "--- a/x\t1970-01-01 00:00:00.000000000 +0000\n+++ b/x\t2024-01-02\n@@ -0,0 +1 @@\n+a\n",
       "create x 1"},
      {"removed by diff -ruN, in New York",
       "--- a/x\t2024-01-02\n+++ b/x\t1969-12-31 19:00:00.000000000 -0500\n@@ -1 +0,0 @@\n-a\n",
       "remove x 1"},
      {"emptied, a second after the epoch",
       "--- a/x\t2024-01-02\n+++ b/x\t1970-01-01 00:00:01.000000000 +0000\n@@ -1 +0,0 @@\n-a\n",
       "edit x 1"},
      {"emptied, an hour after the epoch",
       "--- a/x\t2024-01-02\n+++ b/x\t1970-01-01 01:00:00.000000000 +0000\n@@ -1 +0,0 @@\n-a\n",
       "edit x 1"},
      {"of a file of the epoch",
       "--- a/x\t1970-01-01 00:00:00 +0000\n+++ b/x\t1970-01-01 00:00:00 +0000\n@@ -1 +1 "
       "@@\n-a\n+b\n",
       "edit x 1"},
      {"created by diff -N", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "create x 1"},
      {"deleted",
       "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
       "remove x 1"},
      {"moved", "diff --git a/d/x b/e/y\nsimilarity index 100%\nrename from d/x\nrename to e/y\n",
       "move d/x e/y"},
      {"moved and changed",
       "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nindex 1..2\n--- "
       "a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
       "move x y 1"},
      {"copied", "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "copy x y"},
      {"mode alone", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "edit x +x"},
      {"names with blanks",
       "diff --git a/x y b/x y\n--- a/x y\t\n+++ b/x y\t\n@@ -1 +1 @@\n-a\n+b\n", "edit x y 1"},
      {"names in quotes",
       "diff --git \"a/\\303\\244\\\"\\t\" \"b/\\303\\244\\\"\\t\"\nold mode 100755\nnew mode "
       "100644\n",
       "edit ä\"\t -x"},
      {"a mail",
       "From 1 Mon Sep 17\nSubject: x\n---\n a | 2 +-\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ "
       "-1 +1 @@\n-a\n+b\n-- \n2.39\n\n",
       "edit a 1"},
      {"several, CRLF",
       "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n--- a/y\r\n+++ b/y\r\n@@ -1 +1 "
       "@@\r\n-a\r\n+b\r\n",
       "edit x 1, edit y 1"},
      {"lines that look like the next file", "@@ -1 +1 @@\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-a\n+b\n",
       "edit x 2"},
      {"the next file, in spite of the count",
       "@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-a\n+b\n", "edit x 1, edit y 1"},
      {"modes as git has and had them",
       "diff --git a/x b/x\nold mode 100664\nnew mode 100755 \nindex 12..34\ndiff --git a/y "
       "b/y\nindex 12..34 100664\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/z "
       "b/z\ndeleted file mode 100755\nindex 12..00\n",
       "edit x +x, edit y 1, remove z"},
      {"Begin Patch",
       "*** Begin Patch\n*** Add File: a b\n+x\n*** Delete File: c\n*** Update File: d\n*** Move "
       "to: e\n@@ f\n-x\n+y\n@@\n-z\n*** End of File\n*** End Patch\n",
       "create a b 1, remove c, move d e 2"},
      {"Begin Patch behind a word of it",
       "I send *** Begin Patch:\n*** Begin Patch\n*** Delete File: c\n*** End Patch\n", "remove c"},
      {"two times Begin Patch",
       "*** Begin Patch\n*** Delete File: c\n*** End Patch\nand\n*** Begin Patch\n*** Delete File: "
       "d\n*** End Patch\n",
       "remove c, remove d"},
      {"Begin Patch behind a blank", "\n *** Begin Patch\n*** Delete File: c\n*** End Patch\n",
       "remove c"},
      {"a kept line Begin Patch", "@@ -1,2 +1,2 @@\n *** Begin Patch\n-a\n+b\n", "edit x 1"},
      {"no newline behind a line that goes", "@@ -1 +0,0 @@\n-a", "edit x 1"},
      {"no newline behind a line that stays", "@@ -1 +1,2 @@\n+b\n a", "edit x 1"},
      {"no newline behind the mark of no end", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file",
       "edit x 1"},
      {"words below", "@@ -1 +1 @@\n-a\n+b\n\nThat is all.\n", "edit x 1"},
      {"words below a fence, counts that are wrong",
       "```diff\n--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-a\n+b\n```\n- a list\n", "edit x 1"},
      {"properties of Subversion",
       "Index: x\n===\n--- x\t(revision 1)\n+++ x\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n\nProperty "
       "changes on: x\n___\nAdded: svn:executable\n## -0,0 +1 ##\n+*\n\\ No newline at end of "
       "property\n",
       "edit x 1"},
      {"two mails",
       "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n\nFrom 1 Mon\n\n- "
       "words\n---\n a | 2 +-\n\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n",
       "edit a 1, edit b 1"},
      {"two mails without a signature",
       "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n\nFrom 1 Mon\n\n- words\n---\n "
       "a | 2 +-\n\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n",
       "edit a 1, edit b 1"},
      {"Begin Patch in a text",
       "Here it is:\n*** Begin Patch\n*** Delete File: c\n*** End Patch\nDone.", "remove c"},
  };
  expect_readings(table);
}

TEST(Patch, SaysWhereItCannotBeRead) {
  const readable table[] = {
      {"empty", "", "refused at 0"},
      {"prose", "no patch\nat all\n", "refused at 2"},
      {"no file", "\n@@ -1 +1 @@\n-a\n+b\n", "refused at 1"},
      {"no hunk", "--- a/x\n+++ b/x\nwhat\n", "refused at 2"},
      {"a strange head", "@@ -x +1 @@\n-a\n", "refused at 2"},
      {"a huge number", "@@ -99999999999999999999 +1 @@\n-a\n", "refused at 2"},
      {"a number that sums would not hold",
       "@@ -9223372036854775807,1 +1 @@\n-a\n+b\n@@ -9223372036854775807 +1 @@\n-a\n",
       "refused at 2"},
      {"a head without numbers behind a hunk", "@@ -1 +1 @@\n-a\n+b\n@@ ... @@\n-c\n+d\n",
       "refused at 5"},
      {"a bare head behind a hunk", "@@ -1 +1 @@\n-a\n+b\n@@\n-c\n+d\n", "refused at 5"},
      {"a wrapped line", "@@ -1,3 +1,3 @@\n-f(a, b)\n+f(a,\nb)\n {\n-c\n+d\n", "refused at 5"},
      {"dots for lines", "@@ -1 +1 @@\n-a\n+b\n...\n-c\n+d\n", "refused at 5"},
      {"a context line without its blank", "@@ -1,3 +1,3 @@\n-a\n+b\n{\n-c\n+d\n", "refused at 5"},
      {"fewer lines than its head says, and words", "@@ -1,3 +1,3 @@\n-a\n+b\n{\n", "refused at 5"},
      {"a new file's line without its mark",
       "--- /dev/null\n+++ b/x\n@@ -0,0 +1,3 @@\n+a\nfoo\n+b\n", "refused at 4"},
      {"a new file's empty line without its mark",
       "--- /dev/null\n+++ b/x\n@@ -0,0 +1,3 @@\n+a\n\n+b\n", "refused at 4"},
      {"Add File without marks", "*** Begin Patch\n*** Add File: x\na\n*** End Patch\n",
       "refused at 2"},
      {"Add File, a mark missing", "*** Begin Patch\n*** Add File: x\n+a\n\n+b\n*** End Patch\n",
       "refused at 4"},
      {"a unified patch before Begin Patch",
       "@@ -1 +1 @@\n-a\n+b\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n", "refused at 0"},
      {"and behind it",
       "*** Begin Patch\n*** Delete File: x\n*** End Patch\n--- a/x\n+++ b/x\n@@ -1 +1 "
       "@@\n-a\n+b\n",
       "refused at 3"},
      {"a line cut off", "@@ -1 +1 @@\n-a\n+b", "refused at 4"},
      {"a line that stays, and counts of more", "@@ -1,2 +1,3 @@\n+b\n a", "refused at 4"},
      {"lines that come, and a count of lines that are there",
       "@@ -5 +5,2 @@\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
       "refused at 2"},
      {"a last hunk cut off", "@@ -1 +1 @@\n-a\n+b\n@@ -4,3 +4,3 @@\n a\n-b\n+c\n", "refused at 8"},
      {"the added lines of a last hunk cut off", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n", "refused at 5"},
      {"the mark of no end cut off", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at e", "refused at 5"},
      {"a name cut off", "diff --git a/x b/yy\nsimilarity index 100%\nrename from x\nrename to y",
       "refused at 3"},
      {"a next file of git cut off", "@@ -1 +1 @@\n-a\n+b\ndiff --g", "refused at 5"},
      {"a mode, and its hunks cut off in +++",
       "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n++", "refused at 3"},
      {"a mode, and its index cut off", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nind",
       "refused at 3"},
      {"the hunks of a new file cut off",
       "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n", "refused at 2"},
      {"the hunks of a mode cut off",
       "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 89abcde..1234567\n",
       "refused at 3"},
      {"the hunks of a rename cut off",
       "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nindex "
       "89abcde..1234567 100644\n",
       "refused at 4"},
      {"a name and nothing else", "diff --git a/x b/x\n", "refused at 1"},
      {"kept lines alone", "@@ -1 +1 @@\n a\n", "refused at 4"},
      {"kept lines alone in Begin Patch",
       "*** Begin Patch\n*** Update File: x\n@@\n a\n*** End Patch\n", "refused at 4"},
      {"an empty hunk", "@@ -1 +1 @@\n", "refused at 3"},
      {"binary", "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\n",
       "unsupported_type at 2"},
      {"binary, told only", "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
       "unsupported_type at 1"},
      {"renamed, and the name of another file behind it",
       "diff --git a/x b/y\nrename from x\nrename to y\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 "
       "@@\n+a\n",
       "refused at 3"},
      {"renamed, and of another file",
       "diff --git a/m b/mm\nrename from m\nrename to mm\n--- a/other\n+++ b/mm\n@@ -1 +1 "
       "@@\n-a\n+b\n",
       "refused at 3"},
      {"renamed, and to another name",
       "diff --git a/m b/mm\nrename from m\nrename to mm\n--- a/m\n+++ b/other\n@@ -1 +1 "
       "@@\n-a\n+b\n",
       "refused at 4"},
      {"made, and of another name",
       "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n",
       "refused at 3"},
      {"deleted, and of another name",
       "diff --git a/x b/x\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
       "refused at 2"},
      {"of another name than git says",
       "diff --git a/x b/x\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "refused at 1"},
      {"a new link", "diff --git a/x b/x\nnew file mode 120000\n", "unsupported_type at 1"},
      {"a new submodule", "diff --git a/x b/x\nnew file mode 160000\n", "unsupported_type at 1"},
      {"a deleted link", "diff --git a/x b/x\ndeleted file mode 120000\n", "unsupported_type at 1"},
      {"a link by its index", "diff --git a/x b/x\nindex 12..34 120000\n--- a/x\n+++ b/x\n",
       "unsupported_type at 1"},
      {"a submodule by its index", "diff --git a/x b/x\nindex 12..34 160000\n",
       "unsupported_type at 1"},
      {"what was a link", "diff --git a/x b/x\nold mode 120000\nnew mode 100644\n",
       "unsupported_type at 1"},
      {"a mode that git has not", "diff --git a/x b/x\nold mode 100644\nnew mode 104755\n",
       "unsupported_type at 2"},
      {"no mode at all", "diff --git a/x b/x\nnew file mode \n", "unsupported_type at 1"},
      {"a name that never ends", "diff --git \"a/x b/x\nnew file mode 100644\n", "refused at 2"},
      {"renamed to no name", "diff --git a/x b/y\nrename from x\n", "refused at 2"},
      {"copied from no name", "diff --git a/x b/y\ncopy to y\n", "refused at 2"},
      {"renamed, and cut off behind its modes",
       "diff --git \"a/x\" \"b/x-moved\"\nold mode 100644\nnew mode 100755\nsimi", "refused at 3"},
      {"renamed and deleted",
       "diff --git a/x b/y\nrename from x\nrename to y\ndeleted file mode 100644\n",
       "refused at 4"},
      {"Begin without End", "*** Begin Patch\n*** Delete File: x\n", "refused at 2"},
      {"no files", "*** Begin Patch\n*** End Patch\n", "refused at 1"},
      {"another word", "*** Begin Patch\n*** Rename File: x\n*** End Patch\n", "refused at 1"},
      {"a line without a mark", "*** Begin Patch\n*** Update File: x\n@@\nline\n*** End Patch\n",
       "refused at 3"},
      {"an update of nothing", "*** Begin Patch\n*** Update File: x\n*** End Patch\n",
       "refused at 2"},
  };
  expect_readings(table);
}

TEST(Patch, SaysWhatIsWrongWithAHunk) {
  const auto fault = [](std::string_view hunk, std::string_view names = "--- a/x\n+++ b/x\n") {
    return text_of(parse_patch(std::string(names).append(hunk)).error());
  };
  EXPECT_EQ(fault("@@ -1 +1 @@\n\ta\n-b\n+c\n"), "a line of a hunk begins with a blank, + or -");
  EXPECT_EQ(fault("@@ -0,0 +1 @@\na\n", "--- /dev/null\n+++ b/x\n"),
            "each line of a new file begins with +");
  EXPECT_EQ(fault("@@ -1 +1 @@\n"), "the hunk has no lines");
  EXPECT_EQ(fault("@@ -7,9 +8,9 @@ f()\n a\n-b\n+c\n+d\n"),
            "the patch ends here, and its last hunk has fewer lines than its head says; write it "
            "to its end, or correct the head to @@ -7,2 +8,3 @@");
}

/// What git's lines name has the same name in those of `diff -u`, however its sides are told apart.
TEST(Patch, NamesAgreeWhateverItsSidesAreCalled) {
  const std::string hunk = "@@ -1 +1 @@\n-a\n+b\n";
  const struct {
    const char* name;
    const char* patch;
    std::size_t files = 1;
  } table[] = {
      {"usual", "diff --git a/d/x b/d/x\n--- a/d/x\n+++ b/d/x\n"},
      {"none", "diff --git d/x d/x\n--- d/x\n+++ d/x\n"},
      {"others", "diff --git i/d/x w/d/x\n--- i/d/x\n+++ w/d/x\n"},
      {"none behind usual ones", "diff --git a/d/x b/d/x\n--- d/x\n+++ d/x\n"},
      {"deleted, others", "diff --git i/d/x w/d/x\n--- i/d/x\n+++ /dev/null\n"},
      {"renamed, others",
       "diff --git i/c/y w/d/x\nrename from c/y\nrename to d/x\n--- i/c/y\n+++ w/d/x\n"},
      {"a file of its own behind a rename",
       "diff --git a/c b/dd\nrename from c\nrename to dd\n\n--- a/d/x\n+++ b/d/x\n", 2},
  };
  for (const auto& row : table) {
    const std::string patch = row.patch + hunk;
    const auto files = parse_patch(patch);
    ASSERT_TRUE(files.has_value()) << row.name << ": " << files.error().operation;
    ASSERT_EQ(files->size(), row.files) << row.name;
    EXPECT_EQ(files->back().path, "d/x") << row.name;
  }
}

/// The hunks of a patch, without its names.
std::vector<patch_hunk> hunks_of(std::string_view patch) {
  static std::vector<std::string> kept; // views are into it
  kept.reserve(1000);
  const bool is_second = patch.find("@@ -") == std::string_view::npos;
  kept.push_back(is_second ? "*** Begin Patch\n*** Update File: x\n" + std::string(patch) +
                                 "*** End Patch\n"
                           : "--- a/x\n+++ b/x\n" + std::string(patch));
  const auto files = parse_patch(kept.back());
  return files ? files->front().hunks : std::vector<patch_hunk>();
}

struct made {
  const char* name;
  std::string_view content, hunks, outcome;
};

TEST(Patch, HunksGoWhereTheirLinesStand) {
  const made table[] = {
      {"where they say", "a\na\na\n", "@@ -2 +2 @@\n-a\n+b\n", "a\nb\na\n"},
      {"elsewhere, when there is one such place", "x\ny\na\n", "@@ -1 +1 @@\n-a\n+b\n",
       "x\ny\nb\n"},
      {"as far away as the one before", "x\n1\na\na\n2\na\na\n",
       "@@ -1 +1 @@\n-1\n+one\n@@ -2 +2 @@\n-a\n+b\n", "x\none\nb\na\n2\na\na\n"},
      {"lines alone", "a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n"},
      {"to an empty file", "", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\n"},
      {"to the top, by lines alone", "y\n", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\ny\n"},
      {"an empty line before another", "\na\n", "@@ -0,0 +1 @@\n+\n", "\n\na\n"},
      {"ends come", "a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n"},
      {"and go", "a\n", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a"},
      {"lines behind one without an end", "a",
       "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n",
       "a\nb"},
      {"CRLF stays", "a\r\nb\r\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n",
       "a\r\nx\r\ny\r\nc\r\n"},
      {"CRLF at the beginning", "a\r\n", "@@ -1 +1,2 @@\n+x\n a\n", "x\r\na\r\n"},
      {"CRLF alone in the patch", "a\nb\n", "@@ -1,2 +1,3 @@\r\n a\r\n+x\r\n b\r\n", "a\nx\nb\n"},
      {"CRLF alone in a patch that only adds", "a\nb\n", "@@ -1,0 +2 @@\r\n+x\r\n", "a\nx\nb\n"},
      {"lines with CR that a patch adds", "a\nb\n", "@@ -1,0 +2 @@\n+x\r\n", "a\nx\r\nb\n"},
      {"CRLF alone in a patch without numbers", "a\nb\n", "@@\r\n-a\r\n+x\r\n b\r\n", "x\nb\n"},
      {"CRLF alone in one that only adds", "a\nb\n", "@@ a\r\n+x\r\n", "a\nx\nb\n"},
      {"ends that the patch means", "a\r\nb\n", "@@ -1,2 +1,3 @@\n a\r\n+x\n b\n", "a\r\nx\nb\n"},
      {"and changes", "a\r\n", "@@ -1 +1 @@\n-a\r\n+a\n", "a\n"},
      {"CRLF behind a last line without an end", "a\r\nb", "@@\n b\n+c\n", "a\r\nb\r\nc\r\n"},
      {"CRLF and no end at all", "a",
       "@@ -1 +1 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n\\ No newline at end of "
       "file\r\n",
       "b"},
      {"a CR that is no line's end", "a\r",
       "@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+b\r\n", "b\r\n"},
      {"a blank that got lost", "a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n"},
      {"counts that are too low", "a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+x\n+y\n c\n",
       "a\nx\ny\nc\n"},
      {"counts that are wrong, before another hunk", "a\nb\nc\nd\n",
       "@@ -1,7 +1,2 @@\n a\n-b\n+x\n+y\n@@ -4 +5 @@\n-d\n+e\n", "refused"},
      {"counts that are wrong, with a line behind", "a\nb\nc\nd\n",
       "@@ -1,7 +1,9 @@\n a\n-b\n+x\n+y\n c\n@@ -4 +5 @@\n-d\n+e\n", "a\nx\ny\nc\ne\n"},
      {"all lines of a file with CRLF", "a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\n-b\n+x\n+y\n",
       "x\r\ny\r\n"},
      {"all lines of a file with CRLF, the last without an end", "a\r\nb",
       "@@ -1,2 +1,2 @@\n-a\n-b\n\\ No newline at end of file\n+x\n+y\n", "x\r\ny\r\n"},
      {"all lines of a file with CRLF, without numbers", "a\r\nb\r\n", "@@\n-a\n-b\n+x\n+y\n",
       "x\r\ny\r\n"},
      {"CRLF at the end, by lines alone", "a\r\nb\r\n", "@@ -2,0 +3 @@\n+c\n", "a\r\nb\r\nc\r\n"},
      {"CRLF at the end, lines removed", "a\r\nb\r\n", "@@ -2 +2,2 @@\n-b\n+c\n+d\n",
       "a\r\nc\r\nd\r\n"},
      {"both ends, by lines alone", "a\r\nb\n", "@@ -2,0 +3 @@\n+c\n", "a\r\nb\nc\n"},
      {"at the top, where it says so", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n+x\n a\n b\n",
       "x\na\nb\nc\n"},
      {"at the end, where it says so", "a\nb\nc\n", "@@ -7,2 +7,3 @@\n b\n c\n+x\n",
       "a\nb\nc\nx\n"},
      {"without numbers", "a\nb\nc\n", "@@\n b\n+x\n", "a\nb\nx\nc\n"},
      {"behind what they name", "class A\nx\nclass B\nx\n", "@@ class B\n-x\n+y\n",
       "class A\nx\nclass B\ny\n"},
      {"behind one name and another", "class B\nf\nx\nclass A\nf\nx\n",
       "@@ class A\n@@ f\n-x\n+y\n", "class B\nf\nx\nclass A\nf\ny\n"},
      {"at the end", "x\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\ny\n"},
      {"lines alone, at the end", "x\n", "@@\n+y\n*** End of File\n", "x\ny\n"},
      {"lines alone, behind a name", "x\ny\n", "@@ x\n+z\n", "x\nz\ny\n"},
      {"the last line without its end", "a\nb", "@@\n-b\n+c\n", "a\nc\n"},
  };
  for (const made& row : table) {
    const auto hunks = hunks_of(row.hunks);
    EXPECT_FALSE(hunks.empty()) << row.name;
    const auto outcome = apply_hunks(row.content, hunks);
    EXPECT_EQ(outcome ? *outcome : "refused", row.outcome) << row.name;
  }
}

std::string in_words(const std::vector<std::uint64_t>& numbers) {
  std::string all;
  for (const std::uint64_t each : numbers)
    all += ' ' + std::to_string(each);
  return all;
}

TEST(Patch, HunksThatFitNowhereOrTwiceChangeNothing) {
  const made table[] = {
      {"nowhere", "a\n", "@@ -1 +1 @@\n-b\n+c\n", "no_match in 0:"},
      {"to the top, which has it", "x\ny\nb\n", "@@ -0,0 +1,2 @@\n+x\n+y\n", "no_match in 0:"},
      {"in white space only", " a\n", "@@ -1 +1 @@\n-a\n+c\n", "no_match in 0:"},
      {"twice", "x\na\na\n", "@@ -1 +1 @@\n-a\n+c\n", "ambiguous in 0: 1 2"},
      {"twice, overlapping", "x\na\na\na\n", "@@ -1,2 +1 @@\n-a\n-a\n+c\n", "ambiguous in 0: 1 2"},
      {"the second nowhere", "a\nb\n", "@@ -1 +1 @@\n-a\n+c\n@@ -2 +2 @@\n-x\n+y\n",
       "no_match in 1:"},
      {"before the one before", "a\nb\n", "@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+y\n",
       "no_match in 1:"},
      {"behind the end", "a\n", "@@ -9,0 +9 @@\n+y\n", "no_match in 0:"},
      {"another end", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
       "no_match in 0:"},
      {"no numbers, twice", "a\na\n", "@@\n-a\n+b\n", "ambiguous in 0: 0 1"},
      {"no numbers, lines alone", "a\n", "@@\n+b\n", "ambiguous in 0:"},
      {"a name that is not there", "a\n", "@@ class X\n-a\n+b\n", "no_match in 0:"},
      {"at the top a second time", "x\na\nb\n", "@@ -1,2 +1,3 @@\n+x\n a\n b\n", "no_match in 0:"},
      {"at the end a second time", "a\nb\nx\n", "@@ -1,2 +1,3 @@\n a\n b\n+x\n", "no_match in 0:"},
      {"not at the end", "a\nb\n", "@@\n-a\n+c\n*** End of File\n", "no_match in 0:"},
  };
  for (const made& row : table) {
    const auto hunks = hunks_of(row.hunks);
    EXPECT_FALSE(hunks.empty()) << row.name;
    const auto outcome = apply_hunks(row.content, hunks);
    if (outcome) {
      ADD_FAILURE() << row.name << ": " << *outcome;
      continue;
    }
    const auto& e = outcome.error();
    EXPECT_EQ(std::string(wire_name(e.code)) + " in " + std::to_string(e.hunk) + ':' +
                  in_words(e.line_indexes),
              row.outcome)
        << row.name;
  }
}

TEST(Patch, NumbersOfTheOtherFormatAreNoNameOfALine) {
  const made table[] = {
      {"numbers", "a\nx\nb\n", "@@ -13,3 +13,3 @@\n-x\n+y\n b\n", "a\ny\nb\n"},
      {"numbers and a name", "a\nx\n", "@@ -13 +13 @@ int f() {\n-x\n+y\n", "a\ny\n"},
      {"a line that looks like some", "x\n-1 +1\nx\n", "@@ -1 +1\n-x\n+y\n", "x\n-1 +1\ny\n"},
  };
  for (const made& row : table) {
    const std::string patch =
        "*** Begin Patch\n*** Update File: x\n" + std::string(row.hunks) + "*** End Patch\n";
    const auto files = parse_patch(patch);
    ASSERT_TRUE(files.has_value()) << row.name;
    const auto outcome = apply_hunks(row.content, files->front().hunks);
    EXPECT_EQ(outcome ? *outcome : "refused", row.outcome) << row.name;
  }
}

TEST(Patch, RepetitionCostsNothing) {
  std::string content;
  std::string hunk = "@@\n";
  for (int i = 0; i < 200'000; ++i)
    content += "a\n";
  for (int i = 0; i < 50'000; ++i)
    hunk += " a\n";
  hunk += "-b\n";
  const auto hunks = hunks_of(hunk);
  const auto outcome = apply_hunks(content, hunks); // 10^10 comparisons, if done plainly
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, error_code::no_match);
}

TEST(Patch, MatchesButForWhiteSpaceWhereThatIsAskedFor) {
  struct loose {
    const char* name;
    std::string_view content, hunks;
    std::string_view text; ///< empty: refused
    std::string_view said; ///< how new lines are indented, or the refusal, and lines from 0
  };
  const loose table[] = {
      {"kept lines stay", "a\n\tb\nc\n", "@@ -1,3 +1,3 @@\n a\n   b\n-c\n+d\n", "a\n\tb\nd\n",
       "as_given 1"},
      {"CRLF", "a\r\n\tb\r\n", "@@ -1,2 +1,2 @@\n a\n-  b\n+  d\n", "a\r\n\td\r\n", "as_in_file 1"},
      {"tabs for blanks, also deeper and empty", "f:\n\tif a:\n\t\tb\n",
       "@@ -1,3 +1,5 @@\n f:\n     if a:\n+\n+        if c:\n+            d\n         b\n",
       "f:\n\tif a:\n\n\t\tif c:\n\t\t\td\n\t\tb\n", "as_in_file 1 2"},
      {"two blanks for four", "{\n    a\n        b\n", "@@ -2,2 +2,3 @@\n   a\n     b\n+      c\n",
       "{\n    a\n        b\n            c\n", "as_in_file 1 2"},
      {"all of it farther to the left", "{\n    a\n      b\n", "@@\n a\n   b\n+ c\n+     d\n",
       "{\n    a\n      b\n     c\n         d\n", "as_in_file 1 2"},
      {"all of it farther to the right", "a\n  b\n", "@@\n   a\n-    b\n+  c\n+      d\n",
       "a\nc\n    d\n", "as_in_file 0 1"},
      {"too far to the left", "a\n  b\n", "@@\n   a\n-    b\n+c\n+      d\n", "a\nc\n      d\n",
       "not_known 0 1"},
      {"two things for one indentation", "\ta\n\t\tb\n", "@@\n   a\n   b\n+  c\n",
       "\ta\n\t\tb\n  c\n", "not_known 0 1"},
      {"no whole step", "\ta\n", "@@\n     a\n+      c\n", "\ta\n      c\n", "not_known 0"},
      {"white space behind the words alone", "  a  b \n", "@@\n   a b\n+c\n", "  a  b \nc\n",
       "as_given 0"},
      {"not where it says, if there are two", "a\n b\n b\n", "@@ -2 +2 @@\n-\tb\n+c\n", "",
       "ambiguous 1 2"},
      {"an anchor", " f:\n  x\ng:\n  x\n", "@@ f:\n-  x\n+  y\n", "", "ambiguous 1 3"},
      {"an anchor and what follows", "\tf:\n  x\n", "@@ f:\n-x\n+y\n", "\tf:\n  y\n",
       "as_in_file 0 1"},
      {"an anchor twice", "\tf:\n f:\n", "@@ f:\n+y\n", "", "ambiguous 0 1"},
      {"a file that ends elsewhere", " a", "@@ -1 +1 @@\n-a\n+b\n", "", "no_match"},
      {"nothing but white space", "\t\nx\n", "@@ -1 +1 @@\n- \n+b\n", "", "no_match"},
  };
  static constexpr const char* indentations[] = {"as_given", "as_in_file", "not_known"};
  for (const loose& row : table) {
    const auto hunks = hunks_of(row.hunks);
    ASSERT_FALSE(hunks.empty()) << row.name;
    EXPECT_FALSE(apply_hunks(row.content, hunks).has_value()) << row.name;
    const auto done = apply_hunks(row.content, hunks, text_matching::white_space);
    EXPECT_EQ(done ? done->text : "", row.text) << row.name;
    std::string said(done ? "" : wire_name(done.error().code));
    if (done) said = indentations[static_cast<std::size_t>(done->hunks.front().indentation)];
    said += in_words(done ? done->hunks.front().differing_line_indexes : done.error().line_indexes);
    EXPECT_EQ(said, row.said) << row.name;
  }
}

} // namespace
} // namespace paddock
