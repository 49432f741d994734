// SPDX-License-Identifier: MIT

// The tool editFile, and what the hash of a file is good for in every tool that changes one.

#include "support/mcp/tool_fixture.hpp"

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class tools_edit : public coding_fixture {
protected:
  tool_answer edit(std::string_view edits, std::string_view more = "") {
    return call("editFile",
                R"({"path":"f","edits":)" + std::string(edits) + std::string(more) + "}");
  }
};

// The hash is what `sha256sum` says, as far as 16 digits.
constexpr std::string_view hash_of_abc = "880553fca8fcea94"; // "a\nb\nc\n"

struct edit_case {
  const char* name;
  std::string before;
  const char* edits;
  std::string after;
  const char* places; ///< as the answer has them
};

const edit_case edit_cases[] = {
    {"one", "a\nx\nc\n", R"([{"oldText":"x","newText":"b"}])", "a\nb\nc\n",
     R"([{"line":2,"occurrences":1}])"},
    {"each to the outcome of the one before", "a\n",
     R"([{"oldText":"a","newText":"b\nb"},{"oldText":"b\nb","newText":"c"}])", "c\n",
     R"([{"line":1,"occurrences":1},{"line":1,"occurrences":1}])"},
    {"lines count in the file after the call", "a\nb\n",
     R"([{"oldText":"b","newText":"B"},{"oldText":"a","newText":"1\n2\n3"}])", "1\n2\n3\nB\n",
     R"([{"line":4,"occurrences":1},{"line":1,"occurrences":1}])"},
    {"all", "x x\nx\n", R"([{"oldText":"x","newText":"y","all":true}])", "y y\ny\n",
     R"([{"line":1,"occurrences":3}])"},
    {"all, as often as said", "x x\nx\n",
     R"([{"oldText":"x","newText":"y","all":true,"occurrences":3}])", "y y\ny\n",
     R"([{"line":1,"occurrences":3}])"},
    {"the nearest to a line", "x\n-\n-\nx\n-\nx\n", R"([{"oldText":"x","newText":"y","line":3}])",
     "x\n-\n-\ny\n-\nx\n", R"([{"line":4,"occurrences":1}])"},
    {"a line is one of the file before the call", "a\nx\nx\n",
     R"([{"oldText":"a","newText":"1\n2\n3"},{"oldText":"x","newText":"y","line":3}])",
     "1\n2\n3\nx\ny\n", R"([{"line":1,"occurrences":1},{"line":5,"occurrences":1}])"},
    {"as often as said, and the nearest", "x\nx\n",
     R"([{"oldText":"x","newText":"y","occurrences":2,"line":2}])", "x\ny\n",
     R"([{"line":2,"occurrences":1}])"},
    {"new text is literal", "x", R"([{"oldText":"x","newText":"$& \\1"}])", "$& \\1",
     R"([{"line":1,"occurrences":1}])"},
    {"CRLF and lone CR stay", "a\r\nx\r\nb\rc", R"([{"oldText":"a\nx","newText":"1\n2\n3"}])",
     "1\r\n2\r\n3\r\nb\rc", R"([{"line":1,"occurrences":1}])"},
    {"a byte order mark and no end stay", "\xEF\xBB\xBF"s + "a\nx",
     R"([{"oldText":"x","newText":"b"}])", "\xEF\xBB\xBF"s + "a\nb",
     R"([{"line":2,"occurrences":1}])"},
    {"bytes that are no UTF-8 stay", "caf\xE9 \0 x\n"s, R"([{"oldText":"x","newText":"b"}])",
     "caf\xE9 \0 b\n"s, R"([{"line":1,"occurrences":1}])"},
    {"what stays as it was", "x\n", R"([{"oldText":"x","newText":"x"}])", "x\n",
     R"([{"line":1,"occurrences":1}])"},
};

TEST_F(tools_edit, edits_are_made_one_after_the_other) {
  for (const auto& each : edit_cases) {
    SCOPED_TRACE(each.name);
    tree.file("f", each.before);
    const auto trial = edit(each.edits, R"(,"dryRun":true)");
    EXPECT_EQ(each.before, tree.content("f"));
    EXPECT_EQ("false", trial["applied"].text());
    const auto done = edit(each.edits);
    EXPECT_EQ(each.after, tree.content("f"));
    EXPECT_EQ("path applied hash edits diff", done.keys()) << done.json;
    EXPECT_EQ("f", done.string("path"));
    EXPECT_EQ("true", done["applied"].text());
    EXPECT_EQ(each.places, done["edits"].text());
    EXPECT_EQ(each.places, trial["edits"].text());
    EXPECT_EQ(done.string("diff"), trial.string("diff"));
    EXPECT_EQ(each.before == each.after, done.string("diff").empty());
    EXPECT_EQ(each.before == each.after, done.string("hash") == trial.string("hash"));
    EXPECT_EQ(call("getFileInfo", R"({"path":"f"})").integer("size"),
              static_cast<std::int64_t>(each.after.size()));
  }
}

TEST_F(tools_edit, the_hash_and_the_diff_are_of_the_outcome) {
  tree.directory("d");
  tree.file("d/f", "a\nx\nc\n");
  tree.link("l", "d/f");
  const auto done = call("editFile", R"({"path":"./l","edits":[{"oldText":"x","newText":"b"}]})");
  EXPECT_EQ("d/f", done.string("path"));
  EXPECT_EQ(hash_of_abc, done.string("hash"));
  EXPECT_EQ("--- a/d/f\n+++ b/d/f\n@@ -1,3 +1,3 @@\n a\n-x\n+b\n c\n", done.string("diff"));
}

TEST_F(tools_edit, a_long_diff_is_cut_at_a_hunk) {
  std::string text;
  for (int i = 0; i < 4000; ++i)
    text += i % 20 == 0 ? "needle\n" : "hay\n";
  tree.file("f", text);
  const auto done = edit(R"([{"oldText":"needle","newText":"pin","all":true}])");
  EXPECT_EQ("true", done["diffTruncated"].text());
  const std::string diff = done.string("diff");
  EXPECT_LE(diff.size(), 8U * 1024);
  EXPECT_GT(diff.size(), 7U * 1024);
  EXPECT_TRUE(diff.ends_with("+pin\n hay\n hay\n hay\n")) << diff.substr(diff.size() - 200);
  EXPECT_EQ(R"([{"line":1,"occurrences":200}])", done["edits"].text());
}

struct refusal_case {
  const char* name;
  const char* before;
  const char* edits;
  const char* error;
  const char* rest; ///< of the answer, behind the path
  const char* said; ///< in the message: parts, with … between them
};

const refusal_case refusal_cases[] = {
    {"nothing like it", "a\nb\n", R"([{"oldText":"zebra","newText":"b"}])", "no_match",
     R"("edit":0,"hash":")", "edits[0].oldText does not occur … read the file again"},
    {"other white space", "int f() {\n\treturn 1;\n}\n",
     R"([{"oldText":"int f() {\n    return 1;","newText":"int f() {\n    return 2;"}])", "no_match",
     R"("edit":0,"nearest":{"line":1,"kind":"white_space","wanted":"    return 1;","found":"int f() {\n\treturn 1;\n"},"hash":")",
     "where only white space differs; copy the text"},
    {"similar", "one\ntwo\nthree four five\nsix\n",
     R"([{"oldText":"two\nthree four 5ive\nsix","newText":"x"}])", "no_match",
     R"("edit":0,"nearest":{"line":2,"kind":"similar","wanted":"three four 5ive","found":"two\nthree four five\nsix\n"},"hash":")",
     "which is similar; copy the text"},
    {"already made", "first\nconst int limit = 20;\n",
     R"([{"oldText":"const int limit = 10;","newText":"const int limit = 20;"}])", "no_match",
     R"("edit":0,"nearest":{"line":2,"kind":"already_applied","found":"const int limit = 20;\n"},"hash":")",
     "made already … line 2 … leave it out"},
    {"ambiguous", "x\n-\nx\nx\n", R"([{"oldText":"x","newText":"y"}])", "ambiguous",
     R"("edit":0,"occurrencesAt":[1,3,4],"hash":")",
     "occurs 3 times (lines 1, 3, 4) … all: true … its line"},
    {"not as often as said", "x\n-\nx\nx\n",
     R"([{"oldText":"-","newText":"+"},{"oldText":"x","newText":"y","occurrences":2,"all":true}])",
     "ambiguous", R"("edit":1,"occurrencesAt":[1,3,4],"hash":")",
     "edits[1] … occurs 3 times … not 2 times as occurrences says"},
    {"as often as said, without all", "x\nx\n",
     R"([{"oldText":"x","newText":"y","occurrences":2}])", "ambiguous",
     R"("edit":0,"occurrencesAt":[1,2],"hash":")",
     "occurs 2 times (lines 1, 2), as occurrences says; add all: true to replace every one"},
    {"two as near to the line", "x\n-\nx\n", R"([{"oldText":"x","newText":"y","line":2}])",
     "ambiguous", R"("edit":0,"occurrencesAt":[1,3],"hash":")",
     "occurs 2 times (lines 1, 3), and none of them is nearest to line 2; give the line of the one "
     "that is meant, or more of the text around it"},
    {"two in the line", "x\nx x\n", R"([{"oldText":"x","newText":"y","line":2}])", "ambiguous",
     R"("edit":0,"occurrencesAt":[1,2,2],"hash":")", "none of them is nearest to line 2"},
    {"the end of the file, which has no newline", "a\nb", R"([{"oldText":"b\n","newText":"c\n"}])",
     "no_match", R"("edit":0,"nearest":{"line":2,"kind":"white_space","found":"b"},"hash":")",
     "the end of the file, which has none; leave the last newline off oldText"},
    {"the same with pairs", "a\r\nb", R"([{"oldText":"a\nb\n","newText":"c\n"}])", "no_match",
     R"("edit":0,"nearest":{"line":1,"kind":"white_space","found":"a\r\nb"},"hash":")",
     "leave the last newline off oldText"},
    {"old text in UTF-8 in a file of Latin-1", "caf\xE9\n",
     R"([{"oldText":"café","newText":"tea"}])", "no_match", R"("edit":0,"hash":")",
     "the file is not UTF-8, so characters beyond ASCII have other bytes there; leave lines with "
     "such characters out of oldText, or change the file with exec"},
    {"new text in UTF-8 in a file of Latin-1", "caf\xE9 one\n",
     R"([{"oldText":"caf","newText":"tea"},{"oldText":"one","newText":"é"}])", "not_text",
     R"("edit":1,"hash":")",
     "the file is not UTF-8, and edits[1].newText has characters beyond ASCII"},
    {"white space, and what allows it", "\tx\n", R"([{"oldText":"  x\n","newText":"y"}])",
     "no_match",
     R"("edit":0,"nearest":{"line":1,"kind":"white_space","wanted":"  x","found":"\tx\n"},"hash":")",
     "or let applyChanges match it with matching: \"whitespace\""},
    {"quotes that look alike", "say “x”\n", R"([{"oldText":"say \"x\"","newText":"y"}])",
     "no_match",
     R"("edit":0,"nearest":{"line":1,"kind":"similar","wanted":"say \"x\"","found":"say “x”\n"},"hash":")",
     "only look-alike or invisible characters differ"},
    {"as often as said, but which", "x\nx\n", R"([{"oldText":"x","newText":"y","occurrences":2}])",
     "ambiguous", R"("edit":0,"occurrencesAt":[1,2],"hash":")", "occurs 2 times … all: true"},
    {"less often than said", "x\n", R"([{"oldText":"x","newText":"y","occurrences":2,"all":true}])",
     "ambiguous", R"("edit":0,"occurrencesAt":[1],"hash":")", "occurs once (line 1), not 2 times"},
    {"changed by an edit before", "abc\n",
     R"([{"oldText":"abc","newText":"x"},{"oldText":"abc","newText":"y"}])", "no_match",
     R"("edit":1,"hash":")", "edits[1] … an edit before it in this call"},
    {"lines count in the file before the call", "a\nb\nfoo(1);\n",
     R"([{"oldText":"a","newText":"1\n2\n3"},{"oldText":" foo(1);","newText":"bar"}])", "no_match",
     R"("edit":1,"nearest":{"line":3,"kind":"white_space","wanted":" foo(1);","found":"foo(1);\n"},"hash":")",
     "the nearest place is line 3, "},
    {"both of all and line", "x\n", R"([{"oldText":"x","newText":"y","all":true,"line":1}])",
     "invalid_argument", R"("edit":0})", "edits[0] … give all or line"},
};

TEST_F(tools_edit, what_is_refused_says_what_would_have_fitted) {
  for (const auto& each : refusal_cases) {
    SCOPED_TRACE(each.name);
    tree.file("f", each.before);
    for (const char* more : {"", R"(,"dryRun":true)"}) {
      const auto got = edit(each.edits, more);
      EXPECT_EQ(each.error, got.error());
      EXPECT_THAT(got.json, HasSubstr(R"(","path":"f",)" + std::string(each.rest)));
      expect_parts(got.message(), each.said);
      EXPECT_THAT(got.message(), testing::StartsWith("f: "));
    }
    EXPECT_EQ(each.before, tree.content("f"));
  }
}

TEST_F(tools_edit, what_no_file_is_for_is_refused_with_its_path) {
  tree.directory("d");
  const std::pair<const char*, const char*> rows[] = {{"absent", "not_found"},
                                                      {"d", "is_a_directory"},
                                                      {"../f", "escapes_root"},
                                                      {".perstack/x", "protected"},
                                                      {".git/hooks/x", "write_protected"}};
  for (const auto& [path, error] : rows) {
    const auto got = call("editFile", R"({"path":)" + json_string(path) +
                                          R"(,"edits":[{"oldText":"a","newText":"b"}]})");
    EXPECT_EQ(error, got.error()) << got.json;
    EXPECT_EQ(path, got.string("path"));
  }
  EXPECT_EQ("invalid_argument", edit("[]").error());
  EXPECT_EQ("invalid_argument", edit(R"([{"oldText":"","newText":"b"}])").error());
  EXPECT_EQ("invalid_argument", edit(R"([{"oldText":"a"}])").error());
}

TEST_F(tools_edit, texts_are_bounded_one_by_one) {
  const auto edit_of = [&](std::size_t size) {
    tree.file("f", std::string(size, 'x'));
    return edit(R"([{"oldText":")" + std::string(size, 'x') + R"(","newText":"y"}])").error();
  };
  EXPECT_EQ("(no error)", edit_of(100'000));
  EXPECT_EQ("invalid_argument", edit_of(100'001));
  std::string many = R"({"oldText":"x","newText":"x","all":true})";
  for (int i = 1; i < 1000; ++i)
    many += R"(,{"oldText":"x","newText":"x","all":true})";
  tree.file("f", "x");
  EXPECT_EQ("(no error)", edit("[" + many + "]").error());
  EXPECT_EQ("invalid_argument", edit("[" + many + R"(,{"oldText":"x","newText":"y"}])").error());
}

TEST_F(tools_edit, is_of_the_coding_set_and_changes) {
  const auto has_it = [&](mcp::workspace_options options) {
    serve(std::move(options));
    return std::ranges::any_of(server().tools(),
                               [](const mcp::tool& each) { return each.name == "editFile"; });
  };
  EXPECT_TRUE(has_it({.tools = mcp::toolset::coding}));
  EXPECT_FALSE(has_it({}));
  EXPECT_FALSE(has_it({.tools = mcp::toolset::coding, .access = mcp::workspace_access::read_only}));
  EXPECT_FALSE(has_it({.tools = mcp::toolset::coding, .omit = {"editFile"}}));
  EXPECT_TRUE(has_it({.tools = mcp::toolset::coding, .pick = {"editFile"}}));
}

// --- hashes --------------------------------------------------------------------------------------

struct hash_case {
  const char* tool;
  const char* path; ///< the parameter that names the file
  const char* arguments;
};

constexpr hash_case hash_cases[] = {
    {"writeTextFile", "path", R"("text":"new")"},
    {"appendTextFile", "path", R"("text":"new")"},
    {"editTextFile", "path", R"("oldText":"a","newText":"new")"},
    {"editFile", "path", R"("edits":[{"oldText":"a","newText":"new"}])"},
    {"moveFile", "source", R"("destination":"elsewhere")"},
    {"deleteFile", "path", ""},
};

TEST_F(tools_edit, a_change_depends_on_the_hash_that_is_given) {
  for (const auto& each : hash_cases) {
    SCOPED_TRACE(each.tool);
    const auto with = [&](std::string_view path, std::string_view hash) {
      return call(each.tool, "{" + json_string(each.path) + ":" + json_string(path) +
                                 (*each.arguments != '\0' ? "," : "") + each.arguments +
                                 R"(,"ifHash":)" + json_string(hash) + "}");
    };
    std::filesystem::remove(tree / "elsewhere");
    tree.file("f", "a\nb\nc\n");
    tree.directory("d");
    const auto got = with("f", "2cf24dba5fb0a30e");
    EXPECT_EQ("stale", got.error());
    EXPECT_EQ("f", got.string("path"));
    EXPECT_EQ(hash_of_abc, got.string("hash"));
    EXPECT_THAT(got.message(), AllOf(HasSubstr(hash_of_abc), HasSubstr("2cf24dba5fb0a30e"),
                                     HasSubstr("read it again"), HasSubstr("nothing was changed")));
    EXPECT_EQ("stale", with("f", "880553fca8fcea95").error());
    for (const char* wrong :
         {"8", "880553fca8fcea9", "880553FCA8FCEA94", "main@880553fca8fcea94"}) {
      EXPECT_EQ("invalid_argument", with("f", wrong).error()) << wrong;
      EXPECT_THAT(with("f", wrong).message(), testing::StartsWith("f: ifHash is not a hash"))
          << wrong;
    }
    EXPECT_EQ("a\nb\nc\n", tree.content("f"));
    EXPECT_EQ("not_found", with("absent", hash_of_abc).error());
    EXPECT_THAT(with("absent", hash_of_abc).message(), HasSubstr("leave ifHash out"));
    EXPECT_EQ("is_a_directory", with("d", hash_of_abc).error());
    EXPECT_FALSE(tree.exists("absent"));
    const auto done = with("f", hash_of_abc); // the control
    EXPECT_FALSE(done.failed) << done.json;
    EXPECT_NE("a\nb\nc\n", tree.exists("f") ? tree.content("f") : "");
  }
}

TEST_F(tools_edit, hashes_are_of_the_coding_set) {
  serve({});
  tree.file("f", "a");
  EXPECT_EQ("invalid_argument",
            call("writeTextFile", R"({"path":"f","text":"b","ifHash":"00"})").error());
  EXPECT_EQ("a", tree.content("f"));
}

/// Adds its own line to a file, by hash, as often as it takes.
void add_lines(mcp::server& server, int who, int lines) {
  const auto ask = [&](const std::string& tool, const std::string& arguments) {
    const auto answers = server.handle_line(
        R"({"jsonrpc":"2.0","id":)" + std::to_string(who) +
        R"(,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":")" +
        tool + R"(","arguments":)" + arguments + "}}");
    mcp::json_document whole, text;
    const auto parsed = whole.parse(answers.back());
    std::string said;
    if (parsed)
      (*parsed)["result"]["content"].for_each_element(
          [&](mcp::json_view block) { said = block["text"].string().value_or(""); });
    return said;
  };
  for (int i = 0; i < lines;) {
    mcp::json_document document;
    const auto read = document.parse(ask("readTextFile", R"({"path":"f"})"));
    ASSERT_TRUE(read);
    const std::string hash((*read)["hash"].string().value_or(""));
    const std::string line = "client " + std::to_string(who) + " line " + std::to_string(i) + "\\n";
    const std::string got = ask("editFile", R"({"path":"f","edits":[{"oldText":"end","newText":")" +
                                                line + R"(end"}],"ifHash":")" + hash + R"("})");
    if (got.find(R"("applied":true)") != got.npos)
      ++i;
    else
      ASSERT_NE(got.npos, got.find(R"("error":"stale")")) << got;
  }
}

TEST_F(tools_edit, two_clients_that_go_by_the_hash_lose_nothing) {
  tree.file("f", "end");
  constexpr int lines = 40;
  {
    std::jthread one([&] { add_lines(*another_server(), 1, lines); });
    std::jthread two([&] { add_lines(*another_server(), 2, lines); });
  }
  const std::string text = tree.content("f");
  ASSERT_EQ(2 * lines, std::ranges::count(text, '\n'));
  for (int who = 1; who <= 2; ++who)
    for (int i = 0; i < lines; ++i)
      EXPECT_THAT(text,
                  HasSubstr("client " + std::to_string(who) + " line " + std::to_string(i) + "\n"));
}

} // namespace
} // namespace paddock::test
