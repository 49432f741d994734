// SPDX-License-Identifier: MIT

// Differences of all small texts against a table of common subsequences, which shares no code with
// ours; what the hunks of larger ones say, read back by a reader as plain as it can be. `git apply`
// and `patch` judge in unified_diff_judges.py.

#include "precompiled/tests.hpp"
#include "text/line_diff.hpp"

#include <paddock/text/unified_diff.hpp>

namespace paddock {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

/// How many lines of `a` and `b` a longest common subsequence leaves out.
std::size_t fewest_changes(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<std::size_t>> common(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      common[i][j] = a[i - 1] == b[j - 1] ? common[i - 1][j - 1] + 1
                                          : std::max(common[i - 1][j], common[i][j - 1]);
  return a.size() + b.size() - 2 * common[a.size()][b.size()];
}

/// `before` with the changes made; nothing when they do not fit.
std::string applied(const std::string& before, const std::string& after,
                    const std::vector<line_change>& changes) {
  const std::vector<std::string> from = split(before);
  const std::vector<std::string> to = split(after);
  std::vector<std::string> out;
  std::size_t at = 0;
  for (const line_change& change : changes) {
    if (change.before_line_index < at ||
        change.before_line_index + change.before_count > from.size() ||
        change.after_line_index + change.after_count > to.size() ||
        (at > 0 && change.before_line_index == at) || change.before_count + change.after_count == 0)
      return "changes that do not fit";
    while (at < change.before_line_index)
      out.push_back(from[at++]);
    if (out.size() != change.after_line_index) return "changes that name other lines";
    for (std::size_t i = 0; i < change.after_count; ++i)
      out.push_back(to[change.after_line_index + i]);
    at += change.before_count;
  }
  out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(at), from.end());
  std::string text;
  for (const std::string& line : out)
    text += line;
  return text;
}

std::size_t count(const std::vector<line_change>& changes) {
  std::size_t lines = 0;
  for (const line_change& change : changes)
    lines += change.before_count + change.after_count;
  return lines;
}

/// All texts of up to `lines_max` lines of three kinds, with and without LF at the end.
std::vector<std::string> small_texts(std::size_t lines_max) {
  std::vector<std::string> texts{""};
  for (std::size_t begin = 0, n = 0; n < lines_max; ++n) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i)
      for (const char* line : {"a\n", "b\n", "\n"})
        texts.push_back(texts[i] + line);
    begin = end;
  }
  const std::size_t whole = texts.size();
  for (std::size_t i = 0; i < whole; ++i)
    if (texts[i].ends_with("a\n")) texts.push_back(texts[i].substr(0, texts[i].size() - 1));
  return texts;
}

TEST(UnifiedDiff, IsShortestForAllSmallTexts) {
  const std::vector<std::string> texts = small_texts(4);
  for (const std::string& before : texts)
    for (const std::string& after : texts) {
      const std::vector<line_change> changes = changed_lines(before, after);
      ASSERT_EQ(applied(before, after, changes), after) << testing::PrintToString(before);
      ASSERT_EQ(count(changes), fewest_changes(split(before), split(after)))
          << testing::PrintToString(before) << " to " << testing::PrintToString(after);
    }
}

/// Lines of `kinds` kinds, a few of them changed.
std::pair<std::string, std::string> random_texts(std::mt19937_64& random, std::size_t lines,
                                                 std::size_t kinds, std::size_t changes) {
  std::vector<std::string> from;
  for (std::size_t i = 0; i < lines; ++i)
    from.push_back("line " + std::to_string(random() % kinds) + "\n");
  std::vector<std::string> to = from;
  for (std::size_t i = 0; i < changes; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (to.size() + 1));
    if (random() % 2 == 0 || to.begin() + at == to.end())
      to.insert(to.begin() + at, "line " + std::to_string(random() % (2 * kinds)) + "\n");
    else
      to.erase(to.begin() + at);
  }
  std::string before;
  for (const std::string& line : from)
    before += line;
  std::string after;
  for (const std::string& line : to)
    after += line;
  return {before, after};
}

TEST(UnifiedDiff, IsShortestForRandomTexts) {
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < 400; ++i) {
    const auto [before, after] =
        random_texts(random, random() % 150, 1 + random() % 60, random() % 120);
    const std::vector<line_change> changes = changed_lines(before, after);
    ASSERT_EQ(applied(before, after, changes), after);
    ASSERT_EQ(count(changes), fewest_changes(split(before), split(after)));
  }
}

TEST(UnifiedDiff, IsRightWhereTheShortestWouldTakeTooLong) {
  std::mt19937_64 random(2);
  for (const std::size_t kinds : {2U, 50U, 5000U}) {
    const std::string before = random_texts(random, 8000, kinds, 0).first;
    const std::string after = random_texts(random, 8000, kinds, 0).first;
    EXPECT_EQ(applied(before, after, changed_lines(before, after)), after) << kinds;
  }
}

TEST(UnifiedDiff, WorkIsBoundedWhateverTheTextsAre) {
  std::mt19937_64 random(3);
  // Two kinds of lines alone: nearly all diagonals are worth a look, 10^10 times.
  std::string before;
  std::string after;
  for (int i = 0; i < 200'000; ++i) {
    before += random() % 2 == 0 ? "0\n" : "1\n";
    after += random() % 2 == 0 ? "0\n" : "1\n";
  }
  EXPECT_EQ(applied(before, after, changed_lines(before, after)), after);
}

TEST(UnifiedDiff, TakesAnyNumberOfLinesOfContext) {
  const unified_diff_text all = unified_diff("a\nb\n", "a\nc\n", {.context_lines = SIZE_MAX});
  EXPECT_EQ(all.text, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
}

/// The diff of a text and a changed one, for the table below.
struct named_diff {
  const char* name;
  std::string_view before, after, text;
};

TEST(UnifiedDiff, SaysWhatOtherProgramsSay) {
  const named_diff table[] = {
      {"nothing", "a\n", "a\n", ""},
      {"a new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
      {"an emptied file", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
      {"LF at the end goes", "a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
      {"LF at the end comes", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
      {"none before and after", "a\nb", "c\nb",
       "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"},
      {"a CR belongs to its line", "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
      {"the last of several places", "{\n}\n", "{\n}\n{\n}\n", "@@ -1,2 +1,4 @@\n {\n }\n+{\n+}\n"},
      {"near changes share a hunk", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
       "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"},
      {"others do not", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
       "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"},
  };
  for (const named_diff& row : table)
    EXPECT_EQ(unified_diff(row.before, row.after).text, row.text) << row.name;
}

TEST(UnifiedDiff, NamesAreQuotedWhereTheyCouldBeMisread) {
  const auto names = [](std::string_view name) {
    const std::string text = unified_diff("", "", {.before_name = name}).text +
                             unified_diff("a\n", "", {.before_name = name}).text;
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(names("a/x.c"), "--- a/x.c");
  EXPECT_EQ(names("a/x y"), "--- a/x y\t");
  EXPECT_EQ(names("a/x "), "--- \"a/x \"");
  EXPECT_EQ(names("a/文"), "--- a/文");
  EXPECT_EQ(names("a/\"\\\t\n\x01\x7f"), R"(--- "a/\"\\\t\n\001\177")");
  EXPECT_EQ(names("a/l\xe9"), R"(--- "a/l\351")");
}

TEST(UnifiedDiff, GitsHeadingTellsNamesAndModes) {
  const git_file text{.name = "a b", .mode = "100644"}, link{.name = "l\n", .mode = "120000"};
  EXPECT_EQ(git_heading({}, text), "diff --git a/a b b/a b\nnew file mode 100644\n");
  EXPECT_EQ(git_heading(link, {}), "diff --git \"a/l\\n\" \"b/l\\n\"\ndeleted file mode 120000\n");
  EXPECT_EQ(git_heading(text, text), "diff --git a/a b b/a b\n");
  EXPECT_EQ(git_heading(text, {.name = "c", .mode = "100755"}),
            "diff --git a/a b b/c\nold mode 100644\nnew mode 100755\nrename from a b\n"
            "rename to c\n");
}

TEST(UnifiedDiff, IsCutAtAHunk) {
  std::string before;
  for (int i = 0; i < 100; ++i)
    before += std::to_string(i) + "\n";
  std::string after = before;
  for (const char* line : {"\n10\n", "\n50\n", "\n90\n"})
    after.replace(after.find(line) + 1, 2, "x");
  const unified_diff_text whole = unified_diff(before, after);
  EXPECT_EQ(whole.hunks, 3U);
  EXPECT_EQ(whole.hunks_left_out, 0U);
  for (std::size_t bytes_max = 0; bytes_max < whole.text.size(); ++bytes_max) {
    const unified_diff_text cut = unified_diff(before, after, {.bytes_max = bytes_max});
    EXPECT_LE(cut.text.size(), bytes_max);
    EXPECT_TRUE(whole.text.starts_with(cut.text));
    EXPECT_TRUE(cut.text.empty() || whole.text.substr(cut.text.size()).starts_with("@@"));
    EXPECT_GT(cut.hunks_left_out, 0U);
    EXPECT_EQ(cut.added, 3U);
    EXPECT_EQ(cut.removed, 3U);
  }
  // Names that alone are too long leave no text that could be misread.
  EXPECT_EQ(
      unified_diff(before, after, {.bytes_max = 5, .before_name = "a", .after_name = "b"}).text,
      "");
}

TEST(UnifiedDiff, LinesWhoseHashesCollideAreOnlySlower) {
  // Nothing is known of the hash but that the number of probes is bounded: the way without it.
  std::vector<std::string> lines;
  for (int i = 0; i < 50; ++i)
    lines.push_back(std::to_string(i % 20) + "\n");
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  const numbered_lines sorted = number_by_order(views, views).first;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (std::size_t j = 0; j < views.size(); ++j)
      ASSERT_EQ(sorted[i] == sorted[j], views[i] == views[j]);
}

} // namespace
} // namespace paddock
