// SPDX-License-Identifier: MIT

// The tools of the coding set that look for what is where.

#include "support/mcp/tool_fixture.hpp"

#include <paddock/mcp/search_results.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/text_pattern.hpp>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class tools_search : public tool_fixture {
protected:
  void SetUp() override {
    tree.directory("src/deep");
    tree.directory("out");
    tree.file(".gitignore", "out/\n");
    tree.file("out/made.c", "needle\n");
    tree.file("src/a.c", "first\nneedle one\nneedles\n");
    tree.file("src/deep/b.h", "Needle [two]\n");
    tree.file("src/blob", std::string_view("needle\0", 7));
    serve_coding({});
  }
  void serve_coding(limits limits) { serve({.tools = mcp::toolset::coding, .limits = limits}); }
  /// What a call gives up to the totals, or its error.
  std::string head(std::string_view tool, std::string_view arguments) {
    const tool_answer got = call(tool, arguments);
    if (got.failed) return got.error();
    const std::string totals = tool == "searchText" ? ",\"totalMatches\"" : ",\"total\"";
    return got.json.substr(1, got.json.find(totals) - 1);
  }
};

TEST_F(tools_search, the_base_set_is_what_it_was_byte_for_byte) {
  std::ifstream file(PADDOCK_TEST_BASE_TOOLS, std::ios::binary);
  ASSERT_TRUE(file);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  serve({});
  EXPECT_EQ(expected, std::string(server().tools_json()) + '\n');
  serve_coding({}); // the control
  EXPECT_NE(expected, std::string(server().tools_json()) + '\n');
}

TEST_F(tools_search, what_models_read_of_the_coding_set_is_short) {
  EXPECT_LE(server().tools_json().size(), 26'000U);
  EXPECT_GE(server().tools_json().size(), 14'000U); // it is the list
}

TEST_F(tools_search, each_description_says_when_to_use_the_tool_and_when_another_one) {
  const auto wrong_in = [&](mcp::toolset set) {
    serve({.tools = set});
    std::string wrong;
    for (const mcp::tool& each : server().tools()) {
      int sentences = 0, others = 0;
      for (std::size_t at = 0; at < each.description.size(); ++at)
        sentences += std::string_view(each.description).substr(at).starts_with(". ") ? 1 : 0;
      sentences += each.description.ends_with('.') ? 1 : 0;
      for (const mcp::tool& other : server().tools())
        others += other.name != each.name && each.description.find(other.name) != std::string::npos
                      ? 1
                      : 0;
      const int wanted = each.name == "exec" ? 3 : 2; // what its command does not have is the third
      if (sentences != wanted || others == 0) wrong += each.name + ' ';
    }
    return wrong;
  };
  EXPECT_EQ("", wrong_in(mcp::toolset::coding));
  EXPECT_THAT(wrong_in(mcp::toolset::base), HasSubstr("getFileInfo")); // the control
}

TEST_F(tools_search, are_of_the_coding_set_alone_and_read_only) {
  const auto has_them = [&](mcp::workspace_options options) {
    serve(std::move(options));
    return std::ranges::count_if(server().tools(), [](const mcp::tool& each) {
             return each.name == "searchText" || each.name == "findFiles" ||
                    each.name == "mapDirectory";
           }) == 3;
  };
  EXPECT_FALSE(has_them({}));
  EXPECT_TRUE(has_them({.tools = mcp::toolset::coding}));
  EXPECT_TRUE(
      has_them({.tools = mcp::toolset::coding, .access = mcp::workspace_access::read_only}));
}

struct search_case {
  const char* name;
  const char* tool;
  const char* arguments;
  const char* head;
};

constexpr search_case searches[] = {
    {"lines", "searchText", R"({"pattern":"needle"})",
     R"("matches":[{"path":"src/a.c","lines":[{"line":2,"text":"needle one"},{"line":3,"text":"needles"}]}])"},
    {"case and words", "searchText", R"({"pattern":"NEEDLE","ignoreCase":true,"word":true})",
     R"("matches":[{"path":"src/a.c","lines":[{"line":2,"text":"needle one"}]},{"path":"src/deep/b.h","lines":[{"line":1,"text":"Needle [two]"}]}])"},
    {"literal", "searchText", R"({"pattern":"[two]","literal":true,"path":"src/deep"})",
     R"("matches":[{"path":"src/deep/b.h","lines":[{"line":1,"text":"Needle [two]"}]}])"},
    {"context", "searchText", R"({"pattern":"one$","context":1})",
     R"("matches":[{"path":"src/a.c","lines":[{"line":1,"text":"first","context":true},{"line":2,"text":"needle one"},{"line":3,"text":"needles","context":true}]}])"},
    {"files", "searchText", R"({"pattern":"(?i)needle","output":"files"})",
     R"("files":["src/a.c","src/deep/b.h"])"},
    {"counts", "searchText", R"({"pattern":"e","output":"counts","include":["*.c"]})",
     R"("counts":[{"path":"src/a.c","lines":2}])"},
    {"left out", "searchText", R"({"pattern":"(?i)needle","output":"files","exclude":["src/a.c"]})",
     R"("files":["src/deep/b.h"])"},
    {"ignored too", "searchText", R"({"pattern":"needle","output":"files","includeIgnored":true})",
     R"("files":["out/made.c","src/a.c"])"},
    {"named though ignored", "searchText", R"({"pattern":"needle","output":"files","path":"out"})",
     R"("files":["out/made.c"])"},
    {"a page", "searchText", R"({"pattern":"needle","limit":1,"offset":1})",
     R"("matches":[{"path":"src/a.c","lines":[{"line":3,"text":"needles"}]}])"},
    {"outside", "searchText", R"({"pattern":"x","path":".."})", "escapes_root"},
    {"absent", "searchText", R"({"pattern":"x","path":"absent"})", "not_found"},
    {"malformed", "searchText", R"({"pattern":"a("})", "invalid_argument"},
    {"malformed glob", "searchText", R"({"pattern":"a","exclude":["[a"]})", "invalid_argument"},
    {"context too wide", "searchText", R"({"pattern":"a","context":21})", "invalid_argument"},
    {"names", "findFiles", R"({"glob":"*.{c,h}"})", R"("paths":["src/a.c","src/deep/b.h"])"},
    {"a path", "findFiles", R"({"glob":"src/*"})", R"("paths":["src/a.c","src/blob","src/deep"])"},
    {"directories", "findFiles", R"({"glob":"d*","type":"directory"})", R"("paths":["src/deep"])"},
    {"found though ignored", "findFiles", R"({"glob":"made.*","includeIgnored":true})",
     R"("paths":["out/made.c"])"},
    {"a page of names", "findFiles", R"({"glob":"**","type":"file","limit":1,"offset":2})",
     R"("paths":["src/blob"])"},
    {"hidden", "findFiles", R"({"glob":"*","path":".perstack"})", "protected"},
};

TEST_F(tools_search, find_what_is_asked_for) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  tree.directory(".perstack");
  for (const search_case& each : searches)
    EXPECT_EQ(each.head, head(each.tool, each.arguments)) << each.name;
}

struct misread_case {
  const char* tool;
  std::string arguments;
  const char* code;
  const char* remedy;
};

TEST_F(tools_search, a_glob_that_would_find_nothing_says_what_to_write) {
  const std::string here = tree.path();
  const misread_case cases[] = {
      {"findFiles", R"({"glob":")" + here + R"(/src/*.c"})", "invalid_argument", "write src/*.c"},
      {"findFiles", R"({"glob":"!*.c"})", "invalid_argument", "exclude takes what is left out"},
      {"findFiles", R"({"glob":"/a.c"})", "not_found", "without it a name is found at any depth"},
      {"searchText", R"({"pattern":"x","include":["!*.c"]})", "invalid_argument", "without the !"},
      {"searchText", R"({"pattern":"x","exclude":["!*.c"]})", "invalid_argument", "without the !"},
      {"searchText", R"({"pattern":"x","include":[")" + here + R"(/src/**"]})", "invalid_argument",
       "write src/**"},
  };
  for (const misread_case& each : cases) {
    const tool_answer got = call(each.tool, each.arguments);
    EXPECT_EQ(each.code, got.error()) << each.arguments;
    EXPECT_THAT(got.json, HasSubstr(each.remedy)) << each.arguments;
  }
  const auto beneath = call("searchText", R"({"pattern":"x","path":"src","include":["src/*"]})");
  EXPECT_THAT(beneath.string("notice"), HasSubstr("no file matches include"));
  EXPECT_EQ(R"("paths":["src/a.c"])", head("findFiles", R"({"glob":"/src/a.c"})")); // the control
  EXPECT_EQ("totalMatches",
            call("searchText", R"({"pattern":"zz","include":["*.c"]})").json.substr(15, 12));
}

TEST_F(tools_search, a_pattern_that_is_no_expression_says_what_helps) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  const auto got = call("searchText", R"({"pattern":"f(x"})");
  EXPECT_THAT(got.json, AllOf(HasSubstr("a ) is missing"), HasSubstr("with literal: true")));
  const auto of_two = call("searchText", R"({"pattern":"a\nb"})");
  EXPECT_THAT(of_two.json, AllOf(HasSubstr("within one line"), Not(HasSubstr("literal"))));
  for (const char* large : {R"({"pattern":"\\pL{100}"})", R"({"pattern":"\\pL{1000}"})"})
    EXPECT_THAT(call("searchText", large).message(),
                AllOf(HasSubstr("of more than 50,000 instructions: repeat less"),
                      HasSubstr("[a-z] for \\pL"), Not(HasSubstr("literal"))));
}

TEST_F(tools_search, links_are_shown_as_what_they_are) {
  tree.link("src/deep/latest", "b.h");
  EXPECT_EQ("b.h 13 B\nlatest (link)\n",
            call("mapDirectory", R"({"path":"src/deep"})").string("tree"));
}

TEST_F(tools_search, a_map_shows_what_is_where) {
  const auto got = call("mapDirectory", "{}");
  EXPECT_EQ("out/ 1 file, 7 B, ignored\n"
            "src/\n"
            "  deep/\n"
            "    b.h 13 B\n"
            "  a.c 25 B\n"
            "  blob 7 B\n"
            ".gitignore 5 B\n",
            got.string("tree"));
  EXPECT_EQ("tree files directories bytes truncated", got.keys());
  EXPECT_EQ(4, got.integer("files"));
  EXPECT_EQ(2, got.integer("directories"));
  EXPECT_EQ(50, got.integer("bytes"));
  EXPECT_EQ("src/ 3 files, 45 B\n.gitignore 5 B\n",
            call("mapDirectory", R"({"depth":1})").string("tree").substr(26));
  EXPECT_EQ("b.h 13 B\n", call("mapDirectory", R"({"path":"src/deep"})").string("tree"));
  EXPECT_THAT(call("mapDirectory", R"({"includeIgnored":true})").string("tree"),
              HasSubstr("out/\n  made.c 7 B\n"));
  EXPECT_EQ("escapes_root", call("mapDirectory", R"({"path":".."})").error());
  EXPECT_EQ("invalid_argument", call("mapDirectory", R"({"bytesMax":10})").error());
}

TEST_F(tools_search, newest_first) {
  const auto age = [&](std::string_view name, int seconds) {
    std::filesystem::last_write_time(tree / name, std::filesystem::file_time_type::clock::now() -
                                                      std::chrono::seconds(seconds));
  };
  age("src/a.c", 50);
  age("src/deep/b.h", 100);
  EXPECT_EQ(R"("paths":["src/a.c","src/deep/b.h"])",
            head("findFiles", R"({"glob":"*.?","sort":"modified"})"));
  age("src/a.c", 150);
  EXPECT_EQ(R"("paths":["src/deep/b.h","src/a.c"])",
            head("findFiles", R"({"glob":"*.?","sort":"modified"})"));
}

TEST_F(tools_search, an_answer_without_a_match_says_what_was_looked_at) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  const std::string why =
      R"("skipped":{"ignored":1,"binary":1},)"
      R"("ignoredBy":[{"rule":"out/","file":".gitignore","line":1,"entries":1}]})";
  EXPECT_EQ(R"({"matches":[],"totalMatches":0,"totalFiles":0,"exact":true,"truncated":false,)"
            R"("searched":3,)" +
                why,
            call("searchText", R"({"pattern":"absent"})").json);
}

TEST_F(tools_search, what_is_ignored_is_not_said_to_be_absent) {
  const auto notice = [&](const char* tool, const char* arguments) {
    return call(tool, arguments).string("notice");
  };
  const auto is_told =
      AllOf(HasSubstr("entries ignored by the files in ignoredBy were not searched"),
            HasSubstr("includeIgnored: true"));
  EXPECT_THAT(notice("findFiles", R"({"glob":"made.c"})"), is_told);
  EXPECT_EQ("(no string)", notice("findFiles", R"({"glob":"a.c"})")); // the control
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  EXPECT_THAT(notice("searchText", R"({"pattern":"needle","include":["out/**"]})"), is_told);
  EXPECT_THAT(notice("searchText", R"({"pattern":"x","path":"src","include":["src/*"]})"),
              HasSubstr("no file matches include")); // nothing is ignored there
}

/// How far an answer is from whole: what of the page, the totals and the end it has.
std::string ends_of(const std::string& json) {
  mcp::json_document document;
  if (!document.parse(json)) return "no JSON";
  std::string ends;
  document.root().for_each_member([&](std::string_view name, mcp::json_view value) {
    if (name == "exact" || name == "truncated" || name == "nextOffset" || name == "endedBy")
      (((ends += ends.empty() ? "" : " ") += name) += '=') += value.text();
  });
  return ends;
}

struct ended_case {
  const char* name;
  std::optional<error_code> ended;
  std::uint64_t total;
  std::uint64_t offset;
  const char* search;
  const char* find;
};

constexpr ended_case ended_cases[] = {
    {"whole, the control", std::nullopt, 2, 0, "exact=true truncated=false", "truncated=false"},
    {"a page, the control", std::nullopt, 5, 0, "exact=true truncated=true nextOffset=2",
     "truncated=true nextOffset=2"},
    {"out of time", error_code::timed_out, 2, 0,
     R"(exact=false truncated=true endedBy="timed_out")",
     R"(exact=false truncated=true endedBy="timed_out")"},
    {"out of time with a page more", error_code::timed_out, 5, 1,
     R"(exact=false truncated=true nextOffset=3 endedBy="timed_out")",
     R"(exact=false truncated=true nextOffset=3 endedBy="timed_out")"},
    {"too many entries, behind the last page", error_code::too_many, 2, 9,
     R"(exact=false truncated=true endedBy="too_many")",
     R"(exact=false truncated=true endedBy="too_many")"},
};

TEST(search_ends, an_answer_that_ended_early_is_truncated) {
  for (const ended_case& each : ended_cases) {
    SCOPED_TRACE(each.name);
    const bool shows = each.offset < each.total;
    text_matches matches{.total_matches = each.total, .exact = !each.ended};
    matches.coverage.ended_early = each.ended;
    found_files found{.total = each.total, .coverage = {.ended_early = each.ended}};
    if (shows) {
      matches.files.push_back({.path = "f", .lines = {{.line_number = 1}, {.line_number = 2}}});
      found.paths = {"a", "b"};
    }
    mcp::json_writer searched, listed;
    mcp::write_matches(searched, matches, {.offset = each.offset}, 100'000);
    mcp::write_found(listed, found, {.offset = each.offset}, 100'000);
    EXPECT_EQ(each.search, ends_of(searched.str()));
    EXPECT_EQ(each.find, ends_of(listed.str()));
  }
}

TEST_F(tools_search, refusals_say_what_to_do) {
  const auto message = [&](std::string_view tool, std::string_view arguments) {
    return call(tool, arguments).message();
  };
  if (have_regular_expressions()) {
    EXPECT_THAT(
        message("searchText", R"({"pattern":"a(?=b"})"),
        AllOf(HasSubstr("a(?=b"), HasSubstr("no look-around"), HasSubstr("match the text around")));
    EXPECT_THAT(message("searchText", R"({"pattern":"f("})"), HasSubstr("literal"));
  }
  EXPECT_THAT(message("searchText", R"({"pattern":"a","include":["ok","{a"]})"),
              AllOf(HasSubstr("include"), HasSubstr("{a"), HasSubstr("never closed")));
  EXPECT_THAT(message("findFiles", R"({"glob":"[a"})"), HasSubstr("never closed"));
  const auto with_globs = [&](std::string_view name, int count, int alternatives) {
    std::string one = "{a", globs;
    for (int i = 1; i < alternatives; ++i)
      one += ",a";
    for (int i = 0; i < count; ++i)
      globs += (i == 0 ? "\"" : ",\"") + one + "}\"";
    return R"({"pattern":"a",")" + std::string(name) + "\":[" + globs + "]}";
  };
  EXPECT_FALSE(call("searchText", with_globs("include", 100, 10)).failed); // the control
  for (const char* name : {"include", "exclude"})
    for (const std::string& arguments : {with_globs(name, 101, 1), with_globs(name, 2, 501)})
      EXPECT_THAT(message("searchText", arguments), AllOf(HasSubstr("100"), HasSubstr("1,000")));
  EXPECT_THAT(message("searchText", R"({"pattern":"a","output":"all"})"), HasSubstr("counts"));
}

/// Pages that are cut because a line of the protocol is short lose nothing and say where to go on.
TEST_F(tools_search, pages_fit_into_a_line_and_hold_everything) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  std::string text;
  for (int i = 0; i < 600; ++i)
    text += "line \"" + std::to_string(i) + "\" \\ with quotes\n";
  tree.file("long", text);
  serve_coding({.message_out_bytes_max = 64 * 1024});
  std::string offset = "0", seen;
  int pages = 0;
  while (true) {
    const auto got =
        call("searchText", R"({"pattern":"quotes","limit":1000,"offset":)" + offset + "}");
    ASSERT_FALSE(got.failed) << got.json;
    EXPECT_EQ(600, got.integer("totalMatches"));
    got["matches"].for_each_element([&](mcp::json_view file) {
      file["lines"].for_each_element(
          [&](mcp::json_view line) { (seen += line["text"].string().value_or("")) += '\n'; });
    });
    ++pages;
    if (!got["truncated"].boolean().value_or(false)) break;
    offset = std::to_string(got.integer("nextOffset"));
  }
  EXPECT_EQ(text, seen);
  EXPECT_GT(pages, 1);
  serve_coding({.message_out_bytes_max = 8 * 1024});
  EXPECT_THAT(call("searchText", R"({"pattern":"quotes"})").message(),
              HasSubstr("--limit message-out-bytes"));
}

/// What a model reads at once, however long a line of the protocol may be: each search has it.
TEST_F(tools_search, a_page_has_at_most_thirty_thousand_bytes) {
  std::string text;
  for (int i = 0; i < 2'000; ++i)
    text += "needle in a line of some length " + std::to_string(i) + "\n";
  tree.file("long", text);
  tree.directory("deep");
  for (int i = 0; i < 800; ++i)
    tree.file("deep/a_rather_long_name_of_a_file_that_is_found_" + std::to_string(i), "needle\n");
  const std::pair<const char*, std::string> paged[] = {
      {"searchText", R"({"pattern":"needle","limit":5000,"literal":true)"},
      {"searchText", R"({"pattern":"needle","limit":5000,"literal":true,"output":"files")"},
      {"searchText", R"({"pattern":"needle","limit":5000,"literal":true,"output":"counts")"},
      {"findFiles", R"({"glob":"*","limit":5000)"}};
  for (const auto& [tool, arguments] : paged) {
    SCOPED_TRACE(tool + arguments);
    const auto first = call(tool, arguments + "}");
    ASSERT_FALSE(first.failed) << first.json;
    EXPECT_LE(first.json.size(), 30'000U);
    EXPECT_GT(first.json.size(), 20'000U);
    EXPECT_EQ("true", first["truncated"].text());
    const auto rest =
        call(tool, arguments + R"(,"offset":)" + std::to_string(first.integer("nextOffset")) + "}");
    ASSERT_FALSE(rest.failed) << rest.json;
    EXPECT_LE(rest.json.size(), 30'000U);
  }
}

TEST_F(tools_search, a_line_of_stray_bytes_does_not_hide_the_files_behind_it) {
  tree.file("stray-a", "needle" + std::string(40'000, '\x80') + "\n");
  tree.file("stray-b", "needle\n");
  const auto got = call("searchText", R"({"pattern":"needle","include":["stray-*"]})");
  ASSERT_FALSE(got.failed) << got.json;
  EXPECT_THAT(got.json, AllOf(HasSubstr("stray-a"), HasSubstr("stray-b"), HasSubstr("\"cut\":true"),
                              HasSubstr("\"truncated\":false")));
}

TEST_F(tools_search, what_is_found_comes_from_the_budget_of_all_calls) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text.append(400, 'x') += '\n';
  for (const char* name : {"one", "two", "three"})
    tree.file(name, text);
  constexpr std::string_view wanted = R"({"pattern":"x","literal":true,"limit":60000})";
  serve_coding({.memory_bytes_max = 20u * 1024 * 1024});
  const auto got = call("searchText", wanted);
  EXPECT_EQ("too_large", got.error());
  EXPECT_THAT(got.message(), HasSubstr("--limit memory-bytes"));
  serve_coding({}); // the control
  EXPECT_EQ(60'000, call("searchText", wanted).integer("totalMatches"));
}

TEST_F(tools_search, names_and_lines_of_any_bytes_arrive) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  tree.file("caf\xE9", "needle \xFF\n");
  const auto got = call("searchText", R"({"pattern":"needle ","include":["caf*"]})");
  ASSERT_FALSE(got.failed);
  std::string path, text;
  got["matches"].for_each_element([&](mcp::json_view file) {
    path = file["path"].string().value_or("");
    file["lines"].for_each_element(
        [&](mcp::json_view line) { text = line["text"].string().value_or(""); });
  });
  EXPECT_EQ("needle \xEF\xBF\xBD", text);
  EXPECT_EQ("caf\xE9", decode_name(path));
}

} // namespace
} // namespace paddock::test
