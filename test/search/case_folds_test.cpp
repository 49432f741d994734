// SPDX-License-Identifier: MIT
// Letters without regard to case, for each character of the first plane that has a case: the lines
// that are found by their literals first are those that RE2 alone finds. Which characters have a
// case is what utf8proc says, so that neither side chooses what it is asked.
#include "precompiled/tests.hpp"
#include "search/line_matcher.hpp"

#include <re2/re2.h>
#include <utf8proc.h>

using namespace paddock;

namespace {

std::string encoded(utf8proc_int32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto n = static_cast<std::size_t>(utf8proc_encode_char(c, bytes.data()));
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)};
}

/// Each in a line of its own, between texts that are looked for first.
std::vector<std::string> lines_with_case() {
  constexpr utf8proc_int32_t plane_end = 0x10000, surrogates = 0xD800, private_use = 0xE000;
  std::vector<std::string> lines;
  for (utf8proc_int32_t c = 1; c < plane_end; ++c) {
    if (c >= surrogates && c < private_use) continue;
    if (utf8proc_tolower(c) != c || utf8proc_toupper(c) != c || utf8proc_totitle(c) != c)
      lines.push_back("abc" + encoded(c) + "def");
  }
  return lines;
}

std::string found_by(const text_pattern& pattern, std::string_view text) {
  line_matcher matcher(pattern.get());
  std::string found;
  for (std::size_t from = 0; from <= text.size();) {
    const auto next = matcher.next(text, from, {});
    if (!next || !*next) break;
    found.append(text.substr((*next)->begin, (*next)->end - (*next)->begin)) += '\n';
    from = (*next)->end + 1;
  }
  return found;
}

std::string found_alone(const std::string& expression, const std::vector<std::string>& lines) {
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  const re2::RE2 compiled(expression, options);
  std::string found;
  for (const std::string& line : lines)
    if (re2::RE2::PartialMatch(line, compiled)) found += line + '\n';
  return found;
}

TEST(CaseFolds, OfTheFirstPlaneAreThoseOfRe2) {
  const std::vector<std::string> lines = lines_with_case();
  ASSERT_LT(2'000u, lines.size());
  std::string text;
  for (const std::string& line : lines)
    text += line + '\n';
  std::size_t with_others = 0, by_literals = 0;
  for (const std::string& line : lines) {
    const std::string expected = found_alone(line, lines);
    with_others += expected.size() > line.size() + 1 ? 1U : 0U;
    for (const auto syntax : {pattern_syntax::literal, pattern_syntax::regular_expression}) {
      const auto compiled =
          text_pattern::compile(line, {.syntax = syntax, .letters = letter_case::folded});
      ASSERT_TRUE(compiled) << line;
      by_literals += compiled->get().literals ? 1U : 0U;
      ASSERT_EQ(expected, found_by(*compiled, text)) << line;
    }
  }
  EXPECT_LT(2'000u, with_others) << "most have another case";
  EXPECT_LT(2'000u, by_literals) << "else the expression would be compared with itself";
}

} // namespace
