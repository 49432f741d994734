// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/base/detail/utf8.hpp>

namespace paddock::detail {
namespace {

using namespace std::string_view_literals;

struct validation_case {
  const char* name;
  std::string_view text;
  std::size_t valid; ///< bytes before the first invalid one
};

constexpr validation_case validation_cases[] = {
    {"empty", "", 0},
    {"ascii", "hello", 5},
    {"NUL is a code point", "a\0b"sv, 3},
    {"two bytes", "\xC3\xA9", 2},
    {"lowest two bytes", "\xC2\x80", 2},
    {"lowest three bytes", "\xE0\xA0\x80", 3},
    {"byte order mark", "\xEF\xBB\xBFx", 4},
    {"before the surrogates", "\xED\x9F\xBF", 3},
    {"after the surrogates", "\xEE\x80\x80", 3},
    {"lowest four bytes", "\xF0\x90\x80\x80", 4},
    {"U+10FFFF", "\xF4\x8F\xBF\xBF", 4},
    {"overlong C0", "a\xC0\x80", 1},
    {"overlong C1", "a\xC1\xBF", 1},
    {"overlong three bytes", "a\xE0\x9F\xBF", 1},
    {"overlong four bytes", "a\xF0\x8F\xBF\xBF", 1},
    {"first surrogate", "ab\xED\xA0\x80", 2},
    {"last surrogate", "ab\xED\xBF\xBF", 2},
    {"above U+10FFFF", "\xF4\x90\x80\x80", 0},
    {"F5", "\xF5\x80\x80\x80", 0},
    {"FF", "x\xFF", 1},
    {"lone continuation", "x\x80", 1},
    {"lead without continuation", "x\xC3y", 1},
    {"cut after two of three", "x\xE2\x82", 1},
    {"cut after three of four", "x\xF0\x9F\x98", 1},
    {"bad third byte", "\xE2\x82\x28", 0},
    {"bad byte after 16 of ascii", "0123456789abcdef\xFF", 16},
    {"bad byte at the end of a block", "0123456789abcde\xFF", 15},
    {"sequence across blocks", "0123456789abcde\xC3\xA9z", 18},
};

TEST(Utf8, FindsTheFirstInvalidByte) {
  for (const auto& row : validation_cases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(first_invalid_utf8(row.text), row.valid);
    EXPECT_EQ(is_valid_utf8(row.text), row.valid == row.text.size());
  }
}

/// Decodes with arithmetic instead of byte ranges.
std::size_t reference_first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80       ? 1
                             : lead >> 5 == 6  ? 2
                             : lead >> 4 == 14 ? 3
                             : lead >> 3 == 30 ? 4
                                               : 0;
    if (size == 0 || at + size > text.size()) return at;
    unsigned code = size == 1 ? lead : lead & (0xFFU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if (next >> 6 != 2) return at;
      code = code << 6 | (next & 0x3F);
    }
    constexpr unsigned lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < lowest[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return at;
    at += size;
  }
  return at;
}

std::string encoded(unsigned code) {
  const auto continuation = [code](unsigned shift) {
    return static_cast<char>(0x80 | (code >> shift & 0x3F));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), continuation(0)};
  if (code < 0x10000)
    return {static_cast<char>(0xE0 | code >> 12), continuation(6), continuation(0)};
  return {static_cast<char>(0xF0 | code >> 18), continuation(12), continuation(6), continuation(0)};
}

TEST(Utf8, AgreesWithArithmeticOnEveryCodePoint) {
  for (unsigned code = 0; code < 0x120000; ++code) {
    const std::string text = encoded(code);
    ASSERT_EQ(first_invalid_utf8(text), reference_first_invalid(text)) << code;
    if (is_valid_utf8(text)) {
      ASSERT_EQ(count_code_points(text), 1U) << code;
    }
  }
}

TEST(Utf8, AgreesWithArithmeticOnRandomBytes) {
  constexpr std::string_view interesting =
      "aaaaaaaaaaaaaaaaaaaaaa\x7F\x80\x8F\x90\x9F\xA0\xBF\xC2\xC3\xE0\xE2\xED\xEE\xF0\xF4\xF5\xFF";
  std::mt19937 random(1);
  for (int round = 0; round < 200'000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text)
      c = interesting[random() % interesting.size()];
    ASSERT_EQ(first_invalid_utf8(text), reference_first_invalid(text))
        << testing::PrintToString(text);
  }
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points(""), 0U);
  EXPECT_EQ(count_code_points("0123456789abcdefg"), 17U);
  EXPECT_EQ(count_code_points("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 3U);
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += i % 2 == 0 ? "\xF0\x9F\x98\x80" : "x";
  EXPECT_EQ(count_code_points(many), 1000U);
}

struct prefix_case {
  const char* name;
  std::string_view prefix;
  std::size_t kept;
};

constexpr prefix_case prefix_cases[] = {
    {"empty", "", 0},
    {"ascii", "ab", 2},
    {"whole code point", "a\xC3\xA9", 3},
    {"one of two", "a\xC3", 1},
    {"one of three", "a\xE2", 1},
    {"two of three", "a\xE2\x82", 1},
    {"three of four", "a\xF0\x9F\x98", 1},
    {"nothing but a beginning", "\xF0\x9F", 0},
    {"invalid stays: overlong beginning", "a\xE0\x80", 3},
    {"invalid stays: lone continuations", "a\x80\x80\x80\x80", 5},
    {"invalid stays: FF", "a\xFF", 2},
};

TEST(Utf8, CutsAPrefixAtACodePoint) {
  for (const auto& row : prefix_cases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(truncate_to_valid_prefix(row.prefix), row.prefix.substr(0, row.kept));
  }
}

TEST(Utf8, EveryPrefixOfValidTextCanBeCutToValidText) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xED\x9F\xBFz";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto kept = truncate_to_valid_prefix(std::string_view(text).substr(0, size));
    EXPECT_TRUE(is_valid_utf8(kept)) << size;
    EXPECT_LE(size - kept.size(), 3U);
  }
}

} // namespace
} // namespace paddock::detail
