// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/frontmatter/frontmatter.hpp>

namespace paddock::frontmatter {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// "line:column wire-name" of each.
std::vector<std::string> shown(const std::vector<diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const diagnostic& d : diagnostics)
    out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " +
                  std::string(wire_name(d.code)));
  return out;
}

fields parse_file(std::string_view file, options how = {}) {
  return parse(file, extent::whole_file, how);
}

// --- what a block says
// -----------------------------------------------------------------------------

struct value_case {
  const char* title;
  std::string_view block; ///< between the fences
  std::string_view name;
  std::string_view description;
};

constexpr value_case proven[] = {
    {"plain", "name: a\ndescription: b c\n", "a", "b c"},
    {"double quotes", "name: \"a\"\ndescription: \"b \\\"c\\\" \\u00e9 \\\\\"\n", "a",
     "b \"c\" \xC3\xA9 \\"},
    {"single quotes", "name: 'a'\ndescription: 'it''s'\n", "a", "it's"},
    {"literal", "name: a\ndescription: |\n  b\n  c\n\n  d\n", "a", "b c d"},
    {"folded", "name: a\ndescription: >-\n  b\n  c\n\n", "a", "b c"},
    {"kept line breaks", "name: a\ndescription: |+\n  b\n\n\n", "a", "b"},
    {"plain over lines", "name: a\ndescription: b\n  c\n\n  d\n", "a", "b c d"},
    {"double quotes over lines", "name: a\ndescription: \"b\n  c \\\n  d\"\n", "a", "b c d"},
    {"single quotes over lines", "name: a\ndescription: 'b\n\n  c'\n", "a", "b c"},
    {"on the next line", "name: a\ndescription:\n  b\n  c\n", "a", "b c"},
    {"comments", "# x\nname: a # y\n  # z\ndescription: b#c\n", "a", "b#c"},
    {"fences in values", "name: a\ndescription: b --- c\nx: |\n  ---\n", "a", "b --- c"},
    {"nested description first",
     "metadata:\n  description: no\n  name: no\nname: a\ndescription: b\n", "a", "b"},
    {"lists and maps", "tags:\n- x\n- y: z\nflow: [1, {\"k\":\"v\"}]\nname: a\ndescription: b\n",
     "a", "b"},
    {"white space", "name:   a  \ndescription:  \"  b \\t \\n  c  \"\n", "a", "b c"},
    {"colons in words", "name: a\ndescription: see http://x:1/y, b:c\n", "a",
     "see http://x:1/y, b:c"},
    {"other scripts", "name: 技能\ndescription: 当用户 “需要” 时 — 使用…\n", "技能",
     "当用户 “需要” 时 — 使用…"},
    {"no-break space stays",
     "name: a\ndescription: b\xC2\xA0\xC2\xA0"
     "c\n",
     "a",
     "b\xC2\xA0\xC2\xA0"
     "c"},
    {"Unicode line breaks are white space", "name: a\ndescription: \"b\\L\\P \\Nc\"\n", "a", "b c"},
};

TEST(Frontmatter, ReadsWhatTheScannerProves) {
  for (const value_case& c : proven) {
    SCOPED_TRACE(c.title);
    const fields read = parse_file("---\n" + std::string(c.block) + "---\nbody\n");
    EXPECT_EQ(read.from, origin::fast);
    EXPECT_EQ(read.name, c.name);
    EXPECT_EQ(read.description, c.description);
    EXPECT_THAT(shown(read.diagnostics), IsEmpty());
  }
}

TEST(Frontmatter, LineEndingsMarkAndBodyChangeNothing) {
  for (const value_case& c : proven) {
    SCOPED_TRACE(c.title);
    std::string crlf;
    for (const char ch : c.block)
      crlf.append(ch == '\n' ? "\r\n" : std::string(1, ch));
    for (const std::string& file :
         {"---\r\n" + crlf + "---\r\n", "---  \n" + std::string(c.block) + "--- \t\n",
          "\xEF\xBB\xBF---\n" + std::string(c.block) + "---", // no line break at the end
          "---\n" + std::string(c.block) + "---\nname: no\n---\n\0\xFF"s}) {
      const fields read = parse_file(file);
      EXPECT_EQ(read.from, origin::fast);
      EXPECT_EQ(read.name, c.name);
      EXPECT_EQ(read.description, c.description);
    }
  }
}

TEST(Frontmatter, EveryPrefixThatNeedsNoMoreGivesTheSame) {
  for (const value_case& c : proven) {
    SCOPED_TRACE(c.title);
    const std::string file = "\xEF\xBB\xBF---\r\n" + std::string(c.block) + "---\nbody\n";
    const std::size_t block_end = file.find("---\nbody") + 4;
    for (std::size_t size = 0; size < file.size(); ++size) {
      const std::string_view prefix = std::string_view(file).substr(0, size);
      ASSERT_EQ(needs_more(prefix), size < block_end) << size;
      if (size >= block_end) {
        ASSERT_EQ(parse(prefix, extent::prefix).description, c.description);
      }
    }
  }
  EXPECT_FALSE(needs_more("# Title"));
  EXPECT_FALSE(needs_more("----"));
  EXPECT_FALSE(needs_more("---" + std::string(bytes_max, '\n')));
}

// --- what people write instead
// -----------------------------------------------------------------------

struct oddity_case {
  const char* title;
  std::string file;
  origin from;
  std::string_view name;
  std::string_view description;
  std::vector<std::string> diagnostics;
};

// clang-format off
const oddity_case oddities[] = {
    // before the block
    {"empty file", "", origin::none, "", "", {"1:1 empty-file"}},
    {"no frontmatter", "# Title\ntext\n", origin::none, "", "", {"1:1 no-frontmatter"}},
    {"only blank lines", "\n \n", origin::none, "", "", {"1:1 no-frontmatter"}},
    {"blank line first", "\n---\nname: a\ndescription: b\n---\n", origin::none, "", "", {"1:1 leading-blank-line"}},
    {"comment first", "<!-- c -->\n---\nname: a\n---\n", origin::none, "", "", {"1:1 leading-comment"}},
    {"code fence first", "```markdown\n---\nname: a\n---\n```\n", origin::none, "", "", {"1:1 leading-code-fence"}},
    {"indented fence", "  ---\nname: a\n---\n", origin::none, "", "", {"1:3 indented-fence"}},
    {"upload boundary", "--------------------------80187b\nname: a\n", origin::none, "", "", {"1:1 long-fence"}},
    {"another language", "---js\nmodule.exports = 1\n---\n", origin::none, "", "", {"1:4 fence-with-text"}},
    {"comment behind the fence", "--- # c\nname: a\n---\n", origin::none, "", "", {"1:4 fence-with-text"}},
    {"all on one line", "--- name: a description: b ---\n", origin::none, "", "", {"1:4 fence-with-text"}},
    {"UTF-16 with a mark", "\xFF\xFE-\0-\0-\0"s, origin::none, "", "", {"1:1 utf-16"}},
    {"UTF-16 without", "-\0-\0-\0\n\0"s, origin::none, "", "", {"1:1 utf-16"}},
    // its end
    {"not closed", "---\nname: a\ndescription: b\n\n# Title\n", origin::none, "", "", {"1:1 not-closed"}},
    {"closed by a rule", "---\nname: a\ndescription: b\n--------\n", origin::none, "", "", {"1:1 not-closed", "4:1 long-fence"}},
    {"closed with indentation", "---\nname: a\ndescription: b\n  ---\n", origin::none, "", "", {"1:1 not-closed", "4:3 indented-fence"}},
    {"closed by dots", "---\nname: a\ndescription: b\n...\n", origin::none, "", "", {"1:1 not-closed", "4:1 document-end"}},
    {"closed with text", "---\nname: a\ndescription: b\n---x\n", origin::none, "", "", {"1:1 not-closed", "4:4 fence-with-text"}},
    {"too long", "---\nname: a\n" + std::string(70'000, '#') + "\n---\n", origin::none, "", "", {"1:1 too-long"}},
    {"empty block", "---\n---\n", origin::none, "", "", {"2:1 empty-block"}},
    {"only comments", "---\n# name: a\n\n---\n", origin::none, "", "", {"2:1 empty-block"}},
    // bytes
    {"NUL", "---\nname: a\ndescription: b\0\n---\n"s, origin::none, "", "", {"3:15 nul-byte"}},
    {"Latin-1", "---\nname: a\ndescription: caf\xE9\n---\n", origin::none, "", "", {"3:17 not-utf-8"}},
    {"control character", "---\nname: a\ndescription: b\x01" "c\n---\n", origin::repaired, "a", "b c", {"2:1 repaired", "3:15 control-character"}},
    {"written control character", "---\nname: a\ndescription: \"b\\e[1m\"\n---\n", origin::fast, "a", "b\x1B[1m", {"3:1 control-character"}},
    {"tab indentation", "---\nname: a\ndescription: b\nx:\n\ty: z\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "5:1 tab-indentation"}},
    {"lone CR", "---\nname: a\ndescription: b\rc\n---\n", origin::repaired, "a", "b c", {"2:1 repaired", "3:15 control-character"}},
    // the two fields
    {"no name", "---\ndescription: b\n---\n", origin::none, "", "b", {"2:1 missing-name"}},
    {"no description", "---\nname: a\n---\n", origin::none, "a", "", {"2:1 missing-description"}},
    {"neither", "---\nmetadata:\n  name: a\n  description: b\n---\n", origin::none, "", "", {"2:1 missing-name", "2:1 missing-description"}},
    {"capital key", "---\nName: a\ndescription: b\n---\n", origin::none, "", "b", {"2:1 missing-name"}},
    {"empty name", "---\nname:\ndescription: b\n---\n", origin::none, "", "b", {"2:1 empty-name"}},
    {"null name", "---\nname: ~\ndescription: b\n---\n", origin::none, "", "b", {"2:1 empty-name"}},
    {"blank description", "---\nname: a\ndescription: \" \\n\\t \"\n---\n", origin::none, "a", "", {"3:1 empty-description"}},
    {"list as name", "---\nname: [a]\ndescription: b\n---\n", origin::none, "", "b", {"2:1 name-not-text"}},
    {"mapping as description", "---\nname: a\ndescription:\n  b: c\n---\n", origin::none, "a", "", {"3:1 description-not-text"}},
    {"number as name", "---\nname: 1.50\ndescription: true\n---\n", origin::fast, "1.50", "true", {"2:1 not-a-string", "3:1 not-a-string"}},
    {"old truth values are text", "---\nname: yes\ndescription: off\n---\n", origin::fast, "yes", "off", {}},
    {"long name", "---\nname: " + std::string(65, 'a') + "\ndescription: b\n---\n", origin::fast, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "b", {"2:1 name-too-long"}},
    // not YAML
    {"unquoted colon", "---\nname: a\ndescription: Use when: b\n---\n", origin::repaired, "a", "Use when: b", {"2:1 repaired", "3:22 unquoted-colon"}},
    {"unquoted colon in the next line", "---\nname: a\ndescription: b\n  c: d\nx: y\n---\n", origin::repaired, "a", "b c: d", {"2:1 repaired", "4:4 unquoted-colon"}},
    {"bold text", "---\nname: a\ndescription: **b** c\n---\n", origin::repaired, "a", "**b** c", {"2:1 repaired", "3:14 reserved-character"}},
    {"star as another value", "---\nname: a\ndescription: \"b\"\nallowed-tools: *\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "4:16 reserved-character"}},
    {"backtick", "---\nname: a\ndescription: `b` c\n---\n", origin::repaired, "a", "`b` c", {"2:1 repaired", "3:14 reserved-character"}},
    {"text after quotes", "---\nname: a\ndescription: \"b\" c\n---\n", origin::repaired, "a", "\"b\" c", {"2:1 repaired", "3:18 text-after-value"}},
    {"two lists", "---\nname: a\ndescription: b\nargument-hint: [x] [y]\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "4:20 text-after-value"}},
    {"text after the indicator", "---\nname: a\ndescription: > b\n  c\n---\n", origin::repaired, "a", "b c", {"2:1 repaired", "3:16 text-after-indicator"}},
    {"quote not closed", "---\nname: a\ndescription: \"b c\nx: y\n---\n", origin::repaired, "a", "b c", {"2:1 repaired", "3:14 unterminated-value"}},
    {"bracket not closed", "---\nname: a\ndescription: [b c\n---\n", origin::repaired, "a", "[b c", {"2:1 repaired", "3:14 unterminated-value"}},
    {"unknown escape", "---\nname: a\ndescription: \"it\\'s\"\n---\n", origin::repaired, "a", "it's", {"2:1 repaired"}},
    {"surrogate escapes", "---\nname: a\ndescription: b\nmetadata: {\"e\":\"\\ud83c\\udfce\"}\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "4:17 surrogate-escape"}},
    {"prose", "---\nname: a\ndescription: b\nThis skill does it.\n---\n", origin::repaired, "a", "b This skill does it.", {"2:1 repaired", "4:1 line-without-key"}},
    {"prose, and a key behind it", "---\nname: a\ndescription: b\nmore\n\nand more\nlicense: MIT\n---\n", origin::repaired, "a", "b more and more", {"2:1 repaired", "4:1 line-without-key", "6:1 line-without-key"}},
    {"prose behind an indicator", "---\ndescription: >\n  b\nmore\nname: a\n---\n", origin::repaired, "a", "b more", {"2:1 repaired", "4:1 line-without-key"}},
    {"prose behind a name is nobody's", "---\ndescription: b\nname: a\nmore\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "4:1 line-without-key"}},
    {"closed with a heading", "---\nname: a\ndescription: b\n---# Title\n", origin::fast, "a", "b", {}},
    {"closed with a comment", "---\nname: a\ndescription: b\n--- # Title\n", origin::fast, "a", "b", {}},
    {"heading", "---\nname: a\ndescription: b\n## x\nfoo\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "5:1 line-without-key"}},
    {"dots inside", "---\nname: a\ndescription: b\n...\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "4:1 document-end"}},
    {"two of one key", "---\nname: a\nname: c\ndescription: b\n---\n", origin::repaired, "a", "b", {"2:1 repaired"}},
    {"nothing to recover", "---\ntext: **x**\n---\n", origin::none, "", "", {"2:1 not-proven", "2:7 reserved-character", "2:1 missing-name", "2:1 missing-description"}},
    {"key without space", "---\nname:a\ndescription: b\n---\n", origin::repaired, "a", "b", {"2:1 repaired", "2:1 line-without-key"}},
};
// clang-format on

TEST(Frontmatter, OddFilesAreReadOrExplained) {
  std::set<std::string> titles;
  for (const oddity_case& c : oddities) {
    SCOPED_TRACE(c.title);
    EXPECT_TRUE(titles.insert(c.title).second);
    const fields read = parse_file(c.file);
    EXPECT_EQ(read.from, c.from);
    EXPECT_EQ(read.name, c.name);
    EXPECT_EQ(read.description, c.description);
    EXPECT_EQ(shown(read.diagnostics), c.diagnostics);
    const bool has_error =
        std::any_of(read.diagnostics.begin(), read.diagnostics.end(),
                    [](const diagnostic& d) { return level(d.code) == severity::error; });
    EXPECT_EQ(has_error, !read.loaded());
  }
}

TEST(Frontmatter, StrictPolicyRefusesWhatIsNotKnownToBeYaml) {
  for (const oddity_case& c : oddities) {
    SCOPED_TRACE(c.title);
    const fields read = parse_file(c.file, {.policy = policy::strict});
    EXPECT_EQ(read.loaded(), c.from == origin::fast);
    if (c.from == origin::repaired) {
      EXPECT_EQ(read.diagnostics.front().code, diagnostic_code::not_proven);
    }
  }
}

TEST(Frontmatter, CollapseKeepsAllButWhiteSpace) {
  constexpr std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {" ", ""},
      {"\n\t", ""},
      {"a", "a"},
      {" a ", "a"},
      {"a  b", "a b"},
      {"1234567 89012345 ", "1234567 89012345"},
      {"1234567  8901234", "1234567 8901234"},
      {"12345678\n\n12345678\n", "12345678 12345678"},
      {"!!!! !!!", "!!!! !!!"},
      {"12345\xE2\x80\xA8x", "12345 x"},
      {"123456\xE2\x80\xA8x", "123456 x"},
      {"1234567\xE2\x80\xA9x", "1234567 x"},
      {"1234567\xC2\x85x", "1234567 x"},
      {"123456\xE2\x80\x94\xE2\x80\xA6x", "123456\xE2\x80\x94\xE2\x80\xA6x"},
      {"12345678\xC3\xA9\xC3\xA8\xC3\x85", "12345678\xC3\xA9\xC3\xA8\xC3\x85"},
      {"        12345678", "12345678"},
      {"12345678        ", "12345678"},
      {"查询行情 ok", "查询行情 ok"}, // eight bytes end inside of a character
      {"123456询x", "123456询x"},
      {"12345\xF0\x9F\x8D\x89x", "12345\xF0\x9F\x8D\x89x"},
      {"1234567\xC3\x8D x", "1234567\xC3\x8D x"},
  };
  for (const auto& [text, expected] : cases) {
    std::string collapsed(text);
    detail::collapse(collapsed);
    EXPECT_EQ(collapsed, expected) << "'" << text << "'";
  }
}

// --- the specification
// -------------------------------------------------------------------------------

struct rule_case {
  const char* title;
  std::string block;
  std::string_view directory;
  std::vector<std::string> diagnostics;
};

// clang-format off
const rule_case rules[] = {
    {"valid", "name: pdf-tools\ndescription: b\n", "pdf-tools", {}},
    {"all keys", "name: a\ndescription: b\nlicense: MIT\ncompatibility: Needs git\nmetadata:\n  version: 1.0\nallowed-tools: Read Bash(git:*)\n", "a", {}},
    {"Unicode letters", "name: 技能\ndescription: b\n", "技能", {}},
    {"Cyrillic", "name: мой-навык\ndescription: b\n", "мой-навык", {}},
    {"capital Cyrillic", "name: Навык\ndescription: b\n", "Навык", {"2:1 name-uppercase"}},
    {"not the directory", "name: a\ndescription: b\n", "b", {"2:1 name-not-directory"}},
    {"no directory to compare", "name: a\ndescription: b\n", "", {}},
    {"capital", "name: MySkill\ndescription: b\n", "MySkill", {"2:1 name-uppercase"}},
    {"space", "name: my skill\ndescription: b\n", "my skill", {"2:1 name-character"}},
    {"underscore", "name: my_skill\ndescription: b\n", "my_skill", {"2:1 name-character"}},
    {"dots", "name: '..'\ndescription: b\n", "..", {"2:1 name-character"}},
    {"dash of another kind", "name: a—b\ndescription: b\n", "a—b", {"2:1 name-character"}},
    {"hyphen first", "name: -a\ndescription: b\n", "-a", {"2:1 name-hyphen"}},
    {"hyphen last", "name: a-\ndescription: b\n", "a-", {"2:1 name-hyphen"}},
    {"two hyphens", "name: a--b\ndescription: b\n", "a--b", {"2:1 name-hyphen"}},
    {"64 characters", "name: " + std::string(64, 'a') + "\ndescription: b\n", "", {}},
    {"65 characters", "name: " + std::string(65, 'a') + "\ndescription: b\n", "", {"2:1 name-too-long"}},
    {"1024 characters, not bytes", "name: a\ndescription: é" + std::string(1023, 'b') + "\n", "", {}},
    {"1025 characters", "name: a\ndescription: " + std::string(1025, 'b') + "\n", "", {"3:1 description-too-long"}},
    {"unknown key", "name: a\ndescription: b\nversion: 1\n", "", {"4:1 unknown-key"}},
    {"compatibility too long", "name: a\ndescription: b\ncompatibility: " + std::string(501, 'c') + "\n", "", {"4:1 compatibility-too-long"}},
    {"compatibility empty", "name: a\ndescription: b\ncompatibility: ''\n", "", {"4:1 compatibility-empty"}},
    {"compatibility null", "name: a\ndescription: b\ncompatibility:\n", "", {"4:1 compatibility-empty"}},
    {"compatibility a list", "name: a\ndescription: b\ncompatibility: [git]\n", "", {"4:1 compatibility-not-string"}},
    {"license a number", "name: a\ndescription: b\nlicense: 2\n", "", {"4:1 license-not-string"}},
    {"metadata text", "name: a\ndescription: b\nmetadata: x\n", "", {"4:1 metadata-not-map"}},
    {"tools as a list", "name: a\ndescription: b\nallowed-tools:\n  - Read\n", "", {"4:1 allowed-tools-not-string"}},
    {"missing fields", "license: MIT\n", "a", {"2:1 missing-name", "2:1 missing-description"}},
    {"sorted by place", "version: 1\nname: A_\ndescription: [x]\n", "a", {"2:1 unknown-key", "3:1 name-uppercase", "3:1 name-character", "3:1 name-not-directory", "4:1 description-not-text"}},
};
// clang-format on

TEST(FrontmatterValidate, FindsWhatTheSpecificationForbids) {
  for (const rule_case& c : rules) {
    SCOPED_TRACE(c.title);
    EXPECT_EQ(shown(validate("---\n" + c.block + "---\n", c.directory)), c.diagnostics);
  }
  EXPECT_THAT(shown(validate("\xEF\xBB\xBF---\nname: a\ndescription: b\n---\n", "a")),
              ElementsAre("1:1 byte-order-mark"));
  EXPECT_THAT(shown(validate("# Title\n", "a")), ElementsAre("1:1 no-frontmatter"));
}

TEST(FrontmatterDiagnostics, EachHasItsOwnNameAndSaysWhatToDo) {
  std::set<std::string_view> names;
#define X(code, wire, how_bad, words)                                                              \
  EXPECT_TRUE(names.insert(wire_name(diagnostic_code::code)).second) << #code;                     \
  EXPECT_GT(text(diagnostic_code::code).size(), 20u) << #code;
  PADDOCK_FRONTMATTER_DIAGNOSTICS(X)
#undef X
  EXPECT_GT(names.size(), 40u);
}

TEST(FrontmatterDiagnostics, ANumberThatIsNoneIsAnErrorWithATextAllTheSame) {
  const auto none = static_cast<diagnostic_code>(255);
  EXPECT_EQ(wire_name(none), "unknown");
  EXPECT_EQ(text(none), "unknown diagnostic");
  EXPECT_EQ(level(none), severity::error);
}

// --- writing
// -----------------------------------------------------------------------------------------

TEST(FrontmatterWrite, ReadsBack) {
  EXPECT_EQ(write("pdf-tools", "Use when: \"x\"\n— é --- \t\\ \x01 \xC2\x85 \xEF\xBB\xBF"),
            "---\nname: pdf-tools\ndescription: \"Use when: \\\"x\\\"\\n— é --\\x2D \\t\\\\ \\x01 "
            "\\x85 \\uFEFF\"\n---\n");
  EXPECT_EQ(write("true", "1"), "---\nname: \"true\"\ndescription: \"1\"\n---\n");
  for (const std::string_view name :
       {"a", "a-b2", "null", "No way", "1", "-", "a: b", "技能", "a---b"}) {
    const fields read = parse_file(write(name, name));
    EXPECT_EQ(read.from, origin::fast) << name;
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(read.description, name);
  }
}

struct replace_case {
  const char* title;
  std::string_view before;
  std::string_view after; ///< with name "new" and description "d: e"
};

// clang-format off
constexpr replace_case replacements[] = {
    {"plain", "---\nname: a\ndescription: b\n---\nbody\n", "---\nname: new\ndescription: \"d: e\"\n---\nbody\n"},
    {"comments and keys", "---\n# 1\nname: a # 2\n# 3\nversion: 1 # 4\n\ndescription: 'b'   # 5\nx: [y]\n---\n",
     "---\n# 1\nname: new # 2\n# 3\nversion: 1 # 4\n\ndescription: \"d: e\"   # 5\nx: [y]\n---\n"},
    {"order", "---\ndescription: b\nname: a\n---\n", "---\ndescription: \"d: e\"\nname: new\n---\n"},
    {"lines", "---\nname: a\ndescription: |\n  b\n\n  # c\n\n# comment\nx: y\n---\n", "---\nname: new\ndescription: \"d: e\"\n\n# comment\nx: y\n---\n"},
    {"plain lines", "---\nname: a\ndescription: b\n  c\n  # comment\nx: y\n---\n", "---\nname: new\ndescription: \"d: e\"\n  # comment\nx: y\n---\n"},
    {"same name stays", "---\nname:   \"new\"\ndescription: b\n---\n", "---\nname:   \"new\"\ndescription: \"d: e\"\n---\n"},
    {"same description stays", "---\nname: a\ndescription: >\n  d:\n  e\n---\n", "---\nname: new\ndescription: >\n  d:\n  e\n---\n"},
    {"CRLF", "---\r\nname: a\r\ndescription: b\r\n  c\r\nx: y\r\n---\r\nbody\r\n", "---\r\nname: new\r\ndescription: \"d: e\"\r\nx: y\r\n---\r\nbody\r\n"},
    {"BOM", "\xEF\xBB\xBF---\nname: a\ndescription: b\n---", "\xEF\xBB\xBF---\nname: new\ndescription: \"d: e\"\n---"},
    {"no description", "---\nx: y\nname: a # c\nz: z\n---\n", "---\nx: y\nname: new # c\ndescription: \"d: e\"\nz: z\n---\n"},
    {"no name", "---\r\ndescription: b\r\n---\r\n", "---\r\nname: new\r\ndescription: \"d: e\"\r\n---\r\n"},
    {"neither", "---\nx: y\n---\n", "---\nname: new\ndescription: \"d: e\"\nx: y\n---\n"},
    {"empty block", "---\n---\n", "---\nname: new\ndescription: \"d: e\"\n---\n"},
    {"no frontmatter", "# Title\n", "---\nname: new\ndescription: \"d: e\"\n---\n# Title\n"},
    {"empty file", "", "---\nname: new\ndescription: \"d: e\"\n---\n"},
    {"not YAML", "---\nname: a\ndescription: b: c\n  d\nx: **y**\n---\n", "---\nname: new\ndescription: \"d: e\"\nx: **y**\n---\n"},
    {"twice", "---\nname: a\nname: c\ndescription: b\n---\n", "---\nname: new\nname: c\ndescription: \"d: e\"\n---\n"},
    {"flow root", "---\n{name: a, description: b}\n---\n", "---\nname: new\ndescription: \"d: e\"\n{name: a, description: b}\n---\n"},
};
// clang-format on

TEST(FrontmatterWrite, ReplacesTwoFieldsAndNothingElse) {
  for (const replace_case& c : replacements) {
    SCOPED_TRACE(c.title);
    const std::string after = replace_fields(c.before, "new", "d: e");
    EXPECT_EQ(after, c.after);
    const fields read = parse_file(after);
    EXPECT_TRUE(read.loaded());
    EXPECT_EQ(read.name, "new");
    EXPECT_EQ(read.description, "d: e");
    EXPECT_EQ(replace_fields(after, "new", "d: e"), after);
  }
}

} // namespace
} // namespace paddock::frontmatter
