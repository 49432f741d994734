// SPDX-License-Identifier: MIT

// The scanner against libyaml, libyaml's guards, and what is written read back by libyaml.

#include "precompiled/tests.hpp"
#include "support/campaign.hpp"
#include "support/text/frontmatter_blocks.hpp"
#include "support/text/slow_text.hpp"

#include <paddock/frontmatter/frontmatter_yaml.hpp>

namespace paddock::frontmatter {
namespace {

using namespace std::string_literals;

class FrontmatterYaml : public testing::Test {
protected:
  void SetUp() override {
    if (libyaml() == nullptr) GTEST_SKIP() << "built without libyaml";
  }
};

std::string describe(const std::vector<entry>& entries) {
  std::string out;
  for (const entry& e : entries) {
    out += std::to_string(e.line) + ":" + std::to_string(e.column) + " " + e.key + " kind " +
           std::to_string(static_cast<int>(e.kind)) + " '" + e.value + "'";
    // Where a collection ends is a matter of taste: comments behind it belong to nobody.
    if (e.kind != value_kind::sequence && e.kind != value_kind::mapping)
      out += " " + std::to_string(e.begin) + "-" + std::to_string(e.end);
    out += "\n";
  }
  return out;
}

TEST_F(FrontmatterYaml, ValuesOfMetadataThatAreNoTextsAreNamed) {
  const std::string skill_md = "---\nname: a\ndescription: b\nmetadata:\n  a: 1.10\n  b: \"1\"\n"
                               "  c: [x]\n  d: {e: f}\n  g: true\n  h:\n  i: 2026-01-01\n---\n";
  std::vector<std::uint32_t> lines;
  for (const diagnostic& d : validate(skill_md, "a", libyaml()))
    if (d.code == diagnostic_code::metadata_not_text) lines.push_back(d.line);
  EXPECT_THAT(lines, testing::ElementsAre(5, 7, 8, 9, 10));
  const std::string head = "---\nname: a\ndescription: b\nmetadata: ";
  EXPECT_EQ(1U, validate(head + "{a: 1}\n---\n", "a", libyaml()).size());
  EXPECT_EQ(0U, validate(head + "{\"a\": \"1\"}\n---\n", "a", libyaml()).size());
}

/// What the scanner says must be what libyaml says. Returns whether the scanner said anything.
bool expect_agreement(std::string_view block) {
  detail::entry_sink sink;
  if (!detail::scanner<detail::entry_sink>(block, sink).run()) return false;
  const document whole = libyaml()(block, 2);
  EXPECT_THAT(whole.problems, testing::IsEmpty()) << "block:\n" << block;
  if (!whole.problems.empty()) return true;
  const std::string mine = describe(sink.entries);
  EXPECT_EQ(mine, describe(whole.entries)) << "block:\n" << block;
  return true;
}

TEST_F(FrontmatterYaml, AgreesWithTheScannerOnWholeBlocks) {
  std::size_t fast = 0;
  for (const std::string_view block : test::frontmatter_blocks)
    fast += expect_agreement(block) ? 1U : 0U;
  EXPECT_GE(fast, 24u);
  EXPECT_LT(fast, std::size(test::frontmatter_blocks)); // some are beyond it
}

TEST_F(FrontmatterYaml, AgreesWithTheScannerOnDamagedBlocks) {
  const std::uint64_t cases = test::campaign_size("PADDOCK_TEST_CASES", 200'000);
  std::uint64_t fast = 0;
  for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const std::string block = test::damaged_block(random);
    fast += expect_agreement(block) ? 1U : 0U;
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
  RecordProperty("fast", std::to_string(fast));
  EXPECT_GT(fast, cases / 5);
  EXPECT_LT(fast, cases);
}

/// "line:column wire-name" of each.
std::vector<std::string> shown(const std::vector<diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const diagnostic& d : diagnostics)
    out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " +
                  std::string(wire_name(d.code)));
  return out;
}

fields parse_file(std::string_view file, policy how = policy::lenient) {
  return parse(file, extent::whole_file, {.policy = how, .full = libyaml()});
}

// --- beyond the scanner
// ------------------------------------------------------------------------------

struct full_case {
  const char* title;
  std::string_view block;
  origin from;
  std::string_view name;
  std::string_view description;
  std::vector<std::string> diagnostics;
};

// clang-format off
const full_case full_cases[] = {
    {"quoted keys", "\"name\": a\n'description': b\n", origin::full, "a", "b", {}},
    {"explicit key", "? name\n: a\ndescription: b\n", origin::full, "a", "b", {}},
    {"flow root", "{name: a, description: b}\n", origin::full, "a", "b", {}},
    {"flow over lines", "name: a\ndescription: b\ntags: [x,\n  y]\n", origin::full, "a", "b", {}},
    {"indented root", "  name: a\n  description: b\n", origin::full, "a", "b", {}},
    {"indentation indicator", "name: a\ndescription: |2\n   b\n  c\n", origin::full, "a", "b c", {}},
    {"tags", "name: !!str 1\ndescription: b\n", origin::full, "1", "b", {}},
    {"tags of others", "name: !x 1\ndescription: ! b\nx: !y {z: !!set {}}\n", origin::full, "1", "b", {"2:7 foreign-tag", "3:14 foreign-tag", "4:4 foreign-tag", "4:11 foreign-tag"}},
    {"merge key", "name: a\ndescription: b\nx: &x {y: z}\nmetadata:\n  <<: *x\n  y: \"<<\"\n", origin::full, "a", "b", {"6:3 merge-key"}},
    {"two anchors of one name", "name: a\ndescription: &x b\nx: &x [c]\ny: &y c\n", origin::full, "a", "b", {"4:4 repeated-anchor"}},
    {"number by tag", "name: !!int \"1\"\ndescription: b\n", origin::full, "1", "b", {"2:7 foreign-tag", "2:1 not-a-string"}},
    {"null by tag", "name: !!null x\ndescription: b\n", origin::none, "", "b", {"2:7 foreign-tag", "2:1 empty-name"}},
    {"anchors elsewhere", "name: &n a\ndescription: b\nx: *n\n", origin::full, "a", "b", {}},
    {"directive", "%YAML 1.1\nname: a\n", origin::none, "a", "", {"3:1 invalid-yaml", "2:1 line-without-key", "2:1 missing-description"}},
    {"continuation in the first column", "name: a\ndescription: \"b\nc\"\n", origin::full, "a", "b c", {}},
    {"tab behind a value", "name: a\t\ndescription: b\n", origin::full, "a", "b", {}},
    {"missing", "\"x\": y\n", origin::none, "", "", {"2:1 missing-name", "2:1 missing-description"}},
    {"list", "- name: a\n- description: b\n", origin::none, "", "", {"2:1 not-a-mapping"}},
    {"text", "name\n", origin::none, "", "", {"2:1 not-a-mapping"}},
    {"prose before the keys", "About this:\nskill\nname: a\ndescription: b\n", origin::repaired, "a", "b", {"4:1 repaired", "2:1 line-without-key", "3:1 line-without-key"}},
    {"text, then no YAML", "name:+a\ndescription: > b\n  c\n", origin::repaired, "+a", "b c", {"3:12 repaired", "2:1 line-without-key", "3:16 text-after-indicator"}},
    {"alias as description", "name: &n a\ndescription: *n\n", origin::full, "a", "a", {}},
    {"alias of a list", "x: &x [a]\nname: a\ndescription: *x\n", origin::none, "a", "", {"4:1 description-not-text"}},
    {"alias to nothing", "name: a\ndescription: b\nx: *y\n", origin::repaired, "a", "b", {"4:4 repaired", "4:4 unknown-alias", "4:4 reserved-character"}},
    {"two of one key", "name: a\nname: c\ndescription: b\n", origin::repaired, "a", "b", {"3:1 duplicate-key"}},
    {"two of one key inside", "name: a\ndescription: b\nx:\n  y: 1\n  y: 2\n", origin::repaired, "a", "b", {"6:3 duplicate-key"}},
    {"unquoted colon", "name: a\ndescription: — b: c\n", origin::repaired, "a", "— b: c", {"3:19 repaired", "3:19 unquoted-colon"}},
    {"dots", "name: a\ndescription: b\n...\n", origin::repaired, "a", "b", {"4:1 repaired", "4:1 document-end"}},
    {"second document", "name: a\ndescription: b\n--- x\n", origin::repaired, "a", "b", {"4:1 repaired", "4:1 document-end", "4:1 line-without-key"}},
    {"a field that is YAML by itself", "name: \"a\" # x\ndescription: |2\n   b\nx: [y] [z]\n", origin::repaired, "a", "b", {"5:8 repaired", "5:8 text-after-value"}},
};
// clang-format on

TEST_F(FrontmatterYaml, ReadsWhatTheScannerDeclines) {
  for (const full_case& c : full_cases) {
    SCOPED_TRACE(c.title);
    const std::string file = "---\n" + std::string(c.block) + "---\n";
    const fields read = parse_file(file);
    EXPECT_EQ(read.from, c.from);
    EXPECT_EQ(read.name, c.name);
    EXPECT_EQ(read.description, c.description);
    EXPECT_EQ(shown(read.diagnostics), c.diagnostics);
    const fields strict = parse_file(file, policy::strict);
    EXPECT_EQ(strict.loaded(), c.from == origin::full);
    if (c.from == origin::repaired) {
      EXPECT_EQ(strict.diagnostics.front().code, diagnostic_code::invalid_yaml);
    }
  }
}

TEST_F(FrontmatterYaml, ReplacesFieldsWhereTheFullParserFindsThem) {
  const auto replaced = [](std::string_view file) {
    return replace_fields(file, "new", "d: e", libyaml());
  };
  EXPECT_EQ(
      replaced("---\n\"name\": &x \"a\" # 1\n'description': é\n  b  # 2\ny: *x\n---\n"),
      // The anchor goes, and with it what makes the alias valid; the text stays.
      "---\nname: new\ndescription: \"d: e\"\n\"name\": &x \"a\" # 1\n'description': é\n  b  # "
      "2\ny: *x\n---\n");
  EXPECT_EQ(replaced("---\n\"name\": \"a\" # é\n'description': é\n  b  # 2\ny: &z 1\n---\n"),
            "---\nname: new # é\ndescription: \"d: e\"  # 2\ny: &z 1\n---\n");
  EXPECT_EQ(replaced("---\n{name: a, description: b, x: y}\n---\n"),
            "---\n{name: new, description: \"d: e\", x: y}\n---\n");
  EXPECT_EQ(replaced("---\nname: a\ndescription: |2\n   b\n\n# c\nx: 1\n---\n"),
            "---\nname: new\ndescription: \"d: e\"\n\n# c\nx: 1\n---\n");
  EXPECT_EQ(replaced("---\n ? name\n : a\n ? description\n : b\n---\n"),
            "---\nname: new\ndescription: \"d: e\"\n#\n ? name\n : a\n ? description\n : b\n---\n");
}

// --- what is written
// -----------------------------------------------------------------------------------

std::string nasty_text(std::mt19937_64& random) {
  constexpr std::string_view pieces[] = {"a",
                                         "name",
                                         "description",
                                         ": ",
                                         " #",
                                         "#",
                                         "-",
                                         "---",
                                         "\n---\n",
                                         "...",
                                         "\n",
                                         "\r",
                                         "\r\n",
                                         "\t",
                                         " ",
                                         "  ",
                                         "\"",
                                         "'",
                                         "\\",
                                         "\\n",
                                         "\\u0041",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         "&a",
                                         "*a",
                                         "!t",
                                         "|",
                                         ">",
                                         "%",
                                         "@",
                                         "`",
                                         "?",
                                         "~",
                                         "null",
                                         "yes",
                                         "0x1F",
                                         "1e3",
                                         "é",
                                         "—",
                                         "技能",
                                         "\xF0\x9F\x93\xA7",
                                         "\xC2\x85",
                                         "\xC2\xA0",
                                         "\xE2\x80\xA8",
                                         "\xEF\xBB\xBF",
                                         "\xEF\xBF\xBE",
                                         "\x01",
                                         "\x7F",
                                         "\xC2\x9B",
                                         "</available_skills>",
                                         "word another"};
  std::string text;
  for (std::uint64_t n = 1 + random() % 12; n > 0; --n)
    text += pieces[random() % std::size(pieces)];
  if (random() % 16 == 0) text.push_back('\0');
  return text;
}

TEST_F(FrontmatterYaml, ReadsBackWhatIsWritten) {
  for (std::uint64_t seed = 0; seed < 20'000 && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const std::string name = nasty_text(random);
    const std::string description = nasty_text(random);
    const std::string file = write(name, description);
    SCOPED_TRACE(file);
    const detail::found_block found = detail::find_block(file, true);
    ASSERT_EQ(found.state, detail::fence_state::found);
    const document whole = libyaml()(std::string_view(file).substr(found.begin, found.size), 2);
    ASSERT_THAT(whole.problems, testing::IsEmpty());
    ASSERT_EQ(whole.entries.size(), 2u);
    EXPECT_EQ(whole.entries[0].value, name);
    EXPECT_EQ(whole.entries[0].kind, value_kind::text);
    EXPECT_EQ(whole.entries[1].value, description);
    EXPECT_EQ(whole.entries[1].kind, value_kind::text);
    EXPECT_TRUE(expect_agreement(std::string_view(file).substr(found.begin, found.size)));
    EXPECT_EQ(std::string_view(file).substr(4, found.size).find("---"), std::string_view::npos);
  }
}

TEST_F(FrontmatterYaml, ReplacedFieldsReadBackFromDamagedBlocks) {
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 5'000 && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const std::string file = "---\n" + test::damaged_block(random) + "---\nbody\n";
    const std::string replaced = replace_fields(file, "new-name", "new: text", libyaml());
    const fields before = parse_file(file);
    const fields after = parse_file(replaced);
    SCOPED_TRACE(file);
    EXPECT_TRUE(replaced.ends_with("---\nbody\n"));
    if (before.loaded()) {
      ++kept;
      EXPECT_TRUE(after.loaded()) << replaced;
      EXPECT_EQ(after.name, "new-name") << replaced;
      EXPECT_EQ(after.description, "new: text") << replaced;
    }
  }
  EXPECT_GT(kept, 2'000u);
}

// --- hostile input
// -------------------------------------------------------------------------------------

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string out;
  while (out.size() + piece.size() <= bytes)
    out += piece;
  return out;
}

TEST_F(FrontmatterYaml, SurvivesHostileInput) {
  constexpr std::size_t size = bytes_max - 100;
  std::size_t turn = 0;
  for (const std::string_view piece : {"[",
                                       "{",
                                       "[\"]\",",
                                       "- ",
                                       "? ",
                                       "a: {",
                                       "a:\n ",
                                       "&a ",
                                       "*a ",
                                       "!!a ",
                                       "\"\\",
                                       "'",
                                       "\\\"",
                                       "|\n",
                                       "\t",
                                       " ",
                                       "\n",
                                       "\r",
                                       "#",
                                       "x: y\n",
                                       "- - ",
                                       "[a, ",
                                       "key: [\n",
                                       "---x\n",
                                       "\xC3\xA9",
                                       "\"a\": ",
                                       "x\n  ",
                                       "|+\n\n",
                                       "name: x\n",
                                       "description: \"\n",
                                       "a: \"\\u0041\n",
                                       "<<: *a\n",
                                       "a\xC3\xA9: b, "}) {
    SCOPED_TRACE(piece);
    for (const std::string_view head : {"", "name: a\ndescription: ", "x: \"", "x: |\n  ", "{"}) {
      if (turn++ % test::campaign_step() != 0) continue;
      const std::string file = "---\n" + std::string(head) + repeated(piece, size) + "\n---\n";
      const fields read = parse_file(file);
      EXPECT_TRUE(read.loaded() || !read.diagnostics.empty());
      EXPECT_LE(read.diagnostics.size(), size); // one per line at most
      static_cast<void>(parse(file, extent::whole_file));
      static_cast<void>(validate(file, "a", libyaml()));
      if (head.empty()) static_cast<void>(replace_fields(file, "a", "b", libyaml()));
    }
  }
}

TEST_F(FrontmatterYaml, GuardsNestingAndNumberOfParts) {
  const auto problems = [](const std::string& block) {
    std::vector<std::string> found;
    for (const diagnostic& d : libyaml()(block, 2).problems)
      found.emplace_back(wire_name(d.code));
    return found;
  };
  EXPECT_THAT(problems("a: " + repeated("[", 63) + repeated("]", 63) + "\n"), testing::IsEmpty());
  EXPECT_THAT(problems("a: " + repeated("[", 64) + repeated("]", 64) + "\n"),
              testing::ElementsAre("too-complex"));
  EXPECT_THAT(problems("a: [" + repeated("1,", 30'000) + "]\n"), testing::IsEmpty());
  EXPECT_THAT(problems("a: [" + repeated("1,", 50'000) + "]\n"),
              testing::ElementsAre("too-complex"));
  EXPECT_THAT(problems(std::string(bytes_max + 1, '#')), testing::ElementsAre("too-complex"));
  const fields read =
      parse_file("---\nname: a\ndescription: b\nx: " + repeated("[", 1000) + "\n---\n");
  EXPECT_EQ(read.from, origin::repaired);
}

// --- files that are not here by default
// ------------------------------------------------------------------

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::filesystem::path> files_named(const char* directory, std::string_view name) {
  std::vector<std::filesystem::path> found;
  for (const auto& e : std::filesystem::recursive_directory_iterator(directory))
    if (e.is_regular_file() && e.path().filename() == name) found.push_back(e.path());
  return found;
}

/// What people get wrong in other keys must not change the two fields.
void expect_recovery(std::string_view file, std::string_view block, const fields& whole) {
  if (!whole.loaded()) return;
  for (const std::string_view broken :
       {"allowed-tools: *\n", "argument-hint: [a] [b]\n", "note: see this: that\n",
        "by: @someone\n", "A line of prose.\n", "x: \"a\" b\n", "x: {\"a\": {\"b\": 1}\n",
        "x: {\"e\":\"\\ud83c\\udfce\"}\n"}) {
    SCOPED_TRACE(broken);
    const std::size_t end = static_cast<std::size_t>(block.data() - file.data()) + block.size();
    const std::string damaged =
        std::string(file.substr(0, end)).append(broken).append(file.substr(end));
    const fields read = parse_file(damaged);
    EXPECT_EQ(read.name, whole.name);
    EXPECT_EQ(read.description, whole.description);
    EXPECT_EQ(read.from, origin::repaired);
    EXPECT_THAT(shown(read.diagnostics), testing::Contains(testing::HasSubstr("repaired")));
  }
}

TEST_F(FrontmatterYaml, RealSkills) {
  const char* const corpus = std::getenv("PADDOCK_SKILL_CORPUS");
  if (corpus == nullptr || !std::filesystem::is_directory(corpus))
    GTEST_SKIP() << "PADDOCK_SKILL_CORPUS names no directory of SKILL.md files";
  std::size_t blocks = 0;
  std::size_t fast = 0;
  std::size_t valid = 0;
  std::size_t broken_with_both = 0;
  std::size_t recovered = 0;
  for (const std::filesystem::path& path : files_named(corpus, "SKILL.md")) {
    SCOPED_TRACE(path);
    const std::string file = file_text(path);
    const detail::found_block found = detail::find_block(file, true);
    if (found.state != detail::fence_state::found) continue;
    ++blocks;
    const std::string_view block = std::string_view(file).substr(found.begin, found.size);
    fast += expect_agreement(block) ? 1U : 0U;
    document whole = libyaml()(block, 2);
    const fields read = parse_file(file);
    if (whole.problems.empty()) {
      ++valid;
      expect_recovery(file, block, read);
      for (const std::string_view key : {"name", "description"}) {
        const detail::found_field field = detail::take(whole.entries, key);
        EXPECT_EQ(slow::collapsed(field.text), key == "name" ? read.name : read.description);
      }
    } else if (!detail::find_field(block, "name").text.empty() &&
               !detail::find_field(block, "description").text.empty()) {
      ++broken_with_both;
      recovered += read.from == origin::repaired && !read.diagnostics.empty() ? 1U : 0U;
    }
  }
  std::cout << blocks << " blocks, " << fast << " proven by the scanner, " << valid << " valid, "
            << broken_with_both << " not valid but with both fields, " << recovered
            << " of them recovered\n";
  EXPECT_GT(blocks, 0u);
  EXPECT_GE(fast * 10, blocks * 9);
  EXPECT_GE(recovered * 10, broken_with_both * 9);
}

TEST_F(FrontmatterYaml, YamlTestSuiteIsNeverProvenWrongly) {
  const char* const suite = std::getenv("PADDOCK_YAML_TEST_SUITE");
  if (suite == nullptr || !std::filesystem::is_directory(suite))
    GTEST_SKIP() << "PADDOCK_YAML_TEST_SUITE names no checkout of the suite's data";
  std::size_t cases = 0;
  std::size_t fast = 0;
  for (const std::filesystem::path& path : files_named(suite, "in.yaml")) {
    SCOPED_TRACE(path);
    ++cases;
    std::string block = file_text(path);
    if (!block.ends_with('\n')) block.push_back('\n');
    if (!expect_agreement(block)) continue;
    ++fast;
    EXPECT_FALSE(std::filesystem::exists(path.parent_path() / "error"));
  }
  std::cout << cases << " cases, " << fast << " proven by the scanner\n";
  EXPECT_GT(fast, 0u);
}

} // namespace
} // namespace paddock::frontmatter
