// SPDX-License-Identifier: MIT
// The library's own client against the library's own HTTP server.
#include "support/http/http_server_fixture.hpp"
#include "support/matchers.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::served;
using testing::ElementsAre;
using testing::HasSubstr;

http_endpoint endpoint_of(const served& s, http_kind kind = http_kind::automatic) {
  return {.url = s.address(), .kind = kind, .addresses = address_policy::any};
}

struct choice {
  const char* name;
  protocol_choice protocol;
  http_kind kind;
  std::string_view revision;
};

constexpr choice choices[] = {
    {"automatic", protocol_choice::automatic, http_kind::automatic, "2026-07-28"},
    {"modern", protocol_choice::modern, http_kind::streamable, "2026-07-28"},
    {"legacy", protocol_choice::legacy, http_kind::streamable, "2025-11-25"},
};

TEST(HttpOwnClient, TalksInEveryEra) {
  for (const choice& c : choices) {
    const served s;
    auto client = client::connect(endpoint_of(s, c.kind), {.protocol = c.protocol});
    ASSERT_THAT(client, test::IsOk()) << c.name;
    EXPECT_EQ(c.revision, client->server().revision) << c.name;
    EXPECT_EQ("fixture", client->server().name) << c.name;
    EXPECT_EQ(test::fixture_tools(s.waiting).size(), client->tools()->size()) << c.name;
    for (int i = 0; i < 20; ++i) {
      const std::string text = "call " + std::to_string(i);
      const auto reply = client->call_tool("echo", R"({"text":")" + text + "\"}");
      ASSERT_TRUE(reply) << c.name;
      EXPECT_THAT(reply->json, HasSubstr(text)) << c.name;
    }
    const auto failed = client->call_tool("fail", "{}");
    ASSERT_TRUE(failed) << c.name;
    EXPECT_TRUE(failed->failed) << c.name;
    EXPECT_FALSE(client->call_tool("nope", "{}")) << c.name;
    std::vector<double> steps;
    const call_options heard = {.on_progress = [&](double progress, double, std::string_view) {
      steps.push_back(progress);
    }};
    EXPECT_TRUE(client->call_tool("steps", "{}", heard)) << c.name;
    EXPECT_THAT(steps, ElementsAre(1.0, 2.5)) << c.name;
    const auto big = client->call_tool("big", R"({"bytes":1000000})");
    ASSERT_TRUE(big) << c.name;
    EXPECT_GT(big->json.size(), 1'000'000u) << c.name;
  }
}

TEST(HttpOwnClient, CancelsInEveryEra) {
  for (const choice& c : choices) {
    served s;
    auto client = client::connect(endpoint_of(s, c.kind), {.protocol = c.protocol});
    ASSERT_TRUE(client) << c.name;
    cancellation cancel;
    std::thread canceller([&] {
      s.waiting.wait_for_arrivals(1);
      cancel.request();
    });
    const auto reply = client->call_tool("block", "{}", {.cancel = &cancel});
    canceller.join();
    ASSERT_FALSE(reply) << c.name;
    EXPECT_EQ(error_code::cancelled, reply.error().code) << c.name;
    EXPECT_EQ(call_outcome::cancelled, s.calls.wait_for(1)) << c.name;
    EXPECT_TRUE(client->call_tool("fail", "{}")) << c.name;
  }
}

TEST(HttpOwnClient, SendsTheToken) {
  const served s({.token = "0123456789abcdef"});
  http_endpoint to = endpoint_of(s);
  EXPECT_THAT(client::connect(to), test::IsError(error_code::permission_denied, HasSubstr("401")));
  to.headers = {{"Authorization", "Bearer 0123456789abcdef"}};
  EXPECT_THAT(client::connect(to), test::IsOk());
}

TEST(HttpOwnClient, BeginsAnotherSessionWhenItsOwnMadeRoom) {
  served s({.sessions_max = 1});
  auto first = client::connect(endpoint_of(s), {.protocol = protocol_choice::legacy});
  auto second = client::connect(endpoint_of(s), {.protocol = protocol_choice::legacy});
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_TRUE(first->call_tool("fail", "{}")) << "its session made room for the second one";
  EXPECT_TRUE(second->call_tool("fail", "{}")) << "and that for the first one's new one";
  EXPECT_EQ(2u, s.calls.size());
}

} // namespace
} // namespace paddock::mcp
