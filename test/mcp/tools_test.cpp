// SPDX-License-Identifier: MIT

// What all workspace tools have in common, and those without files: the shapes of their results,
// the todo list, health, the selection of tools, limits that count characters.

#include "support/mcp/tool_fixture.hpp"

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class tools : public tool_fixture {};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

struct shape_case {
  const char* name;
  const char* tool;
  const char* arguments;
  const char* expected; ///< ROOT stands for the workspace
};

constexpr shape_case shapes[] = {
    {"write", "writeTextFile", R"({"path":"new/a.txt","text":"one\ntwo"})",
     R"({"path":"ROOT/new/a.txt","text":"one\ntwo"})"},
    {"write nothing", "writeTextFile", R"({"path":"empty","text":""})",
     R"({"path":"ROOT/empty","text":""})"},
    {"append", "appendTextFile", R"({"path":"notes.txt","text":"+"})",
     R"({"path":"ROOT/notes.txt","text":"+"})"},
    {"edit", "editTextFile", R"({"path":"notes.txt","oldText":"l","newText":"$&"})",
     R"({"path":"ROOT/notes.txt","oldText":"l","newText":"$&","occurrences":2})"},
    {"read", "readTextFile", R"({"path":"notes.txt"})",
     R"({"path":"notes.txt","content":"hello\nthere\n","from":0,"to":3,"totalLines":3})"},
    {"read a range", "readTextFile", R"({"path":"./notes.txt","from":0,"to":1})",
     R"({"path":"./notes.txt","content":"hello","from":0,"to":1})"},
    {"read image", "readImageFile", R"({"path":"image.png"})",
     R"({"path":"ROOT/image.png","mimeType":"image/png","size":16})"},
    {"read pdf", "readPdfFile", R"({"path":"doc.pdf"})",
     R"({"path":"ROOT/doc.pdf","mimeType":"application/pdf","size":9})"},
    {"move", "moveFile", R"({"source":"notes.txt","destination":"deep/er/n.txt"})",
     R"({"source":"ROOT/notes.txt","destination":"ROOT/deep/er/n.txt"})"},
    {"delete file", "deleteFile", R"({"path":"notes.txt"})", R"({"path":"ROOT/notes.txt"})"},
    {"create directory", "createDirectory", R"({"path":"new/nested/dir"})",
     R"({"path":"ROOT/new/nested/dir"})"},
    {"delete directory", "deleteDirectory", R"({"path":"void"})", R"({"path":"ROOT/void"})"},
    {"delete full directory", "deleteDirectory", R"({"path":"src","recursive":true})",
     R"({"path":"ROOT/src"})"},
    {"clear todos", "clearTodo", "{}", R"({"todos":[]})"},
    {"complete", "attemptCompletion", "{}", "{}"},
    {"absolute path", "deleteFile", R"({"path":"ROOT/notes.txt"})", R"({"path":"ROOT/notes.txt"})"},
};

TEST_F(tools, results_have_the_documented_shape) {
  for (const auto& each : shapes) {
    SCOPED_TRACE(each.name);
    std::filesystem::remove_all(tree.path());
    tree.directory("src");
    tree.directory("void");
    tree.file("src/index.ts", "let x: number;\n");
    tree.file("notes.txt", "hello\nthere\n");
    tree.file("image.png", std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16));
    tree.file("doc.pdf", "%PDF-1.7\n");
    serve({});
    const auto answer = call(each.tool, replaced(each.arguments, "ROOT", tree.path()));
    EXPECT_FALSE(answer.failed);
    EXPECT_EQ(replaced(each.expected, "ROOT", tree.path()), answer.json);
  }
}

struct error_case {
  const char* name;
  const char* tool;
  const char* arguments;
  const char* error;
  const char* subject; ///< what the message names
  const char* advice;  ///< what it says to do
};

constexpr error_case errors[] = {
    {"read absent", "readTextFile", R"({"path":"absent"})", "not_found", "absent",
     "list the parent"},
    {"read directory", "readTextFile", R"({"path":"src"})", "is_a_directory", "src",
     "listDirectory"},
    {"read outside", "readTextFile", R"({"path":"../x"})", "escapes_root", "../x", "inside the"},
    {"composed", "readTextFile", "{\"path\":\"src/caf\u00E9 \u1EBF \uD55C\"}", "not_found",
     "src/caf",
     R"(encoded exists; write it in JSON as src/cafe\u0301 e\u0302\u0301 \u1112\u1161\u11ab)"},
    {"decomposed", "readTextFile", "{\"path\":\"na\u0308h\"}", "not_found", "na",
     R"(write it in JSON as n\u00e4h)"},
    {"another root", "readTextFile", R"({"path":"/repo/src/../a.txt"})", "escapes_root", "/repo",
     "did you mean src/../a.txt?"},
    {"there and back", "readTextFile", R"({"path":"src/../../x/a"})", "escapes_root", "src",
     "inside"},
    {"read hidden", "readTextFile", R"({"path":".perstack/a"})", "protected", ".perstack/a",
     "another"},
    {"write outside", "writeTextFile", R"({"path":"/etc/x","text":""})", "escapes_root", "/etc/x",
     "inside"},
    {"write to directory", "writeTextFile", R"({"path":"src","text":""})", "is_a_directory", "src",
     "file"},
    {"write to hidden", "writeTextFile", R"({"path":".PERSTACK/b","text":""})", "protected",
     ".PERSTACK", "another"},
    {"append to absent", "appendTextFile", R"({"path":"absent","text":"x"})", "not_found", "absent",
     "writeTextFile"},
    {"edit without match", "editTextFile", R"({"path":"a.txt","oldText":"zz","newText":"y"})",
     "no_match", "a.txt", "read the file again"},
    {"edit absent", "editTextFile", R"({"path":"absent","oldText":"z","newText":"y"})", "not_found",
     "absent", "list"},
    {"move absent", "moveFile", R"({"source":"absent","destination":"b"})", "not_found", "absent",
     "list"},
    {"move onto existing", "moveFile", R"({"source":"a.txt","destination":"b.txt"})",
     "already_exists", "b.txt", "another name"},
    {"move into itself", "moveFile", R"({"source":"src","destination":"src/src"})",
     "invalid_argument", "src/src", "outside of it"},
    {"move the root", "moveFile", R"({"source":".","destination":"b"})", "workspace_root", ".",
     "inside"},
    {"delete absent", "deleteFile", R"({"path":"absent"})", "not_found", "absent", "list"},
    {"delete directory as file", "deleteFile", R"({"path":"src"})", "is_a_directory", "src",
     "deleteDirectory"},
    {"info of absent", "getFileInfo", R"({"path":"absent"})", "not_found", "absent", "list"},
    {"list absent", "listDirectory", R"({"path":"absent"})", "not_found", "absent", "list"},
    {"list a file", "listDirectory", R"({"path":"a.txt"})", "not_a_directory", "a.txt",
     "readTextFile"},
    {"list hidden", "listDirectory", R"({"path":".perstack"})", "protected", ".perstack",
     "another"},
    {"create existing", "createDirectory", R"({"path":"src"})", "already_exists",
     "src already exists", "use it"},
    {"create beneath a file", "createDirectory", R"({"path":"a.txt/b"})", "not_a_directory",
     "a.txt/b", "path"},
    {"delete full directory", "deleteDirectory", R"({"path":"src"})", "not_empty", "src",
     "recursive"},
    {"delete file as directory", "deleteDirectory", R"({"path":"a.txt"})", "not_a_directory",
     "a.txt", "deleteFile"},
    {"delete the root", "deleteDirectory", R"({"path":".","recursive":true})", "workspace_root",
     ".", "inside"},
    {"dangling link", "readTextFile", R"({"path":"dangling"})", "dangling_symlink", "dangling",
     "target"},
    {"link out", "readTextFile", R"({"path":"out"})", "absolute_symlink", "out", "inside"},
    {"empty path", "readTextFile", R"({"path":""})", "invalid_argument", "\"path\"", "empty"},
    {"missing path", "readTextFile", "{}", "invalid_argument", "\"path\"", "required"},
    {"wrong type", "readTextFile", R"({"path":1})", "invalid_argument", "\"path\"", "a string"},
    {"unknown argument", "readTextFile", R"({"path":"a.txt","lines":3})", "invalid_argument",
     "\"lines\"", "path, from, to"},
    {"NUL in a path", "readTextFile", R"({"path":"a\u0000b"})", "invalid_name", "a", "NUL"},
    {"long name", "writeTextFile", nullptr, "name_too_long", "nnn", "shorter"},
};

TEST_F(tools, failures_name_the_subject_and_what_to_do) {
  const std::string long_name = R"({"path":")" + std::string(256, 'n') + R"(","text":""})";
  tree.directory("src");
  tree.directory(".perstack");
  tree.file(".perstack/a", "secret");
  tree.file("src/x");
  tree.file("src/cafe\u0301 e\u0302\u0301 \u1112\u1161\u11AB");
  tree.file("n\u00E4h");
  tree.file("a.txt", "abc");
  tree.file("b.txt");
  tree.link("dangling", "nowhere");
  tree.link("out", "/etc/passwd");
  for (const auto& each : errors) {
    SCOPED_TRACE(each.name);
    const auto answer = call(each.tool, each.arguments != nullptr ? each.arguments : long_name);
    EXPECT_EQ(each.error, answer.error());
    EXPECT_THAT(answer.message(), AllOf(HasSubstr(each.subject), HasSubstr(each.advice)));
    EXPECT_EQ("error message", answer.keys());
  }
  EXPECT_EQ("abc", tree.content("a.txt"));
  EXPECT_TRUE(tree.exists("src/x"));
}

/// Whatever a caller gave, an error repeats 200 characters of it at most, and whole ones.
TEST_F(tools, errors_repeat_little_of_what_they_were_given) {
  std::string given; // characters of two bytes, which no cut may part
  for (int i = 0; i < 3'000; ++i)
    given += "\u00E9";
  const auto repeated_in = [](std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\u00E9", at)) != text.npos; at += 2)
      ++count;
    return count;
  };
  const std::string path = json_string(given);
  const std::pair<const char*, std::string> calls[] = {
      {"readTextFile", R"({"path":)" + path + "}"},
      {"readImageFile", R"({"path":)" + path + "}"},
      {"writeTextFile", R"({"path":)" + path + R"(,"text":""})"},
      {"appendTextFile", R"({"path":)" + path + R"(,"text":""})"},
      {"editTextFile", R"({"path":)" + path + R"(,"oldText":"a","newText":"b"})"},
      {"moveFile", R"({"source":)" + path + R"(,"destination":)" + path + "}"},
      {"deleteFile", R"({"path":)" + path + "}"},
      {"getFileInfo", R"({"path":)" + path + "}"},
      {"listDirectory", R"({"path":)" + path + "}"},
      {"createDirectory", R"({"path":)" + path + "}"},
      {"deleteDirectory", R"({"path":)" + path + "}"},
      {"todo", "{" + path + ":1}"},
      {"exec",
       R"({"command":)" + path + R"(,"args":[],"env":{},"cwd":".","stdout":true,"stderr":true})"},
      {"exec", R"({"command":"true","args":[],"env":{},"cwd":)" + path +
                   R"(,"stdout":true,"stderr":true})"},
      {"exec", R"({"command":"true","args":[],"env":{)" + path +
                   R"(:"1"},"cwd":".","stdout":true,"stderr":true})"},
      {"exec", R"({"command":"true","args":[],"env":{)" + path +
                   R"(:1},"cwd":".","stdout":true,"stderr":true})"},
  };
  for (const auto& [tool, arguments] : calls) {
    SCOPED_TRACE(std::string(tool) + " " + arguments.substr(0, 40));
    const auto answer = call(tool, arguments);
    EXPECT_TRUE(answer.failed);
    EXPECT_THAT(repeated_in(answer.json), AllOf(testing::Ge(90U), testing::Le(200U)));
  }
  std::string unknown;
  for (int i = 0; i < 1'000; ++i)
    unknown += (i == 0 ? "\"" : ",\"") + given.substr(0, 20) + std::to_string(i) + "\":1";
  const auto many = call("healthCheck", "{" + unknown + "}");
  EXPECT_LE(repeated_in(many.json), 200U);
  EXPECT_THAT(many.message(), HasSubstr(" more"));
  // What JSON-RPC refuses before any tool is asked.
  for (const std::string& line :
       {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":)" + path + "}}",
        R"({"jsonrpc":"2.0","id":1,"method":)" + path + "}",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":)" +
            path + R"(,"io.modelcontextprotocol/clientCapabilities":{}}}})"}) {
    const auto answers = server().handle_line(line);
    ASSERT_EQ(1U, answers.size());
    EXPECT_THAT(answers[0], HasSubstr("error"));
    EXPECT_LE(repeated_in(answers[0]), 200U) << answers[0];
  }
}

// --- limits --------------------------------------------------------------------------------------

/// Two UTF-16 code units, four bytes, one character.
constexpr std::string_view astral = "\U0001F40E";

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

struct limit_case {
  const char* tool;
  const char* parameter;
  std::size_t characters_max;
  const char* rest; ///< the other arguments
};

constexpr limit_case limits_in_characters[] = {
    {"writeTextFile", "text", 10'000, R"("path":"f")"},
    {"appendTextFile", "text", 2'000, R"("path":"f")"},
    {"editTextFile", "oldText", 2'000, R"("path":"f","newText":"")"},
    {"editTextFile", "newText", 2'000, R"("path":"f","oldText":"x")"},
};

TEST_F(tools, limits_count_code_points) {
  for (const auto& each : limits_in_characters) {
    for (const std::string_view character : {std::string_view("a"), astral}) {
      SCOPED_TRACE(std::string(each.tool) + " " + each.parameter + " " + std::string(character));
      const auto with = [&](std::size_t count) {
        return "{" + json_string(each.parameter) + ":" + json_string(repeated(character, count)) +
               "," + each.rest + "}";
      };
      tree.file("f", "x" + repeated(character, each.characters_max));
      EXPECT_FALSE(call(each.tool, with(each.characters_max)).failed);
      const auto refused = call(each.tool, with(each.characters_max + 1));
      EXPECT_EQ("invalid_argument", refused.error());
      EXPECT_THAT(refused.message(), AllOf(HasSubstr(each.parameter),
                                           HasSubstr(std::to_string(each.characters_max + 1)),
                                           HasSubstr(std::to_string(each.characters_max))));
    }
  }
}

TEST_F(tools, limits_can_be_set) {
  serve({.limits = limits{.write_characters_max = 3}});
  EXPECT_FALSE(call("writeTextFile", R"({"path":"f","text":"abc"})").failed);
  EXPECT_EQ("invalid_argument", call("writeTextFile", R"({"path":"f","text":"abcd"})").error());
  EXPECT_EQ("abc", tree.content("f"));
}

// --- todo list -----------------------------------------------------------------------------------

TEST_F(tools, todo_list_keeps_its_rules) {
  EXPECT_EQ(R"({"todos":[]})", call("todo").json);
  EXPECT_EQ(R"({"todos":[{"id":0,"title":"a","completed":false},)"
            R"({"id":1,"title":"b","completed":true}]})",
            call("todo", R"({"newTodos":["a","b"],"completedTodos":[1]})").json);
  EXPECT_EQ(R"({"remainingTodos":[{"id":0,"title":"a","completed":false}]})",
            call("attemptCompletion").json);

  const auto unknown = call("todo", R"({"newTodos":["c"],"completedTodos":[0,7]})");
  EXPECT_EQ("not_found", unknown.error());
  EXPECT_THAT(unknown.message(), AllOf(HasSubstr("7"), HasSubstr("0 to 2"), HasSubstr("nothing")));
  EXPECT_EQ("not_found", call("todo", R"({"completedTodos":[-1]})").error());
  EXPECT_EQ(2U, call("todo")["todos"].size());

  EXPECT_FALSE(call("todo", R"({"completedTodos":[0,0,1]})").failed);
  EXPECT_EQ("{}", call("attemptCompletion").json);
  EXPECT_EQ(R"({"todos":[]})", call("clearTodo").json);
  EXPECT_EQ(R"({"todos":[{"id":0,"title":"again","completed":false}]})",
            call("todo", R"({"newTodos":["again"]})").json);
}

TEST_F(tools, completing_on_an_empty_list_says_that_it_is_empty) {
  const auto answer = call("todo", R"({"completedTodos":[0]})");
  EXPECT_EQ("not_found", answer.error());
  EXPECT_THAT(answer.message(), AllOf(HasSubstr("empty"), HasSubstr("newTodos")));
}

TEST_F(tools, todo_list_is_bounded) {
  serve({.limits = limits{.todos_max = 2, .todo_characters_max = 3}});
  EXPECT_FALSE(call("todo", R"({"newTodos":["abc","b"]})").failed);
  const auto refused = call("todo", R"({"newTodos":["c"]})");
  EXPECT_EQ("too_many", refused.error());
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("at most 2 items"), HasSubstr("clearTodo")));
  EXPECT_EQ("invalid_argument", call("todo", R"({"newTodos":["abcd"]})").error());
  EXPECT_EQ(2U, call("todo")["todos"].size());
}

TEST_F(tools, todo_types_are_checked) {
  EXPECT_EQ("invalid_argument", call("todo", R"({"newTodos":"a"})").error());
  EXPECT_EQ("invalid_argument", call("todo", R"({"newTodos":[1]})").error());
  EXPECT_EQ("invalid_argument", call("todo", R"({"completedTodos":[0.5]})").error());
}

// --- health --------------------------------------------------------------------------------------

TEST_F(tools, health_has_the_documented_shape) {
  const auto answer = call("healthCheck");
  EXPECT_THAT(answer.keys(), StartsWith("status workspace uptime memory pid"));
  EXPECT_EQ("ok", answer.string("status"));
  EXPECT_EQ(tree.path(), answer.string("workspace"));
  EXPECT_THAT(answer.string("uptime"), MatchesRegex("[0-9]+s"));
  EXPECT_THAT(std::string(answer["memory"]["heapUsed"].string().value_or("")),
              MatchesRegex("[0-9]+MB"));
  EXPECT_EQ(::getpid(), answer.integer("pid"));
}

TEST_F(tools, a_deleted_workspace_is_told_by_every_tool) {
  server();
  std::filesystem::remove_all(tree.path());
  EXPECT_EQ("workspace_deleted", call("healthCheck").string("status"));
  EXPECT_EQ("root_gone", call_path("listDirectory", ".").error());
  EXPECT_EQ("root_gone", call_path("readTextFile", "a").error());
  EXPECT_EQ("root_gone", call("writeTextFile", R"({"path":"a","text":""})").error());
  EXPECT_EQ("root_gone", call_path("createDirectory", "a").error());
  EXPECT_EQ("root_gone", call_path("deleteFile", "a").error());
  EXPECT_FALSE(call("todo", R"({"newTodos":["a"]})").failed);
  EXPECT_FALSE(tree.exists(""));
}

// --- selection -----------------------------------------------------------------------------------

std::vector<std::string> names_of(const mcp::server& server) {
  std::vector<std::string> names;
  for (const auto& tool : server.tools())
    names.push_back(tool.name);
  return names;
}

TEST_F(tools, each_has_an_example_that_it_accepts) {
  mcp::json_document document;
  for (const mcp::tool& tool : server().tools()) {
    SCOPED_TRACE(tool.name);
    const auto example = document.parse(tool.example);
    ASSERT_TRUE(example);
    ASSERT_TRUE(example->is(mcp::json_kind::object));
    EXPECT_EQ("", mcp::problems_of(tool, *example));
    const auto typical = [](const mcp::parameter& p) {
      return p.presence == mcp::presence::required;
    };
    if (!std::ranges::any_of(tool.parameters, typical)) continue;
    ASSERT_TRUE(document.parse("{}"));
    EXPECT_NE("", mcp::problems_of(tool, document.root())); // so the check is one
  }
}

struct integer_case {
  const char* json;
  std::optional<std::int64_t> value;
  const char* said = json;
};

constexpr integer_case integers[] = {
    {"0", 0},
    {"-0", 0, "0"},
    {"1", 1},
    {"3.0", 3, "3"},
    {"1e2", 100, "100"},
    {"-7", -7},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775808", {}},
    {"1000000000000000000000000000000", {}, "1e+30"},
    {"1e30", {}, "1e+30"},
    {"-1e30", {}, "-1e+30"},
    {"1e400", {}, "1.7976931348623157e+308"},
    {"9007199254740993.0", {}, "9007199254740992"}, // as a double reads it
    {"3.5", {}},
    {"\"3\"", {}},
    {"true", {}, "a boolean"},
};

/// Every integer of a table, inside `open` and `close`.
void check_integers(const mcp::tool& of, const std::vector<mcp::parameter>& table,
                    const std::string& open, const std::string& close, int& seen) {
  for (const mcp::parameter& p : table) {
    const std::string name = open + json_string(p.name) + ":";
    if (p.type == mcp::parameter_type::object_array)
      check_integers(of, p.members, name + "[{", "}]" + close, seen);
    const bool in_array = p.type == mcp::parameter_type::integer_array;
    if (p.type != mcp::parameter_type::integer && !in_array) continue;
    ++seen;
    for (const integer_case& each : integers) {
      const std::string arguments =
          name + (in_array ? "[" : "") + each.json + (in_array ? "]" : "") + close;
      mcp::json_document document;
      ASSERT_TRUE(document.parse(arguments)) << arguments;
      const std::string said = mcp::problems_of(of, document.root());
      const bool fits = each.value && *each.value >= p.minimum.value_or(INT64_MIN) &&
                        *each.value <= p.maximum.value_or(INT64_MAX);
      const std::string place = in_array ? "[0] must be an integer" : " must be an integer";
      EXPECT_EQ(!fits, said.find(place) != said.npos) << of.name << arguments << said;
      if (fits) continue;
      EXPECT_THAT(said, HasSubstr(", not " + std::string(each.said))) << arguments;
      if (p.minimum) {
        EXPECT_THAT(said, HasSubstr(std::to_string(*p.minimum))) << arguments;
      }
    }
  }
}

TEST_F(tools, an_integer_is_read_alike_wherever_there_is_one) {
  serve({.tools = mcp::toolset::coding});
  int seen = 0;
  for (const mcp::tool& each : server().tools())
    check_integers(each, each.parameters, "{", "}", seen);
  EXPECT_GT(seen, 20);
}

TEST_F(tools, there_are_seventeen) {
  EXPECT_EQ(17U, names_of(server()).size());
}

TEST_F(tools, a_larger_set_begins_with_the_smaller_one) {
  const auto base = names_of(server());
  EXPECT_EQ(base.size(), mcp::workspace_tool_names().size());
  serve({.tools = mcp::toolset::coding});
  const auto coding = names_of(server());
  EXPECT_EQ(coding.size(), mcp::workspace_tool_names(mcp::toolset::coding).size());
  ASSERT_GE(coding.size(), base.size());
  EXPECT_EQ(base, std::vector(coding.begin(), coding.begin() + std::ssize(base)));
  serve({.tools = mcp::toolset::coding,
         .access = mcp::workspace_access::read_only,
         .pick = {"todo", "exec"},
         .omit = {"clearTodo"}});
  EXPECT_THAT(names_of(server()), testing::ElementsAre("todo"));
}

TEST_F(tools, a_tool_of_another_set_is_told_to_be_one) {
  EXPECT_EQ("; it is one of --tools coding", mcp::missing_tool_hint("searchText"));
  EXPECT_EQ("", mcp::missing_tool_hint("readTextFile"));
  EXPECT_EQ("", mcp::missing_tool_hint("nope"));
  mcp::server told({.unknown_tool_hint = mcp::missing_tool_hint}, {});
  const auto answer = [](mcp::server& from, const std::string& name) {
    return from
        .handle_line(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name +
                     R"("}})")
        .at(0);
  };
  EXPECT_THAT(answer(told, "searchText"),
              HasSubstr("Unknown tool: searchText; it is one of --tools coding\""));
  EXPECT_THAT(answer(told, "nope"), HasSubstr("Unknown tool: nope\""));
  EXPECT_THAT(answer(server(), "readFile"), HasSubstr("readFile; did you mean "));
  mcp::server silent({}, {}); // the control
  EXPECT_THAT(answer(silent, "searchText"), HasSubstr("Unknown tool: searchText\""));
}

TEST_F(tools, read_only_leaves_what_changes_nothing) {
  serve({.access = mcp::workspace_access::read_only});
  EXPECT_THAT(names_of(server()),
              testing::ElementsAre("attemptCompletion", "todo", "clearTodo", "getFileInfo",
                                   "healthCheck", "readTextFile", "readImageFile", "readPdfFile",
                                   "listDirectory"));
  const auto lines = server().handle_line(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeTextFile",)"
      R"("arguments":{"path":"a","text":""}}})");
  ASSERT_EQ(1U, lines.size());
  EXPECT_THAT(lines[0], HasSubstr("Unknown tool"));
  EXPECT_FALSE(tree.exists("a"));
}

TEST_F(tools, pick_omit_and_exec_choose) {
  serve({.pick = {"todo", "exec"}});
  EXPECT_THAT(names_of(server()), testing::ElementsAre("todo", "exec"));
  serve({.pick = {"todo", "exec"}, .omit = {"todo"}});
  EXPECT_THAT(names_of(server()), testing::ElementsAre("exec"));
  serve({.exec = mcp::exec_mode::off});
  EXPECT_EQ(16U, names_of(server()).size());
}

TEST_F(tools, unknown_and_empty_selections_are_errors) {
  const auto refusal = [&](mcp::workspace_options options) {
    auto opened = paddock::root::open(tree.path());
    const auto made = mcp::workspace_tools(
        std::make_shared<const paddock::root>(*std::move(opened)), std::move(options));
    return made ? "made" : made.error().detail;
  };
  EXPECT_THAT(refusal({.omit = {"nope"}}),
              testing::StartsWith("there is no tool nope; the tools are: "));
  EXPECT_THAT(refusal({.pick = {"readFile"}}),
              AllOf(HasSubstr("did you mean"), HasSubstr("readTextFile or")));
  EXPECT_EQ(refusal({.pick = {"exec"}, .omit = {"exec"}}), "the options leave no tool");
  EXPECT_EQ(refusal({.pick = {"exec"}}), "made"); // the control
}

} // namespace
} // namespace paddock::test
