// SPDX-License-Identifier: MIT

// Methods that extensions add to a server.

#include "support/matchers.hpp"
#include "support/mcp_fixture.hpp"

#include <paddock/mcp/server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view server_info =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t","version":"0"}})";

std::string modern(std::string_view method, std::string_view more = "") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
         R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}})" +
         std::string(more) + "}}";
}
std::string legacy(std::string_view method, std::string_view params = "{}") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}";
}
std::string initialize(std::string_view version) {
  return legacy("initialize",
                R"({"protocolVersion":")" + std::string(version) + R"(","capabilities":{}})");
}
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
              ElementsAre(testing::AllOf(HasSubstr("-32603"), HasSubstr("4096 bytes that fit"))));
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
