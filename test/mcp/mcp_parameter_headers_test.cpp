// SPDX-License-Identifier: MIT

// Parameters that HTTP repeats in headers: which schemas say so rightly, what the client sends, and
// what it does when the server is of another opinion.

#include "mcp/http/message_rules.hpp"
#include "mcp/protocol/parameter_headers.hpp"
#include "support/http/modern_http_server.hpp"
#include "support/matchers.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

parameter_headers read(std::string_view schema) {
  json_document document;
  EXPECT_THAT(document.parse(schema), test::IsOk()) << schema;
  return parameter_headers_of(document.root());
}

TEST(McpParameterHeaders, SchemasThatAreWrong) {
  const struct {
    const char* name;
    const char* properties; ///< or another part of the schema
    const char* problem;
  } cases[] = {
      {"empty", R"("properties":{"a":{"type":"string","x-mcp-header":""}})", "no name"},
      {"a number", R"("properties":{"a":{"type":"string","x-mcp-header":7}})", "no name"},
      {"a blank", R"("properties":{"a":{"type":"string","x-mcp-header":"My Region"}})", "no name"},
      {"a colon", R"("properties":{"a":{"type":"string","x-mcp-header":"A:B"}})", "no name"},
      {"not ASCII", R"("properties":{"a":{"type":"string","x-mcp-header":"R\u00e9gion"}})",
       "no name"},
      {"a tab", R"("properties":{"a":{"type":"string","x-mcp-header":"A\t1"}})", "no name"},
      {"a line break", R"("properties":{"a":{"type":"string","x-mcp-header":"A\r\nB: c"}})",
       "no name"},
      {"object", R"("properties":{"a":{"type":"object","x-mcp-header":"A"}})", "neither"},
      {"array", R"("properties":{"a":{"type":"array","x-mcp-header":"A"}})", "neither"},
      {"null", R"("properties":{"a":{"type":"null","x-mcp-header":"A"}})", "neither"},
      {"number", R"("properties":{"a":{"type":"number","x-mcp-header":"A"}})", "neither"},
      {"no type", R"("properties":{"a":{"x-mcp-header":"A"}})", "neither"},
      {"several types", R"("properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}})",
       "neither"},
      {"twice",
       R"("properties":{"a":{"type":"string","x-mcp-header":"A"},)"
       R"("b":{"type":"string","x-mcp-header":"A"}})",
       "twice"},
      {"twice in other letters",
       R"("properties":{"a":{"type":"string","x-mcp-header":"Ab"},)"
       R"("b":{"type":"string","x-mcp-header":"aB"}})",
       "twice"},
      {"twice in depth",
       R"("properties":{"a":{"type":"string","x-mcp-header":"A"},)"
       R"("b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"A"}}}})",
       "twice"},
      {"at the root", R"("x-mcp-header":"A")", "not at a parameter"},
      {"in items",
       R"("properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}})",
       "not at a parameter"},
      {"below items",
       R"("properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}})",
       "not at a parameter"},
      {"in anyOf", R"("anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}])",
       "not at a parameter"},
      {"in then", R"("then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}})",
       "not at a parameter"},
      {"in $defs", R"("$defs":{"a":{"type":"string","x-mcp-header":"A"}})", "not at a parameter"},
      {"in patternProperties", R"("patternProperties":{"a":{"type":"string","x-mcp-header":"A"}})",
       "not at a parameter"},
      {"in additionalProperties", R"("additionalProperties":{"type":"string","x-mcp-header":"A"})",
       "not at a parameter"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(read(R"({"type":"object",)" + std::string(c.properties) + "}").problem,
                HasSubstr(c.problem))
        << c.name;
}

TEST(McpParameterHeaders, SchemasThatAreRight) {
  const struct {
    const char* schema;
    std::vector<std::string> names;
  } cases[] = {
      {"{}", {}},
      {R"({"properties":{"a":{"type":"string"}}})", {}},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"Region"}}})", {"Mcp-Param-Region"}},
      {R"({"properties":{"a":{"type":"integer","x-mcp-header":"A"},)"
       R"("b":{"type":"boolean","x-mcp-header":"B"}}})",
       {"Mcp-Param-A", "Mcp-Param-B"}},
      {R"({"properties":{"a":{"properties":{"b":{"type":"string","x-mcp-header":"C"}}}}})",
       {"Mcp-Param-C"}},
      // A parameter of that name, and data that looks like a schema.
      {R"({"properties":{"x-mcp-header":{"type":"string"}}})", {}},
      {R"({"properties":{"a":{"default":{"x-mcp-header":"A"},"enum":[{"x-mcp-header":"A"}]}}})",
       {}},
      {R"({"properties":{"properties":{"type":"string","x-mcp-header":"A"}}})", {"Mcp-Param-A"}},
  };
  for (const auto& c : cases) {
    const parameter_headers found = read(c.schema);
    std::vector<std::string> names;
    for (const parameter_header& each : found.headers)
      names.push_back(each.name);
    EXPECT_EQ("", found.problem) << c.schema;
    EXPECT_EQ(c.names, names) << c.schema;
  }
}

TEST(McpParameterHeaders, ValuesOfACall) {
  const auto headers = read(R"({"properties":{"s":{"type":"string","x-mcp-header":"S"},)"
                            R"("i":{"type":"integer","x-mcp-header":"I"},)"
                            R"("b":{"type":"boolean","x-mcp-header":"B"},)"
                            R"("o":{"properties":{"d":{"type":"string","x-mcp-header":"D"}}}}})")
                           .headers;
  const auto of = [&](std::string_view arguments) {
    json_document document;
    EXPECT_THAT(document.parse(arguments), test::IsOk());
    return values_of(headers, document.root());
  };
  EXPECT_THAT(of(R"({"s":"a b","i":-7,"b":false,"o":{"d":"e"}})"),
              ElementsAre(Pair("Mcp-Param-S", "a b"), Pair("Mcp-Param-I", "-7"),
                          Pair("Mcp-Param-B", "false"), Pair("Mcp-Param-D", "e")));
  EXPECT_THAT(of(R"({"s":"","d":"not here"})"), ElementsAre(Pair("Mcp-Param-S", "")));
  EXPECT_THAT(of(R"({"s":null,"i":1.5,"b":[],"o":{"d":{}}})"), IsEmpty());
  EXPECT_THAT(of("{}"), IsEmpty());
}

TEST(McpParameterHeaders, WhatTheServerCompares) {
  const auto wanted = read(R"({"properties":{"s":{"type":"string","x-mcp-header":"S"},)"
                           R"("i":{"type":"integer","x-mcp-header":"I"}}})")
                          .headers;
  using fields = std::vector<std::pair<std::string, std::string>>;
  const struct {
    const char* name;
    const char* arguments;
    fields headers;
    const char* problem;
  } cases[] = {
      {"both", R"({"s":"a","i":1})", {{"mcp-param-s", "a"}, {"mcp-param-i", "1"}}, ""},
      {"none", "{}", {}, ""},
      {"null", R"({"s":null})", {}, ""},
      {"encoded", R"({"s":"\u00fc"})", {{"mcp-param-s", "=?base64?w7w=?="}}, ""},
      {"looks encoded", R"({"s":"w7w="})", {{"mcp-param-s", "w7w="}}, ""},
      {"others do not matter", R"({"s":"a"})", {{"mcp-param-s", "a"}, {"mcp-param-z", "b"}}, ""},
      {"missing", R"({"s":"a"})", {}, "is missing"},
      {"another value", R"({"s":"a"})", {{"mcp-param-s", "A"}}, "says \"A\", the body \"a\""},
      {"twice", R"({"s":"a"})", {{"mcp-param-s", "a"}, {"mcp-param-s", "a"}}, "mismatch"},
      {"not in the body", "{}", {{"mcp-param-s", "a"}}, "the parameter is not"},
      {"null in the body", R"({"s":null})", {{"mcp-param-s", "a"}}, "the parameter is not"},
      {"wrong padding", R"({"s":"H"})", {{"mcp-param-s", "=?base64?SA=?="}}, "not valid Base64"},
      {"wrong letters", R"({"s":"H"})", {{"mcp-param-s", "=?base64?S*==?="}}, "not valid Base64"},
  };
  for (const auto& c : cases) {
    json_document document;
    ASSERT_THAT(document.parse(c.arguments), test::IsOk());
    const std::string problem =
        parameter_mismatch(wanted, document.root(), {.headers = c.headers}).value_or("");
    EXPECT_THAT(problem, HasSubstr(c.problem)) << c.name;
    EXPECT_EQ(*c.problem == '\0', problem.empty()) << c.name;
  }
}

// --- the client ----------------------------------------------------------------------------------

constexpr std::string_view good = R"({"name":"good","inputSchema":{"type":"object","properties":)"
                                  R"({"place":{"type":"string","x-mcp-header":"Place"}}}})";
constexpr std::string_view bad = R"({"name":"bad","inputSchema":{"type":"object","properties":)"
                                 R"({"place":{"type":"string","x-mcp-header":"Pl ace"}}}})";

TEST(McpParameterHeadersOfClient, AreSentWithEachCall) {
  test::modern_http_server server(test::as_usual);
  server.tools = good;
  auto c = server.connect();
  ASSERT_THAT(c, test::IsOk());
  ASSERT_THAT(c->call_tool("good", R"({"place":"gr\u00fc\u00df"})"), test::IsOk());
  ASSERT_THAT(c->call_tool("good", "{}"), test::IsOk());
  const auto calls = server.requests("tools/call");
  ASSERT_EQ(2U, calls.size());
  EXPECT_EQ("=?base64?Z3LDvMOf?=", calls[0].header("mcp-param-place"));
  EXPECT_EQ(0U, calls[1].headers.count("mcp-param-place"));
}

TEST(McpParameterHeadersOfClient, ToolsWithWrongOnesAreLeftOut) {
  test::modern_http_server server(test::as_usual);
  server.tools = std::string(bad) + "," + std::string(good);
  std::vector<std::string> log;
  auto c = server.connect(&log);
  ASSERT_THAT(c, test::IsOk());
  ASSERT_EQ(1U, c->tools()->size());
  EXPECT_EQ("good", c->tools()->front().name);
  EXPECT_THAT(log, ElementsAre("the tool bad is left out: x-mcp-header is no name for a header"));
}

TEST(McpParameterHeadersOfClient, AreLearntAnewWhenTheServerMissesThem) {
  int calls = 0;
  test::modern_http_server* self = nullptr;
  test::modern_http_server server(
      [&](test::http_peer& peer, const test::http_received& request, std::string_view id) {
        if (request.header("mcp-method") != "tools/call") return false;
        ++calls;
        if (request.header("mcp-param-place") == "here") return false;
        self->tools = good; // from now on
        peer.answer(400, "application/json", test::modern_http_server::refusal(id, -32020));
        return true;
      });
  self = &server;
  server.tools = R"({"name":"good","inputSchema":{"type":"object"}})";
  auto c = server.connect();
  ASSERT_THAT(c, test::IsOk());
  EXPECT_THAT(c->call_tool("good", R"({"place":"here"})"), test::IsOk());
  EXPECT_EQ(2, calls);
  EXPECT_FALSE(c->call_tool("good", R"({"place":"there"})")); // once again, but no more
  EXPECT_EQ(4, calls);
}

TEST(McpParameterHeadersOfClient, AServerThatRefusesARevisionItSupportsIsAskedAgain) {
  int asked = 0;
  test::modern_http_server server([&](test::http_peer& peer, const test::http_received& request,
                                      std::string_view id) {
    if (request.header("mcp-method") != "server/discover" || ++asked > 1) return false;
    peer.answer(400, "application/json",
                test::modern_http_server::refusal(id, -32022, R"({"supported":["2026-07-28"]})"));
    return true;
  });
  auto c = server.connect();
  ASSERT_THAT(c, test::IsOk());
  EXPECT_EQ("2026-07-28", c->server().revision);
  EXPECT_EQ(2, asked);
}

} // namespace
} // namespace paddock::mcp
