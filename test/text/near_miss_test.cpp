// SPDX-License-Identifier: MIT

#include "precompiled/tests.hpp"

#include <paddock/text/near_miss.hpp>

namespace paddock {
namespace {

constexpr std::string_view program = "#include <stdio.h>\n"              // 0
                                     "\n"                                // 1
                                     "int main(void) {\n"                // 2
                                     "\tint total = 0;\n"                // 3
                                     "\tfor (int i = 0; i < 3; ++i) {\n" // 4
                                     "\t\ttotal += i;\n"                 // 5
                                     "\t}\n"                             // 6
                                     "\tprintf(\"%d\\n\", total);\n"     // 7
                                     "\treturn 0;\n"                     // 8
                                     "}\n";                              // 9

struct row {
  const char* name;
  std::string_view old_text, new_text;
  near_miss_kind kind;
  std::uint64_t line;
  std::string_view found;
  std::string_view wanted;
  std::uint64_t wanted_line;
};

TEST(NearMiss, NamesThePlaceThatWasMeant) {
  const row table[] = {
      {"blanks for tabs", "    int total = 0;\n    for (int i = 0; i < 3; ++i) {\n", "x",
       near_miss_kind::white_space, 3, "\tint total = 0;\n\tfor (int i = 0; i < 3; ++i) {\n",
       "    int total = 0;", 3},
      {"another break of lines", "int main(void)\n{", "x", near_miss_kind::white_space, 2,
       "int main(void) {\n", "int main(void)", 2},
      {"one word of several lines",
       "\tint total = 0;\n\tfor (int j = 0; j < 3; ++j) {\n\t\ttotal += i;\n", "x",
       near_miss_kind::similar, 3,
       "\tint total = 0;\n\tfor (int i = 0; i < 3; ++i) {\n\t\ttotal += i;\n",
       "\tfor (int j = 0; j < 3; ++j) {", 4},
      {"one letter of a line", "printf(\"%i\\n\", total);", "x", near_miss_kind::similar, 7,
       "\tprintf(\"%d\\n\", total);\n", "printf(\"%i\\n\", total);", 7},
      {"a part of a line, with its end", "\tint tot\n", "x", near_miss_kind::similar, 3,
       "\tint total = 0;\n", "\tint tot", 3},
      {"made before", "\tint sum = 0;\n", "\tint total = 0;\n", near_miss_kind::already_applied, 3,
       "\tint total = 0;\n", "", 0},
      {"indented before", "  return 0;\n", "\treturn 0;\n", near_miss_kind::already_applied, 8,
       "\treturn 0;\n", "", 0},
      {"new text that is there elsewhere", "  return  0;\n", "\tint total = 0;\n",
       near_miss_kind::white_space, 8, "\treturn 0;\n", "  return  0;", 8},
  };
  for (const row& each : table) {
    const auto near = nearest(program, each.old_text, each.new_text);
    if (!near) {
      ADD_FAILURE() << each.name;
      continue;
    }
    EXPECT_EQ(near->kind, each.kind) << each.name;
    EXPECT_EQ(near->line_index, each.line) << each.name;
    EXPECT_EQ(near->found, each.found) << each.name;
    EXPECT_EQ(near->wanted, each.wanted) << each.name;
    EXPECT_EQ(near->wanted_line_index, each.wanted_line) << each.name;
  }
}

TEST(NearMiss, PrefersTheLineThatBeginsTheSame) {
  constexpr std::string_view content =
      "def get_environ_proxies(url: str, no_proxy: str | None = None) -> dict[str, str]:\n"
      "    return {}\n"
      "        environ_proxies = get_environ_proxies(url, no_proxy=no_proxy)\n";
  const auto near = nearest(content, "def get_environ_proxies(url: str, no_proxy=None):", "x");
  ASSERT_TRUE(near.has_value());
  EXPECT_EQ(near->line_index, 0U);
}

TEST(NearMiss, NamesWhatOnlyLooksLikeTheText) {
  struct look {
    const char* name;
    std::string_view content, old_text;
    std::uint64_t line;
    bool looks_alike;
  };
  const look table[] = {
      {"quotes", "a\nsay(“x”, ‘y’)\n", "say(\"x\", 'y')", 1, true},
      {"quotes of the text", "a\nsay(\"x\")\n", "say(“x”)", 1, true},
      {"a blank that does not break", "a\nx\u00A0= 1\n", "x = 1", 1, true},
      {"a dash", "a\nb\n1–2\n", "1-2\n", 2, true},
      {"what is not seen", "a\nb\nc\u200Bd\n", "b\ncd", 1, true},
      {"control: white space alone", "é\nx  = 1\n", "x = 1", 1, false},
      {"control: another letter", "é\nreturn value + 1;\n", "return value + 2;", 1, false},
  };
  for (const look& each : table) {
    const auto near = nearest(each.content, each.old_text, "x");
    ASSERT_TRUE(near.has_value()) << each.name;
    EXPECT_EQ(near->line_index, each.line) << each.name;
    EXPECT_EQ(near->looks_alike, each.looks_alike) << each.name;
  }
}

/// Blanks at an end of the text that was looked for divide words.
TEST(NearMiss, TakesNoWordThatGoesOnForTheSame) {
  struct end {
    const char* name;
    std::string_view content, old_text;
    std::optional<std::uint64_t> line;
  };
  const end table[] = {
      {"a line end", "a();\nreturn xyz\n", "return  x\n", std::nullopt},
      {"a blank", "a();\nreturn xyz\n", "return  x ", std::nullopt},
      {"a blank before", "a();\nmy_return x\n", "\n return  x", std::nullopt},
      {"quotes and a line end", "a();\nsay(“x”)yz\n", "say(\"x\")\n", std::nullopt},
      {"another place behind it", "return xyz\nreturn x;\n  return x\n", "return  x\n", 2},
      {"control: the line end is there", "a();\nreturn x\n", "return  x\n", 1},
      {"control: CRLF", "a();\r\nreturn x\r\n", "return  x\n", 1},
      {"control: the end of the content", "a();\nreturn x", "return x\n", 1},
      {"control: its beginning", "return x;\n", "\n return  x;", 0},
      {"control: another blank", "a();\nreturn x y\n", "return  x\n", 1},
      {"control: quotes and a blank", "a();\nsay(“x”)\u00A0y\n", "say(\"x\")\n", 1},
      {"control: no blank at an end", "a();\nreturn xyz\n", "return  x", 1},
  };
  for (const end& each : table) {
    const auto near = nearest(each.content, each.old_text, "x");
    const bool is_same = near && (near->kind == near_miss_kind::white_space || near->looks_alike);
    EXPECT_EQ(is_same, each.line.has_value()) << each.name;
    if (is_same && each.line) {
      EXPECT_EQ(near->line_index, *each.line) << each.name;
    }
  }
}

TEST(NearMiss, TakesNoLongerWordForTheNewText) {
  struct made {
    const char* name;
    std::string_view content, new_text;
    std::optional<std::uint64_t> line;
  };
  const made table[] = {
      {"a longer number", "a\nlimit = 200\n", "limit = 20", std::nullopt},
      {"a longer name", "a\nold_limit = 20;\n", "limit = 20;", std::nullopt},
      {"a longer name in another script", "a\nlimit = naïveté\n", "limit = naïvet", std::nullopt},
      {"another place behind it", "limit = 200\nlimit = 20;\n", "limit = 20", 1},
      {"control: whole", "a\nlimit = 20;\n", "limit = 20", 1},
      {"control: the whole content", "limit = 20", "limit = 20", 0},
      {"control: a blank at its end", "a\nlimit = 200\n", "limit = ", std::nullopt},
      {"control: signs at both ends", "a(limit == 20)b\n", "(limit == 20)", 0},
  };
  for (const made& each : table) {
    const auto near = nearest(each.content, "nothing like it", each.new_text);
    const bool is_made = near && near->kind == near_miss_kind::already_applied;
    EXPECT_EQ(is_made, each.line.has_value()) << each.name;
    if (is_made && each.line) {
      EXPECT_EQ(near->line_index, *each.line) << each.name;
    }
  }
}

TEST(NearMiss, SaysNothingWhereNothingIsNear) {
  EXPECT_FALSE(nearest(program, "def main():\n    pass\n", "x").has_value());
  EXPECT_FALSE(nearest("", "a", "b").has_value());
  EXPECT_FALSE(nearest("a\nb\n", "\n\n\n", "").has_value());
  // New text that is short may stand anywhere.
  EXPECT_FALSE(nearest(program, "while (true)", "}").has_value());
}

TEST(NearMiss, ShowsNoMoreThanItsBoundAndWholeCodePoints) {
  std::string line;
  for (int i = 0; i < 2000; ++i)
    line += "文";
  const auto near = nearest(line + " b\n", line + "  b", "x");
  ASSERT_TRUE(near.has_value());
  EXPECT_LE(near->found.size(), near_miss::found_bytes_max);
  EXPECT_EQ(near->found, line.substr(0, near->found.size()));
  EXPECT_EQ(near->found.size() % 3, 0U);
  EXPECT_EQ(near->wanted.size() % 3, 0U);
}

/// One line of real-looking text with a change in it is found again.
TEST(NearMiss, FindsLinesOfWhichALetterWasChanged) {
  std::mt19937_64 random(1);
  const auto word = [&] {
    std::string out;
    for (std::size_t n = 2 + random() % 8; n > 0; --n)
      out += static_cast<char>('a' + random() % 26);
    return out;
  };
  std::string content;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 2000; ++i) {
    std::string line(2 * (random() % 4), ' ');
    for (std::size_t n = 3 + random() % 6; n > 0; --n)
      line += word() + " ";
    line += std::to_string(i);
    lines.push_back(line);
    content += line + "\n";
  }
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t at = random() % lines.size();
    std::string changed = lines[at];
    changed[changed.size() / 2] = '#';
    const auto near = nearest(content, changed, "x");
    ASSERT_TRUE(near.has_value()) << changed;
    EXPECT_EQ(near->line_index, at) << changed;
  }
}

} // namespace
} // namespace paddock
