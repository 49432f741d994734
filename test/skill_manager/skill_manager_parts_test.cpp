// SPDX-License-Identifier: MIT
// The pauses between attempts to reach a server again, which name somebody may have meant, and what
// of a strange tool's schema a model reads.
#include "precompiled/tests.hpp"
#include "skill_manager/reconnect_pause.hpp"
#include "skill_manager/visible_schema.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <limits>

namespace paddock {
namespace {

TEST(reconnect_pause, grows_to_a_cap_with_jitter) {
  const skill_manager::reconnect_pauses pauses{.first_ms = 100, .max_ms = 1'000};
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const std::array<std::int64_t, 6> longest = {100, 200, 400, 800, 1'000, 1'000};
  for (unsigned attempt = 1; attempt <= longest.size(); ++attempt) {
    const std::int64_t high = longest.at(attempt - 1);
    bool all_alike = true;
    for (std::uint32_t random = 0; random < 5'000; ++random) {
      const auto pause = skill_manager::pause_before(pauses, attempt, {}, random * 7'919U);
      EXPECT_GE(pause, high / 2);
      EXPECT_LE(pause, high);
      all_alike = all_alike && pause == skill_manager::pause_before(pauses, attempt, {}, 0);
    }
    EXPECT_FALSE(all_alike);
  }
  EXPECT_LE(skill_manager::pause_before(pauses, most, {}, most), 1'000);
}

TEST(reconnect_pause, keeps_to_what_the_server_asks) {
  const skill_manager::reconnect_pauses pauses{.first_ms = 100, .max_ms = 1'000};
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 2'500, 0), 2'500);
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 3'600'000, 0), 300'000);
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 0, 0), 50) << "never without a pause";
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, -5, 0), 50);
  EXPECT_EQ(skill_manager::pause_before({.first_ms = 0, .max_ms = 0}, 1, {}, 0), 1);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_GT(skill_manager::pause_before({.first_ms = huge, .max_ms = huge}, 70, {}, 3), 0);
}

TEST(nearest_name, counts_what_has_to_be_changed) {
  const struct {
    std::string_view a;
    std::string_view b;
    std::size_t distance;
  } cases[] = {{"", "", 0},       {"", "abc", 3},      {"abc", "", 3},           {"abc", "ABC", 0},
               {"abc", "abd", 1}, {"abc", "acb", 1},   {"abc", "ab", 1},         {"abc", "xabc", 1},
               {"ab", "ba", 1},   {"exce", "exec", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}};
  for (const auto& c : cases) {
    EXPECT_EQ(detail::edit_distance(c.a, c.b), c.distance) << c.a << " " << c.b;
    EXPECT_EQ(detail::edit_distance(c.b, c.a), c.distance) << c.a << " " << c.b;
  }
}

TEST(nearest_name, finds_what_was_meant) {
  constexpr std::array<std::string_view, 6> known = {"--workspace",   "--read-only", "readTextFile",
                                                     "writeTextFile", "command",     "--exec"};
  const struct {
    std::string_view given;
    std::vector<std::string_view> found;
  } cases[] = {
      {"--worksapce", {"--workspace"}},
      {"--workpsace", {"--workspace"}},
      {"--Workspace", {"--workspace"}},
      {"--readonly", {"--read-only"}},
      {"readFile", {"readTextFile"}},
      {"comand", {"command"}},
      {"--exce", {"--exec"}},
      {"--raed-only", {"--read-only"}},
      {"autoApprove", {}},
      {"--rad", {}}, // hyphens do not make it as long as a name
      {"rite", {}},  // "writeTextFile" is far longer
      {"", {}},
      {"x", {}},
  };
  for (const auto& c : cases) {
    const auto found = detail::nearest_names(c.given, known);
    ASSERT_EQ(found.empty(), c.found.empty()) << c.given;
    if (!found.empty()) {
      EXPECT_EQ(found.front(), c.found.front()) << c.given;
    }
  }
  EXPECT_TRUE(detail::nearest_names(std::string(1'000'000, 'a'), known).empty());
  EXPECT_EQ(detail::did_you_mean("comand", known), "; did you mean command?");
  constexpr std::array<std::string_view, 2> hidden = {"--arg", "--max-exec-grace-ms"};
  EXPECT_EQ(detail::did_you_mean("--agr", hidden), "; did you mean --arg?");
  constexpr std::array<std::string_view, 4> many = {"aaab", "aaac", "aaad", "aaa"};
  EXPECT_EQ(detail::did_you_mean("aaa", many), "; did you mean aaa, aaab or aaac?");
}

// --- what of a schema is seen
// ---------------------------------------------------------------------

// '#' stands for a character that nobody sees: in the text itself, and escaped as JSON does.
std::string with(std::string_view text, std::string_view hidden) {
  std::string out;
  for (const char c : text)
    c == '#' ? out += hidden : out += c;
  return out;
}

TEST(visible_schema, cleans_words_and_leaves_the_rest) {
  const struct {
    const char* name;
    std::string_view given;
    std::string_view made;
  } cases[] = {
      {"title", R"({"title":"a#b"})", R"({"title":"ab"})"},
      {"description", R"({"description":"#a"})", R"({"description":"a"})"},
      {"default", R"({"default":"a#"})", R"({"default":"a"})"},
      {"default, deep", R"({"default":{"x":["a#",1,null]}})", R"({"default":{"x":["a",1,null]}})"},
      {"default, like a schema", R"({"default":{"enum":["a#"]}})", R"({"default":{"enum":["a"]}})"},
      {"examples", R"({"examples":["a#",{"const":"#"}]})", R"({"examples":["a",{"const":""}]})"},
      {"comment", R"({"$comment":"a#"})", R"({"$comment":"a"})"},
      {"unknown keyword", R"({"x-hint":{"note":"a#"}})", R"({"x-hint":{"note":"a"}})"},
      {"one of several", R"({"anyOf":[{"description":"a#"}]})",
       R"({"anyOf":[{"description":"a"}]})"},
      {"items", R"({"items":{"description":"a#"}})", R"({"items":{"description":"a"}})"},
      {"definition", R"({"$defs":{"d":{"$comment":"#"}}})", R"({"$defs":{"d":{"$comment":""}}})"},
      {"argument called enum", R"({"properties":{"enum":{"title":"a#"}}})",
       R"({"properties":{"enum":{"title":"a"}}})"},
      {"argument called default", R"({"properties":{"default":{"title":"a#"}}})",
       R"({"properties":{"default":{"title":"a"}}})"},
      {"numbers", R"({"title":"#","maximum":9007199254740993})",
       R"({"title":"","maximum":9007199254740993})"},
  };
  for (const auto& c : cases)
    for (const std::string_view hidden :
         {"", "\u200B", "\\u200b", "\U000E0041", "\\udb40\\udc41", "\u202E", "\uFE0F", "\\u001b"}) {
      const auto read = skill_manager::visible_schema(with(c.given, hidden));
      EXPECT_EQ(read.json, c.made) << c.name << hidden;
      EXPECT_EQ(read.refused, "") << c.name << hidden;
    }
}

TEST(visible_schema, refuses_what_a_server_compares) {
  const struct {
    const char* name;
    std::string_view given;
    std::string_view refused;
  } cases[] = {
      {"argument", R"({"properties":{"a#":{}}})", "the name a\\u{200B}"},
      {"keyword", R"({"#description":"a"})", "the name \\u{200B}description"},
      {"member of a default", R"({"default":{"a#":1}})", "the name a\\u{200B}"},
      {"enum", R"({"enum":["a#"]})", "the value a\\u{200B}"},
      {"enum, deep", R"({"properties":{"a":{"enum":[{"x":["#"]}]}}})", "the value \\u{200B}"},
      {"const", R"({"const":"a#"})", "the value a\\u{200B}"},
      {"required", R"({"required":["a#"]})", "the value a\\u{200B}"},
      {"pattern", R"({"items":{"pattern":"[a#]"}})", "the value [a\\u{200B}]"},
      {"pattern of a name", R"({"patternProperties":{"a#":{}}})", "the name a\\u{200B}"},
      {"reference", R"({"$ref":"#/$defs/a"})", "the value \\u{200B}/$defs/a"},
      {"required with another", R"({"dependentRequired":{"a":["b#"]}})", "the value b\\u{200B}"},
      {"type", R"({"type":"string#"})", "the value string\\u{200B}"},
  };
  EXPECT_EQ(skill_manager::visible_schema(R"({"a":"\x)").refused,
            "the text, which cannot be read as JSON,"); // has, in what the warning says
  for (const auto& c : cases) {
    for (const std::string_view hidden : {"\u200B", "\\u200b"})
      EXPECT_EQ(skill_manager::visible_schema(with(c.given, hidden)).refused, c.refused) << c.name;
    const auto plain = skill_manager::visible_schema(with(c.given, ""));
    EXPECT_EQ(plain.refused, "") << c.name;
    EXPECT_EQ(plain.json, with(c.given, "")) << c.name;
  }
  // What can be seen is no reason, and a long name is cut.
  for (const std::string_view seen :
       {R"({"enum":["👩‍💻","می‌خواهم","技"]})", R"({"pattern":"[\\u200b]"})"})
    EXPECT_EQ(skill_manager::visible_schema(seen).refused, "") << seen;
  const auto cut = skill_manager::visible_schema("{\"\u200B" + std::string(5'000, 'a') + "\":1}");
  EXPECT_LT(cut.refused.size(), 200U);
}

} // namespace
} // namespace paddock
