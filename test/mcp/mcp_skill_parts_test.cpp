// SPDX-License-Identifier: MIT

// What the skills extension is made of: frontmatter as JSON, URIs.

#include "mcp/skills/frontmatter_json.hpp"
#include "mcp/skills/skill_uri.hpp"
#include "precompiled/tests.hpp"

#include <paddock/frontmatter/frontmatter_yaml.hpp>
#include <paddock/mcp/json.hpp>

namespace paddock::mcp {
namespace {

using testing::ElementsAre;
using testing::Optional;

// --- frontmatter as JSON -----------------------------------------------------------------------

class FrontmatterJson : public testing::Test {
protected:
  void SetUp() override {
    if (!has_frontmatter_json()) GTEST_SKIP() << "built without libyaml";
  }
};

TEST_F(FrontmatterJson, CoreSchema) {
  struct row {
    std::string_view yaml;
    std::string_view json;
  };
  const row rows[] = {
      {"v: text", R"("text")"},
      {"v: two words # comment", R"("two words")"},
      {"v:", "null"},
      {"v: ~", "null"},
      {"v: null", "null"},
      {"v: Null", "null"},
      {"v: nULL", R"("nULL")"},
      {"v: true", "true"},
      {"v: FALSE", "false"},
      {"v: yes", R"("yes")"},
      {"v: on", R"("on")"},
      {"v: \"true\"", R"("true")"},
      {"v: '1.0'", R"("1.0")"},
      {"v: 0", "0"},
      {"v: 42", "42"},
      {"v: +42", "42"},
      {"v: -42", "-42"},
      {"v: 007", "7"},
      {"v: 0o17", "15"},
      {"v: 0x1F", "31"},
      {"v: 0x", R"("0x")"},
      {"v: 0o8", R"("0o8")"},
      {"v: 1_000", R"("1_000")"},
      {"v: 1.0", "1.0"},
      {"v: [1.10, -0.5, 007, +1]", "[1.10,-0.5,7,1]"},
      {"v: 12345678901234567890123", "1.2345678901234568e+22"},
      {"v: 1.5", "1.5"},
      {"v: .5", "0.5"},
      {"v: 5.", "5"},
      {"v: .", R"(".")"},
      {"v: +", R"("+")"},
      {"v: 1e3", "1e3"},
      {"v: 1e", R"("1e")"},
      {"v: 1.2.3", R"("1.2.3")"},
      {"v: 2026-07-28", R"("2026-07-28")"},
      {"v: 12:30:45", R"("12:30:45")"},
      {"v: 9007199254740993", "9007199254740993"},
      {"v: [a, 1, true]", R"(["a",1,true])"},
      {"v: {a: 1, b: [x]}", R"({"a":1,"b":["x"]})"},
      {"v:\n- a\n- b: 1", R"(["a",{"b":1}])"},
      {"v: |\n  one\n  two", R"("one\ntwo\n")"},
      {"v: >-\n  one\n  two", R"("one two")"},
      {"v: \"q\\\" \\u6280\"", R"("q\" 技")"},
      {"v: 'it''s'", R"("it's")"},
      {"v:\n  1: x\n  true: y", R"({"1":"x","true":"y"})"},
  };
  for (const auto& [yaml, json] : rows)
    EXPECT_THAT(frontmatter_json(std::string(yaml) + "\n"),
                Optional(R"({"v":)" + std::string(json) + "}"))
        << yaml;
}

TEST_F(FrontmatterJson, AliasesStandForWhatTheirAnchorsName) {
  const std::pair<const char*, const char*> rows[] = {
      {"v: &x 1\nw: *x\n", R"({"v":1,"w":1})"},
      {"v: &x [a, &y {b: 1}]\nw: [0, *y, *x]\n",
       R"({"v":["a",{"b":1}],"w":[0,{"b":1},["a",{"b":1}]]})"},
      {"v: [1, &x !!str 1, *x]\n", R"({"v":[1,"1","1"]})"},
      {"v: !!str\n", R"({"v":""})"},
  };
  for (const auto& [yaml, json] : rows)
    EXPECT_THAT(frontmatter_json(yaml), Optional(std::string(json))) << yaml;
  std::string laughs = "a0: &a0 [ha, ha]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  EXPECT_EQ(std::nullopt, frontmatter_json(laughs));
  for (const int levels : {20, 60}) {
    std::string chain = "a0: &a0 [x]\n";
    for (int i = 1; i < levels; ++i) {
      const std::string n = std::to_string(i);
      chain += "a" + n + ": &a" + n + " [*a" + std::to_string(i - 1) + "]\n";
    }
    EXPECT_EQ(levels < 32, frontmatter_json(chain).has_value()) << levels;
  }
}

TEST_F(FrontmatterJson, WhatItRefusesThoughItIsYamlIsNamedByValidate) {
  for (const std::string_view yaml : {"x: &x {a: b}\nv: {<<: *x}\n", "v: &x a\nw: &x b\n",
                                      "v: !x {}\n", "v: !!int \"1\"\n", "v: !!str [1]\n"}) {
    EXPECT_EQ(std::nullopt, frontmatter_json(yaml)) << yaml;
    EXPECT_EQ(1U, frontmatter::libyaml()(yaml, 2).disputed.size()) << yaml;
  }
}

TEST_F(FrontmatterJson, WhatReadersDisagreeAboutIsRefused) {
  std::string deep = "v: ";
  for (int i = 0; i < 40; ++i)
    deep += "[";
  for (int i = 0; i < 40; ++i)
    deep += "]";
  for (const std::string& yaml : {std::string("a: 1\na: 2\n"),
                                  std::string("v: *x\n"),
                                  std::string("v: &x [*x]\n"),
                                  std::string("v: &x {a: 1}\nw: {<<: *x}\n"),
                                  std::string("v: !!str [1]\n"),
                                  std::string("v: !!int \"1\"\n"),
                                  std::string("&x v: 1\n"),
                                  std::string("v: &x a\nw: &x b\n"),
                                  std::string("v: !x {}\n"),
                                  std::string("- a\n"),
                                  std::string("text\n"),
                                  std::string(),
                                  std::string("v: .inf\n"),
                                  std::string("v: -.INF\n"),
                                  std::string("v: .nan\n"),
                                  std::string("v: 1e999\n"),
                                  std::string("? [a]\n: b\n"),
                                  std::string("__proto__: x\n"),
                                  std::string("v: {__proto__: x}\n"),
                                  std::string("v: \"open\n"),
                                  std::string("v: [a\n"),
                                  std::string("a: b: c\n"),
                                  std::string("v: -\n"),
                                  std::string("v: x\n...\n"),
                                  std::string("v: x\n---\nw: y\n"),
                                  deep + "\n",
                                  "v: " + std::string(70, '[') + "\n",
                                  std::string("v: \xFF\n"),
                                  "v: " + std::string(70'000, 'x') + "\n"})
    EXPECT_EQ(frontmatter_json(yaml), std::nullopt) << yaml.substr(0, 100);
}

// --- URIs --------------------------------------------------------------------------------------

skill named(const std::string& id, const std::string& name) {
  return {.id = id, .name = name, .path = ".agents/skills/" + id + "/SKILL.md"};
}

TEST(SkillUri, ThereAndBack) {
  struct row {
    std::string id;
    std::string name;
    std::string path;
    std::string_view uri;
  };
  const row rows[] = {
      {"pdf", "pdf", "SKILL.md", "skill://pdf/SKILL.md"},
      {"pdf", "pdf", "", "skill://pdf"},
      {"pdf", "pdf", "a/b/c.md", "skill://pdf/a/b/c.md"},
      {"My Skill", "my-skill", "SKILL.md", "skill://My%20Skill/my-skill/SKILL.md"},
      {"My Skill", "my-skill", "", "skill://My%20Skill/my-skill"},
      {"a", "a", "Q&A #1?.md", "skill://a/Q%26A%20%231%3F.md"},
      {"a", "a", "技.md", "skill://a/%E6%8A%80.md"},
      {"a", "a", "caf\xE9.md", "skill://a/caf%E9.md"},
      {"a", "a", "100%.md", "skill://a/100%25.md"},
      {"a", "a", "...", "skill://a/..."},
  };
  for (const auto& [id, name, path, uri] : rows) {
    const skill s = named(id, name);
    EXPECT_EQ(skill_uri(s, path), uri);
    const auto parts = parts_of_skill_uri(uri);
    ASSERT_TRUE(parts) << uri;
    EXPECT_EQ(parts->front(), id);
    EXPECT_THAT(path_in_skill(s, *parts), Optional(path)) << uri;
  }
  // Clients may spell them otherwise.
  EXPECT_THAT(parts_of_skill_uri("skill://%61/Q&A.m%64"), Optional(ElementsAre("a", "Q&A.md")));
}

TEST(SkillUri, OtherUrisAreRefused) {
  for (const std::string_view uri : {"",
                                     "skill:",
                                     "skill://",
                                     "skill:///",
                                     "skill://a/",
                                     "skill://a//b",
                                     "skill:///a",
                                     "skill://a/.",
                                     "skill://a/..",
                                     "skill://a/../b/SKILL.md",
                                     "skill://a/%2e%2e/b",
                                     "skill://a/x%2Fy",
                                     "skill://a/x%00",
                                     "skill://a/%",
                                     "skill://a/%4",
                                     "skill://a/%zz",
                                     "skill://a/b?c",
                                     "skill://a/b#c",
                                     "file:///etc/passwd",
                                     "Skill://a/b",
                                     "a/SKILL.md"})
    EXPECT_EQ(parts_of_skill_uri(uri), std::nullopt) << uri;
  EXPECT_EQ(path_in_skill(named("a", "b"), {"a", "SKILL.md"}), std::nullopt);
  EXPECT_EQ(path_in_skill(named("a", "b"), {"a"}), std::nullopt);
  EXPECT_EQ(path_in_skill(named("a", "a"), {"b", "SKILL.md"}), std::nullopt);
}

} // namespace
} // namespace paddock::mcp
