// SPDX-License-Identifier: MIT

// Methods that extensions add to a server.

#include "support/matchers.hpp"
#include "support/mcp/mcp_fixture.hpp"

#include <paddock/mcp/server.hpp>

#include <new>
#include <stdexcept>

namespace paddock::mcp {
namespace {

using test::initialize;
using test::legacy;
using test::modern;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view server_info =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t","version":"0"}})";

std::string result(std::string_view object) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(object) + "}";
}

method_result repeat(call& c) {
  json_writer out;
  out.begin_object().member("said", c.arguments()["say"].string().value_or("nothing")).end_object();
  return {.json = out.take()};
}

extension talk() {
  extension e{.name = "example.org/talk", .settings = R"({"loud":true})"};
  e.capabilities = {"resources"};
  e.methods.push_back({.name = "talk/repeat", .time_to_live_ms = 0, .handler = repeat});
  e.methods.push_back({.name = "talk/empty", .time_to_live_ms = {}, .handler = [](call&) {
                         return method_result{.json = "{}"};
                       }});
  e.methods.push_back({.name = "talk/lines", .time_to_live_ms = {}, .handler = [](call&) {
                         return method_result{.json = "{\n \"a\": 1\n}\n"};
                       }});
  e.methods.push_back({.name = "talk/fail", .time_to_live_ms = {}, .handler = [](call&) {
                         return method_result::failure(rpc_error::invalid_params, "no \"such\"");
                       }});
  e.methods.push_back({.name = "talk/big", .time_to_live_ms = {}, .handler = [](call&) {
                         return method_result{.json = R"({"a":")" + std::string(5000, 'x') + "\"}"};
                       }});
  return e;
}

class McpExtension : public testing::Test {
protected:
  std::vector<std::string> lines(std::string_view line) { return server_.handle_line(line); }

  test::gate gate_;
  server_options options_{.name = "t", .limits = {.message_out_bytes_max = 4096}};
  server server_{options_, test::fixture_tools(gate_), {talk()}};
};

TEST_F(McpExtension, IsAdvertisedWhereTheRevisionKnowsExtensions) {
  const std::string capabilities =
      R"("capabilities":{"tools":{},"resources":{},"extensions":{"example.org/talk":{"loud":true}}})";
  EXPECT_THAT(lines(modern("server/discover")), ElementsAre(HasSubstr(capabilities)));
  EXPECT_THAT(lines(initialize("2025-11-25")), ElementsAre(HasSubstr(capabilities)));
  EXPECT_THAT(lines(initialize("2025-06-18")),
              ElementsAre(HasSubstr(R"("capabilities":{"tools":{},"resources":{}})")));
}

TEST_F(McpExtension, ModernResultsHaveWhatEveryResultHas) {
  const std::string info(server_info);
  EXPECT_THAT(lines(modern("talk/repeat", R"(,"say":"hi")")),
              ElementsAre(result(R"({"said":"hi","resultType":"complete","ttlMs":0,)"
                                 R"("cacheScope":"private",)" +
                                 info + "}")));
  EXPECT_THAT(lines(modern("talk/empty")),
              ElementsAre(result(R"({"resultType":"complete",)" + info + "}")));
  EXPECT_THAT(lines(modern("talk/lines")),
              ElementsAre(result(R"({  "a": 1 ,"resultType":"complete",)" + info + "}")));
}

TEST_F(McpExtension, LegacyResultsAreLeftAlone) {
  EXPECT_THAT(lines(legacy("talk/repeat", R"({"say":"hi"})")),
              ElementsAre(result(R"({"said":"hi"})")));
  EXPECT_THAT(lines(R"({"jsonrpc":"2.0","id":1,"method":"talk/repeat"})"),
              ElementsAre(result(R"({"said":"nothing"})")));
}

TEST_F(McpExtension, Errors) {
  EXPECT_THAT(
      lines(modern("talk/fail")),
      ElementsAre(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no \"such\""}})"));
  EXPECT_THAT(lines(legacy("talk/repeat", "[]")), ElementsAre(HasSubstr("-32602")));
  EXPECT_THAT(lines(modern("talk/unknown")), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(lines(legacy("talk/unknown")), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(lines(modern("talk/big")),
              ElementsAre(testing::AllOf(HasSubstr("-32602"), HasSubstr("4096 bytes that fit"))));
}

TEST_F(McpExtension, ErrorsMayHaveData) {
  extension e{.name = "example.org/e"};
  e.methods.push_back({.name = "e/fail", .handler = [](call&) {
                         return method_result::failure(rpc_error::invalid_params, "no",
                                                       R"({"uri":"a:b"})");
                       }});
  server failing(options_, {}, {e});
  EXPECT_THAT(failing.handle_line(modern("e/fail")),
              ElementsAre(HasSubstr(R"("message":"no","data":{"uri":"a:b"}})")));
}

TEST_F(McpExtension, MethodsOfOneEra) {
  extension e{.name = "example.org/e"};
  const auto nothing = [](call&) { return method_result{.json = "{}"}; };
  e.methods.push_back({.name = "e/old", .handler = nothing, .era = method_era::legacy});
  e.methods.push_back({.name = "e/new", .handler = nothing, .era = method_era::modern});
  server both(options_, {}, {e});
  EXPECT_THAT(both.handle_line(legacy("e/old")), ElementsAre(HasSubstr("result")));
  EXPECT_THAT(both.handle_line(modern("e/old")), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(both.handle_line(legacy("e/new")), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(both.handle_line(modern("e/new")), ElementsAre(HasSubstr("result")));
}

TEST_F(McpExtension, WithoutANameOnlyItsCapabilitiesAreAdvertised) {
  server plain(options_, {}, {extension{.capabilities = {"prompts", "completions"}}});
  const std::string capabilities = R"("capabilities":{"tools":{},"prompts":{},"completions":{}})";
  EXPECT_THAT(plain.handle_line(modern("server/discover")), ElementsAre(HasSubstr(capabilities)));
  EXPECT_THAT(plain.handle_line(initialize("2025-11-25")), ElementsAre(HasSubstr(capabilities)));
}

TEST_F(McpExtension, MethodsAreNotTools) {
  EXPECT_THAT(lines(modern("tools/list")), ElementsAre(Not(HasSubstr("talk/"))));
  EXPECT_THAT(lines(modern("tools/call", R"(,"name":"talk/empty")")),
              ElementsAre(HasSubstr("-32602")));
  EXPECT_THAT(lines(modern("echo", R"(,"text":"x")")), ElementsAre(HasSubstr("-32601")));
}

TEST_F(McpExtension, ObserversSeeMethods) {
  std::vector<std::string> seen;
  options_.observer = [&](const call_record& r) {
    seen.push_back(std::string(r.tool) +
                   (r.outcome == call_outcome::succeeded ? " ok" : " failed"));
  };
  server observed(options_, test::fixture_tools(gate_), {talk()});
  (void)observed.handle_line(modern("talk/empty"));
  (void)observed.handle_line(modern("talk/fail"));
  EXPECT_THAT(seen, ElementsAre("talk/empty ok", "talk/fail failed"));
}

// --- handlers that do what they should not -----------------------------------------------------

/// A tool and a method with one handler each.
server with(server_options options, const std::function<tool_result()>& run,
            std::string method = "x/run", json_origin origin = json_origin::unknown) {
  return {std::move(options),
          {{.name = "run", .origin = origin, .handler = [run](call&) { return run(); }},
           {.name = "well", .handler = [](call&) { return tool_result{.json = "{}"}; }}},
          {{.methods = {{.name = std::move(method),
                         .handler = [run](call&) { return method_result{.json = run().json}; },
                         .origin = origin}}}}};
}

const std::string modern_run = modern("tools/call", R"(,"name":"run")");
const std::string legacy_run = legacy("tools/call", R"({"name":"run"})");

TEST_F(McpExtension, AHandlerThatThrowsFailsItsCallAndNothingElse) {
  const struct {
    const char* name;
    std::function<tool_result()> run;
    const char* trouble;
  } cases[] = {
      {"an exception", []() -> tool_result { throw std::runtime_error("secret"); }, "secret"},
      {"no memory", []() -> tool_result { throw std::bad_alloc(); }, "bad_alloc"},
      {"a number", []() -> tool_result { throw 7; }, "no std::exception"},
  };
  for (const auto& c : cases)
    for (const char* method : {"x/run", "resources/read", "prompts/get"}) {
      std::vector<std::string> heard;
      options_.observer = [&](const call_record& r) {
        if (r.outcome == call_outcome::failed) heard.emplace_back(r.trouble);
      };
      server s = with(options_, c.run, method);
      for (const std::string& line : {modern_run, legacy_run, modern(method), legacy(method)})
        EXPECT_THAT(s.handle_line(line),
                    ElementsAre(testing::AllOf(HasSubstr("-32603"), HasSubstr("Internal error"),
                                               HasSubstr(R"("id":1)"), Not(HasSubstr("secret")))))
            << c.name << ": " << line;
      EXPECT_THAT(heard, testing::SizeIs(4));
      EXPECT_THAT(heard, testing::Each(HasSubstr(c.trouble))) << c.name;
      EXPECT_THAT(s.handle_line(modern("tools/call", R"(,"name":"well")")),
                  ElementsAre(HasSubstr(R"("structuredContent":{})")))
          << "the control";
    }
}

TEST_F(McpExtension, WhatOtherFunctionsThrowIsLost) {
  options_.observer = [](const call_record&) { throw std::runtime_error("observer"); };
  options_.current_instructions = []() -> std::string { throw std::runtime_error("instructions"); };
  options_.instructions = "Be kind.";
  server s = with(options_, [] { return tool_result{.json = "{}"}; });
  EXPECT_THAT(s.handle_line(modern_run), ElementsAre(HasSubstr(R"("structuredContent":{})")));
  EXPECT_THAT(s.handle_line(modern("server/discover")),
              ElementsAre(HasSubstr(R"("instructions":"Be kind.")")));
  EXPECT_THAT(s.handle_line(initialize("2025-11-25")),
              ElementsAre(HasSubstr(R"("instructions":"Be kind.")")));
}

TEST_F(McpExtension, ResultsThatAreNoJsonStayHere) {
  const char* cases[] = {"{",
                         "[]",
                         "7",
                         "null",
                         "\"x\"",
                         "{} {}",
                         "{}}",
                         "{\"a\":1,}",
                         "{'a':1}",
                         "{\"a\":nan}",
                         "{\"a\":\"\n\"}",
                         "{\"a\":\"\x80\"}",
                         "\xEF\xBB\xBF{}",
                         "{}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"};
  std::string trouble;
  options_.observer = [&](const call_record& r) { trouble = r.trouble; };
  for (const char* json : cases) {
    server s = with(options_, [&] { return tool_result{.json = json}; });
    for (const std::string& line : {modern_run, legacy_run, modern("x/run"), legacy("x/run")}) {
      EXPECT_THAT(s.handle_line(line), ElementsAre(HasSubstr("-32603"))) << json << ": " << line;
      EXPECT_THAT(trouble, HasSubstr("the result is ")) << json;
    }
    // The control: a handler that vouches for its results is believed.
    server believed =
        with(options_, [&] { return tool_result{.json = json}; }, "x/run", json_origin::writer);
    EXPECT_THAT(believed.handle_line(legacy_run), ElementsAre(Not(HasSubstr("-32603")))) << json;
  }
  for (const char* content : {"{}", "[", "[{]", "\xEF\xBB\xBF[]", "[]]"}) {
    server s = with(options_, [&] { return tool_result{.json = "{}", .content = content}; });
    EXPECT_THAT(s.handle_line(modern_run), ElementsAre(HasSubstr("-32603"))) << content;
  }
  for (const char* json :
       {"{}", " {\n\"a\":\"\\ud800\",\"b\":1e999,\"c\":123456789012345678901}\r\n"}) {
    server s = with(options_, [&] { return tool_result{.json = json, .content = " [\n]"}; });
    EXPECT_THAT(s.handle_line(modern_run),
                ElementsAre(testing::AllOf(Not(HasSubstr("error")), Not(HasSubstr("\n")))))
        << json;
  }
}

TEST_F(McpExtension, AVouchedResultThatIsNoObjectFailsItsCallAndNothingElse) {
  for (const char* json : {"", " \n", "{", "}", "7", "null", "[]", "x", "\"\""}) {
    server s =
        with(options_, [&] { return tool_result{.json = json}; }, "x/run", json_origin::writer);
    for (const std::string& line : {modern("x/run"), legacy("x/run")})
      EXPECT_THAT(s.handle_line(line),
                  ElementsAre(testing::AllOf(HasSubstr("-32603"), HasSubstr("Internal error"))))
          << json << ": " << line;
    EXPECT_THAT(s.handle_line(modern("tools/call", R"(,"name":"well")")),
                ElementsAre(HasSubstr(R"("structuredContent":{})")))
        << "the control";
  }
}

TEST_F(McpExtension, ContentAloneIsAResult) {
  for (const bool failed : {false, true}) {
    server s = with(options_,
                    [&] { return tool_result{.error = failed ? "other" : "", .content = "[]"}; });
    EXPECT_THAT(s.handle_line(legacy_run),
                ElementsAre(result(R"({"content":[],"isError":)" +
                                   std::string(failed ? "true" : "false") + "}")));
  }
}

TEST_F(McpExtension, MembersThatTheServerAddsAreNotSaidTwice) {
  for (const char* json : {R"({"_meta":{}})", R"({"resultType":"complete"})", R"({"ttlMs":1})",
                           R"({"cacheScope":"public"})"}) {
    server s = with(options_, [&] { return tool_result{.json = json}; });
    EXPECT_THAT(s.handle_line(modern("x/run")), ElementsAre(HasSubstr("-32603"))) << json;
    EXPECT_THAT(s.handle_line(legacy("x/run")), ElementsAre(result(json)));
  }
}

TEST_F(McpExtension, DataOfErrorsIsJson) {
  for (const char* data : {"{", "x", "7 7", "\xEF\xBB\xBF{}"}) {
    extension e{.methods = {{.name = "e/fail", .handler = [&](call&) {
                               return method_result::failure(rpc_error::invalid_params, "no", data);
                             }}}};
    server failing(options_, {}, {e});
    EXPECT_THAT(failing.handle_line(modern("e/fail")), ElementsAre(HasSubstr("-32603"))) << data;
  }
}

// --- parts that fit together, or not -----------------------------------------------------------

TEST(McpServerParts, ThatDoNotFitAreRefusedWithASentence) {
  const auto tool_of = [](std::string name) {
    return tool{.name = std::move(name), .handler = [](call&) { return tool_result{"{}"}; }};
  };
  const auto method_of = [](std::string name, method_era era = method_era::every) {
    return extension_method{
        .name = std::move(name), .handler = [](call&) { return method_result{"{}"}; }, .era = era};
  };
  const auto schema = [&](std::string input, std::string output) {
    tool t = tool_of("a");
    t.input_schema = std::move(input);
    t.output_schema = std::move(output);
    return t;
  };
  const auto settings = [](std::string name, std::string json) {
    return extension{.name = std::move(name), .settings = std::move(json)};
  };
  const struct {
    std::vector<tool> tools;
    std::vector<extension> extensions;
    const char* why; ///< empty: they fit
  } cases[] = {
      {{tool_of("a"), tool_of("b")}, {{.methods = {method_of("a"), method_of("b")}}}, ""},
      {{tool_of("a"), tool_of("b"), tool_of("a")}, {}, "two tools are called a"},
      {{{.name = "a"}}, {}, "the tool a has no handler"},
      {{tool_of("")}, {}, "a tool has no name"},
      {{schema("{", "")}, {}, "the tool a has an input_schema that is not JSON"},
      {{schema("[]", "")}, {}, "the tool a has an input_schema that is not an object"},
      {{schema("", "{}x")}, {}, "the tool a has an output_schema that is not JSON"},
      {{schema("{}", "{}")}, {}, ""},
      {{}, {{.methods = {method_of("a"), method_of("a")}}}, "two methods are called a"},
      {{},
       {{.methods = {method_of("a")}}, {.methods = {method_of("a")}}},
       "two methods are called a"},
      {{},
       {{.methods = {method_of("a", method_era::legacy), method_of("a", method_era::modern)}}},
       "two methods are called a"},
      {{}, {{.methods = {{.name = "a"}}}}, "the method a has no handler"},
      {{}, {{.methods = {method_of("")}}}, "a method has no name"},
      {{}, {{.methods = {method_of("tools/call")}}}, "the server's own"},
      {{}, {{.methods = {method_of("server/discover")}}}, "the server's own"},
      {{}, {settings("x", "7")}, "the settings of the extension x are not an object"},
      {{}, {settings("x", R"({"a":1})"), settings("x", R"({"a":2})")}, "contradict"},
      {{}, {settings("x", R"({"a":{"b":1}})"), settings("x", R"({"a":[]})")}, "contradict"},
      {{}, {settings("x", R"({"a":{"b":1}})"), settings("x", R"({"a":{"c":2,"b":1}})")}, ""},
      {{}, {{.capabilities = {""}}}, "capability"},
      {{}, {{.capabilities = {"extensions"}}}, "capability"},
  };
  for (const auto& c : cases) {
    const auto made = server::make({.name = "t"}, c.tools, c.extensions);
    if (*c.why == '\0') {
      EXPECT_THAT(made, test::IsOk());
      continue;
    }
    ASSERT_THAT(made, test::IsError(error_code::invalid_argument)) << c.why;
    EXPECT_THAT(made.error().detail, HasSubstr(c.why));
  }
}

TEST(McpServerParts, ThatAdvertiseTheSameAreAdvertisedOnce) {
  const extension parts[] = {
      {.name = "x", .settings = R"({"a":{"b":1},"list":[1]})", .capabilities = {"resources"}},
      {.name = "y", .capabilities = {"prompts", "resources", "tools", "logging"}},
      {.name = "x", .settings = R"({"a":{"c":{"d":true}},"list":[1],"e":null})"},
  };
  server s({.name = "t", .logging = client_logging::offered}, {},
           {std::begin(parts), std::end(parts)});
  const std::string capabilities =
      R"("capabilities":{"tools":{},"logging":{},"resources":{},"prompts":{},"extensions":{)"
      R"("x":{"a":{"b":1,"c":{"d":true}},"list":[1],"e":null},"y":{}}})";
  EXPECT_THAT(s.handle_line(modern("server/discover")), ElementsAre(HasSubstr(capabilities)));
  EXPECT_THAT(s.handle_line(initialize("2025-11-25")), ElementsAre(HasSubstr(capabilities)));
}

TEST(McpServerParts, SchemasWithLineBreaksDoNotTearTheLine) {
  server s({.name = "t"},
           {{.name = "a",
             .output_schema = "{\n\"type\": \"object\"\r\n}",
             .input_schema = "{\n\"type\":\n\"object\"}",
             .handler = [](call&) { return tool_result{"{}"}; }}},
           {{.name = "x", .settings = "{\n\"a\": 1}"}});
  for (const std::string_view method : {"tools/list", "server/discover"})
    EXPECT_THAT(s.handle_line(modern(method)), ElementsAre(Not(HasSubstr("\n")))) << method;
}

// --- results that may be kept ------------------------------------------------------------------

TEST(McpCaching, ResultsThatAreCacheableSaySo) {
  const struct {
    const char* method;
    std::optional<std::int64_t> stated_ms;
    const char* hints; ///< in 2026-07-28
  } cases[] = {
      {"prompts/list", {}, R"("ttlMs":0,"cacheScope":"private")"},
      {"resources/list", {}, R"("ttlMs":0,"cacheScope":"private")"},
      {"resources/templates/list", {}, R"("ttlMs":0,"cacheScope":"private")"},
      {"resources/read", {}, R"("ttlMs":0,"cacheScope":"private")"},
      {"resources/read", 5000, R"("ttlMs":5000,"cacheScope":"private")"},
      {"resources/read", -5, R"("ttlMs":0,"cacheScope":"private")"},
      {"prompts/get", {}, ""},
      {"completion/complete", {}, ""},
      {"x/y", {}, ""},
      {"x/y", 7, R"("ttlMs":7,"cacheScope":"private")"},
  };
  for (const auto& c : cases) {
    server s({.name = "t"}, {},
             {{.methods = {{.name = c.method, .time_to_live_ms = c.stated_ms, .handler = [](call&) {
                              return method_result{.json = "{}"};
                            }}}}});
    const auto hints = *c.hints == '\0' ? Not(HasSubstr("ttlMs"))
                                        : testing::Matcher<std::string>(HasSubstr(c.hints));
    EXPECT_THAT(s.handle_line(modern(c.method)), ElementsAre(hints)) << c.method;
    EXPECT_THAT(s.handle_line(legacy(c.method)), ElementsAre(Not(HasSubstr("ttlMs")))) << c.method;
    if (*c.hints != '\0') {
      EXPECT_THAT(s.handle_line(modern(c.method, R"(,"inputResponses":{})")),
                  ElementsAre(HasSubstr(R"("ttlMs":0)")))
          << "what depends on answers is not kept";
    }
  }
  server s({.name = "t"}, {{.name = "a", .handler = [](call&) { return tool_result{"{}"}; }}});
  for (const std::string_view method : {"tools/list", "server/discover"})
    EXPECT_THAT(s.handle_line(modern(method)),
                ElementsAre(HasSubstr(R"("ttlMs":3600000,"cacheScope":"public")")))
        << method;
  EXPECT_THAT(s.handle_line(modern("tools/call", R"(,"name":"a")")),
              ElementsAre(Not(HasSubstr("ttlMs"))));
}

TEST_F(McpExtension, CurrentInstructionsAreAskedForEachTime) {
  int asked = 0;
  options_.instructions = "Be kind.";
  options_.current_instructions = [&] { return "Asked " + std::to_string(++asked) + " times."; };
  server current(options_, test::fixture_tools(gate_));
  EXPECT_THAT(
      current.handle_line(modern("server/discover")),
      ElementsAre(HasSubstr(
          R"("instructions":"Be kind.\n\nAsked 1 times.","ttlMs":0,"cacheScope":"private")")));
  EXPECT_THAT(current.handle_line(initialize("2025-11-25")),
              ElementsAre(HasSubstr(R"("instructions":"Be kind.\n\nAsked 2 times.")")));
  options_.current_instructions = [] { return std::string(); };
  server silent(options_, test::fixture_tools(gate_));
  EXPECT_THAT(silent.handle_line(modern("server/discover")),
              ElementsAre(HasSubstr(R"("instructions":"Be kind.","ttlMs":0)")));
}

} // namespace
} // namespace paddock::mcp
