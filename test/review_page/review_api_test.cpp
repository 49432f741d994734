// SPDX-License-Identifier: MIT
// What the page's script gets of a workspace's history, and what it can do to it.
#include "review_page/api.hpp"
#include "support/history/history_fixture.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::review_page {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReviewApi : public test::history_fixture {
protected:
  /// The workspace as it is now is the start.
  void begin() {
    store = begun();
    auto workspace_root = root::open(workspace());
    ASSERT_TRUE(workspace_root);
    all = operations(
        {.workspace = std::make_shared<const root>(*std::move(workspace_root)), .store = store});
  }
  /// What a tool of the agent does.
  void by_tool(const std::string& tool, const std::string& path, const std::string& bytes) {
    auto recording = store->before_tool(tool, std::span(&path, 1));
    write(path, bytes);
    EXPECT_EQ(recording.finish(), "");
  }

  http::answer ask(std::string_view method, std::string_view path, const std::string& query = "",
                   const std::string& body = "") {
    const http::request request{.head = {}, .body = body, .cancelled = cancelled};
    for (const page::operation& each : all)
      if (each.path == path && each.method == method)
        return each.run({.request = request, .query = query});
    ADD_FAILURE() << "there is no " << method << ' ' << path;
    return {};
  }
  mcp::json_view get(std::string_view path, const std::string& query = "") {
    return read(ask("GET", path, query));
  }
  mcp::json_view post(std::string_view path, const std::string& body) {
    return read(ask("POST", path, "", body));
  }
  mcp::json_view read(const http::answer& answer) {
    status = answer.status;
    auto parsed = document.parse(answer.body);
    EXPECT_TRUE(parsed) << answer.body;
    return parsed ? *parsed : mcp::json_view();
  }

  static std::string text(mcp::json_view value) {
    return std::string(value.string().value_or("<none>"));
  }
  static std::vector<std::string> texts(mcp::json_view list, std::string_view member = {}) {
    std::vector<std::string> out;
    list.for_each_element(
        [&](mcp::json_view each) { out.push_back(text(member.empty() ? each : each[member])); });
    return out;
  }
  static mcp::json_view first(mcp::json_view list) {
    mcp::json_view out;
    list.for_each_element([&](mcp::json_view each) {
      if (!out.exists()) out = each;
    });
    return out;
  }
  [[nodiscard]] std::string content(const std::string& path) const {
    std::ifstream in(workspace() + '/' + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::shared_ptr<history::store> store;
  std::vector<page::operation> all;
  std::atomic<bool> cancelled = false;
  mcp::json_document document;
  int status = 0;
};

TEST_F(ReviewApi, TellsChangesWithWhoMadeThem) {
  write("edited", "1\n");
  write("gone", "2\n");
  write("theirs", "3\n");
  begin();
  EXPECT_EQ(get("/api/changes", "look=1")["changes"].size(), 0u);
  by_tool("editFile", "edited", "one\n");
  run(*store, "rm gone");
  shell("echo four > theirs");
  const mcp::json_view list = get("/api/changes", "look=1");
  EXPECT_THAT(texts(list["changes"], "path"), ElementsAre("edited", "gone", "theirs"));
  EXPECT_THAT(texts(list["changes"], "kind"), ElementsAre("modified", "deleted", "modified"));
  EXPECT_THAT(texts(list["changes"], "by"), ElementsAre("tool", "exec", "other"));
  EXPECT_THAT(texts(list["changes"], "tool"), ElementsAre("editFile", testing::_, "<none>"));
  EXPECT_THAT(texts(list["changes"], "command"), ElementsAre("<none>", "rm gone", "<none>"));
  EXPECT_TRUE(first(list["changes"])["before"]["size"].integer() == 2);
}

TEST_F(ReviewApi, TellsARepositoryAsOneRow) {
  write(".git/HEAD", "ref: refs/heads/main\n");
  begin();
  run(*store,
      "mkdir -p .git/objects/ab; echo 1 > .git/objects/ab/cd; echo 2 > .git/HEAD; echo 1 > a");
  const mcp::json_view list = get("/api/changes", "look=1");
  EXPECT_THAT(texts(list["changes"], "path"), ElementsAre(".git", "a"));
  EXPECT_EQ(first(list["changes"])["files"].integer(), 2);
  // The control: who looks into it sees what is in it.
  EXPECT_THAT(texts(get("/api/changes", "path=.git")["changes"], "path"),
              testing::IsSupersetOf({".git/HEAD", ".git/objects/ab/cd"}));
  mcp::json_view last;
  get("/api/events")["events"].for_each_element([&](mcp::json_view each) { last = each; });
  EXPECT_THAT(texts(last["paths"]), ElementsAre(".git", "a"));
  EXPECT_EQ(last["entries"].integer(), 2);
}

TEST_F(ReviewApi, WhatAPersonUndoesIsTheirs) {
  write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  begin();
  by_tool("editFile", "a", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  const auto who = [&] {
    mcp::json_view last;
    get("/api/events")["events"].for_each_element([&](mcp::json_view each) {
      if (!each["checkpoint"].exists()) last = each;
    });
    return text(last["by"]) + " " + text(last["tool"]);
  };
  EXPECT_EQ(who(), "tool editFile"); // the control
  const std::string seen = text(get("/api/diff", "path=a")["seen"]);
  post("/api/undo-hunk", R"({"path":"a","hunk":0,"seen":")" + seen + "\"}");
  ASSERT_EQ(status, 200);
  EXPECT_EQ(content("a"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  EXPECT_EQ(who(), "other undo");
  post("/api/undo", "{}");
  ASSERT_EQ(status, 200);
  EXPECT_EQ(content("a"), "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  EXPECT_EQ(who(), "other undo");
}

TEST_F(ReviewApi, ShowsHunksOfAText) {
  write("a", "1\n2\n3\n");
  begin();
  by_tool("editFile", "a", "1\ntwo\n3\nfour");
  const mcp::json_view diff = get("/api/diff", "path=a");
  ASSERT_EQ(status, 200);
  EXPECT_EQ(diff["added"].integer(), 2);
  EXPECT_EQ(diff["removed"].integer(), 1);
  const mcp::json_view hunk = first(diff["hunks"]);
  EXPECT_THAT(texts(hunk["rows"]), ElementsAre(" 1", "-2", "+two", " 3", "+four"));
  EXPECT_EQ(hunk["open"].text(), "[4]");
  EXPECT_EQ(hunk["lines"].text(), "[1,3,1,4]");
  EXPECT_FALSE(diff["next"].exists());
}

TEST_F(ReviewApi, ShowsALongDiffInParts) {
  begin();
  std::string lines;
  for (int i = 0; i < 1200; ++i)
    lines += "line " + std::to_string(i) + "\n";
  by_tool("writeTextFile", "long", lines);
  std::string seen;
  std::string from = "0";
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 10 && !from.empty(); ++i) {
    const mcp::json_view diff = get("/api/diff", "path=long&from=" + from);
    const mcp::json_view hunk = first(diff["hunks"]);
    EXPECT_EQ(hunk["first"].boolean(), i == 0);
    EXPECT_EQ(diff["added"].integer(), 1200);
    sizes.push_back(hunk["rows"].size());
    for (const std::string& row : texts(hunk["rows"]))
      seen += row.substr(1) + "\n";
    from = diff["next"].text();
  }
  EXPECT_THAT(sizes, ElementsAre(500u, 500u, 200u));
  EXPECT_EQ(seen, lines);
}

TEST_F(ReviewApi, CutsLongLinesAndSaysSo) {
  begin();
  by_tool("writeTextFile", "wide", std::string(1999, 'a') + "\xe4\xbc\x9a" + "more\n");
  const mcp::json_view hunk = first(get("/api/diff", "path=wide")["hunks"]);
  EXPECT_THAT(texts(hunk["rows"]), ElementsAre("+" + std::string(1999, 'a')));
  EXPECT_EQ(hunk["cut"].text(), "[0]");
}

struct form_case {
  const char* name;
  std::string before, after, before_form, after_form;
};
const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);

class ReviewForms : public ReviewApi, public testing::WithParamInterface<form_case> {};

TEST_P(ReviewForms, AreTold) {
  const form_case& one = GetParam();
  write("file", one.before);
  begin();
  by_tool("writeTextFile", "file", one.after);
  const mcp::json_view diff = get("/api/diff", "path=file");
  EXPECT_EQ(text(diff["before"]["form"]), one.before_form);
  EXPECT_EQ(text(diff["after"]["form"]), one.after_form);
  EXPECT_EQ(diff["hunks"].exists(), one.before_form == "text" && one.after_form == "text");
  const http::answer image = ask("GET", "/api/image", "path=file&side=after");
  EXPECT_EQ(image.status, one.after_form == "image" ? 200 : 422);
  if (one.after_form == "image") {
    EXPECT_EQ(image.type, "image/png");
    EXPECT_EQ(image.body, one.after);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReviewForms,
    testing::Values(form_case{"text", "a\n", "b\n", "text", "text"},
                    form_case{"not_utf8", "a\n", "\xff\n", "text", "text"},
                    form_case{"emptied", "a\n", "", "text", "text"},
                    form_case{"binary", "a\n", std::string("a\0b", 3), "text", "binary"},
                    form_case{"late_nul", "a\n", std::string(9'000, 'x') + '\0', "text", "binary"},
                    form_case{"utf16",
                              std::string("\xFF\xFE"
                                          "a\0\n\0",
                                          6),
                              std::string("\xFF\xFE"
                                          "b\0\n\0",
                                          6),
                              "text", "text"},
                    form_case{"image", "a\n", png, "text", "image"},
                    form_case{"image_that_is_a_page", "a\n",
                              "<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>\n", "text",
                              "text"},
                    form_case{"large", "a\n", std::string(5'000'000, 'x'), "text", "tooLarge"},
                    form_case{"many_lines", "a\n", std::string(300'000, '\n'), "text", "tooLarge"}),
    [](const auto& one) { return std::string(one.param.name); });

/// UTF-16 is shown as text, and a hunk of it is taken back in the bytes that the file has.
TEST_F(ReviewApi, UndoesAHunkOfUtf16) {
  const auto wide = [](std::string_view text) {
    std::string out("\xFF\xFE");
    for (const char c : text)
      (out += c) += '\0';
    return out;
  };
  const std::string_view middle = "2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n";
  const auto file = [&](std::string_view first, std::string_view last) {
    return wide(std::string(first) + "\n" + std::string(middle) + std::string(last) + "\n");
  };
  write("f", file("1", "12"));
  begin();
  write("f", file("one", "twelve"));
  get("/api/changes", "look=1");
  const mcp::json_view diff = get("/api/diff", "path=f");
  EXPECT_EQ(post("/api/undo-hunk",
                 R"({"path":"f","hunk":0,"seen":")" + text(diff["seen"]) + R"("})")["restored"]
                .integer(),
            1);
  EXPECT_EQ(status, 200);
  EXPECT_EQ(content("f"), file("1", "twelve"));
}

TEST_F(ReviewApi, CountsLines) {
  write("a", "1\n2\n");
  write("b", std::string("\0\1", 2));
  begin();
  by_tool("editFile", "a", "1\n3\n4\n");
  by_tool("writeTextFile", "b", "text\n");
  const mcp::json_view counts = post("/api/counts", R"({"paths":["a","b","absent"]})")["counts"];
  EXPECT_EQ(counts.text(), R"([{"path":"a","added":2,"removed":1},{"path":"b"}])");
}

TEST_F(ReviewApi, CountsTheLinesOfFolders) {
  write("old/a", "1\n2\n");
  write("old/deep/b", "3\n");
  begin();
  by_tool("writeTextFile", "new/a", "1\n");
  by_tool("writeTextFile", "new/deep/b", "1\n2\n");
  by_tool("writeTextFile", "new/deep/binary", std::string("\0\1", 2));
  run(*store, "rm -r old");
  write("new/persons", "1\n");
  get("/api/changes", "look=1");
  const mcp::json_view counts =
      post("/api/counts", R"({"paths":["new","new/persons","old","absent"]})")["counts"];
  EXPECT_EQ(counts.text(), R"([{"path":"new","added":3,"removed":0},)"
                           R"({"path":"new/persons","added":1,"removed":0},)"
                           R"({"path":"old","added":0,"removed":3}])");
}

TEST_F(ReviewApi, UndoesFilesAndEverything) {
  write("a", "1");
  write("b", "2");
  begin();
  const std::string before = now();
  by_tool("editFile", "a", "x");
  by_tool("editFile", "b", "y");
  by_tool("writeTextFile", "new/c", "z");
  const std::string after = now();

  const mcp::json_view checked = post("/api/undo", R"({"check":true})");
  EXPECT_GE(checked["restored"].integer().value_or(0), 3);
  EXPECT_EQ(now(), after) << "a check changes nothing";

  EXPECT_EQ(post("/api/undo", R"({"paths":["a"]})")["restored"].integer(), 1);
  EXPECT_EQ(content("a"), "1");
  EXPECT_EQ(content("b"), "y");

  const std::string point = post("/api/undo", "{}")["checkpoint"].text();
  EXPECT_EQ(now(), before);
  EXPECT_EQ(get("/api/changes", "look=1")["changes"].size(), 0u);

  // And that is taken back.
  post("/api/undo", R"({"to":)" + point + "}");
  EXPECT_EQ(content("b"), "y");
  EXPECT_EQ(content("new/c"), "z");
}

TEST_F(ReviewApi, DoesNotUndoWhatSomebodyElseChangedUnlessForced) {
  write("a", "1");
  begin();
  by_tool("editFile", "a", "2");
  shell("echo 3 > a");
  const mcp::json_view refused = post("/api/undo", R"({"paths":["a"]})");
  EXPECT_EQ(refused["restored"].integer(), 0);
  EXPECT_THAT(texts(refused["conflicts"], "path"), ElementsAre("a"));
  EXPECT_EQ(content("a"), "3\n");
  EXPECT_EQ(post("/api/undo", R"({"paths":["a"],"force":true})")["restored"].integer(), 1);
  EXPECT_EQ(content("a"), "1");
}

class ReviewHunks : public ReviewApi {
protected:
  ReviewHunks() {
    for (int i = 1; i <= 30; ++i)
      before += "line " + std::to_string(i) + "\n";
    after = before;
    after.replace(after.find("line 3\n"), 7, "three\n");
    after.replace(after.find("line 25\n"), 8, "");
    write("f", before);
  }
  std::string undo(int number) {
    const std::string seen = text(get("/api/diff", "path=f")["seen"]);
    return R"({"path":"f","hunk":)" + std::to_string(number) + R"(,"seen":")" + seen + "\"}";
  }
  std::string before, after;
};

TEST_F(ReviewHunks, AreUndoneOneByOne) {
  begin();
  const std::string all_before = now();
  shell("chmod 755 f");
  // By a command, which changes the mode, too.
  shell("chmod 644 f");
  by_tool("editFile", "f", after);
  const std::string second = undo(1);
  EXPECT_EQ(post("/api/undo-hunk", second)["restored"].integer(), 1);
  std::string half = before;
  half.replace(half.find("line 3\n"), 7, "three\n");
  EXPECT_EQ(content("f"), half);

  // It is in the history as a change of a person's.
  const mcp::json_view list = get("/api/changes", "look=1");
  EXPECT_THAT(texts(list["changes"], "by"), ElementsAre("other"));
  EXPECT_THAT(texts(list["changes"], "tool"), ElementsAre("undo"));

  // What was shown is no longer so.
  EXPECT_EQ(text(post("/api/undo-hunk", second)["error"]), "stale");
  EXPECT_EQ(status, 409);
  EXPECT_EQ(content("f"), half);

  // The last one takes the times with it.
  EXPECT_EQ(post("/api/undo-hunk", undo(0))["restored"].integer(), 1);
  EXPECT_EQ(now(), all_before);
}

TEST_F(ReviewHunks, OfAFileThatChangedMeanwhileStay) {
  begin();
  by_tool("editFile", "f", after);
  const std::string request = undo(0);
  shell("echo more >> f");
  EXPECT_EQ(text(post("/api/undo-hunk", request)["error"]), "stale");
  EXPECT_EQ(content("f"), after + "more\n");
  // The control: what was seen after that is undone.
  EXPECT_EQ(post("/api/undo-hunk", undo(0))["restored"].integer(), 1);
}

TEST_F(ReviewHunks, CanBeTakenBackAgain) {
  begin();
  by_tool("editFile", "f", after);
  const std::string point = post("/api/undo-hunk", undo(0))["checkpoint"].text();
  EXPECT_NE(content("f"), after);
  post("/api/undo", R"({"to":)" + point + "}");
  EXPECT_EQ(content("f"), after);
}

TEST_F(ReviewApi, MakesCheckpointsAndTellsThem) {
  write("a", "1");
  begin();
  const mcp::json_view made = post("/api/checkpoints", R"({"label":"before <b> 会"})");
  EXPECT_EQ(status, 201);
  EXPECT_EQ(text(made["label"]), "before <b> 会");
  const std::string id = made["id"].text();
  by_tool("editFile", "a", "2");
  const mcp::json_view list = get("/api/checkpoints")["checkpoints"];
  EXPECT_THAT(texts(list, "label"), ElementsAre("before <b> 会", testing::_));
  EXPECT_EQ(first(list)["id"].text(), id);
  EXPECT_EQ(get("/api/changes", "since=" + id)["changes"].size(), 1u);
  (void)post("/api/checkpoints", R"({"label":")" + std::string(201, 'x') + "\"}");
  EXPECT_EQ(status, 422);
}

TEST_F(ReviewApi, TellsWhatHappenedInOrder) {
  write("a", "1");
  begin();
  by_tool("editFile", "a", "2");
  run(*store, "echo 3 > b");
  const mcp::json_view events = get("/api/events")["events"];
  std::vector<std::string> who;
  std::string last;
  events.for_each_element([&](mcp::json_view each) {
    if (!each["checkpoint"].exists()) who.push_back(text(each["by"]));
    last = each["number"].text();
  });
  EXPECT_THAT(who, ElementsAre("tool", "exec"));
  EXPECT_EQ(get("/api/events", "after=" + last)["events"].size(), 0u);
}

struct refused_case {
  const char* name;
  const char* method;
  const char* path;
  std::string query, body;
  int status;
};
class ReviewRefusals : public ReviewApi, public testing::WithParamInterface<refused_case> {};

TEST_P(ReviewRefusals, ChangeNothing) {
  write("a", "1");
  begin();
  by_tool("editFile", "a", "2");
  tree.file("outside", "secret");
  const refused_case& one = GetParam();
  const http::answer answer = ask(one.method, one.path, one.query, one.body);
  EXPECT_EQ(answer.status, one.status) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("\"message\":\""));
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(content("a"), "2");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReviewRefusals,
    testing::Values(
        refused_case{"diff_of_nothing", "GET", "/api/diff", "path=absent", "", 404},
        refused_case{"diff_of_no_path", "GET", "/api/diff", "", "", 404},
        refused_case{"diff_outside", "GET", "/api/diff", "path=..%2Foutside", "", 404},
        refused_case{"image_outside", "GET", "/api/image", "path=..%2Foutside&side=after", "", 404},
        refused_case{"unknown_checkpoint", "GET", "/api/changes", "since=987654", "", 404},
        refused_case{"undo_no_json", "POST", "/api/undo", "", "{", 422},
        refused_case{"undo_list", "POST", "/api/undo", "", "[]", 422},
        refused_case{"undo_no_paths", "POST", "/api/undo", "", R"({"paths":[]})", 422},
        refused_case{"undo_wrong_paths", "POST", "/api/undo", "", R"({"paths":[1]})", 422},
        refused_case{"undo_empty_path", "POST", "/api/undo", "", R"({"paths":[""]})", 422},
        refused_case{"undo_to_nowhere", "POST", "/api/undo", "", R"({"to":987654})", 404},
        refused_case{"hunk_without_number", "POST", "/api/undo-hunk", "", R"({"path":"a"})", 422},
        refused_case{"hunk_not_seen", "POST", "/api/undo-hunk", "", R"({"path":"a","hunk":0})",
                     409},
        refused_case{"counts_without_paths", "POST", "/api/counts", "", "{}", 422},
        refused_case{"checkpoint_no_json", "POST", "/api/checkpoints", "", "", 422}),
    [](const auto& one) { return std::string(one.param.name); });

} // namespace
} // namespace paddock::review_page
