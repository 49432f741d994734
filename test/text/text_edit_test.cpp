// SPDX-License-Identifier: MIT
#include "support/campaign.hpp"
#include "support/matchers.hpp"
#include "support/text/text_edit_reference.hpp"

#include <paddock/text/text_edit.hpp>

namespace paddock {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::IsError;
using test::IsOk;

struct edit_case {
  const char* name;
  std::string_view content;
  std::string_view old_text;
  std::string_view new_text;
  std::string_view edited;
  std::uint64_t occurrences = 1;
  std::uint64_t line = 0;
};

constexpr edit_case edit_cases[] = {
    {"one word", "a b c", "b", "x", "a x c"},
    {"everything", "abc", "abc", "", ""},
    {"first of several", "a a a", "a", "b", "b a a", 3},
    {"occurrences do not overlap", "aaaaa", "aa", "b", "baaa", 2},
    {"dollar sequences are literal", "x", "x", "$& $1 $$ \\1", "$& $1 $$ \\1"},
    {"NUL is a byte", "a\0b"sv, "\0"sv, "-", "a-b"},
    {"bytes that are not UTF-8 stay", "\xFF old \xFE", "old", "new", "\xFF new \xFE"},
    {"line number", "a\nb\nc\n", "c", "d", "a\nb\nd\n", 1, 2},
    {"line number of a break", "a\nb\n", "\nb", "", "a\n", 1, 0},
    {"line number counts CRLF once", "a\r\nb\r\nc", "c", "d", "a\r\nb\r\nd", 1, 2},
    {"LF finds CRLF", "a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"},
    {"CRLF finds LF", "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
    {"CRLF finds CRLF", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
    {"mixed content, later match", "a\nb\r\nc\nd", "b\nc", "x\ny", "a\nx\r\ny\nd", 1, 1},
    {"mixed content, match over both kinds", "a\r\nb\nc", "a\nb\nc", "1\n2\n3", "1\r\n2\r\n3"},
    {"mixed content counts both kinds", "a\nb\r\na\r\nb\r\n", "a\nb", "-", "-\r\na\r\nb\r\n", 2},
    {"ending of the match comes first", "x\r\na\nb\r\n", "a\nb", "1\n2", "x\r\n1\n2\r\n", 1, 1},
    {"then the break before", "x\r\nab\ny\n", "ab", "1\n2", "x\r\n1\r\n2\ny\n", 1, 1},
    {"then the break after", "ab\r\ny\r\n", "ab", "1\n2", "1\r\n2\r\ny\r\n"},
    {"then LF", "ab", "ab", "1\r\n2", "1\n2"},
    {"trailing break takes both bytes", "a\r\nb", "a\n", "", "b"},
    {"leading break takes both bytes", "a\r\nb", "\nb", "", "a"},
    {"only a break", "a\r\nb", "\n", " ", "a b"},
    {"lone CR is a byte", "a\rb", "\r", "-", "a-b"},
    {"CR before a pair", "a\r\r\nb", "a\r", "x", "x\r\nb"},
    {"CR and pair", "a\r\r\nb", "\r\r\n", "-", "a-b"},
    {"CR and LF of the normalised text", "a\r\r\nb", "\r\r\nb", "", "a"},
    {"CR at the end skips halves of pairs", "a\r\na\rb", "a\r", "x", "a\r\nxb", 1, 1},
    {"CR in new text stays", "a", "a", "1\r2", "1\r2"},
    {"CR and pair in new text", "a\n", "a", "1\r\r\n2", "1\r\n2\n"},
    {"text at the very end", "abc\r\n", "c\n", "d\n", "abd\r\n"},
};

TEST(TextEdit, ReplacesTheFirstOccurrence) {
  for (const auto& row : edit_cases) {
    SCOPED_TRACE(row.name);
    const auto plan = plan_edit(row.content, {row.old_text, row.new_text});
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(apply_edit(row.content, *plan), row.edited);
    EXPECT_EQ(plan->occurrences, row.occurrences);
    EXPECT_EQ(plan->line_index, row.line);
  }
}

struct refusal_case {
  const char* name;
  std::string_view content;
  std::string_view old_text;
  error_code code;
};

constexpr refusal_case refusal_cases[] = {
    {"empty old text", "abc", "", error_code::invalid_argument},
    {"empty old text in nothing", "", "", error_code::invalid_argument},
    {"empty content", "", "a", error_code::no_match},
    {"absent", "abc", "d", error_code::no_match},
    {"longer than the content", "abc", "abcd", error_code::no_match},
    {"other case", "abc", "B", error_code::no_match},
    {"half of a pair", "a\r\nb", "a\r", error_code::no_match},
    {"CR of a pair", "a\r\nb", "\r", error_code::no_match},
    {"half of a pair in mixed content", "x\na\r\nb", "a\r", error_code::no_match},
    {"LF is not CR", "a\rb", "a\nb", error_code::no_match},
    {"pair plus CR", "a\r\nb", "\r\r\n", error_code::no_match},
};

TEST(TextEdit, RefusesWhatDoesNotOccur) {
  for (const auto& row : refusal_cases) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(plan_edit(row.content, {row.old_text, "x"}), IsError(row.code));
  }
}

// --- against a naive reference -------------------------------------------------------------------

/// True when a match was found. Fails the test when the two disagree.
bool agrees(std::string_view content, const text_edit& edit) {
  const auto expected = test::reference_edit(content, edit);
  const auto plan = plan_edit(content, edit);
  EXPECT_EQ(plan.has_value(), expected.has_value())
      << testing::PrintToString(content) << " / " << testing::PrintToString(edit.old_text);
  if (!plan || !expected) return false;
  EXPECT_EQ(apply_edit(content, *plan), expected->edited)
      << testing::PrintToString(content) << " / " << testing::PrintToString(edit.old_text);
  EXPECT_EQ(plan->occurrences, expected->occurrences);
  EXPECT_EQ(plan->line_index, expected->line);
  return true;
}

/// All texts over the alphabet of `size` bytes.
std::vector<std::string> all_texts(std::size_t size) {
  if (size == 0) return {""};
  std::vector<std::string> texts;
  for (const std::string& shorter : all_texts(size - 1))
    for (const char c : {'a', 'b', '\r', '\n'})
      texts.push_back(shorter + c);
  return texts;
}

TEST(TextEdit, AgreesWithTheReferenceOnEveryShortText) {
  constexpr std::string_view new_texts[] = {"", "x\ny", "\r\nq\r", "\r\r\n"};
  constexpr std::size_t content_size_max = 7;
  std::vector<std::string> old_texts;
  for (std::size_t size = 1; size <= 3; ++size)
    for (const auto& text : all_texts(size))
      old_texts.push_back(text);
  std::size_t turn = 0;
  std::size_t matches = 0;
  for (std::size_t size = 0; size <= content_size_max; ++size)
    for (const auto& content : all_texts(size))
      for (const auto& old_text : old_texts) {
        if (turn % test::campaign_step() != 0) {
          ++turn;
          continue;
        }
        matches += agrees(content, {old_text, new_texts[turn++ % std::size(new_texts)]}) ? 1U : 0U;
        ASSERT_FALSE(HasFailure());
      }
  EXPECT_EQ(turn, 21845U * 84U);
  EXPECT_GT(matches, test::campaign_part(turn) / 10);
}

TEST(TextEdit, AgreesWithTheReferenceOnRandomTexts) {
  std::mt19937 random(7);
  const auto text = [&random](std::size_t size_max, std::string_view alphabet) {
    std::string made(random() % (size_max + 1), '\0');
    for (char& c : made)
      c = alphabet[random() % alphabet.size()];
    return made;
  };
  std::size_t matches = 0;
  for (std::size_t round = 0; round < test::campaign_part(100'000); ++round) {
    const std::string content = text(60, round % 2 == 0 ? "ab\r\n" : "aaab\n\r\n\r");
    const std::string old_text = "a" + text(5, "ab\r\n");
    matches += agrees(content, {old_text, text(6, "x\r\n")}) ? 1U : 0U;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(matches, test::campaign_part(10'000));
}

TEST(TextEdit, LongTextsOfEveryKindOfLineEnding) {
  for (const std::string_view line_break : {"\n", "\r\n"}) {
    std::string content;
    for (int i = 0; i < 50'000; ++i)
      content += "line " + std::to_string(i) + std::string(line_break);
    const auto plan = plan_edit(content, {"line 49000\nline 49001\n", "one\ntwo\nthree\n"});
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(plan->line_index, 49'000U);
    EXPECT_EQ(plan->size, "line 49000line 49001"sv.size() + 2 * line_break.size());
    EXPECT_EQ(plan->replacement,
              "one"s.append(line_break) + "two"s.append(line_break) + "three"s.append(line_break));
  }
}

/// Content that mixes line endings is searched in pieces; wherever one ends, the match is found.
TEST(TextEdit, MixedLineEndingsAcrossThePieces) {
  constexpr std::size_t piece = 512 * 1024;
  const std::string text = "start\r\nmiddle\nend\r\n";
  const std::string filler = "a\r\nb\n"; // mixed whatever follows
  for (std::size_t pieces = 1; pieces <= 2; ++pieces)
    for (std::size_t before = piece * pieces - text.size() - 2; before < piece * pieces + 3;
         before += std::min<std::size_t>(test::campaign_step(), 3)) {
      std::string content = filler;
      content.append(before - content.size(), 'x');
      content.append(text).append(piece - 10, 'y').append(text);
      const auto plan = plan_edit(content, {"start\nmiddle\nend\n", "new"});
      ASSERT_THAT(plan, IsOk()) << before;
      ASSERT_EQ(plan->offset, before);
      ASSERT_EQ(plan->size, text.size()) << before;
      ASSERT_EQ(plan->occurrences, 2U) << before;
    }
}

TEST(TextEdit, MatchesDoNotOverlapAcrossThePieces) {
  std::string content = "a\r\nb\n";
  content.append(std::size_t{1} * 1024 * 1024, '\n'); // pairs of breaks, found one after the other
  const auto plan = plan_edit(content, {"\n\n", "x"});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->offset, 4U);
  EXPECT_EQ(plan->occurrences, (content.size() - 4) / 2);
}

TEST(TextEdit, StopsWhenItIsNotWanted) {
  const std::string mixed = "a\r\nb\n" + std::string(std::size_t{5} * 1024 * 1024, 'x');
  const std::string plain(std::size_t{5} * 1024 * 1024, 'x');
  for (const text_edit edit : {text_edit{"b\nabsent", "x"}, text_edit{"absent", "x"}})
    for (const std::string& content : {mixed, plain}) {
      EXPECT_THAT(plan_edit(content, edit, [] { return false; }), IsError(error_code::cancelled));
      EXPECT_THAT(plan_edit(content, edit, [] { return true; }), IsError(error_code::no_match));
    }
}

/// How often it is asked, of about 3 MiB: at least once for each of them and each way through it.
TEST(TextEdit, AsksAboutEveryMiBOfWorkAndStopsWheneverItIsNotWanted) {
  constexpr std::size_t bytes = std::size_t{3} * 1024 * 1024;
  const auto filled = [](std::string_view line) {
    std::string text;
    while (text.size() < bytes)
      text += line;
    return text;
  };
  const struct {
    const char* name;
    std::string content;
    text_edit edit;
    unsigned asked_min;
  } cases[] = {
      {"no break", std::string(bytes, 'x'), {"absent", "y"}, 2},
      {"LF", filled("line\n"), {"line\nabsent", "y"}, 4},           // its kind, and the text
      {"CRLF", filled("line\r\n"), {"line\nabsent", "y"}, 4},       // counted, and searched
      {"both", filled("line\r\nline\n"), {"line\nabsent", "y"}, 4}, // counted, and normalised
      {"CR", std::string(bytes, '\r'), {"a\r", "y"}, 4},
      {"at the end", std::string(bytes, '\n') + "end", {"end", "y"}, 4}, // found, and its line
      {"at the end of CRLF", filled("line\r\n") + "a\r\nb", {"a\nb", "y"}, 6},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    unsigned asked = 0;
    const auto whole = plan_edit(c.content, c.edit, [&] {
      ++asked;
      return true;
    });
    EXPECT_EQ(whole.has_value(), plan_edit(c.content, c.edit).has_value()); // the control
    EXPECT_GE(asked, c.asked_min);
    for (const unsigned last : {1U, asked / 2, asked}) {
      unsigned again = 0;
      EXPECT_THAT(plan_edit(c.content, c.edit, [&] { return ++again < last; }),
                  IsError(error_code::cancelled));
      EXPECT_EQ(again, last);
    }
  }
}

/// Less than a MiB, in which every byte is a match.
TEST(TextEdit, AsksAmongManyMatchesToo) {
  constexpr std::size_t matches = 16 * detail::wanted_step_matches;
  const std::string mixed = "b\r\n" + std::string(matches - 1, '\n');
  const struct {
    const char* name;
    std::string content;
    text_edit edit;
    unsigned asked;
  } cases[] = {
      {"byte for byte", std::string(matches, 'a'), {"a", "y"}, 16},
      {"normalised", mixed, {"\n", "y"}, 16},
      {"the control", std::string(matches, 'a') + "b", {"b", "y"}, 0},
      {"the control, normalised", mixed, {"b\n", "y"}, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    unsigned asked = 0;
    const auto whole = plan_edit(c.content, c.edit, [&] {
      ++asked;
      return true;
    });
    ASSERT_THAT(whole, IsOk());
    EXPECT_EQ(whole->occurrences, c.asked == 0 ? 1 : matches);
    EXPECT_EQ(asked, c.asked);
    for (const unsigned last : {1U, c.asked / 2, c.asked}) {
      if (c.asked == 0) continue;
      unsigned again = 0;
      EXPECT_THAT(plan_edit(c.content, c.edit, [&] { return ++again < last; }),
                  IsError(error_code::cancelled));
      EXPECT_EQ(again, last);
    }
  }
}

TEST(TextEdit, CountsBreaksInStepsAsAtOnce) {
  auto wanted = [] { return true; };
  for (const std::size_t before : {0U, 1U, 2U, 3U}) { // so that a pair is parted
    std::string text(detail::wanted_step_bytes * 2 - before, '\n');
    text += "\r\n\r\n\n";
    const auto at_once = detail::count_breaks(text);
    const auto in_steps = detail::count_breaks(text, wanted);
    EXPECT_EQ(in_steps->all, at_once.all);
    EXPECT_EQ(in_steps->pairs, 2U);
  }
}

// --- the search beneath it
// -------------------------------------------------------------------------

/// Every place, and every place to begin from, as std::string_view::find says.
bool finds_as_the_standard_does(std::string_view content, std::string_view text) {
  const detail::text_finder finder(text);
  for (std::size_t from = 0; from <= content.size() + 1; ++from)
    if (finder.find(content, from) != content.find(text, from)) return false;
  return true;
}

TEST(TextSearch, FindsATextAtEveryPlace) {
  constexpr std::size_t content_size = 200; // three blocks and a tail
  for (const std::string_view text :
       {"N"sv, "NE"sv, "eN"sv, "an Ne"sv, "NNNNNNNNN"sv, "a b c d Q"sv})
    for (const char filler : {'a', ' ', 'N', '\xFF'})
      for (std::size_t at = 0; at + text.size() <= content_size; ++at) {
        std::string content(content_size, filler);
        content.replace(at, text.size(), text);
        ASSERT_TRUE(finds_as_the_standard_does(content, text)) << text << " at " << at;
      }
}

/// Texts over few letters, so that the rare bytes agree often and in vain, up to where the search
/// gives up on them.
TEST(TextSearch, AgreesWithTheStandardOnRepetitiveTexts) {
  std::mt19937 random(11);
  std::size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    const unsigned letters = 1 + random() % 4;
    const auto text_of = [&](std::size_t size) {
      std::string text(size, ' ');
      for (char& c : text)
        c = "abNe"[random() % letters];
      return text;
    };
    const std::string content = text_of(random() % 20'000);
    const std::string text = text_of(1 + random() % (round % 10 == 0 ? 600 : 12));
    const std::size_t from = random() % (content.size() + 1);
    const auto expected = content.find(text, from);
    ASSERT_EQ(detail::text_finder(text).find(content, from), expected) << text;
    found += expected == std::string::npos ? 0 : 1;
  }
  EXPECT_GT(found, 500U);
  EXPECT_LT(found, 1900U);
}

TEST(TextSearch, CountsBreaksAsALoopDoes) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % (round % 20 == 0 ? 40'000 : 300), ' ');
    for (char& c : text)
      c = "\r\nab"[random() % 4];
    std::uint64_t all = 0;
    std::uint64_t pairs = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      all += text[i] == '\n' ? 1U : 0U;
      pairs += text[i] == '\n' && i > 0 && text[i - 1] == '\r' ? 1U : 0U;
    }
    const auto counted = detail::count_breaks(text);
    ASSERT_EQ(counted.all, all);
    ASSERT_EQ(counted.pairs, pairs);
  }
}

} // namespace
} // namespace paddock
