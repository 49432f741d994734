// SPDX-License-Identifier: MIT

// Several edits against a reference that is as plain as it can be: one search after the other, and
// lines that are counted anew each time.

#include "precompiled/tests.hpp"
#include "support/text/edit_steps_reference.hpp"

#include <paddock/text/edit_steps.hpp>

namespace paddock {
namespace {

using lines = std::vector<std::uint64_t>;
using test::line_of;
using test::plainly;

std::string random_text(std::mt19937_64& random, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += "ab\n"[random() % 3];
  return text;
}

TEST(EditSteps, DoWhatPlainSearchesDo) {
  std::mt19937_64 random(1);
  std::size_t made = 0;
  for (std::size_t round = 0; round < 60'000; ++round) {
    const std::string content = random_text(random, random() % 24);
    const std::string old_text = random_text(random, 1 + random() % 3);
    const std::string new_text = random_text(random, random() % 4);
    edit_step step{.old_text = old_text, .new_text = new_text};
    if (random() % 2 == 0) step.places = edit_places::all;
    if (random() % 3 == 0) step.occurrences = random() % 4;
    if (random() % 3 == 0) step.near_line_index = random() % 9;
    const auto expected = plainly(content, step, step.near_line_index.value_or(0));
    const auto found = apply_edits(content, {&step, 1});
    ASSERT_EQ(found.has_value(), expected.has_value()) << testing::PrintToString(content);
    if (!found) continue;
    ++made;
    ASSERT_EQ(found->text, *expected);
    // The same with pairs: what is between the lines is not seen.
    const auto with_pairs = [](std::string_view text) {
      return detail::with_line_breaks(text, "\r\n");
    };
    const auto pairs = apply_edits(with_pairs(content), {&step, 1});
    ASSERT_TRUE(pairs.has_value());
    if (content.find('\n') != std::string::npos) {
      ASSERT_EQ(pairs->text, with_pairs(*expected));
    }
    ASSERT_EQ(pairs->steps[0].line_index, found->steps[0].line_index);
    ASSERT_EQ(pairs->steps[0].occurrences, found->steps[0].occurrences);
  }
  EXPECT_GT(made, 10'000U);
}

TEST(EditSteps, AreMadeToTheOutcomeOfTheOneBefore) {
  std::mt19937_64 random(2);
  std::size_t made = 0;
  for (std::size_t round = 0; round < 20'000; ++round) {
    const std::string content = random_text(random, random() % 24);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 8; ++i)
      texts.push_back(random_text(random, i % 2 == 0 ? 1 + random() % 2 : random() % 4));
    std::vector<edit_step> steps;
    std::optional<std::string> expected = content;
    std::size_t failing_step = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      steps.push_back({.old_text = texts[2 * i],
                       .new_text = texts[2 * i + 1],
                       .places = random() % 4 == 0 ? edit_places::one : edit_places::all});
      if (expected) {
        failing_step = i;
        expected = plainly(*expected, steps.back(), 0);
      }
    }
    const auto found = apply_edits(content, steps);
    ASSERT_EQ(found.has_value(), expected.has_value()) << testing::PrintToString(content);
    if (found) {
      ++made;
      ASSERT_EQ(found->text, *expected);
    } else {
      ASSERT_EQ(found.error().step, failing_step);
    }
  }
  EXPECT_GT(made, 400U);
}

/// Which line of `content` a word that is there once stands in.
std::uint64_t line_with(const std::string& content, std::string_view word) {
  return line_of(content, content.find(word));
}

TEST(EditSteps, FollowLinesThroughTheStepsBefore) {
  const std::string content = "zero\none\ntwo\nx\nfour\nx\nsix\nx\n";
  const std::vector<edit_step> steps{
      {.old_text = "one\ntwo\n", .new_text = ""},
      {.old_text = "zero", .new_text = "a\nb\nc\nd\ne"},
      {.old_text = "x", .new_text = "FIVE", .near_line_index = 5}, // as the caller counts
      {.old_text = "a\n", .new_text = "new\nnew\na\n"},
  };
  const auto done = apply_edits(content, steps);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->text, "new\nnew\na\nb\nc\nd\ne\nx\nfour\nFIVE\nsix\nx\n");
  EXPECT_EQ(done->steps[2].line_index, line_with(done->text, "FIVE"));
  EXPECT_EQ(done->steps[3].line_index, 0U);
}

/// "ambiguous in 1: 0 2 4", or the text.
std::string in_words(const result<edited_text, edit_failure>& done) {
  if (done) return done->text;
  std::string said(wire_name(done.error().code));
  said += " in " + std::to_string(done.error().step) + ':';
  for (const std::uint64_t each : done.error().line_indexes)
    said += ' ' + std::to_string(each);
  return said;
}

struct failing {
  std::vector<edit_step> steps;
  const char* name;
  const char* said;
  std::uint64_t places_max = 9;
};

TEST(EditSteps, NameThePlacesAndChangeNothing) {
  const std::string content = "a\nb\na\nc\na\n";
  const edit_step good{.old_text = "b", .new_text = "1\n2\n3"};
  const failing table[] = {
      {{{.old_text = "", .new_text = "x"}}, "empty", "invalid_argument in 0:"},
      {{good, {.old_text = "b", .new_text = "x"}}, "absent", "no_match in 1:"},
      {{{.old_text = "a", .new_text = "x"}}, "ambiguous", "ambiguous in 0: 0 2 4"},
      {{good, {.old_text = "a", .new_text = "x"}},
       "lines of what the caller saw",
       "ambiguous in 1: 0 2 4"},
      {{good, {.old_text = "\n", .new_text = "x"}},
       "places in new text are where it stands",
       "ambiguous in 1: 0 1 1 1 2 3 4"},
      {{{.old_text = "a", .new_text = "x", .occurrences = 2}},
       "more than said",
       "ambiguous in 0: 0 2 4"},
      {{{.old_text = "a", .new_text = "x", .places = edit_places::all, .occurrences = 4}},
       "fewer than said, all",
       "ambiguous in 0: 0 2 4"},
      {{{.old_text = "a", .new_text = "x", .occurrences = 3}},
       "as many as said, which one",
       "ambiguous in 0: 0 2 4"},
      {{{.old_text = "b", .new_text = "12345678901234567890"}}, "too long", "too_large in 0:"},
      {{{.old_text = "a", .new_text = "x", .places = edit_places::all},
        {.old_text = "x", .new_text = "a", .places = edit_places::all}},
       "too many places",
       "too_many in 1:",
       5},
  };
  for (const failing& row : table) {
    const auto done =
        apply_edits(content, row.steps, {.bytes_max = 25, .places_max = row.places_max});
    EXPECT_EQ(in_words(done), row.said) << row.name;
  }
}

TEST(EditSteps, NewLinesAreIndentedAsTheFileIsWhereTheOldOnesTell) {
  using enum new_indentation;
  struct indented {
    const char* name;
    std::string_view content, old_text, new_text;
    std::string_view text;
    new_indentation indentation;
  };
  const std::string far = std::string(300, ' ') + "a\n"; // no indentation, and much for each line
  const indented table[] = {
      {"control: as it is", "\ta  b\n", "\ta b\n", "\tc\n  d\n", "\tc\n  d\n", as_given},
      {"a whole line", "\tif a:\n\t\tb\n", "    if a:\n        b\n",
       "    if a:\n        b\n        if c:\n            d\n",
       "\tif a:\n\t\tb\n\t\tif c:\n\t\t\td\n", as_in_file},
      {"CRLF", "\ta\r\n\t\tb\r\n", "  a\n    b\n", "  a\n    c\n", "\ta\r\n\t\tc\r\n", as_in_file},
      {"all to the left", "    f(a,  b)\n", "f(a, b)", "f(a)\ng(b)", "    f(a)\n    g(b)\n",
       as_in_file},
      {"a part, and where nothing else is told", "    f(a,  b)\n", "f(a, b)", "f(a)\n    g(b)",
       "    f(a)\n    g(b)\n", not_known},
      {"a part, and the rest is the same", "    f(a,\n      b)\n", "f(a, \n      b)",
       "f(a)\n    g(b)", "    f(a)\n    g(b)\n", as_given},
      {"both say so", "    a\n        b\n", "a\n    b", "a\n        c", "    a\n            c\n",
       as_in_file},
      {"they say two things", "\ta\n\t\tb\n", "a\n    b", "a\n        c", "\ta\n        c\n",
       not_known},
      {"a new text that begins with white space", "\ta  b\n\tc\n", "a b\nc", "  d\nc", "\t  d\nc\n",
       not_known},
      {"nothing is new", "\ta\nb\n", "  a\n", "", "b\n", as_given},
      {"far", far, "\ta\n", "\tb\n", "\tb\n", not_known},
  };
  for (const indented& row : table) {
    const edit_step step{
        .old_text = row.old_text, .new_text = row.new_text, .matching = text_matching::white_space};
    const auto done = apply_edits(row.content, {&step, 1});
    ASSERT_TRUE(done.has_value()) << row.name;
    EXPECT_EQ(done->text, row.text) << row.name;
    EXPECT_EQ(done->steps[0].indentation, row.indentation) << row.name;
  }
}

TEST(EditSteps, MatchButForWhiteSpaceWhereThatIsAskedForAndThereIsOnePlace) {
  constexpr text_matching loose = text_matching::white_space;
  const std::string content = "first\n\tif (a)\n\t\tb();\nx  y\n\tx y\n";
  const edit_step grows{.old_text = "first", .new_text = "1\n2"};
  const edit_step edit{.old_text = "if (a)\n  b();\n", .new_text = "c();\n", .matching = loose};
  const auto done = apply_edits(content, std::vector<edit_step>{grows, edit});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->text, "1\n2\n\tc();\nx  y\n\tx y\n");
  EXPECT_EQ(done->steps[0].matched, text_matching::exact);
  EXPECT_EQ(done->steps[1].matched, loose);
  EXPECT_EQ(done->steps[1].differing_line_indexes, (lines{1, 2})); // as the caller counts
  EXPECT_EQ(done->steps[1].line_index, 2U);

  const edit_step twice{.old_text = " x\ty", .new_text = "z", .matching = loose};
  const auto with = [](edit_step step, const auto& change) {
    change(step);
    return step;
  };
  const std::tuple<const char*, edit_step, const char*, text_matching> table[] = {
      {"not asked for",
       with(edit, [](edit_step& step) { step.matching = {}; }),
       "no_match in 0:",
       {}},
      {"two places", twice, "ambiguous in 0: 3 4", loose},
      {"two places, all", with(twice, [](edit_step& step) { step.places = edit_places::all; }),
       "ambiguous in 0: 3 4", loose},
      {"two places, a line", with(twice, [](edit_step& step) { step.near_line_index = 3; }),
       "ambiguous in 0: 3 4", loose},
      {"two places, two said", with(twice, [](edit_step& step) { step.occurrences = 2; }),
       "ambiguous in 0: 3 4", loose},
      {"one place, two said", with(edit, [](edit_step& step) { step.occurrences = 2; }),
       "ambiguous in 0: 1", loose},
      {"exact wins",
       edit_step{.old_text = "x", .new_text = "z", .matching = loose},
       "ambiguous in 0: 3 4",
       {}},
      {"part of a line",
       edit_step{.old_text = "b( )", .new_text = "z", .matching = loose},
       "no_match in 0:",
       {}},
  };
  for (const auto& [name, step, said, matched] : table) {
    const auto refused = apply_edits(content, {&step, 1});
    EXPECT_EQ(in_words(refused), said) << name;
    EXPECT_EQ(refused ? text_matching::exact : refused.error().matched, matched) << name;
  }
}

TEST(EditSteps, EndWhenTheyAreNoLongerWanted) {
  const std::string content(std::size_t{3} << 20, 'a');
  const edit_step step{.old_text = "b", .new_text = "c"};
  std::size_t asked = 0;
  const auto done = apply_edits(content, {&step, 1}, {}, [&] { return ++asked < 2; });
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, error_code::cancelled);
}

TEST(EditSteps, AreAskedForBeforeEachAndBounded) {
  const std::vector<edit_step> steps(20, {.old_text = "a", .new_text = "a"});
  std::size_t asked = 0;
  ASSERT_TRUE(apply_edits("a", steps, {}, [&] { return ++asked > 0; }).has_value());
  EXPECT_GE(asked, steps.size());
  // A hundred thousand are refused before any is made.
  const std::vector<edit_step> hostile(100'000, {.old_text = "a", .new_text = "a"});
  asked = 0;
  EXPECT_FALSE(apply_edits("a", hostile, {}, [&] { return ++asked > 0; }).has_value());
  EXPECT_EQ(asked, 0U);
  const auto done = apply_edits("a", steps, {.steps_max = 19});
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, error_code::too_many);
}

TEST(EditSteps, WithoutStepsNothingChanges) {
  const auto done = apply_edits("a\r\nb", {});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->text, "a\r\nb");
}

} // namespace
} // namespace paddock
