// SPDX-License-Identifier: MIT

// Hostile patches: what they may cost, by counts of work.

#include "precompiled/tests.hpp"
#include "text/line_index.hpp"
#include "text/text_pace.hpp"

#include <paddock/text/near_miss.hpp>
#include <paddock/text/patch.hpp>
#include <paddock/text/unified_diff.hpp>

namespace paddock {
namespace {

using views = std::vector<std::string_view>;

std::vector<std::size_t> plain_places(const views& lines, const views& wanted, std::size_t first) {
  std::vector<std::size_t> out;
  for (std::size_t at = first; at + wanted.size() <= lines.size(); ++at)
    if (std::equal(wanted.begin(), wanted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at)))
      out.push_back(at);
  return out;
}

TEST(LineIndex, FindsWhatAPlainSearchDoes) {
  std::mt19937_64 random(1);
  std::size_t found_at_all = 0;
  for (std::size_t round = 0; round < 20'000; ++round) {
    const auto some = [&](std::size_t count, std::size_t kinds) {
      views out;
      for (std::size_t i = 0; i < count; ++i)
        out.push_back(std::string_view("abcdefgh").substr(random() % kinds, 1));
      return out;
    };
    const std::size_t kinds = 1 + random() % 8;
    const views lines = some(random() % 30, kinds);
    const views before = some(random() % 3, kinds), wanted = some(1 + random() % 5, kinds);
    views all = before;
    all.insert(all.end(), wanted.begin(), wanted.end());
    const std::size_t first = random() % 8;
    text_pace pace({});
    line_index index(lines, all, pace);
    std::vector<std::size_t> found;
    index.for_each_place(before.size(), wanted.size(), first, [&](std::size_t place) {
      found.push_back(place);
      return true;
    });
    ASSERT_EQ(found, plain_places(lines, wanted, first)) << round;
    found_at_all += found.empty() ? 0U : 1U;
  }
  EXPECT_GT(found_at_all, 5000U);
}

std::size_t work_for(const views& lines, const views& wanted) {
  text_pace pace({});
  line_index index(lines, wanted, pace);
  const std::size_t before = index.work_left();
  index.for_each_place(0, wanted.size(), 0, [](std::size_t) { return true; });
  return before - index.work_left();
}

TEST(LineIndex, LooksAtEachLineAFewTimesAtMost) {
  constexpr std::size_t count = 100'000;
  views runs(count, "a"), wanted(5000, "a");
  for (std::size_t i = 0; i < count; i += wanted.size())
    runs[i] = "b"; // one short of what is wanted, again and again
  EXPECT_LE(work_for(runs, wanted), 4 * count);
  EXPECT_LE(work_for(views(count, "a"), wanted), 4 * count);
  runs[count / 2] = "c"; // one that is rare
  EXPECT_LE(work_for(runs, {"a", "c", "a"}), 100U);
}

/// Lines of two kinds in a random order, of which 40 in a row stand nowhere else.
std::string random_lines(std::size_t count) {
  std::mt19937_64 random(2);
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += random() % 2 == 0 ? "a\n" : "b\n";
  return out;
}

/// Removes each line, 40 of them with each hunk.
std::string hunks_of(const std::string& content, bool with_places) {
  std::string out = with_places ? "--- x\n+++ x\n" : "*** Begin Patch\n*** Update File: x\n";
  for (std::size_t i = 0; i + 1 < content.size(); i += 2) {
    if (i % 80 == 0)
      out += with_places ? "@@ -" + std::to_string(i / 2 + 1) + ",40 +1,0 @@\n" : "@@\n";
    out += "-" + content.substr(i, 2);
  }
  return out + (with_places ? "" : "*** End Patch\n");
}

TEST(Patch, TakesNoMoreWorkThanOneThatMeansSomething) {
  const std::string content = random_lines(100'000);
  const std::string hostile = hunks_of(content, false), control = hunks_of(content, true);
  const auto files = parse_patch(hostile), usual = parse_patch(control);
  ASSERT_TRUE(files.has_value() && usual.has_value());
  for (const text_matching matching : {text_matching::exact, text_matching::white_space}) {
    const auto done = apply_hunks(content, files->front().hunks, matching);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, error_code::too_large);
    EXPECT_GT(done.error().hunk, 10U);
    const auto made = apply_hunks(content, usual->front().hunks, matching);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->text, "");
  }
  // Fewer of them are found by their lines alone.
  const auto few = std::span(files->front().hunks).first(100);
  EXPECT_EQ(apply_hunks(content, few).value_or(""), content.substr(8000));
}

/// How often `work` asks whether it is wanted, when it is up to the question `no`.
template <class Work> std::size_t questions(const Work& work, std::size_t no = SIZE_MAX) {
  std::size_t asked = 0;
  const auto wanted = [&] { return ++asked < no; };
  work(wanted);
  return asked;
}

TEST(Patch, AsksWhetherItIsStillWanted) {
  const std::string content = random_lines(100'000);
  const std::string nowhere = "--- x\n+++ x\n@@ -1 +1 @@\n-none\n+b\n";
  std::string anchors = "*** Begin Patch\n*** Update File: x\n";
  for (std::size_t i = 0; i < 50'000; ++i)
    anchors += "@@ a\n";
  anchors += "-a\n+b\n*** End Patch\n";
  struct named {
    const char* name;
    std::string patch;
    std::size_t questions_min;
  };
  for (const auto& [name, patch, least] :
       {named{"many searches", hunks_of(content, false), 100}, named{"nowhere", nowhere, 2},
        named{"anchors", anchors, 2}}) {
    SCOPED_TRACE(name);
    const auto files = parse_patch(patch);
    ASSERT_TRUE(files.has_value());
    for (const text_matching matching : {text_matching::exact, text_matching::white_space}) {
      if (least > 2 && matching != text_matching::exact) continue; // it gets no further
      error_code code{};
      const auto work = [&](detail::function_view<bool()> wanted) {
        const auto done = apply_hunks(content, files->front().hunks, matching, wanted);
        code = done ? error_code{} : done.error().code;
      };
      EXPECT_GE(questions(work), least);
      EXPECT_NE(code, error_code::cancelled); // the control
      for (const std::size_t no : {std::size_t{1}, least}) {
        EXPECT_EQ(questions(work, no), no); // and nothing is done behind that
        EXPECT_EQ(code, error_code::cancelled);
      }
    }
  }
}

TEST(NearMiss, AsksWhetherItIsStillWanted) {
  std::string content, old_text;
  for (std::size_t i = 0; content.size() < 3'000'000; ++i)
    content += "line " + std::to_string(i) + " of a text\n";
  for (std::size_t i = 0; i < 5000; ++i)
    old_text += "none such " + std::to_string(i) + "\n";
  bool is_found = false;
  const auto work = [&](detail::function_view<bool()> wanted) {
    is_found =
        nearest(content, old_text + "line 7 of  a text", "something new", wanted).has_value();
  };
  const std::size_t all = questions(work);
  EXPECT_GE(all, 3 * (content.size() / 1'048'576));
  for (const std::size_t no : {std::size_t{1}, std::size_t{2}, all / 2, all}) {
    EXPECT_EQ(questions(work, no), no);
    EXPECT_FALSE(is_found);
  }
  const auto close = [&](detail::function_view<bool()> wanted) {
    is_found = nearest(content, "line  7 of a text", "something new", wanted).has_value();
  };
  EXPECT_GE(questions(close), content.size() / 1'048'576);
  EXPECT_TRUE(is_found); // the control
  EXPECT_EQ(questions(close, 2), 2U);
  EXPECT_FALSE(is_found);
}

TEST(UnifiedDiff, AsksWhetherItIsStillWanted) {
  const std::string before = random_lines(500'000), after = before.substr(2) + random_lines(50'000);
  unified_diff_text diff;
  const auto work = [&](detail::function_view<bool()> wanted) {
    diff = unified_diff(before, after, {.bytes_max = 1000}, wanted);
  };
  const std::size_t all = questions(work);
  EXPECT_GE(all, 5U);
  EXPECT_GT(diff.added, 0U); // the control
  for (const std::size_t no : {std::size_t{1}, all / 2, all}) {
    EXPECT_EQ(questions(work, no), no);
    EXPECT_EQ(diff.added + diff.removed, 0U);
    EXPECT_EQ(diff.hunks_left_out, 1U);
  }
}

TEST(Patch, NamesTheFirstOfManyPlaces) {
  std::string content;
  for (std::size_t i = 0; i < 100'000; ++i)
    content += "a\n";
  const auto files = parse_patch("--- x\n+++ x\n@@ -200000 +1,0 @@\n-a\n");
  ASSERT_TRUE(files.has_value());
  const auto done = apply_hunks(content, files->front().hunks);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, error_code::ambiguous);
  EXPECT_EQ(done.error().line_indexes.size(), hunk_failure::lines_max);
}

TEST(Patch, OfTenMegabytesIsReadAndMade) {
  std::string before, after;
  for (std::size_t i = 0; before.size() < 4'000'000; ++i) {
    before += "line " + std::to_string(i) + " of a text that is somewhat longer\n";
    after += "line " + std::to_string(i) + " of a text that is rather long\n";
    before += "kept " + std::to_string(i) + "\n";
    after += "kept " + std::to_string(i) + "\n";
  }
  const std::string text =
      unified_diff(before, after, {.context_lines = 0, .before_name = "a/x", .after_name = "b/x"})
          .text;
  ASSERT_GT(text.size(), 6'000'000U);
  const auto files = parse_patch(text);
  ASSERT_TRUE(files.has_value());
  EXPECT_TRUE(apply_hunks(before, files->front().hunks).value_or("") == after);
}

TEST(Patch, OfAMillionHunksIsRefused) {
  std::string text = "--- a/x\n+++ b/x\n";
  for (std::size_t i = 0; i < 1'000'000; ++i)
    text += "@@ -1 +1 @@\n-a\n+b\n";
  const auto files = parse_patch(text);
  ASSERT_FALSE(files.has_value());
  EXPECT_EQ(files.error().code, error_code::too_large);
  EXPECT_TRUE(parse_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", {.lines_max = 5}).has_value());
  EXPECT_FALSE(
      parse_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", {.lines_max = 4}).has_value());
}

} // namespace
} // namespace paddock
