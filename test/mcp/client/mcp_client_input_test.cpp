// SPDX-License-Identifier: MIT

// Servers that ask the client's user or model during a call.

#include "support/http/modern_http_server.hpp"
#include "support/matchers.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::http_peer;
using test::http_received;
using test::modern_http_server;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view question =
    R"({"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},)"
    R"("requestState":"s \"1\""})";

/// Asks until `rounds` answers have come.
modern_http_server::reaction ask(int& rounds, std::string_view how = question) {
  return [&rounds, how](http_peer& peer, const http_received& request, std::string_view id) {
    if (request.header("mcp-method") != "tools/call" || rounds-- <= 0) return false;
    peer.answer(200, "application/json", modern_http_server::result_of(id, how));
    return true;
  };
}

client_options answering(std::vector<std::string>& asked, std::optional<std::string> with) {
  return {.on_input =
              [&asked, with](std::string_view requests) {
                asked.emplace_back(requests);
                return with;
              },
          .capabilities = R"({"elicitation":{}})"};
}

TEST(CallReply, HasTextAndStructuredContent) {
  const call_reply both{.json =
                            R"({"content":[{"type":"text","text":"a"},{"type":"image","data":""},)"
                            R"({"type":"text","text":"b"}],"structuredContent":{"n":1}})"};
  EXPECT_EQ("a\nb", both.text());
  EXPECT_EQ(R"({"n":1})", both.structured());
  EXPECT_EQ("", call_reply{.json = R"({"content":[]})"}.structured());
  EXPECT_EQ("", call_reply{.json = "no JSON"}.text());
}

TEST(McpClientInput, IsGivenInTheNextRound) {
  int rounds = 1;
  modern_http_server server(ask(rounds));
  std::vector<std::string> asked;
  auto c = server.connect(nullptr, answering(asked, "{\"a\":\n{\"action\":\"accept\"}}"));
  ASSERT_THAT(c, test::IsOk());
  EXPECT_THAT(c->call_tool("t", R"({"x":1})"), test::IsOk());
  EXPECT_THAT(asked, ElementsAre(R"({"a":{"method":"elicitation/create"}})"));
  const auto calls = server.requests("tools/call");
  ASSERT_EQ(2U, calls.size());
  EXPECT_THAT(calls[0].body,
              HasSubstr(R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}})"));
  EXPECT_THAT(calls[0].body, Not(HasSubstr("inputResponses")));
  EXPECT_THAT(calls[1].body,
              HasSubstr(R"("arguments":{"x":1},"inputResponses":{"a":{"action":"accept"}},)"
                        R"("requestState":"s \"1\"")"));
  json_document first;
  json_document second;
  ASSERT_THAT(first.parse(calls[0].body), test::IsOk());
  ASSERT_THAT(second.parse(calls[1].body), test::IsOk());
  EXPECT_NE(first.root()["id"].integer(), second.root()["id"].integer());
  EXPECT_THAT(c->call_tool("other", "{}"), test::IsOk());
  EXPECT_THAT(server.requests("tools/call").back().body, Not(HasSubstr("requestState")));
}

TEST(McpClientInput, MayBeStateAlone) {
  int rounds = 1;
  modern_http_server server(ask(rounds, R"({"resultType":"input_required","requestState":"s"})"));
  std::vector<std::string> asked;
  auto c = server.connect(nullptr, answering(asked, "{}"));
  ASSERT_THAT(c, test::IsOk());
  EXPECT_THAT(c->call_tool("t", "{}"), test::IsOk());
  EXPECT_THAT(asked, testing::IsEmpty());
  EXPECT_THAT(server.requests("tools/call").back().body, HasSubstr(R"("requestState":"s")"));
}

TEST(McpClientInput, EndsTheCallWhenNobodyAnswers) {
  for (const std::optional<std::string>& with :
       {std::optional<std::string>(), std::optional<std::string>("7"),
        std::optional<std::string>("{")}) {
    int rounds = 1;
    modern_http_server server(ask(rounds));
    std::vector<std::string> asked;
    auto c = server.connect(nullptr, answering(asked, with));
    ASSERT_THAT(c, test::IsOk());
    EXPECT_THAT(c->call_tool("t", "{}"), test::IsError(error_code::unsupported));
    EXPECT_EQ(1U, asked.size());
  }
  int rounds = 1;
  modern_http_server server(ask(rounds));
  auto c = server.connect();
  ASSERT_THAT(c, test::IsOk());
  EXPECT_THAT(c->call_tool("t", "{}"), test::IsError(error_code::unsupported));
}

TEST(McpClientInput, IsNotGivenForEver) {
  int rounds = 1'000'000;
  modern_http_server server(ask(rounds));
  std::vector<std::string> asked;
  auto c = server.connect(nullptr, answering(asked, "{}"));
  ASSERT_THAT(c, test::IsOk());
  EXPECT_THAT(c->call_tool("t", "{}"), test::IsError(error_code::unsupported));
  EXPECT_EQ(16U, asked.size());
}

TEST(McpClientInput, CapabilitiesAreAnObject) {
  modern_http_server server(test::as_usual);
  for (const char* wrong : {"", "7", "{\n}", "{} {}"})
    EXPECT_THAT(server.connect(nullptr, {.capabilities = wrong}),
                test::IsError(error_code::invalid_argument))
        << wrong;
}

} // namespace
} // namespace paddock::mcp
