// SPDX-License-Identifier: MIT
#include "support/matchers.hpp"
#include "support/mcp/mcp_fixture.hpp"
#include "support/words.hpp"

#include <paddock/mcp/json_rpc.hpp>
#include <paddock/mcp/server.hpp>

namespace paddock::mcp {
namespace {

using test::fixture_options;
using test::fixture_tools;
using test::initialize;
using test::legacy;
using test::modern;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class McpProtocol : public testing::Test {
protected:
  std::vector<std::string> lines(std::string_view line) { return server_.handle_line(line); }
  /// The only answer, parsed; its text is kept.
  json_view answer(std::string_view line) {
    const auto all = lines(line);
    EXPECT_EQ(1U, all.size()) << line;
    last_ = all.empty() ? "null" : all.front();
    EXPECT_THAT(document_.parse(last_), test::IsOk()) << last_;
    return document_.root();
  }
  std::int64_t error_of(std::string_view line) {
    return answer(line)["error"]["code"].integer().value_or(0);
  }

  test::gate gate_;
  server server_{fixture_options(), fixture_tools(gate_)};
  json_document document_;
  std::string last_;
};

// --- which revision a message speaks ---

TEST_F(McpProtocol, ErrorCodesByMessage) {
  const std::string capabilities_only =
      R"({"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}})";
  const std::string version_only =
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})";
  const auto version = [](std::string_view v) {
    return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":)" + std::string(v) +
           R"(,"io.modelcontextprotocol/clientCapabilities":{}}})";
  };
  const struct {
    const char* name;
    std::string line;
    std::int64_t code;
    bool has_id;
  } cases[] = {
      {"not JSON", "not json", -32700, false},
      {"invalid UTF-8", "{\"a\":\"\xFF\"}", -32700, false},
      {"trailing garbage", R"({"jsonrpc":"2.0","id":1,"method":"ping"} x)", -32700, false},
      {"depth bomb", std::string(10'000, '['), -32700, false},
      {"empty batch", "[]", -32600, false},
      {"batch before any handshake", "[" + legacy("ping") + "]", -32600, false},
      {"a number", "7", -32600, false},
      {"no jsonrpc", R"({"id":1,"method":"ping"})", -32600, false},
      {"jsonrpc 1.0", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, false},
      {"id null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, false},
      {"id fraction", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, false},
      {"id beyond 64 bits", R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"})",
       -32600, false},
      {"id object", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600, false},
      {"id of 2 KiB",
       R"({"jsonrpc":"2.0","id":")" + std::string(2048, 'x') + R"(","method":"ping"})", -32600,
       false},
      {"method a number", R"({"jsonrpc":"2.0","id":1,"method":7})", -32600, false},
      {"neither method nor result", R"({"jsonrpc":"2.0","id":1})", -32600, false},
      {"discover without params", R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})", -32602,
       true},
      {"discover without envelope", legacy("server/discover"), -32602, true},
      {"discover, capabilities only", legacy("server/discover", capabilities_only), -32602, true},
      {"envelope without capabilities", legacy("tools/list", version_only), -32602, true},
      {"envelope version a number", legacy("tools/list", version("7")), -32602, true},
      {"envelope version null", legacy("tools/list", version("null")), -32602, true},
      {"listen without envelope", legacy("subscriptions/listen"), -32602, true},
      {"envelope 1900-01-01", legacy("tools/list", version("\"1900-01-01\"")), -32022, true},
      {"envelope 2025-11-25", legacy("tools/list", version("\"2025-11-25\"")), -32022, true},
      {"version is checked before method", legacy("foo/bar", version("\"1900-01-01\"")), -32022,
       true},
      {"modern ping", modern("ping"), -32601, true},
      {"modern initialize", modern("initialize"), -32601, true},
      {"modern unknown method", modern("foo/bar"), -32601, true},
      {"modern logging", modern("logging/setLevel"), -32601, true},
      {"modern prompts", modern("prompts/list"), -32601, true},
      {"modern tasks", modern("tasks/get"), -32601, true},
      {"modern cursor", modern("tools/list", R"(,"cursor":"zzz")"), -32602, true},
      {"modern listen without notifications", modern("subscriptions/listen"), -32602, true},
      {"modern unknown tool", modern("tools/call", R"(,"name":"nope")"), -32602, true},
      {"modern call without name", modern("tools/call"), -32602, true},
      {"modern arguments an array", modern("tools/call", R"(,"name":"echo","arguments":[])"),
       -32602, true},
      {"legacy unknown method", legacy("foo/bar"), -32601, true},
      {"legacy resources", legacy("resources/list"), -32601, true},
      {"legacy logging", legacy("logging/setLevel", R"({"level":"info"})"), -32601, true},
      {"legacy cursor", legacy("tools/list", R"({"cursor":"zzz"})"), -32602, true},
      {"legacy unknown tool", legacy("tools/call", R"({"name":"nope"})"), -32602, true},
      {"a tool called toString", legacy("tools/call", R"({"name":"toString"})"), -32602, true},
      {"legacy name a number", legacy("tools/call", R"({"name":7})"), -32602, true},
      {"legacy params an array", legacy("tools/call", "[]"), -32602, true},
      {"legacy arguments a string", legacy("tools/call", R"({"name":"echo","arguments":"x"})"),
       -32602, true},
      {"initialize without version", legacy("initialize"), -32602, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.code, error_of(c.line)) << last_;
    EXPECT_EQ(c.has_id, document_.root()["id"].exists()) << last_;
    EXPECT_FALSE(document_.root()["result"].exists());
  }
}

TEST_F(McpProtocol, SilenceForWhatIsNotARequest) {
  for (const char* line :
       {"", "  ", "\r", R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"foo/bar","params":[]})",
        R"({"jsonrpc":"2.0","method":"ping"})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})"}) {
    EXPECT_THAT(lines(line), IsEmpty()) << line;
  }
  EXPECT_THAT(lines(legacy("ping")), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
}

TEST_F(McpProtocol, UnsupportedVersionNamesBothSides) {
  const json_view e = answer(legacy(
      "tools/list",
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}})"))
      ["error"];
  EXPECT_EQ(R"({"supported":["2026-07-28"],"requested":"1900-01-01"})", e["data"].text());
}

TEST_F(McpProtocol, InitializeNegotiates) {
  const struct {
    const char *asked, *given;
  } cases[] = {{"2024-11-05", "2024-11-05"},
               {"2025-03-26", "2025-03-26"},
               {"2025-06-18", "2025-06-18"},
               {"2025-11-25", "2025-11-25"},
               {"2026-07-28", "2025-11-25"},
               {"1999-01-01", "2025-11-25"},
               {"", "2025-11-25"}};
  for (const auto& c : cases) {
    const json_view r = answer(initialize(c.asked))["result"];
    EXPECT_EQ(c.given, r["protocolVersion"].string()) << c.asked;
    EXPECT_EQ(R"({"tools":{}})", r["capabilities"].text());
    EXPECT_EQ(R"({"name":"fixture","title":"Fixture","version":"1.2.3"})", r["serverInfo"].text());
    EXPECT_EQ("Be kind.", r["instructions"].string());
    EXPECT_FALSE(r["resultType"].exists());
  }
}

TEST_F(McpProtocol, ErasMixOnOneConnection) {
  const auto is_modern = [&](std::string_view line) {
    const json_view r = answer(line)["result"];
    EXPECT_TRUE(r.exists()) << last_;
    return r["resultType"].string() == "complete";
  };
  EXPECT_FALSE(is_modern(legacy("tools/list"))) << "no handshake at all";
  EXPECT_TRUE(is_modern(modern("server/discover")));
  EXPECT_FALSE(is_modern(initialize("2025-06-18"))) << "after a modern probe";
  EXPECT_TRUE(is_modern(modern("tools/list"))) << "after a legacy handshake";
  EXPECT_FALSE(is_modern(legacy("tools/list"))) << "after modern traffic";
  EXPECT_TRUE(is_modern(modern("tools/call", R"(,"name":"echo","arguments":{"text":"x"})")));
  EXPECT_FALSE(is_modern(legacy("tools/call", R"({"name":"echo","arguments":{"text":"x"}})")));
}

// --- shapes ---

TEST_F(McpProtocol, DiscoverHasExactlyTheSpecifiedMembers) {
  EXPECT_THAT(
      lines(modern("server/discover")),
      ElementsAre(
          R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],)"
          R"("capabilities":{"tools":{}},"instructions":"Be kind.","ttlMs":3600000,"cacheScope":"public",)"
          R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","title":"Fixture","version":"1.2.3"}}}})"));
}

TEST_F(McpProtocol, ListsAreTrimmedToTheRevisionAndByteStable) {
  const auto list_after = [&](std::string_view version) {
    if (!version.empty()) (void)lines(initialize(version));
    return answer(legacy("tools/list"))["result"];
  };
  const auto first = [](json_view list) {
    json_view t;
    list["tools"].for_each_element([&](json_view e) {
      if (!t.exists()) t = e;
    });
    return t;
  };
  json_view t = first(list_after("2024-11-05"));
  EXPECT_FALSE(t["annotations"].exists() || t["title"].exists() || t["outputSchema"].exists());
  t = first(list_after("2025-03-26"));
  EXPECT_EQ(
      R"({"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false})",
      t["annotations"].text());
  EXPECT_FALSE(t["title"].exists() || t["outputSchema"].exists());
  t = first(list_after("2025-06-18"));
  EXPECT_EQ("Echo", t["title"].string());
  EXPECT_TRUE(t["outputSchema"].is(json_kind::object));
  const json_view m = answer(modern("tools/list"))["result"];
  EXPECT_EQ(server_.tools_json(), m["tools"].text());
  EXPECT_EQ(3'600'000, m["ttlMs"].integer());
  EXPECT_EQ("public", m["cacheScope"].string());
  EXPECT_EQ(server_.tools().size(), m["tools"].size());
  EXPECT_EQ(lines(modern("tools/list")), lines(modern("tools/list")));
}

TEST_F(McpProtocol, ResultsCarryTheSameFactsAsTextAndAsStructure) {
  const std::string call = R"({"name":"echo","arguments":{"text":"a\"b\u0001"}})";
  EXPECT_THAT(
      lines(legacy("tools/call", call)),
      ElementsAre(
          R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"a\\\"b\\u0001\"}"}],)"
          R"("structuredContent":{"text":"a\"b\u0001"},"isError":false}})"));
  (void)lines(initialize("2025-03-26"));
  EXPECT_FALSE(answer(legacy("tools/call", call))["result"]["structuredContent"].exists());
  const json_view r =
      answer(modern("tools/call", R"(,"name":"echo","arguments":{"text":"x"})"))["result"];
  EXPECT_EQ("complete", r["resultType"].string());
  EXPECT_EQ("fixture", r["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].string());
  EXPECT_FALSE(r["ttlMs"].exists() || r["cacheScope"].exists());
}

TEST_F(McpProtocol, FailuresAreTextOnly) {
  const json_view r = answer(legacy("tools/call", R"({"name":"fail"})"))["result"];
  EXPECT_EQ(true, r["isError"].boolean());
  EXPECT_FALSE(r["structuredContent"].exists());
  EXPECT_THAT(last_, HasSubstr(R"({\"error\":\"not_found\",\"message\":\"no such thing\"})"));
}

TEST_F(McpProtocol, ContentOfItsOwnAndLineBreaksInJson) {
  EXPECT_THAT(
      lines(legacy("tools/call", R"({"name":"picture","arguments":null})")),
      ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image", "data":"AA==",)"
                  R"("mimeType":"image/png"}],"structuredContent":{ "a":1},"isError":false}})"));
}

TEST_F(McpProtocol, TooLargeResultsBecomeAnErrorWithTheToolsHint) {
  auto options = fixture_options();
  options.limits.message_out_bytes_max = 2000;
  server small(options, fixture_tools(gate_));
  const auto fits =
      small.handle_line(legacy("tools/call", R"({"name":"big","arguments":{"bytes":900}})"));
  EXPECT_GT(fits.at(0).size(), 1800U);
  EXPECT_THAT(fits.at(0), HasSubstr(R"("isError":false)"));
  for (const char* bytes : {"1000", "100000"}) {
    const auto line = small.handle_line(
        legacy("tools/call", R"({"name":"big","arguments":{"bytes":)" + std::string(bytes) + "}}"));
    EXPECT_LE(line.at(0).size(), 2000U);
    EXPECT_THAT(line.at(0), HasSubstr(R"("isError":true)"));
    EXPECT_THAT(line.at(0), HasSubstr(R"({\"error\":\"too_large\")"));
    EXPECT_THAT(line.at(0), HasSubstr("ask for fewer bytes"));
  }
}

TEST_F(McpProtocol, IdsKeepTheirTypeAndText) {
  for (const char* id :
       {"0", "-5", "9223372036854775807", "\"\"", "\"7\"", R"("a\"\\\n")", "\"ü\""})
    EXPECT_THAT(lines(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})"),
                ElementsAre(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})"));
  EXPECT_THAT(lines(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"),
              ElementsAre(R"({"jsonrpc":"2.0","id":2,"result":{}})"));
}

TEST_F(McpProtocol, LoneSurrogatesInArgumentsAreReplaced) {
  const json_view r =
      answer(legacy("tools/call", R"({"name":"echo","arguments":{"text":"a\ud800b"}})"))["result"];
  EXPECT_EQ("a\uFFFDb", r["structuredContent"]["text"].string());
}

TEST_F(McpProtocol, OversizedLine) {
  auto options = fixture_options();
  options.limits.message_in_bytes_max = 100;
  server small(options, fixture_tools(gate_));
  EXPECT_THAT(small.handle_line(std::string(101, ' ')), ElementsAre(HasSubstr("-32600")));
  EXPECT_THAT(small.handle_line(std::string(100, ' ')), IsEmpty());
}

// --- arguments ---

TEST_F(McpProtocol, ArgumentProblemsAreToolErrorsThatNameEveryProblem) {
  const struct {
    const char *name, *arguments, *said;
  } cases[] = {
      {"missing", "{}", R"(\"s\" is required: give a string)"},
      {"wrong type", R"({"s":7})", R"(\"s\" must be a string, not a number)"},
      {"null for required", R"({"s":null})", R"(\"s\" must be a string, not null)"},
      {"null for optional", R"({"s":"x","i":null})",
       R"(\"i\" must be an integer, not null; leave it out)"},
      {"empty", R"({"s":""})", R"(\"s\" must not be empty)"},
      {"too long, in code points", R"({"s":"€😀äx"})",
       R"(\"s\" has 4 characters, at most 3 are accepted)"},
      {"fraction", R"({"s":"x","i":1.5})", R"(\"i\" must be an integer from -1 to 9, not 1.5)"},
      {"too small", R"({"s":"x","i":-2})", R"(\"i\" must be an integer from -1 to 9, not -2)"},
      {"too large", R"({"s":"x","i":10})", R"(\"i\" must be an integer from -1 to 9, not 10)"},
      {"beyond 64 bits", R"({"s":"x","i":99999999999999999999})",
       R"(\"i\" must be an integer from -1 to 9, not 1e+20)"},
      {"boolean as text", R"({"s":"x","b":"true"})",
       R"(\"b\" must be true or false, not a string)"},
      {"array expected", R"({"s":"x","sa":"a"})",
       R"(\"sa\" must be an array of strings, not a string)"},
      {"integers expected", R"({"s":"x","ia":{}})",
       R"(\"ia\" must be an array of integers, not an object)"},
      {"truth as text", R"({"s":true})", R"(\"s\" must be a string, not a boolean)"},
      {"null for an optional truth", R"({"s":"x","b":null})",
       R"(\"b\" must be true or false, not null; leave it out)"},
      {"only the first wrong value of a map", R"({"s":"x","sm":{"j":[],"k":1}})",
       R"(\"sm\"[\"j\"] must be a string, not an array)"},
      {"element", R"({"s":"x","sa":["a",1]})", R"(\"sa\"[1] must be a string, not a number)"},
      {"integer element", R"({"s":"x","ia":[0,-1]})",
       R"(\"ia\"[1] must be an integer of at least 0, not -1)"},
      {"map expected", R"({"s":"x","sm":[]})",
       R"(\"sm\" must be an object whose values are strings, not an array)"},
      {"map value", R"({"s":"x","sm":{"k":1}})", R"(\"sm\"[\"k\"] must be a string, not a number)"},
      {"unknown", R"({"s":"x","t":1})",
       R"(\"t\" is not a parameter of every (it takes s, i, b, sa, ia, sm))"},
      {"several", R"({"i":"x","t":1})", R"(\"s\" is required … \"i\" must be … \"t\" is not)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const json_view r = answer(legacy("tools/call", R"({"name":"every","arguments":)" +
                                                        std::string(c.arguments) + "}"))["result"];
    EXPECT_EQ(true, r["isError"].boolean()) << last_;
    EXPECT_THAT(last_, HasSubstr(R"({\"error\":\"invalid_argument\")"));
    std::string text;
    r["content"].for_each_element([&](json_view e) { text = *e["text"].string(); });
    test::expect_parts(text, c.said);
  }
}

TEST_F(McpProtocol, FittingArgumentsReachTheHandler) {
  for (const char* arguments : {R"({"s":"€😀ä"})", R"({"s":"x","i":1.0,"b":false})",
                                R"({"s":"x","sa":[],"ia":[0,1],"sm":{"a":"b"}})"}) {
    const json_view r = answer(legacy("tools/call", R"({"name":"every","arguments":)" +
                                                        std::string(arguments) + "}"))["result"];
    EXPECT_EQ(false, r["isError"].boolean()) << last_;
  }
}

TEST_F(McpProtocol, InputSchemasFollowTheTable) {
  EXPECT_EQ(
      R"({"type":"object","properties":{"s":{"type":"string","minLength":1,"maxLength":3},)"
      R"("i":{"type":"integer","minimum":-1,"maximum":9},"b":{"type":"boolean"},)"
      R"("sa":{"type":"array","items":{"type":"string"}},)"
      R"("ia":{"type":"array","items":{"type":"integer","minimum":0}},)"
      R"("sm":{"type":"object","additionalProperties":{"type":"string"}}},"required":["s"],"additionalProperties":false})",
      input_schema_of(server_.tools().at(1)));
  EXPECT_EQ(R"({"type":"object","properties":{},"additionalProperties":false})",
            input_schema_of(server_.tools().at(2)));
}

// --- batches, progress, subscriptions, observers ---

TEST_F(McpProtocol, BatchesExistInOneRevisionOnly) {
  const std::string batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"},)"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fail"}},)"
      R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-11-25"}},7])";
  for (const char* version : {"2024-11-05", "2025-06-18", "2025-11-25"}) {
    (void)lines(initialize(version));
    EXPECT_EQ(-32600, error_of(batch)) << version;
  }
  (void)lines(initialize("2025-03-26"));
  const json_view replies = answer(batch);
  ASSERT_TRUE(replies.is(json_kind::array));
  std::vector<std::string> seen;
  replies.for_each_element(
      [&](json_view r) { seen.push_back(r["id"].text() + " " + r["error"]["code"].text()); });
  EXPECT_THAT(seen, testing::UnorderedElementsAre("1 ", "2 ", "3 -32600", " -32600"));
  EXPECT_THAT(lines(R"([{"jsonrpc":"2.0","method":"x"}])"), IsEmpty()) << "only notifications";
  EXPECT_EQ(-32600, error_of("[]"));
  std::string many = "[1";
  for (int i = 0; i < 1000; ++i)
    many += ",1";
  EXPECT_EQ(-32600, error_of(many + "]"));
}

TEST_F(McpProtocol, ABatchOpensNoSubscription) {
  (void)lines(initialize("2025-03-26"));
  const std::string listen = modern("subscriptions/listen", R"(,"notifications":{})");
  const auto sent = lines("[" + listen + "]");
  EXPECT_THAT(sent, ElementsAre(HasSubstr("must not be part of a batch")));
  EXPECT_THAT(lines(listen), ElementsAre(HasSubstr("acknowledged"))) << "the id is free";
}

TEST_F(McpProtocol, ABatchStaysWithinTheLimitOfALine) {
  auto options = fixture_options();
  options.limits.message_out_bytes_max = 3000;
  server small(options, fixture_tools(gate_));
  (void)small.handle_line(initialize("2025-03-26"));
  std::string batch = "[";
  for (int i = 0; i < 4; ++i)
    batch += std::string(i == 0 ? "" : ",") + R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
             R"(,"method":"tools/call","params":{"name":"big","arguments":{"bytes":1000}}})";
  const auto reply = small.handle_line(batch + "]");
  ASSERT_EQ(1U, reply.size());
  EXPECT_THAT(reply[0], HasSubstr("too_large"));
  EXPECT_LT(reply[0].size(), 4000U);
}

TEST_F(McpProtocol, ProgressGrowsAndNeedsAToken) {
  EXPECT_EQ(1U, lines(legacy("tools/call", R"({"name":"steps"})")).size());
  EXPECT_EQ(1U,
            lines(legacy("tools/call", R"({"name":"steps","_meta":{"progressToken":{}}})")).size());
  for (const char* token : {"\"t\"", "7"}) {
    const auto all = lines(legacy("tools/call", R"({"name":"steps","_meta":{"progressToken":)" +
                                                    std::string(token) + "}}"));
    ASSERT_EQ(3U, all.size());
    EXPECT_EQ(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                  std::string(token) + R"(,"progress":1,"message":"one"}})",
              all[0]);
    EXPECT_THAT(all[1], HasSubstr(R"("progress":2.5})"));
    EXPECT_THAT(all[2], HasSubstr("\"result\""));
  }
}

TEST_F(McpProtocol, SubscriptionsAreAcknowledgedAndStayOpenUntilCancelled) {
  const std::string listen =
      modern("subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  EXPECT_THAT(
      lines(listen),
      ElementsAre(
          R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
          R"({"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}})"));
  EXPECT_EQ(-32600, error_of(listen)) << "the id is in use";
  EXPECT_EQ(-32600, error_of(legacy("ping"))) << "by any method";
  EXPECT_THAT(
      lines(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}})"),
      IsEmpty());
  EXPECT_EQ(-32600, error_of(legacy("ping"))) << "1 and \"1\" differ";
  EXPECT_THAT(
      lines(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"),
      IsEmpty());
  EXPECT_EQ(0, error_of(legacy("ping")));
}

TEST_F(McpProtocol, ObserversSeeEveryCall) {
  std::vector<std::string> seen;
  auto options = fixture_options();
  options.limits.message_out_bytes_max = 1000;
  options.observer = [&](const call_record& r) {
    static constexpr const char* names[] = {"succeeded", "failed", "too_large", "cancelled"};
    seen.push_back(std::string(r.tool) + " " + std::string(r.id) + " " +
                   names[static_cast<std::size_t>(r.outcome)] + " " + std::string(r.error) + " " +
                   std::string(r.revision) + " " + std::string(r.client_name) + "/" +
                   std::string(r.client_version) + " " + std::string(r.traceparent) +
                   (r.bytes_out > 0 ? "" : " nothing sent"));
  };
  server observed(options, fixture_tools(gate_));
  (void)observed.handle_line(legacy("tools/call", R"({"name":"fail"})"));
  (void)observed.handle_line(initialize("2025-06-18"));
  (void)observed.handle_line(
      legacy("tools/call",
             R"({"name":"echo","arguments":{"text":"x"},"_meta":{"traceparent":"00-a-b-01"}})"));
  (void)observed.handle_line(legacy("tools/call", R"({"name":"big","arguments":{"bytes":5000}})"));
  (void)observed.handle_line(legacy("tools/call", R"({"name":"echo"})"));
  (void)observed.handle_line(legacy("tools/call", R"({"name":"nope"})"));
  (void)observed.handle_line(
      R"({"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"fail","_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"new","version":"3"}}}})");
  EXPECT_THAT(seen, ElementsAre("fail 1 failed not_found 2025-11-25 / ",
                                "echo 1 succeeded  2025-06-18 c/9 00-a-b-01",
                                "big 1 too_large too_large 2025-06-18 c/9 ",
                                "echo 1 failed invalid_argument 2025-06-18 c/9 ",
                                "fail \"m\" failed not_found 2026-07-28 new/3 "));
}

// --- the client's log ---

std::vector<tool> talkative() {
  return {{.name = "talk", .description = "Logs.", .handler = [](call& c) {
             c.log(log_level::debug, "a");
             c.log(log_level::info, "b");
             c.log(log_level::error, "c");
             return tool_result{.json = "{}"};
           }}};
}

std::string log_line(std::string_view level, std::string_view data) {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" +
         std::string(level) + R"(","logger":"talk","data":")" + std::string(data) + "\"}}";
}

struct listing_case {
  const char* name;
  const char* title;
  annotations hints;
  const char* brief; ///< what is written of title and hints
};

TEST(McpToolListing, brief_says_only_what_is_not_taken_for_granted) {
  constexpr const char* full =
      R"("annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true})";
  const listing_case table[] = {
      {"searchText",
       "Search text",
       {.read_only = true, .destructive = false, .idempotent = true},
       R"("annotations":{"readOnlyHint":true,"openWorldHint":false})"},
      {"write",
       "Write",
       {.idempotent = true},
       R"("annotations":{"idempotentHint":true,"openWorldHint":false})"},
      {"add",
       "Ad",
       {.destructive = false},
       R"("title":"Ad","annotations":{"destructiveHint":false,"openWorldHint":false})"},
      {"exec", "Run a command", {.open_world = true}, R"("title":"Run a command")"},
      {"moveFile",
       "Move files",
       {},
       R"("title":"Move files","annotations":{"openWorldHint":false})"},
  };
  for (const listing_case& each : table)
    for (const tool_listing listing : {tool_listing::brief, tool_listing::full}) {
      SCOPED_TRACE(each.name);
      tool made{.name = each.name,
                .title = each.title,
                .annotations = each.hints,
                .listing = listing,
                .handler = [](call&) { return tool_result{.json = "{}"}; }};
      server s({.name = "t"}, {std::move(made)});
      json_document document;
      ASSERT_THAT(document.parse(s.tools_json()), test::IsOk());
      std::string said;
      document.root().for_each_element([&](json_view t) {
        for (const char* key : {"title", "annotations"})
          if (const json_view value = t[key]; value.exists())
            said.append(said.empty() ? "" : ",")
                .append("\"")
                .append(key)
                .append("\":")
                .append(value.text());
      });
      if (listing == tool_listing::brief) {
        EXPECT_EQ(each.brief, said);
      } else { // the control
        EXPECT_THAT(said, AllOf(HasSubstr("title"), HasSubstr("readOnlyHint"),
                                HasSubstr("destructiveHint"), HasSubstr("idempotentHint")));
        if (std::string_view(each.name) == "exec") {
          EXPECT_THAT(said, HasSubstr(full));
        }
      }
    }
}

TEST(McpLog, LegacyClientsSetTheLevel) {
  server s({.name = "t", .logging = client_logging::offered}, talkative());
  const std::string call = legacy("tools/call", R"({"name":"talk"})");
  EXPECT_THAT(s.handle_line(initialize("2025-11-25")),
              ElementsAre(HasSubstr(R"("capabilities":{"tools":{},"logging":{}})")));
  EXPECT_THAT(s.handle_line(call),
              ElementsAre(log_line("info", "b"), log_line("error", "c"), HasSubstr("result")));
  EXPECT_THAT(s.handle_line(legacy("logging/setLevel", R"({"level":"debug"})")),
              ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  EXPECT_THAT(s.handle_line(call), testing::SizeIs(4));
  EXPECT_THAT(s.handle_line(legacy("logging/setLevel", R"({"level":"emergency"})")),
              ElementsAre(HasSubstr("result")));
  EXPECT_THAT(s.handle_line(call), testing::SizeIs(1));
  for (const char* wrong : {"{}", R"({"level":"loud"})", R"({"level":7})"})
    EXPECT_THAT(s.handle_line(legacy("logging/setLevel", wrong)), ElementsAre(HasSubstr("-32602")));
}

TEST(McpLog, ModernClientsAskWithEachRequest) {
  server s({.name = "t", .logging = client_logging::offered}, talkative());
  EXPECT_THAT(s.handle_line(modern("server/discover")),
              ElementsAre(HasSubstr(R"("capabilities":{"tools":{},"logging":{}})")));
  EXPECT_THAT(s.handle_line(modern("tools/call", R"(,"name":"talk")")), testing::SizeIs(1));
  EXPECT_THAT(s.handle_line(modern("logging/setLevel", R"(,"level":"debug")")),
              ElementsAre(HasSubstr("-32601")));
  std::string wanting = modern("tools/call", R"(,"name":"talk")");
  wanting.insert(wanting.find(R"("io.model)"), R"("io.modelcontextprotocol/logLevel":"warning",)");
  EXPECT_THAT(s.handle_line(wanting), ElementsAre(log_line("error", "c"), HasSubstr("result")));
}

TEST(McpLog, IsNotOfferedUnlessAsked) {
  server s({.name = "t"}, talkative());
  EXPECT_THAT(s.handle_line(legacy("tools/call", R"({"name":"talk"})")), testing::SizeIs(1));
  EXPECT_THAT(s.handle_line(legacy("logging/setLevel", R"({"level":"debug"})")),
              ElementsAre(HasSubstr("-32601")));
}

} // namespace
} // namespace paddock::mcp
