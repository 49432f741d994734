// SPDX-License-Identifier: MIT

// Calls that ask the client's user or model and go on in a later request.

#include "mcp/protocol/input_round.hpp"
#include "support/matchers.hpp"

#include <paddock/mcp/server.hpp>

namespace paddock::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(McpInputRound, StatesOpenOnlyAsTheyWereSealed) {
  constexpr std::int64_t now = 1'800'000'000;
  const std::string sealed = seal_state("key", "purpose", "state", now);
  EXPECT_EQ("state", open_state("key", "purpose", sealed, now));
  EXPECT_EQ("state", open_state("key", "purpose", sealed, now + state_lifetime_s));
  EXPECT_EQ("", open_state("key", "p", seal_state("key", "p", "", now), now));
  const struct {
    const char* name;
    std::string_view key;
    std::string_view purpose;
    std::string sealed;
    std::int64_t now_s;
  } cases[] = {
      {"another key", "KEY", "purpose", sealed, now},
      {"another purpose", "key", "purpos", sealed, now},
      {"too late", "key", "purpose", sealed, now + state_lifetime_s + 1},
      {"something added", "key", "purpose", sealed + "-TAMPERED", now},
      {"something cut", "key", "purpose", sealed.substr(0, sealed.size() - 1), now},
      {"the state alone", "key", "purpose", "state", now},
      {"nothing", "key", "purpose", "", now},
      {"no key", "", "purpose", seal_state("", "purpose", "state", now), now},
  };
  for (const auto& c : cases)
    EXPECT_EQ(std::nullopt, open_state(c.key, c.purpose, c.sealed, c.now_s)) << c.name;
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(std::nullopt, open_state("key", "purpose", changed, now)) << "byte " << i;
  }
}

TEST(McpInputRound, CapabilitiesThatAreMissing) {
  const struct {
    const char* requests;
    const char* declared;
    const char* missing;
  } cases[] = {
      {"", "{}", ""},
      {"{}", "{}", ""},
      {R"({"a":{"method":"elicitation/create"}})", R"({"elicitation":{}})", ""},
      {R"({"a":{"method":"elicitation/create"}})", R"({"sampling":{}})", R"({"elicitation":{}})"},
      {R"({"a":{"method":"elicitation/create"}})", R"({"elicitation":true})",
       R"({"elicitation":{}})"},
      {R"({"a":{"method":"roots/list"},"b":{"method":"sampling/createMessage"},)"
       R"("c":{"method":"roots/list"}})",
       "{}", R"({"roots":{},"sampling":{}})"},
  };
  for (const auto& c : cases) {
    json_document declared;
    ASSERT_THAT(declared.parse(c.declared), test::IsOk());
    const std::string expected =
        *c.missing == '\0' ? "" : R"({"requiredCapabilities":)" + std::string(c.missing) + "}";
    EXPECT_EQ(expected, undeclared_capabilities(c.requests, declared.root())) << c.requests;
  }
}

// --- through the server ---

constexpr std::string_view name_wanted =
    R"({"name":{"method":"elicitation/create","params":{"message":"Who?"}}})";

tool_result greet(call& c) {
  const auto name = c.answer("name")["content"]["name"].string();
  if (!name) return {.needed = input_needed{std::string(name_wanted), "asked"}};
  json_writer out;
  out.begin_object().member("greeting", *name).member("state", c.state()).end_object();
  return {.json = out.take()};
}

extension prompts() {
  return {.capabilities = {"prompts"},
          .methods = {{.name = "prompts/get", .handler = [](call& c) -> method_result {
                         if (!c.answer("name").exists())
                           return {.needed = input_needed{std::string(name_wanted), {}}};
                         return {.json = R"({"messages":[]})"};
                       }}}};
}

std::vector<tool> tools() {
  return {{.name = "greet",
           .description = "Greets.",
           .parameters = {{.name = "x", .presence = presence::optional}},
           .handler = greet},
          {.name = "free",
           .description = "Takes anything.",
           .input_schema = R"({"type":"object"})",
           .handler = greet},
          {.name = "other", .description = "Greets, too.", .handler = greet}};
}

std::string request(std::string_view method, std::string_view params,
                    std::string_view capabilities = R"({"elicitation":{}})") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
         R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":)" +
         std::string(capabilities) + "}," + std::string(params) + "}}";
}

class McpInputRounds : public testing::Test {
protected:
  std::string answer(std::string_view line) {
    const auto lines = server_.handle_line(line);
    EXPECT_EQ(1U, lines.size());
    return lines.empty() ? "" : lines.front();
  }
  /// The state of a first round.
  std::string state(std::string_view params = R"("name":"greet")") {
    json_document document;
    const std::string line = answer(request("tools/call", params));
    EXPECT_THAT(document.parse(line), test::IsOk());
    return std::string(document.root()["result"]["requestState"].string().value_or(""));
  }

  server server_{{.name = "t"}, tools(), {prompts()}};
};

std::string answers(std::string_view state, std::string_view responses,
                    std::string_view call = R"("name":"greet")") {
  return request("tools/call", std::string(call) + R"(,"inputResponses":)" +
                                   std::string(responses) + R"(,"requestState":")" +
                                   std::string(state) + '"');
}
constexpr std::string_view ada = R"({"name":{"action":"accept","content":{"name":"Ada"}}})";

TEST_F(McpInputRounds, AskAndGoOn) {
  EXPECT_THAT(answer(request("tools/call", R"("name":"greet")")),
              AllOf(HasSubstr(R"("result":{"inputRequests":)" + std::string(name_wanted)),
                    HasSubstr(R"("resultType":"input_required")"), HasSubstr("serverInfo"),
                    Not(HasSubstr("isError")), Not(HasSubstr("ttlMs"))));
  EXPECT_THAT(answer(answers(state(), ada)),
              AllOf(HasSubstr(R"("structuredContent":{"greeting":"Ada","state":"asked"})"),
                    HasSubstr(R"("resultType":"complete")")));
}

TEST_F(McpInputRounds, StatesAreForTheSameCall) {
  const std::string given = state();
  EXPECT_THAT(answer(answers(given + "x", ada)), HasSubstr("-32602"));
  EXPECT_THAT(answer(answers(given, ada, R"("name":"other")")), HasSubstr("-32602"));
  EXPECT_THAT(answer(answers(given, ada, R"("name":"greet","arguments":{"x":"y"})")),
              HasSubstr("-32602"));
  EXPECT_THAT(answer(answers(state(R"("name":"greet","arguments":{"x":"y"})"), ada,
                             R"("name":"greet","arguments":{"x":"y"})")),
              HasSubstr(R"("Ada")"));
  server elsewhere({.name = "t"}, tools(), {prompts()});
  EXPECT_THAT(elsewhere.handle_line(answers(given, ada)), ElementsAre(HasSubstr("-32602")));
}

TEST_F(McpInputRounds, StatesDoNotDependOnHowTheCallIsWritten) {
  const std::string first =
      R"("name":"free","arguments":{"a":{"x":1,"y":[1,{"p":2,"q":3}]},"b":"ä"})";
  const std::string given = state(first);
  const char* same[] = {
      R"("name":"free","arguments":{"b":"ä","a":{"y":[1,{"q":3,"p":2}],"x":1}})",
      R"("arguments":{"a":{"x":1,"y":[1,{"p":2,"q":3}]},"b":"ä"},"name":"free")",
      R"( "name" : "free" , "arguments":{ "b":"\u00e4", "a":{"x":1.0,"y":[1e0,{"p":2,"q":3}]}})",
      R"("name":"free","arguments":{"b":"","a":{"x":1,"y":[1,{"p":2,"q":3}]},"b":"ä"})",
  };
  for (const char* call : same)
    EXPECT_THAT(answer(answers(given, ada, call)), HasSubstr(R"("Ada")")) << call;
  const char* others[] = {
      R"("name":"free","arguments":{"a":{"x":1,"y":[{"p":2,"q":3},1]},"b":"ä"})",
      R"("name":"free","arguments":{"a":{"x":"1","y":[1,{"p":2,"q":3}]},"b":"ä"})",
      R"("name":"free","arguments":{"a":{"x":1,"y":[1,{"p":2,"q":3}],"b":"ä"}})",
      R"("name":"free","arguments":{"a":{"x":1.5,"y":[1,{"p":2,"q":3}]},"b":"ä"})",
      R"("name":"free","arguments":{"a":{"x":1,"y":[1,{"p":2,"q":3}]}})",
  };
  for (const char* call : others)
    EXPECT_THAT(answer(answers(given, ada, call)), HasSubstr("-32602")) << call;
}

TEST_F(McpInputRounds, RequestsThatAreNoneFailTheirCallOnly) {
  for (const char* requests : {"{", "[]", "7", R"({"a":{}})", R"({"a":{"method":"tools/call"}})",
                               R"({"a":{"method":"roots/list"}} )"
                               "x",
                               "\xEF\xBB\xBF"
                               R"({"a":{"method":"roots/list"}})"}) {
    server asking({.name = "t"}, {{.name = "ask", .handler = [&](call&) {
                                     return tool_result{.needed = input_needed{requests, {}}};
                                   }}});
    EXPECT_THAT(asking.handle_line(request("tools/call", R"("name":"ask")")),
                ElementsAre(HasSubstr("-32603")))
        << requests;
  }
  server proper({.name = "t"},
                {{.name = "ask", .handler = [](call&) -> tool_result {
                    return {.needed = input_needed{R"({"a":{"method":"roots/list"}})", {}}};
                  }}});
  EXPECT_THAT(proper.handle_line(request("tools/call", R"("name":"ask")")),
              ElementsAre(Not(HasSubstr("-32603"))))
      << "the control";
  server wrong({.name = "t"}, {},
               {{.methods = {{.name = "x/ask", .handler = [](call&) -> method_result {
                                return {.needed = input_needed{std::string(name_wanted), {}}};
                              }}}}});
  EXPECT_THAT(wrong.handle_line(request("x/ask", "\"a\":1")), ElementsAre(HasSubstr("-32603")));
}

TEST_F(McpInputRounds, ServersWithTheSameKeyTakeTurns) {
  server one({.name = "t", .state_key = "secret"}, tools());
  server two({.name = "t", .state_key = "secret"}, tools());
  json_document document;
  const auto lines = one.handle_line(request("tools/call", R"("name":"greet")"));
  ASSERT_EQ(1U, lines.size());
  ASSERT_THAT(document.parse(lines.front()), test::IsOk());
  const auto given = document.root()["result"]["requestState"].string();
  ASSERT_TRUE(given);
  EXPECT_THAT(two.handle_line(answers(*given, ada)), ElementsAre(HasSubstr(R"("Ada")")));
}

TEST_F(McpInputRounds, AnswersThatAreNone) {
  const char* again[] = {"{}", R"({"other":{}})", R"({"name":7})", R"({"name":null})",
                         R"({"name":{"action":"decline"}})"};
  for (const char* responses : again)
    EXPECT_THAT(answer(answers(state(), responses)), HasSubstr("input_required")) << responses;
  for (const char* responses : {"7", "null", "[]", R"("name")"})
    EXPECT_THAT(answer(answers(state(), responses)), HasSubstr("-32602")) << responses;
  EXPECT_THAT(answer(request("tools/call", R"("name":"greet","requestState":7)")),
              HasSubstr("-32602"));
}

TEST_F(McpInputRounds, ClientsThatCannotBeAsked) {
  EXPECT_THAT(answer(request("tools/call", R"("name":"greet")", R"({"sampling":{}})")),
              AllOf(HasSubstr("-32021"),
                    HasSubstr(R"("data":{"requiredCapabilities":{"elicitation":{}}})")));
  EXPECT_THAT(answer(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}})"),
              AllOf(HasSubstr(R"("isError":true)"), HasSubstr("only clients of 2026-07-28")));
  EXPECT_THAT(answer(R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}})"),
              AllOf(HasSubstr("-32600"), HasSubstr("only clients of 2026-07-28")));
}

TEST_F(McpInputRounds, MethodsMayAsk) {
  EXPECT_THAT(answer(request("prompts/get", R"("name":"p")")),
              AllOf(HasSubstr(R"("resultType":"input_required")"), Not(HasSubstr("requestState"))));
  EXPECT_THAT(answer(request("prompts/get", R"("name":"p","inputResponses":)" + std::string(ada))),
              AllOf(HasSubstr(R"("messages":[])"), HasSubstr(R"("resultType":"complete")")));
}

} // namespace
} // namespace paddock::mcp
