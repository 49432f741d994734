// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"
#include "search/line_matcher.hpp"
#include "search/literal_set.hpp"

#include <regex>

using paddock::byte_class;
using paddock::letters;
using paddock::literal_set;
using paddock::search_instructions;

namespace {

class LiteralSet : public testing::TestWithParam<search_instructions> {};

INSTANTIATE_TEST_SUITE_P(, LiteralSet,
                         testing::Values(search_instructions::automatic,
                                         search_instructions::portable),
                         [](const auto& with) {
                           return with.param == search_instructions::portable ? "Portable"
                                                                              : "Automatic";
                         });

/// The line that the first occurrence of any of them is in, found by looking everywhere.
std::size_t first_line_with(std::string_view text, std::size_t from,
                            const std::vector<std::string>& literals, letters kind) {
  const auto same = [kind](char a, char b) {
    const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return kind == letters::exact ? a == b : fold(a) == fold(b);
  };
  for (std::size_t at = from; at < text.size(); ++at)
    for (const std::string& literal : literals)
      if (text.size() - at >= literal.size() &&
          std::equal(literal.begin(), literal.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                     same))
        return static_cast<std::size_t>(
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  return std::string_view::npos;
}

TEST_P(LiteralSet, FindsWhatLookingEverywhereFinds) {
  std::mt19937 random(5);
  const auto pick = [&random](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::string alphabet = "abAB\n\0\x80\xC3k";
  std::size_t found_some = 0, found_none = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> literals;
    for (std::size_t i = 0, n = 1 + pick(round % 7 == 0 ? 20 : 3); i < n; ++i) {
      std::string literal;
      for (std::size_t size = 1 + pick(6); literal.size() < size;)
        if (const char c = alphabet[pick(alphabet.size())]; c != '\n') literal += c;
      literals.push_back(literal);
    }
    std::string text;
    for (std::size_t size = pick(150); text.size() < size;)
      text += alphabet[pick(alphabet.size())];
    const letters kind = pick(2) == 0 ? letters::exact : letters::folded;
    const std::size_t from = text.empty() ? 0 : pick(text.size());
    const std::size_t expected = first_line_with(text, from, literals, kind);
    const std::size_t at = literal_set(literals, kind, GetParam()).find(text, from);
    if (expected == std::string_view::npos) {
      ++found_none;
      ASSERT_EQ(std::string_view::npos, at) << round;
      continue;
    }
    ++found_some;
    ASSERT_NE(std::string_view::npos, at) << round;
    ASSERT_GE(at, from);
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    ASSERT_EQ(expected, static_cast<std::size_t>(line)) << round;
    ASSERT_EQ(0u, first_line_with(text.substr(at), 0, literals, kind)) << "nothing is there";
  }
  EXPECT_GT(found_some, 1'000u);
  EXPECT_GT(found_none, 1'000u);
}

TEST_P(LiteralSet, EveryPlaceOfEverySize) {
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string literal(size, 'x');
    const literal_set set({literal}, letters::exact, GetParam());
    for (std::size_t before = 0; before < 70; ++before)
      for (const std::size_t behind : {0u, 1u, 2u, 31u, 33u}) {
        const std::string text = std::string(before, '.') + literal + std::string(behind, '.');
        ASSERT_EQ(before, set.find(text, 0)) << size;
        ASSERT_EQ(std::string_view::npos,
                  set.find(std::string_view(text).substr(0, before + size - 1), 0));
      }
  }
}

byte_class one_of(std::string_view bytes) {
  byte_class made;
  for (const char c : bytes)
    made.set(static_cast<unsigned char>(c));
  return made;
}

TEST_P(LiteralSet, FindsBytesOfClasses) {
  std::mt19937 random(7);
  const std::string alphabet = "aAz_Q1\n\0\x80"; // some have a half of their bits in common
  std::size_t found_some = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<byte_class> places(1 + random() % literal_set::places_max);
    for (byte_class& each : places)
      for (std::size_t n = 1 + random() % 3; n > 0; --n)
        each |= one_of(alphabet.substr(random() % alphabet.size(), 1));
    std::string text;
    for (std::size_t size = random() % 150; text.size() < size;)
      text += alphabet[random() % alphabet.size()];
    const std::size_t from = text.empty() ? 0 : random() % text.size();
    std::size_t expected = std::string::npos;
    for (std::size_t at = from; expected == std::string::npos && at + places.size() <= text.size();
         ++at) {
      bool is_there = true;
      for (std::size_t i = 0; i < places.size(); ++i)
        is_there &= places[i][static_cast<unsigned char>(text[at + i])];
      if (is_there) expected = at;
    }
    ASSERT_EQ(expected, literal_set(places, GetParam()).find(text, from)) << round;
    found_some += expected != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(found_some, 1'000u);
}

TEST(NeededBytes, AreTheRarestThatStandSideBySide) {
  const byte_class small = one_of("abcdefghijklmnopqrstuvwxyz");
  const byte_class large = one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const byte_class digit = one_of("0123456789");
  struct row {
    const char* expression;
    std::vector<byte_class> bytes;
  };
  const row rows[] = {
      {"[a-z]{3,}_[a-z]{2,}_[A-Z]", {small, one_of("_"), large}},
      {"x*[A-Z]+[0-9]{2}", {large, digit, digit}},
      {R"(\d+\.\d+)", {digit, one_of("."), digit}},
      {"[]0-9]-[0-9][-x]", {one_of("]0123456789"), one_of("-"), digit}},
      {"[A-Z][^a][A-Z]", {}}, // not side by side
      {"[A-Z]x?[A-Z]", {}},
      {"[A-Z].[A-Z]", {}},
      {"[A-Z]{1,2}", {}},
      {"[a-z]+ [a-z]+", {}}, // not rare
      {"[0-9]{4}|x", {}},    // not read
      {"(?i)[A-Z]_[A-Z]", {}},
      {"([0-9]{4})?x", {}},
      {"[[:upper:]]{3}", {}},
      {R"([0-9]{4}\b)", {}},
      {"[0-9]{2}{0}", {}},
  };
  for (const row& each : rows)
    EXPECT_EQ(each.bytes, paddock::needed_bytes(each.expression, 3)) << each.expression;
}

/// Random sequences of what is read, on random lines: std::regex decides which match.
TEST(NeededBytes, KeepNoMatchFromAnExpression) {
  if (!paddock::have_regular_expressions()) GTEST_SKIP() << "no RE2";
  constexpr const char* bytes[] = {"[A-Z]", "[0-9]", R"(\d)", "_", "[a-b]", "[^A]", ".", "[A1-3_]"};
  constexpr const char* times[] = {"", "", "", "+", "*", "?", "{2}", "{1,2}", "{2,}", "+?"};
  constexpr std::string_view letters_of_lines = "abAB12_";
  std::mt19937 random(11);
  std::size_t looked_for = 0, matched = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string expression;
    for (std::size_t parts = 1 + random() % 5; parts > 0; --parts)
      expression.append(bytes[random() % std::size(bytes)])
          .append(times[random() % std::size(times)]);
    looked_for += paddock::needed_bytes(expression, literal_set::places_max).empty() ? 0U : 1U;
    const auto pattern = paddock::text_pattern::compile(expression, {});
    ASSERT_TRUE(pattern.has_value()) << expression;
    const std::regex judge(expression, std::regex::ECMAScript);
    paddock::line_matcher matcher(pattern->get());
    for (int line = 0; line < 20; ++line) {
      std::string text;
      for (std::size_t size = 1 + random() % 8; text.size() < size;)
        text += letters_of_lines[random() % letters_of_lines.size()];
      const auto found = matcher.next(text, 0, {});
      ASSERT_TRUE(found.has_value());
      const bool expected = std::regex_search(text, judge);
      ASSERT_EQ(expected, found->has_value()) << expression << " in " << text;
      matched += expected ? 1 : 0;
    }
  }
  EXPECT_GT(looked_for, 300u);
  EXPECT_GT(matched, 5'000u);
}

} // namespace
