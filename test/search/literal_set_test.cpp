// SPDX-License-Identifier: MIT
#include "search/literal_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

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

} // namespace
