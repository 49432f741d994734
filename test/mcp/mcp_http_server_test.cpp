// SPDX-License-Identifier: MIT
// The HTTP server, spoken to with plain sockets: statuses in both eras, cancellation, limits, the
// end; and the library's own client.
#include "support/files/temp_tree.hpp"
#include "support/http/http_server_fixture.hpp"
#include "support/process/descriptors.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <sys/eventfd.h>
#include <sys/resource.h>

namespace paddock::mcp {
namespace {

using test::call_body;
using test::envelope;
using test::http_reply;
using test::legacy_call;
using test::modern_call;
using test::modern_headers;
using test::new_session;
using test::post;
using test::raw_client;
using test::request;
using test::served;
using test::session_header;
using test::type_json;
using testing::HasSubstr;
using testing::Not;

/// A client whose call has begun, and waits.
raw_client in_a_call(served& s, const std::string& request) {
  raw_client c = s.client();
  c.send(request);
  s.waiting.wait_for_arrivals(1);
  return c;
}

// --- statuses -----------------------------------------------------------------------------------

struct status_case {
  const char* name;
  std::string headers;
  std::string body;
  int status;
  int code = 0; ///< of a JSON-RPC error; 0: none
};

std::string modern(std::string_view method, std::string_view params = {}) {
  std::string out = R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method);
  return out.append(R"(","params":{)").append(params).append(params.empty() ? "" : ",") +
         envelope() + "}}";
}

const std::string version = "MCP-Protocol-Version: 2026-07-28\r\n";
const std::string echo_body = call_body("7", "echo", R"({"text":"hi"})", envelope());

std::string with_version(std::string body, std::string_view wanted) {
  return body.replace(body.find("2026-07-28"), 10, wanted);
}

const status_case modern_cases[] = {
    {"discover", modern_headers("server/discover"), modern("server/discover"), 200},
    {"list", modern_headers("tools/list"), modern("tools/list"), 200},
    {"call", modern_headers("tools/call", "echo"), echo_body, 200},
    {"name encoded", modern_headers("tools/call", "=?base64?ZWNobw==?="), echo_body, 200},
    {"name with blanks", modern_headers("tools/call", " \t echo \t"), echo_body, 200},
    {"header names in any case", "mcp-PROTOCOL-version: 2026-07-28\r\nMCP-METHOD: tools/list\r\n",
     modern("tools/list"), 200},
    {"a session is ignored", modern_headers("tools/list") + session_header("x"),
     modern("tools/list"), 200},
    {"tool unknown", modern_headers("tools/call", "nope"), call_body("7", "nope", "{}", envelope()),
     200, -32602},
    {"arguments wrong", modern_headers("tools/call", "echo"),
     call_body("7", "echo", "{}", envelope()), 200},
    {"cursor unknown", modern_headers("tools/list"), modern("tools/list", R"("cursor":"x")"), 200,
     -32602},
    {"method unknown", modern_headers("nope"), modern("nope"), 404, -32601},
    {"ping", modern_headers("ping"), modern("ping"), 404, -32601},
    {"initialize with an envelope", modern_headers("initialize"), modern("initialize"), 404,
     -32601},
    {"initialize with a header", modern_headers("initialize"), test::initialize_body, 400, -32020},
    {"version missing", "Mcp-Method: tools/list\r\n", modern("tools/list"), 400, -32020},
    {"version twice", version + modern_headers("tools/list"), modern("tools/list"), 400, -32020},
    {"version of another era", "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n",
     modern("tools/list"), 400, -32020},
    {"version in the body only", modern_headers("tools/list"),
     with_version(modern("tools/list"), "v999.0.0  "), 400, -32020},
    {"method missing", version, modern("tools/list"), 400, -32020},
    {"method other", modern_headers("prompts/list"), modern("tools/list"), 400, -32020},
    {"method in upper case", modern_headers("TOOLS/LIST"), modern("tools/list"), 400, -32020},
    {"name missing", modern_headers("tools/call"), echo_body, 400, -32020},
    {"name other", modern_headers("tools/call", "big"), echo_body, 400, -32020},
    {"name badly encoded", modern_headers("tools/call", "=?base64?ZWNo*?="), echo_body, 400,
     -32020},
    {"version unsupported", "MCP-Protocol-Version: 2027-01-01\r\nMcp-Method: tools/list\r\n",
     with_version(modern("tools/list"), "2027-01-01"), 400, -32022},
    {"version unsupported and old",
     "MCP-Protocol-Version: 1900-01-01\r\nMcp-Method: tools/list\r\n",
     with_version(modern("tools/list"), "1900-01-01"), 400, -32022},
    {"envelope missing", modern_headers("tools/list"),
     R"({"jsonrpc":"2.0","id":7,"method":"tools/list"})", 400, -32602},
    {"envelope missing, discover", modern_headers("server/discover"),
     R"({"jsonrpc":"2.0","id":7,"method":"server/discover"})", 400, -32602},
    {"envelope incomplete", modern_headers("tools/list"),
     R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{)"
     R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
     400, -32602},
    {"log level unknown", modern_headers("tools/list"),
     R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{)" +
         envelope(R"(,"io.modelcontextprotocol/logLevel":"x")") + "}}",
     400, -32602},
    {"not JSON", version, "{", 400, -32700},
    {"empty", version + "Content-Length: 0\r\n", "", 400, -32700},
    {"batch", version, "[" + modern("tools/list") + "]", 400, -32600},
    {"scalar", version, "1", 400, -32600},
    {"id null", modern_headers("tools/list"),
     R"({"jsonrpc":"2.0","id":null,"method":"tools/list","params":{)" + envelope() + "}}", 400,
     -32600},
    {"response", version, R"({"jsonrpc":"2.0","id":7,"result":{}})", 400, -32600},
    {"notification", version, R"({"jsonrpc":"2.0","method":"notifications/x"})", 202},
    {"subscription without events",
     modern_headers("subscriptions/listen") + "Accept: application/json\r\n",
     modern("subscriptions/listen", R"("notifications":{})"), 406, -32600},
};

int code_in(const http_reply& reply) {
  json_document document;
  std::string body = reply.body;
  if (body.starts_with("event: message\ndata: ")) body.erase(0, 21);
  const auto parsed = document.parse(body);
  if (!parsed) return 0;
  return static_cast<int>((*parsed)["error"]["code"].integer().value_or(0));
}

void check(const status_case& c, const http_reply& reply) {
  EXPECT_EQ(c.status, reply.status) << c.name << ": " << reply.body;
  EXPECT_EQ(c.code, code_in(reply)) << c.name << ": " << reply.body;
  if (c.status == 202)
    EXPECT_EQ("", reply.body) << c.name;
  else
    EXPECT_EQ("application/json", reply.header("content-type")) << c.name;
  if (c.code != 0 && c.body.starts_with("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\"") &&
      c.status != 406) {
    EXPECT_THAT(reply.body, HasSubstr(R"("id":7)")) << c.name;
  }
}

TEST(HttpServer, AnswersTheModernEra) {
  const served s;
  for (const status_case& c : modern_cases) {
    const http_reply reply = s.ask(post(c.headers, c.body));
    check(c, reply);
    EXPECT_EQ("", reply.header("mcp-session-id")) << c.name;
    EXPECT_EQ("", reply.header("access-control-allow-origin")) << c.name;
  }
}

TEST(HttpServer, AnswersTheLegacyEra) {
  const served s;
  const std::string id = new_session(s);
  const std::string own = session_header(id);
  const auto message = [](std::string_view method) {
    return R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method) + "\"}";
  };
  const status_case cases[] = {
      {"list", own, message("tools/list"), 200},
      {"list with a version", own + "MCP-Protocol-Version: 2025-11-25\r\n", message("tools/list"),
       200},
      {"list with the oldest version", own + "MCP-Protocol-Version: 2024-11-05\r\n",
       message("tools/list"), 200},
      {"version unknown", own + "MCP-Protocol-Version: 2025-01-01\r\n", message("tools/list"), 400,
       -32600},
      {"version garbage", own + "MCP-Protocol-Version: x\r\n", message("tools/list"), 400, -32600},
      {"ping", own, message("ping"), 200},
      {"method unknown", own, message("nope"), 200, -32601},
      {"tool unknown", own, call_body("7", "nope", "{}", {}), 200, -32602},
      {"no session", "", message("tools/list"), 400, -32600},
      {"session unknown", session_header("0123"), message("tools/list"), 404, -32600},
      {"session of another spelling", session_header(id.substr(1)), message("ping"), 404, -32600},
      {"notification", own, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", 202},
      {"notification without a session", "", R"({"jsonrpc":"2.0","method":"notifications/x"})", 400,
       -32600},
      {"response", own, R"({"jsonrpc":"2.0","id":7,"result":{}})", 202},
      {"not JSON", own, "{", 400, -32700},
      {"invalid", own, R"({"id":7,"method":"ping"})", 400, -32600},
      {"batch in the wrong revision", own, "[" + message("ping") + "]", 400, -32600},
      {"batch without a session", "", "[" + message("ping") + "]", 400, -32600},
      {"initialize without a version", "", R"({"jsonrpc":"2.0","id":7,"method":"initialize"})", 200,
       -32602},
  };
  for (const status_case& c : cases) {
    const http_reply reply = s.ask(post(c.headers, c.body));
    check(c, reply);
    EXPECT_EQ("", reply.header("mcp-session-id")) << c.name;
  }
}

TEST(HttpServer, AnswersBatchesOfTheirRevision) {
  const served s;
  std::string body = test::initialize_body;
  body.replace(body.find("2025-11-25"), 10, "2025-03-26");
  const std::string own = session_header(s.ask(post({}, body)).header("mcp-session-id"));
  const http_reply both = s.ask(post(own, R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)" +
                                              call_body("2", "echo", R"({"text":"b"})", {}) + "]"));
  EXPECT_EQ(200, both.status);
  EXPECT_THAT(both.body, HasSubstr(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  EXPECT_THAT(both.body, HasSubstr(R"("id":2)"));
  EXPECT_EQ('[', both.body.front());
  const http_reply none =
      s.ask(post(own, R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])"));
  EXPECT_EQ(202, none.status);
}

/// Batches are of a time that knew no subscriptions. One in a batch would outlive its request, and
/// the end of the session would write to it.
TEST(HttpServer, ABatchOpensNoSubscription) {
  const served s;
  std::string body = test::initialize_body;
  body.replace(body.find("2025-11-25"), 10, "2025-03-26");
  const std::string own = session_header(s.ask(post({}, body)).header("mcp-session-id"));
  const http_reply refused =
      s.ask(post(own, "[" + modern("subscriptions/listen", R"("notifications":{})") + "]"));
  EXPECT_EQ(200, refused.status);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("-32600"), HasSubstr("must not be part of a batch")));
  EXPECT_EQ(204, s.ask(request("DELETE", own, "")).status);
  EXPECT_EQ(200, s.ask(post({}, test::initialize_body)).status) << "the server lives on";
}

TEST(HttpServer, EndsSessionsOnDelete) {
  const served s;
  const std::string id = new_session(s);
  const std::string other = new_session(s);
  EXPECT_EQ(48u, id.size());
  EXPECT_NE(id, other);
  EXPECT_EQ(400, s.ask(request("DELETE", "", "")).status);
  EXPECT_EQ(404, s.ask(request("DELETE", session_header("0"), "")).status);
  EXPECT_EQ(204, s.ask(request("DELETE", session_header(id), "")).status);
  EXPECT_EQ(404, s.ask(request("DELETE", session_header(id), "")).status);
  EXPECT_EQ(404, s.ask(legacy_call(id, "echo", R"({"text":"a"})")).status);
  EXPECT_EQ(200, s.ask(legacy_call(other, "echo", R"({"text":"a"})")).status);
}

TEST(HttpServer, EndingASessionCancelsItsCalls) {
  served s;
  const std::string id = new_session(s);
  raw_client c = in_a_call(s, legacy_call(id, "block"));
  EXPECT_EQ(204, s.ask(request("DELETE", session_header(id), "")).status);
  const http_reply reply = c.receive();
  EXPECT_EQ(200, reply.status);
  EXPECT_THAT(reply.body, HasSubstr("cancelled"));
}

TEST(HttpServer, BoundsSessionsByEndingTheOneIdleForLongest) {
  const served s({.sessions_max = 2});
  const std::string first = new_session(s);
  const std::string second = new_session(s);
  EXPECT_EQ(200, s.ask(legacy_call(first, "echo", R"({"text":"a"})")).status);
  const std::string third = new_session(s);
  int left = 0; // of the first two, which may have been used in the same millisecond
  for (const std::string& id : {first, second})
    left += s.ask(legacy_call(id, "fail")).status == 200 ? 1 : 0;
  EXPECT_EQ(1, left);
  EXPECT_EQ(200, s.ask(legacy_call(third, "fail")).status);
}

TEST(HttpServer, DoesNotEndSessionsWithCallsForOthers) {
  served s({.sessions_max = 1});
  const std::string id = new_session(s);
  raw_client c = in_a_call(s, legacy_call(id, "block"));
  EXPECT_EQ(503, s.ask(post({}, test::initialize_body)).status);
  s.waiting.open();
  EXPECT_EQ(200, c.receive().status);
}

TEST(HttpServer, ForgetsIdleSessions) {
  const served s({.idle_timeout_ms = 300, .session_idle_ms = 30});
  const std::string id = new_session(s);
  raw_client clock = s.client(); // its idle time is longer than the session's
  EXPECT_TRUE(clock.is_ended());
  EXPECT_EQ(404, s.ask(legacy_call(id, "fail")).status);
}

// --- who may ask --------------------------------------------------------------------------------

// A page of evil.example whose name was made to stand for 127.0.0.1.
TEST(HttpServer, CVE_2025_66414_DnsRebindingReachesNoTool) {
  served s;
  const char* const foreign[] = {
      "Host: evil.example\r\n",
      "Host: evil.example:80\r\nOrigin: http://evil.example:80\r\n",
      "Host: localhost\r\nOrigin: http://evil.example\r\n",
      "Host: 127.0.0.1.evil.example\r\n",
      "Host: localhost\r\nOrigin: null\r\n",
      "Host: localhost\r\nOrigin: http://localhost.evil.example\r\n",
  };
  const std::string body = call_body("1", "echo", R"({"text":"a"})", envelope());
  for (const std::string hosts : foreign) {
    for (const std::string& headers : {modern_headers("tools/call", "echo"), std::string()}) {
      const http_reply reply =
          s.ask("POST /mcp HTTP/1.1\r\n" + hosts + std::string(type_json) + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
      EXPECT_EQ(403, reply.status) << hosts;
      EXPECT_EQ("", reply.header("access-control-allow-origin")) << hosts;
      EXPECT_THAT(reply.body, Not(HasSubstr("result"))) << hosts;
    }
    EXPECT_EQ(403, s.ask("GET /mcp HTTP/1.1\r\n" + hosts + "\r\n").status) << hosts;
  }
  EXPECT_EQ(0u, s.calls.size());
  EXPECT_EQ(200, s.ask(modern_call("echo", R"({"text":"a"})")).status);
  EXPECT_EQ(call_outcome::succeeded, s.calls.wait_for(1)) << "a call is heard of";
  EXPECT_EQ(1u, s.calls.size());
}

// Two clients that count their requests from the same number.
TEST(HttpServer, CVE_2026_25536_EqualIdsOfTwoClientsDoNotCross) {
  served s;
  constexpr int rounds = 100;
  const auto converse = [&](const std::string& name, const std::string& session) {
    raw_client c = s.client();
    int good = 0;
    for (int i = 0; i < rounds; ++i) {
      const std::string text = name + std::to_string(i);
      const std::string arguments = R"({"text":")" + text + "\"}";
      const std::string id = std::to_string(i);
      c.send(session.empty() ? modern_call("echo", arguments, id)
                             : legacy_call(session, "echo", arguments, id));
      const std::string body = c.receive().body;
      good += body.find("\"text\":\"" + text + "\"") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(rounds, good) << name;
  };
  const std::string sessions[] = {"", "", new_session(s), new_session(s)};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::size(sessions); ++i)
    threads.emplace_back(converse, "client" + std::to_string(i) + "-", sessions[i]);
  for (std::thread& t : threads)
    t.join();
  // And at the same time.
  raw_client first = s.client();
  raw_client second = s.client();
  first.send(modern_call("block", "{}", R"("same")"));
  second.send(legacy_call(sessions[2], "block", "{}", R"("same")"));
  s.waiting.wait_for_arrivals(2);
  first.close(); // cancels the first one's call only
  EXPECT_EQ(call_outcome::cancelled, s.calls.wait_for(4 * rounds + 1));
  s.waiting.open();
  EXPECT_THAT(second.receive().body, HasSubstr("passed"));
}

TEST(HttpServer, AnswersAllowedOrigins) {
  const served s({.allowed_origins = {"https://app.example"}});
  const std::string origin = "Origin: https://app.example\r\n";
  const http_reply asked =
      s.ask(request("OPTIONS", origin + "Access-Control-Request-Method: POST\r\n", ""));
  EXPECT_EQ(204, asked.status);
  EXPECT_EQ("https://app.example", asked.header("access-control-allow-origin"));
  EXPECT_THAT(asked.header("access-control-allow-headers"), HasSubstr("Mcp-Session-Id"));
  const http_reply reply = s.ask(modern_call("fail", "{}", "1", {}, origin));
  EXPECT_EQ(200, reply.status);
  EXPECT_EQ("https://app.example", reply.header("access-control-allow-origin"));
  EXPECT_EQ("Origin", reply.header("vary"));
}

TEST(HttpServer, AsksForTheTokenBeforeTheBody) {
  const served s({.token = "0123456789abcdef"});
  raw_client c = s.client();
  c.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: 1000000\r\n\r\n");
  const http_reply refused = c.receive();
  EXPECT_EQ(401, refused.status);
  EXPECT_EQ("Bearer", refused.header("www-authenticate"));
  EXPECT_TRUE(c.is_ended());
  EXPECT_EQ(200,
            s.ask(modern_call("fail", "{}", "1", {}, "Authorization: Bearer 0123456789abcdef\r\n"))
                .status);
  EXPECT_EQ(200, s.ask("GET /healthz HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n").status);
}

TEST(HttpServer, ListensForOthersOnlyWithAToken) {
  const server s(test::fixture_options(), {});
  const auto refused = http_server::make(s, {.listen = "0.0.0.0:0"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(error_code::denied_by_policy, refused.error().code);
  EXPECT_TRUE(http_server::make(s, {.listen = "0.0.0.0:0", .token = "0123456789abcdef"}));
  EXPECT_TRUE(http_server::make(s, {.listen = "127.9.9.9:0"}));
}

TEST(HttpServer, RefusesUnusableOptions) {
  const server s(test::fixture_options(), {});
  const http_server_options cases[] = {
      {.listen = ""},
      {.listen = "8080"},
      {.listen = "127.0.0.1"},
      {.listen = "127.0.0.1:"},
      {.listen = "127.0.0.1:65536"},
      {.listen = "127.0.0.1:http"},
      {.listen = "example.com:80"},
      {.listen = "::1:80"},
      {.listen = "[127.0.0.1]:80"},
      {.listen = "[::1:80"},
      {.listen = "unix:"},
      {.listen = "unix:relative"},
      {.listen = "unix:/" + std::string(108, 'x')},
      {.path = "mcp"},
      {.path = "/m?"},
      {.path = "/healthz"},
      {.token = "with blank"},
      {.token = "line\r\n"},
      {.allowed_hosts = {"http://x/"}},
      {.allowed_origins = {"x"}},
      {.allowed_origins = {"http://x/"}},
      {.allowed_origins = {"*"}},
  };
  for (const http_server_options& o : cases) {
    const auto made = http_server::make(s, o);
    ASSERT_FALSE(made) << o.listen << o.path;
    EXPECT_EQ(error_code::invalid_argument, made.error().code) << o.listen << o.path;
  }
}

TEST(HttpServer, SaysThatAPortIsTaken) {
  const server s(test::fixture_options(), {});
  const auto first = http_server::make(s, {});
  ASSERT_TRUE(first);
  const std::string address = first->address().substr(7, first->address().rfind('/') - 7);
  const auto second = http_server::make(s, {.listen = address});
  ASSERT_FALSE(second);
  EXPECT_EQ(error_code::already_exists, second.error().code);
}

// --- Unix sockets -------------------------------------------------------------------------------

TEST(HttpServer, ListensOnASocketFile) {
  const test::temp_tree tree;
  const std::string path = tree / "server.sock";
  {
    const served s({.listen = "unix:" + path});
    EXPECT_EQ("unix://" + path + "#/mcp", s.address());
    struct stat status{};
    ASSERT_EQ(0, ::lstat(path.c_str(), &status));
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(0600u, status.st_mode & 07777u);
    EXPECT_EQ(200, s.ask(modern_call("fail")).status);
    EXPECT_EQ(403, s.ask(modern_call("fail", "{}", "1", {}, "Origin: http://x\r\n")).status);
    const server other(test::fixture_options(), {});
    const auto second = http_server::make(other, {.listen = "unix:" + path});
    ASSERT_FALSE(second);
    EXPECT_EQ(error_code::already_exists, second.error().code);
    EXPECT_EQ(200, s.ask(modern_call("fail")).status) << "the first one keeps its file";
  }
  struct stat status{};
  EXPECT_NE(0, ::lstat(path.c_str(), &status)) << "removed at the end";
}

TEST(HttpServer, ReplacesOnlyASocketFileThatNobodyListensAt) {
  const test::temp_tree tree;
  const std::string path = tree / "server.sock";
  const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  ASSERT_EQ(0, ::bind(left, reinterpret_cast<const sockaddr*>(&at), sizeof at));
  ::close(left);
  {
    const served s({.listen = "unix:" + path});
    EXPECT_EQ(200, s.ask(modern_call("fail")).status);
  }
  tree.file("file", "keep");
  tree.link("link", "file");
  const server s(test::fixture_options(), {});
  for (const char* name : {"file", "link"}) {
    const auto made = http_server::make(s, {.listen = "unix:" + (tree / name)});
    ASSERT_FALSE(made);
    EXPECT_EQ(error_code::already_exists, made.error().code);
  }
  EXPECT_EQ("keep", tree.content("file"));
  EXPECT_FALSE(http_server::make(s, {.listen = "unix:" + (tree / "absent/s")}));
}

TEST(HttpServer, LeavesASocketFileThatIsNotItsOwn) {
  const test::temp_tree tree;
  const std::string path = tree / "server.sock";
  {
    const served s({.listen = "unix:" + path});
    ASSERT_EQ(0, ::unlink(path.c_str()));
    tree.file("server.sock", "another's");
  }
  EXPECT_EQ("another's", tree.content("server.sock"));
}

// --- streams ------------------------------------------------------------------------------------

const std::string progress_meta = R"(,"progressToken":"p")";

TEST(HttpServer, SendsProgressAsEvents) {
  const served s;
  const http_reply stream =
      s.ask(modern_call("steps", "{}", "1", progress_meta, test::accept_both));
  EXPECT_EQ(200, stream.status);
  EXPECT_EQ("text/event-stream", stream.header("content-type"));
  EXPECT_EQ("no", stream.header("x-accel-buffering"));
  const std::size_t one = stream.body.find(R"("progress":1,)");
  const std::size_t two = stream.body.find(R"("progress":2.5)");
  const std::size_t answer = stream.body.find(R"("id":1)");
  EXPECT_LT(one, two);
  EXPECT_LT(two, answer);
  EXPECT_NE(std::string::npos, answer);
  EXPECT_TRUE(stream.body.starts_with("event: message\ndata: {"));
  EXPECT_TRUE(stream.body.ends_with("}\n\n"));

  const std::string headers = modern_headers("tools/call", "steps");
  const std::string body = call_body("1", "steps", "{}", envelope(progress_meta));
  const http_reply plain = s.ask(post(headers + "Accept: application/json\r\n", body));
  EXPECT_EQ("application/json", plain.header("content-type"));
  const http_reply no_token = s.ask(modern_call("fail", "{}", "1", {}, test::accept_both));
  EXPECT_EQ("application/json", no_token.header("content-type"));
  const http_reply events_only =
      s.ask(modern_call("fail", "{}", "1", {}, "Accept: text/event-stream\r\n"));
  EXPECT_EQ("text/event-stream", events_only.header("content-type"));
}

TEST(HttpServer, SendsProgressToLegacyClients) {
  const served s;
  const std::string id = new_session(s);
  const http_reply stream =
      s.ask(post(session_header(id) + std::string(test::accept_both),
                 call_body("1", "steps", "{}", R"("_meta":{"progressToken":5})")));
  EXPECT_EQ("text/event-stream", stream.header("content-type"));
  EXPECT_THAT(stream.body, HasSubstr(R"("progressToken":5,"progress":1)"));
  EXPECT_THAT(stream.body, HasSubstr(R"("id":1)"));
}

TEST(HttpServer, KeepsSilentStreamsAlive) {
  served s({.keep_alive_ms = 20});
  raw_client c = s.client();
  c.send(modern_call("block", "{}", "1", progress_meta, test::accept_both));
  EXPECT_EQ(200, c.receive_head().status);
  std::string chunk;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(c.next_chunk(chunk));
    EXPECT_EQ(":\n\n", chunk);
  }
  s.waiting.open();
  while (c.next_chunk(chunk) && chunk == ":\n\n") {
  }
  EXPECT_THAT(chunk, HasSubstr("passed"));
}

TEST(HttpServer, KeepsSubscriptionsOpenUntilTheEnd) {
  served s;
  raw_client c = s.client();
  c.send(post(modern_headers("subscriptions/listen") + std::string(test::accept_both),
              modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true})")));
  EXPECT_EQ("text/event-stream", c.receive_head().header("content-type"));
  std::string chunk;
  ASSERT_TRUE(c.next_chunk(chunk));
  EXPECT_THAT(chunk, HasSubstr("notifications/subscriptions/acknowledged"));
  EXPECT_EQ(200, s.ask(modern_call("fail")).status);
  s.begin_to_stop();
  ASSERT_TRUE(c.next_chunk(chunk));
  EXPECT_THAT(chunk, HasSubstr(R"("id":7,"result")"));
  EXPECT_FALSE(c.next_chunk(chunk));
  EXPECT_EQ(0u, s.stop().calls_abandoned);
}

TEST(HttpServer, AnswersABadSubscription) {
  const served s;
  const http_reply reply =
      s.ask(post(modern_headers("subscriptions/listen") + std::string(test::accept_both),
                 modern("subscriptions/listen")));
  EXPECT_EQ(200, reply.status);
  EXPECT_EQ(-32602, code_in(reply));
}

// --- cancellation -------------------------------------------------------------------------------

TEST(HttpServer, DisconnectingCancelsAModernCall) {
  served s;
  for (const char* how : {"close", "shutdown", "stream"}) {
    static std::size_t calls = 0;
    raw_client c = s.client();
    const bool stream = how == std::string_view("stream");
    c.send(modern_call("block", "{}", "1", stream ? progress_meta : "", test::accept_both));
    s.waiting.wait_for_arrivals(static_cast<int>(++calls));
    if (how == std::string_view("shutdown"))
      c.shut_sending();
    else
      c.close();
    EXPECT_EQ(call_outcome::cancelled, s.calls.wait_for(calls)) << how;
  }
}

TEST(HttpServer, DisconnectingDoesNotCancelALegacyCall) {
  served s;
  const std::string id = new_session(s);
  raw_client c = in_a_call(s, legacy_call(id, "block"));
  c.close();
  // The server has seen the end of the connection once it has served what came later.
  EXPECT_EQ(200, s.ask(legacy_call(id, "fail", "{}", "2")).status);
  EXPECT_EQ(call_outcome::failed, s.calls.wait_for(1)) << "that of the second call";
  s.waiting.open();
  EXPECT_EQ(call_outcome::succeeded, s.calls.wait_for(2));
}

TEST(HttpServer, AnswersALegacyClientThatOnlySendsNoMore) {
  served s;
  const std::string id = new_session(s);
  raw_client c = in_a_call(s, legacy_call(id, "block"));
  c.shut_sending();
  s.waiting.open();
  EXPECT_THAT(c.receive().body, HasSubstr("passed"));
}

TEST(HttpServer, CancelsByNotification) {
  served s;
  const std::string id = new_session(s);
  raw_client c = in_a_call(s, legacy_call(id, "block", "{}", "5"));
  const std::string other = new_session(s);
  const std::string cancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})";
  EXPECT_EQ(202, s.ask(post(session_header(other), cancel)).status) << "not this session's";
  EXPECT_EQ(202, s.ask(post(session_header(id), cancel)).status);
  EXPECT_EQ(call_outcome::cancelled, s.calls.wait_for(1));
  const http_reply reply = c.receive();
  EXPECT_EQ(202, reply.status) << "there is no response to send";
  EXPECT_EQ("", reply.body);
  EXPECT_EQ(1u, s.calls.size());
}

// --- limits -------------------------------------------------------------------------------------

TEST(HttpServer, InvitesABodyThatWaits) {
  const served s;
  raw_client c = s.client();
  const std::string body = call_body("1", "echo", R"({"text":"late"})", envelope());
  std::string text = post(modern_headers("tools/call", "echo") + "Expect: 100-continue\r\n", body);
  c.send(text.substr(0, text.size() - body.size()));
  EXPECT_EQ(100, c.receive().status);
  c.send(body);
  EXPECT_THAT(c.receive().body, HasSubstr("late"));
  c.send(request("POST", "Expect: 100-continue\r\nContent-Length: 5\r\n", ""));
  EXPECT_EQ(415, c.receive().status) << "no invitation for what is refused";
}

TEST(HttpServer, RefusesSmuggledAndOversizeRequestsAndEndsTheConnection) {
  paddock::limits limits;
  limits.message_in_bytes_max = 1000;
  const served s({.head_bytes_max = 2048}, limits);
  const std::string probe = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::pair<std::string, int> cases[] = {
      {post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Content-Length: 1001\r\n", ""), 413},
      {post("Transfer-Encoding: chunked\r\n", "") + "3e9\r\n", 413},
      {post("Transfer-Encoding: x\r\n", ""), 501},
      {"GET / HTTP/3.0\r\n\r\n", 505},
      {"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + std::string(2048, 'x') + "\r\n\r\n", 431},
      {"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"\x16\x03\x01garbage\n", 400},
  };
  for (const auto& [text, status] : cases) {
    raw_client c = s.client();
    c.send(text + probe);
    const http_reply reply = c.receive();
    EXPECT_EQ(status, reply.status) << text;
    EXPECT_EQ("close", reply.header("connection")) << text;
    EXPECT_EQ(0, c.receive().status) << "what follows is no request: " << text;
  }
}

TEST(HttpServer, CutsOffSlowClients) {
  const served s({.head_timeout_ms = 50, .body_timeout_ms = 50, .idle_timeout_ms = 50});
  raw_client head = s.client();
  head.send("POST /mcp HTTP/1.1\r\nHost:");
  EXPECT_EQ(408, head.receive().status);
  EXPECT_TRUE(head.is_ended());
  raw_client body = s.client();
  body.send(post("Content-Length: 10\r\n", "").append("{"));
  EXPECT_EQ(408, body.receive().status);
  EXPECT_TRUE(body.is_ended());
  raw_client idle = s.client();
  EXPECT_TRUE(idle.is_ended());
}

TEST(HttpServer, CutsOffClientsThatDoNotRead) {
  paddock::limits limits;
  limits.message_out_bytes_max = 4u << 20;
  served s({.write_timeout_ms = 100, .idle_timeout_ms = 500}, limits);
  raw_client deaf = s.client(4096);
  const std::string big = modern_call("big", R"({"bytes":2000000})");
  for (int i = 0; i < 20; ++i)
    deaf.send(big);
  EXPECT_EQ(call_outcome::succeeded, s.calls.wait_for(1));
  EXPECT_EQ(200, s.ask(modern_call("fail")).status) << "others are served meanwhile";
  raw_client clock = s.client();
  EXPECT_TRUE(clock.is_ended());
  const std::size_t calls = s.calls.size();
  EXPECT_LT(calls, 21u) << "while answers are not taken, no more requests are";
  EXPECT_TRUE(deaf.is_ended());
  EXPECT_LE(s.calls.size(), calls + 1);
}

TEST(HttpServer, BoundsWhatItHoldsForAllClients) {
  const served s({.buffered_bytes_max = 300'000});
  std::vector<raw_client> half;
  int refused = 0;
  const std::string part(60'000, ' ');
  for (int i = 0; i < 8; ++i) {
    raw_client& c = half.emplace_back(s.client());
    c.send(post("Content-Length: 100000\r\n", "") + part);
  }
  // Every client sends the rest; those for which there is no room were told so.
  for (raw_client& c : half) {
    c.send(std::string(40'000, ' '));
    const int status = c.receive().status;
    EXPECT_TRUE(status == 503 || status == 400) << status;
    refused += status == 503 ? 1 : 0;
  }
  EXPECT_GE(refused, 1);
  EXPECT_EQ(200, s.ask(modern_call("fail")).status) << "and there is room again";
}

TEST(HttpServer, BoundsCalls) {
  served s({.calls_running_max = 1, .calls_waiting_max = 0});
  raw_client running = in_a_call(s, modern_call("block"));
  const http_reply refused = s.ask(modern_call("fail"));
  EXPECT_EQ(503, refused.status);
  EXPECT_EQ("1", refused.header("retry-after"));
  const http_reply begun = s.ask(post({}, test::initialize_body)); // however full it is
  EXPECT_EQ(200, begun.status);
  const std::string ping = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  EXPECT_EQ(200,
            s.ask(post(session_header(std::string(begun.header("mcp-session-id"))), ping)).status);
  EXPECT_EQ(200, s.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status);
  s.waiting.open();
  EXPECT_EQ(200, running.receive().status);
}

TEST(HttpServer, QueuesCallsBeyondItsThreads) {
  served s({.calls_running_max = 1});
  raw_client running = in_a_call(s, modern_call("block"));
  std::vector<raw_client> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(s.client());
    waiting.back().send(modern_call("fail"));
  }
  s.waiting.open();
  EXPECT_EQ(200, running.receive().status);
  for (raw_client& c : waiting)
    EXPECT_EQ(200, c.receive().status);
}

TEST(HttpServer, MakesRoomByEndingTheConnectionIdleForLongest) {
  const served s({.connections_max = 4});
  std::vector<raw_client> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(s.client());
    idle.back().send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(200, idle.back().receive().status);
  }
  EXPECT_EQ(200, s.ask(modern_call("fail")).status);
  EXPECT_TRUE(idle.front().is_ended());
}

const std::string probe = "GET /healthz HTTP/1.1\r\n\r\n";

TEST(HttpServer, KeepsConnectionsForProbes) {
  const served s({.connections_max = 2});
  std::vector<raw_client> held;
  for (int i = 0; i < 2; ++i) {
    held.push_back(s.client());
    held.back().send(post(modern_headers("subscriptions/listen"),
                          modern("subscriptions/listen", R"("notifications":{})")));
    EXPECT_EQ(200, held.back().receive_head().status);
  }
  EXPECT_EQ("ok\n", s.ask(probe).body);
  const http_reply refused = s.ask(modern_call("fail"));
  EXPECT_EQ(503, refused.status);
  EXPECT_EQ("close", refused.header("connection"));
  held.front().close();
  EXPECT_EQ("ok\n", s.ask(probe).body) << "and so the place is known to be free";
  EXPECT_EQ(200, s.ask(modern_call("fail")).status);
}

TEST(HttpServer, EndsHeadsThatAreSlowToArriveWhenPlacesGetShort) {
  const served s({.connections_max = 2});
  raw_client first = s.client();
  first.send("GET /healthz HTTP/1.1\r\n");
  EXPECT_EQ("ok\n", s.ask(probe).body) << "there is a place, and the first one was accepted";
  raw_client second = s.client();
  second.send("GET /healthz");
  EXPECT_EQ(200, s.ask(modern_call("fail")).status);
  EXPECT_TRUE(first.is_ended());
}

TEST(HttpServer, HoldsAThousandIdleConnections) {
  rlimit files{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &files));
  if (files.rlim_cur < 2100) {
    const rlimit more{.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096),
                      .rlim_max = files.rlim_max};
    if (files.rlim_max < 2100 || ::setrlimit(RLIMIT_NOFILE, &more) != 0)
      GTEST_SKIP() << "this system does not allow 2100 open files";
  }
  const served s;
  std::vector<raw_client> idle;
  for (int i = 0; i < 1000; ++i) {
    raw_client& c = idle.emplace_back(s.client());
    ASSERT_TRUE(c.connected()) << i;
    c.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  for (raw_client& c : idle)
    ASSERT_EQ(200, c.receive().status);
  EXPECT_EQ(200, s.ask(modern_call("fail")).status);
  idle.front().send(modern_call("echo", R"({"text":"still here"})"));
  EXPECT_THAT(idle.front().receive().body, HasSubstr("still here"));
}

// --- the end ------------------------------------------------------------------------------------

TEST(HttpServer, FinishesCallsBeforeItStops) {
  served s;
  raw_client idle = s.client();
  raw_client c = in_a_call(s, modern_call("block"));
  s.begin_to_stop();
  EXPECT_TRUE(idle.is_ended());
  EXPECT_FALSE(s.client().connected());
  s.waiting.open();
  const http_reply reply = c.receive();
  EXPECT_THAT(reply.body, HasSubstr("passed"));
  EXPECT_EQ("close", reply.header("connection"));
  EXPECT_EQ(0u, s.stop().calls_abandoned);
}

/// The descriptor stays readable: a loop that goes on looking at it would never wait.
TEST(HttpServer, LooksAwayFromWhatStoppedIt) {
  const paddock::file_descriptor stop(::eventfd(0, EFD_CLOEXEC));
  served s({}, {}, stop.get());
  raw_client c = in_a_call(s, modern_call("block"));
  EXPECT_TRUE(test::is_polled(stop.get()));
  ASSERT_EQ(0, ::eventfd_write(stop.get(), 1));
  while (s.client().connected()) {
  }
  EXPECT_FALSE(test::is_polled(stop.get()));
  s.waiting.open();
  EXPECT_THAT(c.receive().body, HasSubstr("passed"));
}

TEST(HttpServer, CancelsCallsThatDoNotEnd) {
  served s({.stop_grace_ms = 1});
  raw_client modern_client = s.client();
  modern_client.send(modern_call("block"));
  const std::string id = new_session(s);
  raw_client legacy_client = s.client();
  legacy_client.send(legacy_call(id, "block"));
  s.waiting.wait_for_arrivals(2);
  s.begin_to_stop();
  EXPECT_THAT(modern_client.receive().body, HasSubstr("cancelled"));
  EXPECT_THAT(legacy_client.receive().body, HasSubstr("cancelled"));
  EXPECT_EQ(0u, s.stop().calls_abandoned);
}

TEST(HttpServer, LeavesDeafCallsBehind) {
  served s({.stop_grace_ms = 1});
  raw_client c = in_a_call(s, modern_call("deaf"));
  EXPECT_EQ(1u, s.stop().calls_abandoned);
  s.waiting.open();
  EXPECT_EQ(call_outcome::succeeded, s.calls.wait_for(1)) << "before the log is gone";
}

TEST(HttpServer, ALoopThatFailsTellsWhatItLeavesBehind) {
  const file_descriptor stop(::eventfd(0, EFD_CLOEXEC));
  served s({}, {}, stop.get());
  raw_client c = in_a_call(s, modern_call("deaf"));
  // The call arrives before the loop has dealt with its connection: an answer to another says that
  // it has, and that this connection does not end for want of a poller.
  ASSERT_EQ(200, s.ask(post(modern_headers("tools/list"), modern("tools/list"))).status);
  ASSERT_GE(test::poller_of(stop.get()), 0);
  ASSERT_GE(::dup2(stop.get(), test::poller_of(stop.get())), 0);
  const raw_client wakes = s.client();
  const auto outcome = s.wait_for_end();
  EXPECT_TRUE(outcome.failure);
  EXPECT_EQ(1u, outcome.calls_abandoned);
  s.waiting.open();
  EXPECT_EQ(call_outcome::succeeded, s.calls.wait_for(1)) << "before the log is gone";
}

TEST(HttpServer, StopsBeforeItRuns) {
  const server s(test::fixture_options(), {});
  auto http = http_server::make(s, {});
  ASSERT_TRUE(http);
  http->stop();
  EXPECT_TRUE(http->run());
}

} // namespace
} // namespace paddock::mcp
