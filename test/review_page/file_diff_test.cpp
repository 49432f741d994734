// SPDX-License-Identifier: MIT
// Hunks of a page, and a text without one of them.
#include "precompiled/tests.hpp"
#include "review_page/file_diff.hpp"

namespace paddock::review_page {
namespace {

std::string numbered(std::size_t first, std::size_t last) {
  std::string out;
  for (std::size_t i = first; i <= last; ++i)
    out += "line " + std::to_string(i) + "\n";
  return out;
}

/// The rows of all hunks, one line each; hunks begin with "@ before,count after,count".
std::string shown(const file_diff& diff) {
  std::string out;
  for (const hunk& each : diff.hunks) {
    out += "@ " + std::to_string(each.before_line) + ',' + std::to_string(each.before_count) + ' ' +
           std::to_string(each.after_line) + ',' + std::to_string(each.after_count) + '\n';
    for (const row& one : rows_of(diff, each)) {
      out.append(1, one.sign).append(std::to_string(one.line)).append(":").append(one.text);
      if (!one.text.ends_with('\n')) out += "<end>\n";
    }
  }
  return out;
}

struct named_case {
  const char* name;
  std::string before, after, rows;
};

class Diff : public testing::TestWithParam<named_case> {};

TEST_P(Diff, HasTheseHunks) {
  const named_case& one = GetParam();
  EXPECT_EQ(shown(compare(one.before, one.after, 1)), one.rows);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Diff,
    testing::Values(
        named_case{"same", "a\n", "a\n", ""}, named_case{"both_empty", "", "", ""},
        named_case{"created", "", "a\nb", "@ 0,0 0,2\n+0:a\n+1:b<end>\n"},
        named_case{"deleted", "a\nb\n", "", "@ 0,2 0,0\n-0:a\n-1:b\n"},
        named_case{"one_line", "a\nb\nc\n", "a\nx\nc\n", "@ 0,3 0,3\n 0:a\n-1:b\n+1:x\n 2:c\n"},
        named_case{"newline_at_the_end", "a\nb", "a\nb\n", "@ 0,2 0,2\n 0:a\n-1:b<end>\n+1:b\n"},
        named_case{"close_ones_together", "1\n2\n3\n4\n5\n", "1\nx\n3\ny\n5\n",
                   "@ 0,5 0,5\n 0:1\n-1:2\n+1:x\n 2:3\n-3:4\n+3:y\n 4:5\n"},
        named_case{"far_ones_apart", numbered(1, 7), "new\n" + numbered(1, 6),
                   "@ 0,1 0,2\n+0:new\n 0:line 1\n@ 5,2 6,1\n 5:line 6\n-6:line 7\n"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Hunk, IsTakenBackAlone) {
  const std::string before = numbered(1, 40);
  std::string after = before;
  const auto put = [&](const std::string& old_text, const std::string& new_text) {
    after.replace(after.find(old_text), old_text.size(), new_text);
  };
  put("line 5\n", "five\n");
  put("line 20\n", "");
  put("line 30\n", "line 30\nmore\nand more\n");
  const file_diff diff = compare(before, after);
  ASSERT_EQ(diff.hunks.size(), 3u);
  EXPECT_EQ(diff.added, 3u);
  EXPECT_EQ(diff.removed, 2u);

  std::string without = after;
  const auto put_back = [&](const std::string& new_text, const std::string& old_text) {
    without.replace(without.find(new_text), new_text.size(), old_text);
  };
  put_back("five\n", "line 5\n");
  EXPECT_EQ(without_hunk(diff, 0), without);
  without = after;
  put_back("line 21\n", "line 20\nline 21\n");
  EXPECT_EQ(without_hunk(diff, 1), without);
  without = after;
  put_back("more\nand more\n", "");
  EXPECT_EQ(without_hunk(diff, 2), without);
}

// Any order of taking hunks back ends at the text before, byte for byte.
TEST(Hunk, AllOfThemTakenBackAreTheTextBefore) {
  std::uint64_t state = 7;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state >> 33U) % below);
  };
  const std::string lines[] = {"a\n", "b\n", "\n", "a\r\n", "\xff\n", "long line of text\n"};
  for (int round = 0; round < 300; ++round) {
    std::string before, after;
    for (std::size_t i = 0, count = random(60); i < count; ++i) {
      const std::string& line = lines[random(6)];
      if (random(8) != 0) before += line;
      if (random(8) != 0) after += line;
      if (random(12) == 0) after += lines[random(6)];
    }
    if (random(2) == 0) before += "end";
    if (random(2) == 0) after += "end";
    std::size_t steps = 0;
    for (file_diff diff = compare(before, after); !diff.hunks.empty();
         diff = compare(before, after)) {
      std::string next = without_hunk(diff, random(diff.hunks.size()));
      ASSERT_NE(next, after);
      after = std::move(next);
      ASSERT_LT(++steps, 200u);
    }
    ASSERT_EQ(after, before) << "round " << round;
  }
}

TEST(HunkDeathTest, HasToBeThere) {
  const file_diff diff = compare("a\n", "b\n");
  EXPECT_DEATH((void)without_hunk(diff, 1), "");
}

} // namespace
} // namespace paddock::review_page
