// SPDX-License-Identifier: MIT

// ReadFile, the instructions and the extension io.modelcontextprotocol/skills, in this process.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/base/detail/visible_text.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/skills.hpp>

namespace paddock::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string skill_md(std::string_view name, std::string_view more = "") {
  return "---\nname: " + std::string(name) + "\ndescription: About " + std::string(name) + ".\n" +
         std::string(more) + "---\nBody\n";
}

class McpSkills : public testing::Test {
protected:
  void SetUp() override {
    auto opened = root::open(t.path());
    ASSERT_THAT(opened, test::IsOk());
    root_ = std::make_shared<const root>(*std::move(opened));
    auto store = skill_store::open(root_);
    ASSERT_THAT(store, test::IsOk());
    store_ = std::make_shared<const skill_store>(*std::move(store));
    serve({});
  }
  void serve(server_options options) {
    options.current_instructions = skill_instructions(store_);
    std::vector<extension> extensions;
    if (auto e = skills_extension(store_)) extensions.push_back(*std::move(e));
    has_extension_ = !extensions.empty();
    std::vector<tool> tools;
    tools.push_back(read_file_tool(root_));
    server_ = std::make_unique<server>(std::move(options), std::move(tools), std::move(extensions));
  }
  void user_skill(const std::string& id, const std::string& content) const {
    t.directory(".agents/skills/" + id);
    t.file(".agents/skills/" + id + "/SKILL.md", content);
  }
  /// The answer to a modern request, parsed; its text is kept.
  json_view ask(std::string_view method, std::string_view params = "") {
    const auto lines = server_->handle_line(
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
        R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{}})" +
        std::string(params) + "}}");
    EXPECT_EQ(lines.size(), 1U);
    last_ = lines.empty() ? "null" : lines.front();
    EXPECT_THAT(document_.parse(last_), test::IsOk()) << last_;
    return document_.root();
  }
  json_view ask_uri(std::string_view method, std::string_view uri) {
    return ask(method, R"(,"uri":")" + std::string(uri) + "\"");
  }
  std::vector<std::string> strings(json_view array, std::string_view member) {
    std::vector<std::string> all;
    array.for_each_element(
        [&](json_view e) { all.emplace_back(e[member].string().value_or("?")); });
    return all;
  }

  test::temp_tree t;
  std::shared_ptr<const root> root_;
  std::shared_ptr<const skill_store> store_;
  std::unique_ptr<server> server_;
  bool has_extension_ = false;
  json_document document_;
  std::string last_;
};

#define NEEDS_EXTENSION()                                                                          \
  if (!has_extension_) GTEST_SKIP() << "built without libyaml"

// --- ReadFile ----------------------------------------------------------------------------------

TEST_F(McpSkills, ReadFile) {
  user_skill("a", skill_md("a"));
  t.file("x.exe", "no");
  t.file("latin.md", "caf\xE9");
  const auto call = [&](std::string_view path) {
    return ask("tools/call",
               R"(,"name":"ReadFile","arguments":{"path":")" + std::string(path) + "\"}")["result"];
  };
  EXPECT_EQ(call(".agents/skills/a/SKILL.md")["structuredContent"]["content"].string(),
            skill_md("a"));
  struct row {
    std::string_view path;
    std::string_view error;
  };
  for (const auto& [path, error] :
       {row{"x.exe", "unsupported_type"}, row{"latin.md", "not_text"}, row{"no.md", "not_found"},
        row{"../x.md", "escapes_root"}, row{"", "invalid_argument"}}) {
    const json_view r = call(path);
    EXPECT_EQ(r["isError"].boolean(), true) << path;
    EXPECT_THAT(last_, HasSubstr(error)) << path;
    EXPECT_LT(last_.size(), 500U) << path;
  }
  EXPECT_THAT(ask("tools/list")["result"]["tools"].text(), HasSubstr(R"("readOnlyHint":true)"));
}

TEST_F(McpSkills, InstructionsFollowTheDisk) {
  EXPECT_FALSE(ask("server/discover")["result"]["instructions"].exists());
  user_skill("late", skill_md("late"));
  EXPECT_THAT(ask("server/discover")["result"]["instructions"].string().value_or(""),
              HasSubstr("- **late**: late — About late.\n"));
}

// --- lists -------------------------------------------------------------------------------------

TEST_F(McpSkills, AnEmptyStore) {
  NEEDS_EXTENSION();
  EXPECT_EQ(ask("skills/list")["result"]["skills"].text(), "[]");
  EXPECT_EQ(ask("resources/list")["result"]["resources"].text(), "[]");
  EXPECT_EQ(ask("resources/templates/list")["result"]["resourceTemplates"].text(), "[]");
  EXPECT_EQ(last_.find("nextCursor"), std::string::npos);
}

TEST_F(McpSkills, AnEntryHasFrontmatterAndDigests) {
  NEEDS_EXTENSION();
  user_skill("abc", "---\nname: abc\ndescription: |\n  One\n  two\nn: 1.0\n---\n");
  t.file(".agents/skills/abc/x.txt", "abc");
  EXPECT_EQ(
      ask("skills/list")["result"]["skills"].text(),
      R"([{"uri":"skill://abc/SKILL.md","frontmatter":{"name":"abc","description":"One\ntwo\n",)"
      R"("n":1},"resources":[{"uri":"skill://abc/SKILL.md","digest":"sha256:)"
      "ad7777f002e66eae5133472e8efcaab292655c378ee438620fbb011da364cf7d"
      R"(","size":52},{"uri":"skill://abc/x.txt","digest":"sha256:)"
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      R"(","size":3}]}])");
}

TEST_F(McpSkills, OnlyWhatHostsAcceptIsPublished) {
  NEEDS_EXTENSION();
  user_skill("good", skill_md("good"));
  user_skill("other-folder", skill_md("good-name"));
  user_skill("loud", skill_md("LOUD"));
  user_skill("dashes", skill_md("a--b"));
  user_skill("long", skill_md("long", "compatibility: " + std::string(501, 'c') + "\n"));
  user_skill("number", skill_md("number", "metadata:\n  version: 1\n")); // becomes a text
  user_skill("no-map", skill_md("no-map", "metadata: 1\n"));
  user_skill("twice", skill_md("twice", "license: a\nlicense: b\n"));
  user_skill("tagged", skill_md("tagged", "license: !!int 1\n"));
  user_skill("wordy", "---\nname: wordy\ndescription: " + std::string(1025, 'd') + "\n---\n");
  user_skill("repaired", "---\nname: repaired\ndescription: not: yaml\n---\n");
  user_skill("many", skill_md("many"));
  for (int i = 0; i < 512; ++i)
    t.file(".agents/skills/many/" + std::to_string(i));
  user_skill("huge", skill_md("huge"));
  t.file(".agents/skills/huge/big", std::string(16 * 1024 * 1024, '\0'));
  EXPECT_THAT(strings(ask("skills/list")["result"]["skills"], "uri"),
              ElementsAre("skill://good/SKILL.md", "skill://number/SKILL.md",
                          "skill://other-folder/good-name/SKILL.md"));
  for (const char* hidden : {"skill://no-map/SKILL.md", "skill://huge/SKILL.md"})
    EXPECT_EQ(ask_uri("skills/get", hidden)["error"]["code"].integer(), -32602) << hidden;
  // They remain skills for those who read them.
  EXPECT_THAT(ask("server/discover")["result"]["instructions"].string().value_or(""),
              AllOf(HasSubstr("**huge**"), HasSubstr("**loud**: LOUD"), HasSubstr("**many**")));
}

// Hosts compare the frontmatter with the file, so that it is not cleaned but left out.
TEST_F(McpSkills, WhatNobodySeesIsNotPublished) {
  NEEDS_EXTENSION();
  struct row {
    const char* id;
    std::string content;
    bool in_skills;
    bool in_resources;
  };
  const auto described = [](const std::string& id, const std::string& text,
                            const std::string& more = "") {
    return "---\nname: " + id + "\ndescription: " + text + "\n" + more + "---\nB\u200Body\n";
  };
  const row rows[] = {
      {"body", described("body", "Words."), true, true},
      {"picture", described("picture", "👩\u200D💻 ❤\uFE0F می\u200Cخواهم"), true, true},
      {"a-tags", described("a-tags", "Wor\U000E0041\U000E0042ds."), false, true},
      {"b-zero", described("b-zero", "Wor\u200Bds."), false, true},
      {"c-direction", described("c-direction", "Wor\u202Eds."), false, true},
      {"d-selector", described("d-selector", "Wor\uFE0Fds."), false, true},
      {"e-escaped", described("e-escaped", "\"Wor\\u200Bds.\""), false, true},
      {"f-control", described("f-control", "\"Wor\\eds.\""), false, true},
      {"g-nothing", described("g-nothing", "\"\\u200B\""), false, false},
      {"h-license", described("h-license", "Words.", "license: M\u200BIT\n"), false, true},
      {"i-key", described("i-key", "Words.", "x\u200B: y\n"), false, true},
      {"j-deep", described("j-deep", "Words.", "tags: [a, {b: [\"c\u200B\"]}]\n"), false, true},
  };
  std::vector<std::string> in_skills;
  std::vector<std::string> in_resources;
  for (const row& r : rows) {
    user_skill(r.id, r.content);
    const std::string uri = "skill://" + std::string(r.id) + "/SKILL.md";
    if (r.in_skills) in_skills.push_back(uri);
    if (r.in_resources) in_resources.push_back(uri);
    const bool found = ask_uri("skills/get", uri)["result"].exists();
    EXPECT_EQ(found, r.in_skills) << r.id;
    if (!found) {
      EXPECT_THAT(last_, HasSubstr("paddock skills validate"));
    }
    // The file itself is what it is.
    EXPECT_THAT(ask_uri("resources/read", uri)["result"]["contents"].text(),
                HasSubstr("B\u200Body"));
  }
  EXPECT_THAT(strings(ask("skills/list")["result"]["skills"], "uri"),
              testing::UnorderedElementsAreArray(in_skills));
  EXPECT_FALSE(detail::has_hidden(last_)) << last_;
  const json_view resources = ask("resources/list")["result"]["resources"];
  EXPECT_THAT(strings(resources, "uri"), testing::UnorderedElementsAreArray(in_resources));
  for (const std::string& description : strings(resources, "description"))
    EXPECT_THAT(description, testing::AnyOf("Words.", "👩\u200D💻 ❤\uFE0F می\u200Cخواهم"));
  // Those who read skills still have them, without.
  EXPECT_THAT(ask("server/discover")["result"]["instructions"].string().value_or(""),
              HasSubstr("**a-tags**: a-tags — Words.\n"));
}

TEST_F(McpSkills, TheLimitsAreInclusive) {
  NEEDS_EXTENSION();
  user_skill("many", skill_md("many"));
  for (int i = 0; i < 511; ++i)
    t.file(".agents/skills/many/" + std::to_string(i));
  EXPECT_EQ(ask_uri("skills/get", "skill://many/SKILL.md")["result"]["skill"]["resources"].size(),
            512U);
}

TEST_F(McpSkills, PagesCoverEverySkillOnce) {
  NEEDS_EXTENSION();
  std::set<std::string> expected;
  for (int i = 0; i < 600; ++i) {
    const std::string id = "s" + std::to_string(1000 + i);
    user_skill(id, skill_md(id));
    expected.insert("skill://" + id + "/SKILL.md");
  }
  serve({.limits = {.message_out_bytes_max = 64 * 1024}});
  for (const auto& [method, member] :
       {std::pair("skills/list", "skills"), std::pair("resources/list", "resources")}) {
    std::set<std::string> seen;
    std::string cursor;
    int pages = 0;
    do {
      const json_view r = ask(method, cursor.empty() ? "" : R"(,"cursor":")" + cursor + "\"");
      for (const std::string& uri : strings(r["result"][member], "uri"))
        EXPECT_TRUE(seen.insert(uri).second) << uri;
      cursor = r["result"]["nextCursor"].string().value_or("");
    } while (!cursor.empty() && ++pages < 1000);
    EXPECT_EQ(seen, expected) << method;
    EXPECT_GT(pages, 1) << method;
  }
  for (const char* bad : {R"(,"cursor":"x")", R"(,"cursor":1)", R"(,"cursor":[])"})
    EXPECT_EQ(ask("skills/list", bad)["error"]["code"].integer(), -32602) << bad;
  for (const char* method : {"skills/list", "resources/list"})
    EXPECT_EQ(ask(method)["result"].text(), ask(method, R"(,"cursor":null)")["result"].text())
        << "null is as good as nothing";
  EXPECT_EQ(ask("skills/list", R"(,"cursor":"after:zzz")")["result"]["skills"].size(), 0U);
}

// --- resources ---------------------------------------------------------------------------------

TEST_F(McpSkills, ReadsTextAndBytesExactly) {
  NEEDS_EXTENSION();
  user_skill("a", skill_md("a"));
  t.directory(".agents/skills/a/d");
  t.file(".agents/skills/a/d/t.txt", std::string_view("a\0\r\n\xEF\xBB\xBF é", 10));
  t.file(".agents/skills/a/b.bin", "\xFF\xFE\xFD");
  EXPECT_EQ(
      ask_uri("resources/read", "skill://a/d/t.txt")["result"]["contents"].text(),
      R"([{"uri":"skill://a/d/t.txt","mimeType":"application/octet-stream","text":"a\u0000\r\n)"
      "\xEF\xBB\xBF é\"}]");
  EXPECT_THAT(ask_uri("resources/read", "skill://a/b.bin")["result"]["contents"].text(),
              AllOf(HasSubstr(R"("blob":"//79")"), Not(HasSubstr("\"text\""))));
}

TEST_F(McpSkills, NothingBehindALinkOrOutsideOfTheSkill) {
  NEEDS_EXTENSION();
  user_skill("a", skill_md("a"));
  user_skill("b", skill_md("b"));
  t.file("secret.md", "secret");
  t.directory("private");
  t.file("private/key.md", "secret");
  t.link(".agents/skills/a/link.md", "../../../secret.md");
  t.link(".agents/skills/a/folder", "../../../private");
  t.link(".agents/skills/a/absolute.md", t / "secret.md");
  EXPECT_EQ(ask_uri("skills/get", "skill://a/SKILL.md")["result"]["skill"]["resources"].size(), 1U);
  for (const char* uri :
       {"skill://a/link.md", "skill://a/folder/key.md", "skill://a/absolute.md",
        "skill://a/../b/SKILL.md", "skill://a/%2E%2E/b/SKILL.md", "skill://a/..%2Fb%2FSKILL.md",
        "skill://a", "skill://a/", "skill://a/absent.md", "skill://nope/SKILL.md", "skill://",
        "skill://../secret.md", "file:///etc/passwd", "secret.md", ""}) {
    EXPECT_EQ(ask_uri("resources/read", uri)["error"]["code"].integer(), -32602) << uri;
    EXPECT_THAT(last_, Not(HasSubstr("\"secret\""))) << uri;
  }
  EXPECT_EQ(ask("resources/read")["error"]["code"].integer(), -32602);
  EXPECT_EQ(ask("resources/read", R"(,"uri":7)")["error"]["code"].integer(), -32602);
}

TEST_F(McpSkills, DirectoriesListTheirDirectChildren) {
  NEEDS_EXTENSION();
  user_skill("a", skill_md("other"));
  t.directory(".agents/skills/a/d/deep");
  t.directory(".agents/skills/a/d.x");
  t.file(".agents/skills/a/d/one.md");
  t.file(".agents/skills/a/d/deep/two.md");
  t.link(".agents/skills/a/link", "d");
  const auto children = [&](std::string_view uri) {
    return strings(ask_uri("resources/directory/read", uri)["result"]["resources"], "uri");
  };
  EXPECT_THAT(children("skill://a/other"),
              testing::UnorderedElementsAre("skill://a/other/SKILL.md", "skill://a/other/d",
                                            "skill://a/other/d.x"));
  EXPECT_THAT(children("skill://a/other/d"),
              testing::UnorderedElementsAre("skill://a/other/d/deep", "skill://a/other/d/one.md"));
  EXPECT_THAT(children("skill://a/other/d.x"), IsEmpty());
  EXPECT_THAT(last_, HasSubstr(R"("resources":[])"));
  for (const char* uri : {"skill://a", "skill://a/other/SKILL.md", "skill://a/other/absent",
                          "skill://a/other/link", "skill://a/other/", "skill://a/other/de"})
    EXPECT_EQ(ask_uri("resources/directory/read", uri)["error"]["code"].integer(), -32602) << uri;
}

TEST_F(McpSkills, AFileThatDoesNotFitALineIsAnError) {
  NEEDS_EXTENSION();
  user_skill("a", skill_md("a"));
  t.file(".agents/skills/a/big.txt", std::string(5 * 1024 * 1024, 'x'));
  EXPECT_EQ(ask_uri("resources/read", "skill://a/big.txt")["error"]["code"].integer(), -32602);
  EXPECT_THAT(last_, HasSubstr("bytes that fit"));
}

} // namespace
} // namespace paddock::mcp
