// SPDX-License-Identifier: MIT

// What a model would read and a person not see: the tables against two other implementations of
// Unicode, texts that people write against loss, and payloads of the kinds that are in use.

#include "precompiled/tests.hpp"
#include "support/text/slow_text.hpp"

#include <paddock/base/detail/visible_text.hpp>
#include <paddock/frontmatter/frontmatter.hpp>

namespace paddock {
namespace {

constexpr std::uint32_t code_points = 0x110000;

/// What a program prints; nothing when it cannot be run.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string all;
  char part[65536];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;)
    all.append(part, n);
  return ::pclose(pipe) == 0 ? std::optional(all) : std::nullopt;
}

// --- the tables against Python -------------------------------------------------------------------

struct properties {
  std::string category; ///< two letters; Cn: this version knows no such character
  bool virama = false;
};

std::optional<std::vector<properties>> from_python() {
  const auto text = output_of("python3 -c 'import unicodedata as u\n"
                              "print(\"\".join(u.category(chr(c))+\"01\"[u.combining(chr(c))==9]"
                              " for c in range(0x110000)))'");
  if (!text || text->size() < std::size_t{3} * code_points) return std::nullopt;
  std::vector<properties> all(code_points);
  for (std::size_t c = 0; c < code_points; ++c)
    all[c] = {text->substr(3 * c, 2), (*text)[3 * c + 2] == '1'};
  return all;
}

bool is_one_of(std::uint32_t c, std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> of) {
  for (const auto& [first, last] : of)
    if (c >= first && c <= last) return true;
  return false;
}

/// Format characters that are drawn: Prepended_Concatenation_Mark (PropList.txt).
bool is_drawn(std::uint32_t c) {
  return is_one_of(c, {{0x600, 0x605},
                       {0x6DD, 0x6DD},
                       {0x70F, 0x70F},
                       {0x890, 0x891},
                       {0x8E2, 0x8E2},
                       {0x110BD, 0x110BD},
                       {0x110CD, 0x110CD}});
}

/// Default_Ignorable_Code_Point beyond the category Cf (Other_Default_Ignorable_Code_Point and
/// Variation_Selector, PropList.txt).
bool is_ignorable_otherwise(std::uint32_t c) {
  return is_one_of(c, {{0x34F, 0x34F},
                       {0x115F, 0x1160},
                       {0x17B4, 0x17B5},
                       {0x180B, 0x180F},
                       {0x2065, 0x2065},
                       {0x3164, 0x3164},
                       {0xFE00, 0xFE0F},
                       {0xFFA0, 0xFFA0},
                       {0xFFF0, 0xFFF8},
                       {0xE0000, 0xE0FFF}});
}

/// Where a predicate differs from what Python's categories ask for.
template <class IsHidden>
std::vector<std::uint32_t> wrongly_hidden(const std::vector<properties>& python,
                                          IsHidden is_hidden) {
  std::vector<std::uint32_t> wrong;
  for (std::uint32_t c = 0; c < code_points; ++c) {
    const std::string& category = python[c].category;
    if (category == "Cn" && !is_ignorable_otherwise(c)) continue;
    const bool is_space = (c >= 9 && c <= 13) || c == 0x85;
    const bool wanted = (category == "Cc" && !is_space) || (category == "Cf" && !is_drawn(c)) ||
                        is_ignorable_otherwise(c);
    if (is_hidden(c) != wanted) wrong.push_back(c);
  }
  return wrong;
}

TEST(VisibleText, HidesWhatPythonCallsFormatOrControl) {
  const auto python = from_python();
  if (!python) GTEST_SKIP() << "needs python3";
  EXPECT_THAT(wrongly_hidden(*python, detail::is_hidden), testing::IsEmpty());
  // Tables with a hole are noticed.
  for (const std::uint32_t missing :
       {0xADU, 0x200BU, 0x202EU, 0x2066U, 0xFE0FU, 0xE0041U, 0xE01EFU})
    EXPECT_THAT(wrongly_hidden(
                    *python, [&](std::uint32_t c) { return c != missing && detail::is_hidden(c); }),
                testing::ElementsAre(missing));
  std::size_t blanks = 0;
  for (std::uint32_t c = 0; c < code_points; ++c) {
    const bool is_space = (*python)[c].category[0] == 'Z' || (c >= 9 && c <= 13) || c == 0x85;
    EXPECT_EQ(detail::is_blank_character(c), is_space || c == 0x2800) << std::hex << c;
    EXPECT_FALSE(detail::is_blank_character(c) && detail::is_hidden(c)) << std::hex << c;
    blanks += is_space ? 1U : 0U;
    const bool virama = detail::find_range(detail::viramas, static_cast<char32_t>(c)) != nullptr;
    if ((*python)[c].category != "Cn") {
      EXPECT_EQ(virama, (*python)[c].virama) << std::hex << c;
    }
  }
  EXPECT_EQ(blanks, 25U); // White_Space
}

// --- and against ICU, by way of Node -------------------------------------------------------------

/// One character per code point: '1' where it has the property.
std::optional<std::string> from_node(const std::string& expression) {
  auto text = output_of("node -e 'const p=/^" + expression +
                        "$/u;let t=\"\";for(let c=0;c<0x110000;c++)"
                        "t+=p.test(String.fromCodePoint(c))?1:0;process.stdout.write(t)'");
  if (!text || text->size() != code_points) return std::nullopt;
  return text;
}

TEST(VisibleText, HidesWhatIcuCallsIgnorable) {
  const auto ignorable = from_node("\\p{Default_Ignorable_Code_Point}");
  if (!ignorable) GTEST_SKIP() << "needs node";
  for (std::uint32_t c = 0; c < code_points; ++c)
    if ((*ignorable)[c] == '1') {
      EXPECT_TRUE(detail::is_hidden(c)) << std::hex << c;
    }
}

TEST(VisibleText, KnowsTheEmojiThatAreDrawnAsText) {
  const auto emoji = from_node("(?!\\p{Emoji_Presentation})\\p{Emoji}");
  if (!emoji) GTEST_SKIP() << "needs node";
  for (std::uint32_t c = 0x80; c < code_points; ++c)
    EXPECT_EQ(detail::find_range(detail::text_emoji, static_cast<char32_t>(c)) != nullptr,
              (*emoji)[c] == '1')
        << std::hex << c;
}

TEST(VisibleText, TablesAreInOrder) {
  const auto is_ordered = [](const auto& table) {
    for (std::size_t i = 0; i < std::size(table); ++i)
      if (table[i].first > table[i].last || (i > 0 && table[i - 1].last >= table[i].first))
        return false;
    return true;
  };
  EXPECT_TRUE(is_ordered(detail::hidden_ranges));
  EXPECT_TRUE(is_ordered(detail::text_emoji));
  EXPECT_TRUE(is_ordered(detail::viramas));
  EXPECT_TRUE(is_ordered(detail::cursive_letters));
}

// --- what stays ----------------------------------------------------------------------------------

TEST(VisibleText, WhatPeopleWriteStays) {
  for (const std::string_view text : {
           "plain words, tabs\tand\r\nbreaks",
           "café, naïve, Ω, я",
           "查询行情 技能、「引用」",
           "スキルの説明。ｶﾀｶﾅ",
           "한국어 기술 설명",
           "คำอธิบายทักษะ",
           "وصف المهارة",
           "תיאור הכישרון",
           "कौशल का विवरण",
           "Mô tả kỹ năng e\u0301o\u0323",
           "می\u200Cخواهم کتاب\u200Cها",           // Persian
           "ক্\u200Cষ র\u200D্য",                    // Bengali: beside a virama
           "ශ්\u200Dරී ලංකා",                        // Sinhala
           "ന്\u200D അവന്\u200D",                    // Malayalam
           "\u182E\u1823\u1829\u182D\u180B\u1823", // Mongolian
           "👩\u200D💻 👨\u200D👩\u200D👧\u200D👦 👩🏽\u200D🚀 🐈\u200D⬛",
           "❤\uFE0F ❤\uFE0F\u200D🔥 🏳\uFE0F\u200D🌈 ☎\uFE0F 1\uFE0F\u20E3 "
           "#\uFE0F\u20E3",
           "🧔🏻\u200D♂\uFE0F 🏴\u200D☠\uFE0F 👁\uFE0F\u200D🗨\uFE0F",
       })
    EXPECT_EQ(detail::without_hidden(text), text);
}

struct change_case {
  const char* name;
  std::string_view text;
  std::string_view kept;
};

TEST(VisibleText, WhatDoesNothingGoes) {
  constexpr change_case cases[] = {
      {"zero width space", "a\u200Bb", "ab"},
      {"word joiner", "a\u2060b", "ab"},
      {"soft hyphen", "a\u00ADb", "ab"},
      {"byte order mark inside", "a\uFEFFb", "ab"},
      {"joiner between letters", "a\u200Db", "ab"},
      {"non-joiner between letters", "a\u200Cb", "ab"},
      {"joiner at the begin", "\u200D👩", "👩"},
      {"joiner at the end", "👩\u200D", "👩"},
      {"two joiners", "👩\u200D\u200D💻", "👩\u200D💻"},
      {"joiner behind a blank", "👩 \u200D💻", "👩 💻"},
      {"non-joiner at the end of a word", "می\u200C", "می"},
      {"non-joiner twice", "می\u200C\u200Cخ", "می\u200Cخ"},
      {"selector behind a letter", "a\uFE0F", "a"},
      {"selector behind an emoji that needs none", "🔥\uFE0F", "🔥"},
      {"second selector", "❤\uFE0F\uFE0F", "❤\uFE0F"},
      {"selector 15", "❤\uFE0E", "❤"},
      {"selector behind a digit", "1\uFE0F2", "12"},
      {"ideographic selector", "葛\U000E0100飾", "葛飾"},
      {"tags", "🏴\U000E0067\U000E0062\U000E007F", "🏴"},
      {"directions", "a\u202Eb\u202C\u2066c\u2069\u200F\u061C", "abc"},
      {"controls", std::string_view("a\0b\x1B[0m\x7F\xC2\x9B", 10), "ab[0m"},
      {"fillers", "a\u3164\u115F\uFFA0b", "ab"},
      {"annotation", "a\uFFF9b\uFFFAc\uFFFB", "abc"},
      {"no UTF-8 stays", "a\xFF\xE2\x80", "a\xFF\xE2\x80"},
  };
  for (const change_case& c : cases)
    EXPECT_EQ(detail::without_hidden(c.text), c.kept) << c.name;
}

// One character among others, at each place: nothing hidden is left, and all else is.
TEST(VisibleText, SweepLosesNothingElse) {
  slow::sweep([](const slow::sample& s) {
    const std::string clean = detail::without_hidden(s.text);
    std::string expected;
    slow::for_each_unit(s.text, [&](const slow::unit& u) {
      if (!u.valid || !detail::is_hidden(u.code)) expected += u.bytes;
    });
    // None of the sweep's neighbours is one that a joiner or selector does something between, but
    // for the emoji.
    if (s.text.find("\u200D") != std::string_view::npos) return true;
    EXPECT_EQ(clean, expected) << testing::PrintToString(s.text);
    return clean == expected;
  });
}

TEST(VisibleText, WhatIsHiddenCanBeNamed) {
  const struct {
    std::string_view text;
    std::string_view named;
  } cases[] = {
      {"plain, 技, é", "plain, 技, é"},
      {"a\u200Bb", "a\\u{200B}b"},
      {"\U000E0041\U000E0042", "\\u{E0041}\\u{E0042}"},
      {"\x1B[0m\x7F", "\\u{1B}[0m\\u{7F}"},
      {"👩\u200D💻 ❤\uFE0F", "👩\u200D💻 ❤\uFE0F"},
      {"a\xFF", "a\xFF"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(detail::with_hidden_named(c.text), c.named);
}

// --- validation ----------------------------------------------------------------------------------

std::vector<std::string> hidden_in(std::string_view file) {
  std::vector<std::string> found;
  for (const frontmatter::diagnostic& d : frontmatter::validate(file, "a")) {
    if (d.code != frontmatter::diagnostic_code::invisible_character) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%u:%u U+%04X", d.line, d.column,
                  static_cast<unsigned>(d.character));
    found.emplace_back(text);
  }
  return found;
}

TEST(VisibleText, ValidationNamesThePlaceAndTheCharacter) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(hidden_in("---\nname: a\ndescription: 👩\u200D💻 ❤\uFE0F می\u200Cخواهم\n---\n"),
              IsEmpty());
  EXPECT_THAT(hidden_in("---\nname: a\ndescription: é\u200Bb\n---\n"), ElementsAre("3:16 U+200B"));
  EXPECT_THAT(hidden_in("---\nname: a\ndescription: \"x\\u200Bb\"\n---\n"),
              ElementsAre("3:1 U+200B"));
  EXPECT_THAT(
      hidden_in("---\nname: a\ndescription: b\n---\nText\n\U000E0041\U000E0042 and \u202Ez\n"),
      ElementsAre("6:1 U+E0041", "6:14 U+202E"));
  EXPECT_THAT(hidden_in("\xEF\xBB\xBF---\nname: a\ndescription: b\n---\n"), IsEmpty());
  std::string many = "---\nname: a\ndescription: b\n---\n";
  for (int i = 0; i < 1000; ++i)
    many += "x\u200B";
  EXPECT_EQ(hidden_in(many).size(), 100U);
}

} // namespace
} // namespace paddock
