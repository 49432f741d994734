// SPDX-License-Identifier: MIT
// Requests cut into pieces of every size: what two programs could read differently is refused. And
// what a request's head decides alone: who may ask, and for what.
#include "http/request_reader.hpp"
#include "http/response.hpp"
#include "mcp/http/access.hpp"
#include "mcp/http/message_rules.hpp"
#include "mcp/protocol/header_value.hpp"
#include "precompiled/tests.hpp"

namespace paddock::mcp {
namespace {

constexpr http::request_reader::limits small = {.head_bytes_max = 1024, .body_bytes_max = 40};

/// "METHOD target|body" of each request, then "…" for more to come or the status of a refusal.
std::vector<std::string> read(std::string_view stream, std::size_t piece) {
  using step = http::request_reader::step;
  http::request_reader reader(small);
  std::vector<std::string> out;
  std::string body;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    std::string_view bytes = stream.substr(at, piece);
    for (step s = step::head; s != step::more;) {
      s = reader.next(bytes);
      if (s == step::body) body += reader.body();
      if (s == step::end) {
        out.push_back(reader.head().method + " " + reader.head().target + "|" + body);
        body.clear();
        reader.restart();
      }
      if (s == step::bad) {
        EXPECT_STRNE("", reader.problem());
        out.push_back(std::to_string(reader.status()));
        return out;
      }
    }
  }
  if (reader.begun()) out.emplace_back("…");
  return out;
}

struct stream_case {
  const char* name;
  std::string stream;
  std::vector<std::string> requests;
};

std::string get(std::string_view headers) {
  return "GET / HTTP/1.1\r\n" + std::string(headers) + "\r\n";
}
std::string post(std::string_view headers, std::string_view body) {
  return "POST / HTTP/1.1\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

const std::string chunked = "Transfer-Encoding: chunked\r\n";

const stream_case stream_cases[] = {
    {"plain", get("Host: a\r\n"), {"GET /|"}},
    {"no headers", get(""), {"GET /|"}},
    {"two in a row", get("") + get(""), {"GET /|", "GET /|"}},
    {"blank line between", get("") + "\r\n" + get(""), {"GET /|", "GET /|"}},
    {"two blank lines", "\r\n\r\n" + get(""), {"400"}},
    {"length", post("Content-Length: 3\r\n", "abc") + get(""), {"POST /|abc", "GET /|"}},
    {"length zero", post("Content-Length: 0\r\n", ""), {"POST /|"}},
    {"length with blanks", post("Content-Length: \t3 \r\n", "abc"), {"POST /|abc"}},
    {"length of the bound",
     post("Content-Length: 40\r\n", std::string(40, 'x')),
     {"POST /|" + std::string(40, 'x')}},
    {"incomplete", post("Content-Length: 4\r\n", "abc"), {"…"}},
    {"chunks",
     post(chunked, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") + get(""),
     {"POST /|abcde", "GET /|"}},
    {"chunk size in upper and lower case",
     post(chunked, "A\r\n0123456789\r\n0\r\n\r\n"),
     {"POST /|0123456789"}},
    {"chunk extension", post(chunked, "1;a=b\r\nx\r\n0\r\n\r\n"), {"POST /|x"}},
    {"chunk extensions",
     post(chunked, "1;a;b = \"c;\\\"d\";e=f\r\nx\r\n0;g\r\n\r\n"),
     {"POST /|x"}},
    {"chunk extension without a name", post(chunked, "1;=b\r\nx\r\n0\r\n\r\n"), {"400"}},
    {"chunk extension without an end", post(chunked, "1;a=\"b\r\nx\r\n0\r\n\r\n"), {"400"}},
    {"chunk extension with a blank behind", post(chunked, "1;a \r\nx\r\n0\r\n\r\n"), {"400"}},
    {"trailers", post(chunked, "0\r\nA: b\r\n\r\n"), {"POST /|"}},
    {"trailer that is a length", post(chunked, "0\r\nContent-Length: 1\r\n\r\n"), {"400"}},
    {"trailer that is an encoding", post(chunked, "0\r\n" + chunked + "\r\n"), {"400"}},
    {"Connection with names", get("Connection: keep-alive, ,Upgrade\r\n"), {"GET /|"}},
    {"Connection that is no list", get("Connection: close;x\r\n"), {"400"}},
    {"encoding in any case", post("transfer-ENCODING: Chunked\r\n", "0\r\n\r\n"), {"POST /|"}},
    {"HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", {"GET /|"}},
    // Smuggling: two lengths, or none that all agree on.
    {"length and chunks", post("Content-Length: 3\r\n" + chunked, "0\r\n\r\n"), {"400"}},
    {"chunks and length", post(chunked + "Content-Length: 3\r\n", "0\r\n\r\n"), {"400"}},
    {"two lengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), {"400"}},
    {"two equal lengths", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), {"400"}},
    {"list of lengths", post("Content-Length: 3, 3\r\n", "abc"), {"400"}},
    {"length with a sign", post("Content-Length: +3\r\n", "abc"), {"400"}},
    {"negative length", post("Content-Length: -1\r\n", ""), {"400"}},
    {"length in hexadecimal", post("Content-Length: 0x3\r\n", "abc"), {"400"}},
    {"empty length", post("Content-Length:\r\n", ""), {"400"}},
    {"length beyond 64 bits", post("Content-Length: 99999999999999999999\r\n", ""), {"413"}},
    {"length beyond the bound", post("Content-Length: 41\r\n", ""), {"413"}},
    {"other encoding", post("Transfer-Encoding: gzip\r\n", ""), {"501"}},
    {"encoding before chunks", post("Transfer-Encoding: gzip, chunked\r\n", ""), {"501"}},
    {"chunked twice", post(chunked + chunked, "0\r\n\r\n"), {"501"}},
    {"encoding that looks like chunked", post("Transfer-Encoding: xchunked\r\n", ""), {"501"}},
    {"encoding with a vertical tab", post("Transfer-Encoding: \vchunked\r\n", ""), {"400"}},
    {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", {"400"}},
    {"chunk size with a prefix", post(chunked, "0x1\r\na\r\n0\r\n\r\n"), {"400"}},
    {"chunk size with a blank", post(chunked, "1 \r\na\r\n0\r\n\r\n"), {"400"}},
    {"chunk size negative", post(chunked, "-1\r\na\r\n0\r\n\r\n"), {"400"}},
    {"chunk size empty", post(chunked, "\r\na\r\n"), {"400"}},
    {"chunk size beyond 64 bits", post(chunked, "10000000000000000\r\n"), {"400"}},
    {"chunk size with zeros in front", post(chunked, "00000000000000001\r\na\r\n"), {"400"}},
    {"chunk that is longer", post(chunked, "1\r\nab\r\n0\r\n\r\n"), {"400"}},
    {"chunk line without CR", post(chunked, "1\na\r\n0\r\n\r\n"), {"400"}},
    {"chunk end without CR", post(chunked, "1\r\na\n0\r\n\r\n"), {"400"}},
    {"chunk line without end", post(chunked, "1;" + std::string(300, 'x')), {"400"}},
    {"chunks beyond the bound",
     post(chunked, "20\r\n" + std::string(32, 'x') + "\r\n9\r\n"),
     {"413"}},
    {"trailers beyond the bound", post(chunked, "0\r\nA: " + std::string(1100, 'x')), {"431"}},
    {"trailer without a name", post(chunked, "0\r\nabc\r\n\r\n"), {"400"}},
    // Smuggling: lines and names.
    {"folded header", get("A: b\r\n c\r\n"), {"400"}},
    {"folded first header", get(" A: b\r\n"), {"400"}},
    {"blank before the colon", get("Content-Length : 3\r\n"), {"400"}},
    {"tab before the colon", get("Content-Length\t: 3\r\n"), {"400"}},
    {"no colon", get("abc\r\n"), {"400"}},
    {"no name", get(": b\r\n"), {"400"}},
    {"bare LF", "GET / HTTP/1.1\nHost: a\r\n\r\n", {"400"}},
    {"bare LF after a header", "GET / HTTP/1.1\r\nHost: a\n\r\n", {"400"}},
    {"bare LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", {"400"}},
    {"bare CR in a value", get("A: b\rContent-Length: 3\r\n"), {"400"}},
    {"two CR", get("A: b\r\r\n"), {"400"}},
    {"NUL in a value", get(std::string_view("A: b\0c\r\n", 8)), {"400"}},
    {"DEL in a value", get("A: \x7f\r\n"), {"400"}},
    {"NUL in the first line", std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), {"400"}},
    // The first line.
    {"target that is none", "GET x HTTP/1.1\r\n\r\n", {"400"}},
    {"target of another scheme", "GET ftp://a/ HTTP/1.1\r\n\r\n", {"400"}},
    {"target with an authority only", "CONNECT a:1 HTTP/1.1\r\n\r\n", {"400"}},
    {"two blanks", "GET  / HTTP/1.1\r\n\r\n", {"400"}},
    {"blank in the target", "GET /a b HTTP/1.1\r\n\r\n", {"400"}},
    {"tab instead of a blank", "GET\t/\tHTTP/1.1\r\n\r\n", {"400"}},
    {"no version", "GET /\r\n\r\n", {"400"}},
    {"lower case", "GET / http/1.1\r\n\r\n", {"400"}},
    {"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", {"505"}},
    {"HTTP/1.2", "GET / HTTP/1.2\r\n\r\n", {"505"}},
    {"HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", {"505"}},
    {"HTTP/1.10", "GET / HTTP/1.10\r\n\r\n", {"400"}},
    {"method that is none", "G@T / HTTP/1.1\r\n\r\n", {"400"}},
    {"long method", std::string(33, 'G') + " / HTTP/1.1\r\n\r\n", {"400"}},
    {"TLS", "\x16\x03\x01\x02\r\n", {"400"}},
    {"garbage", "abc\r\n", {"400"}},
    // Bounds.
    {"long line", "GET /" + std::string(2000, 'x'), {"431"}},
    {"long header", get("A: " + std::string(2000, 'x')), {"431"}},
    {"expectation", get("Expect: 200-ok\r\n"), {"417"}},
};

TEST(HttpRequest, ReadsTheSameInPiecesOfEverySize) {
  for (const stream_case& c : stream_cases)
    for (const std::size_t piece :
         {c.stream.size(), std::size_t{1}, std::size_t{2}, std::size_t{7}})
      EXPECT_EQ(c.requests, read(c.stream, piece)) << c.name << ", in pieces of " << piece;
}

TEST(HttpRequest, BoundsTheNumberOfHeadersAndTheTarget) {
  constexpr http::request_reader::limits large = {.head_bytes_max = 32'768, .body_bytes_max = 1};
  const auto status_of = [&](const std::string& stream) {
    http::request_reader reader(large);
    std::string_view bytes = stream;
    return reader.next(bytes) == http::request_reader::step::bad ? reader.status() : 0;
  };
  std::string headers;
  for (int i = 0; i < 100; ++i)
    headers += "A: b\r\n";
  EXPECT_EQ(0, status_of(get(headers)));
  EXPECT_EQ(431, status_of(get(headers + "A: b\r\n")));
  EXPECT_EQ(0, status_of("GET /" + std::string(8191, 'x') + " HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(414, status_of("GET /" + std::string(8192, 'x') + " HTTP/1.1\r\n\r\n"));
}

TEST(HttpRequest, KnowsWhetherTheConnectionGoesOn) {
  const std::pair<std::string, bool> cases[] = {
      {get(""), true},
      {get("Connection: keep-alive\r\n"), true},
      {get("Connection: closed\r\n"), true},
      {get("Connection: Close\r\n"), false},
      {get("Connection: foo, Close\r\n"), false},
      {get("Connection: keep-alive\r\nConnection: close\r\n"), false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
  };
  for (const auto& [stream, expected] : cases) {
    http::request_reader reader(small);
    std::string_view bytes = stream;
    ASSERT_EQ(http::request_reader::step::head, reader.next(bytes)) << stream;
    EXPECT_EQ(expected, reader.keeps_alive()) << stream;
  }
}

// --- who may ask --------------------------------------------------------------------------------

struct access_case {
  const char* name;
  std::string method;
  std::string target;
  std::string headers;
  int status; ///< 0: allowed
};

const std::string json = "Content-Type: application/json\r\n";
const std::string local = "Host: localhost:80\r\n";

const access_case access_cases[] = {
    {"local", "POST", "/mcp", local + json, 0},
    {"address", "POST", "/mcp", "Host: 127.0.0.1:9\r\n" + json, 0},
    {"IPv6", "POST", "/mcp", "Host: [::1]:9\r\n" + json, 0},
    {"without a port", "POST", "/mcp", "Host: LOCALHOST\r\n" + json, 0},
    {"allowed", "POST", "/mcp", "Host: box.lan:1\r\n" + json, 0},
    {"allowed with a port", "POST", "/mcp", "Host: other.lan:81\r\n" + json, 0},
    {"allowed with another port", "POST", "/mcp", "Host: other.lan:82\r\n" + json, 403},
    {"foreign", "POST", "/mcp", "Host: evil.example\r\n" + json, 403},
    {"foreign that begins well", "POST", "/mcp", "Host: localhost.evil.example\r\n" + json, 403},
    {"foreign that ends well", "POST", "/mcp", "Host: evil-localhost\r\n" + json, 403},
    {"another address", "POST", "/mcp", "Host: 127.0.0.1.evil.example:80\r\n" + json, 403},
    {"all addresses", "POST", "/mcp", "Host: 0.0.0.0\r\n" + json, 403},
    {"user", "POST", "/mcp", "Host: localhost@evil.example\r\n" + json, 400},
    {"path", "POST", "/mcp", "Host: localhost/\r\n" + json, 400},
    {"no number", "POST", "/mcp", "Host: localhost:8x\r\n" + json, 400},
    {"list", "POST", "/mcp", "Host: localhost, evil\r\n" + json, 400},
    {"bracket", "POST", "/mcp", "Host: [::1\r\n" + json, 400},
    {"behind the bracket", "POST", "/mcp", "Host: [::1]evil\r\n" + json, 400},
    {"empty", "POST", "/mcp", "Host:\r\n" + json, 400},
    {"missing", "POST", "/mcp", json, 400},
    {"twice", "POST", "/mcp", local + local + json, 400},
    {"absolute", "POST", "http://localhost:80/mcp", local + json, 0},
    {"absolute, another host", "POST", "http://evil.example/mcp", local + json, 400},
    {"absolute, user", "POST", "http://localhost:80@evil.example/mcp", local + json, 400},
    {"own origin", "POST", "/mcp", local + "Origin: http://localhost:80\r\n" + json, 0},
    {"own origin behind TLS", "POST", "/mcp", "Host: box.lan\r\nOrigin: https://box.lan\r\n" + json,
     0},
    {"allowed origin", "POST", "/mcp", local + "Origin: https://App.example\r\n" + json, 0},
    {"another port", "POST", "/mcp", local + "Origin: http://localhost:81\r\n" + json, 403},
    {"foreign origin", "POST", "/mcp", local + "Origin: http://evil.example\r\n" + json, 403},
    {"origin null", "POST", "/mcp", local + "Origin: null\r\n" + json, 403},
    {"origin empty", "POST", "/mcp", local + "Origin:\r\n" + json, 403},
    {"foreign host and origin", "POST", "/mcp",
     "Host: evil.example\r\nOrigin: http://evil.example\r\n" + json, 403},
    {"two origins", "POST", "/mcp",
     local + "Origin: http://localhost:80\r\nOrigin: http://localhost:80\r\n" + json, 400},
    {"query", "POST", "/mcp?a=b", local + json, 0},
    {"another path", "POST", "/mcp/", local + json, 404},
    {"root", "POST", "/", local + json, 404},
    {"no target of ours", "OPTIONS", "*", local, 404},
    {"GET", "GET", "/mcp", local, 405},
    {"HEAD", "HEAD", "/mcp", local, 405},
    {"PUT", "PUT", "/mcp", local + json, 405},
    {"OPTIONS", "OPTIONS", "/mcp", local, 405},
    {"method in lower case", "post", "/mcp", local + json, 405},
    {"DELETE", "DELETE", "/mcp", local, 0},
    {"DELETE in the modern era", "DELETE", "/mcp", local + "MCP-Protocol-Version: 2026-07-28\r\n",
     405},
    {"two sessions", "POST", "/mcp", local + json + "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n",
     400},
    {"two sessions to end", "DELETE", "/mcp", local + "Mcp-Session-Id: a\r\nMcp-Session-Id: a\r\n",
     400},
    {"two versions", "POST", "/mcp",
     local + json + "MCP-Protocol-Version: 2025-06-18\r\nMCP-Protocol-Version: 2026-07-28\r\n",
     400},
    {"one of each", "POST", "/mcp",
     local + json + "MCP-Protocol-Version: 2025-06-18\r\nMcp-Session-Id: a\r\n", 0},
    {"type with parameters", "POST", "/mcp",
     local + "Content-Type: Application/JSON ; charset=utf-8\r\n", 0},
    {"text", "POST", "/mcp", local + "Content-Type: text/plain\r\n", 415},
    {"no type", "POST", "/mcp", local, 415},
    {"two types", "POST", "/mcp", local + json + json, 415},
    {"compressed", "POST", "/mcp", local + json + "Content-Encoding: gzip\r\n", 415},
    {"not compressed", "POST", "/mcp", local + json + "Content-Encoding: identity\r\n", 0},
    {"accepts all", "POST", "/mcp", local + json + "Accept: */*\r\n", 0},
    {"accepts by halves", "POST", "/mcp",
     local + json + "Accept: text/html, application/*;q=0.1\r\n", 0},
    {"accepts in two lines", "POST", "/mcp",
     local + json + "Accept: text/html\r\nAccept: text/event-stream\r\n", 0},
    {"accepts pages", "POST", "/mcp", local + json + "Accept: text/html\r\n", 406},
    {"probe", "GET", "/healthz", "Host: 10.0.0.7:8080\r\n", 0},
    {"probe by HEAD", "HEAD", "/healthz", "Host: 10.0.0.7:8080\r\n", 0},
    {"probe by POST", "POST", "/healthz", local + json, 405},
    {"probe by a page", "GET", "/healthz", local + "Origin: http://evil.example\r\n", 403},
    {"preflight", "OPTIONS", "/mcp",
     local + "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n", 0},
    {"foreign preflight", "OPTIONS", "/mcp",
     local + "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n", 403},
};

http::request_head head_of(const std::string& method, const std::string& target,
                           const std::string& headers) {
  http::request_reader reader({.head_bytes_max = 32'768, .body_bytes_max = 100});
  const std::string stream = method + " " + target + " HTTP/1.1\r\n" + headers + "\r\n";
  std::string_view bytes = stream;
  EXPECT_EQ(http::request_reader::step::head, reader.next(bytes)) << stream << reader.problem();
  return reader.head();
}

access_rules usual_rules() {
  return {.path = "/mcp",
          .token = {},
          .who = {.allowed_hosts = {"box.lan", "other.lan:81"},
                  .allowed_origins = {"https://app.example"}}};
}

TEST(HttpAccess, IsDecidedByTheHead) {
  for (const access_case& c : access_cases) {
    const verdict v = judge(head_of(c.method, c.target, c.headers), usual_rules());
    EXPECT_EQ(c.status, v.status) << c.name << ": " << v.reason;
    EXPECT_EQ(c.status != 0, v.to == route::refused) << c.name;
    EXPECT_EQ(c.status == 405, v.header.starts_with("Allow: ")) << c.name;
  }
}

TEST(HttpAccess, AsksForTheToken) {
  access_rules rules = usual_rules();
  rules.token = "0123456789abcdef";
  const std::pair<const char*, int> cases[] = {
      {"", 401},
      {"Authorization: Bearer 0123456789abcdef\r\n", 0},
      {"Authorization: bearer   0123456789abcdef\r\n", 0},
      {"Authorization: Bearer 0123456789abcdeF\r\n", 401},
      {"Authorization: Bearer 0123456789abcde\r\n", 401},
      {"Authorization: Bearer 0123456789abcdef0\r\n", 401},
      {"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n", 401},
      {"Authorization: Bearer \r\n", 401},
      {"Authorization: Bearer\r\n", 401},
      {"Authorization: 0123456789abcdef\r\n", 401},
      {"Authorization: Basic 0123456789abcdef\r\n", 401},
      {"Authorization: Bearer 0123456789abcdef\r\nAuthorization: Bearer x\r\n", 401},
  };
  for (const auto& [header, status] : cases)
    for (const char* target : {"/mcp", "/elsewhere"}) {
      const int expected = status == 0 && target != std::string_view("/mcp") ? 404 : status;
      EXPECT_EQ(expected, judge(head_of("POST", target, local + json + header), rules).status)
          << header << target;
    }
  EXPECT_EQ(route::health, judge(head_of("GET", "/healthz", local), rules).to);
  const verdict asked = judge(
      head_of("OPTIONS", "/mcp",
              local + "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n"),
      rules);
  EXPECT_EQ(route::preflight, asked.to) << "browsers ask without credentials";
}

TEST(HttpAccess, TakesAnyHostWhereStrangersAreKeptOutOtherwise) {
  access_rules rules = usual_rules();
  rules.who.host_rule = http::asker_rules::hosts::any;
  EXPECT_EQ(0, judge(head_of("POST", "/mcp", "Host: svc.cluster\r\n" + json), rules).status);
  EXPECT_EQ(400, judge(head_of("POST", "/mcp", json), rules).status);
  EXPECT_EQ(403, judge(head_of("POST", "/mcp",
                               "Host: svc.cluster\r\nOrigin: http://evil.example\r\n" + json),
                       rules)
                     .status);
}

// --- encoded headers ----------------------------------------------------------------------------

TEST(HttpAccess, DecodesHeaders) {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"", ""},
      {"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"},
      {"=?base64?IHBhZGRlZCA=?=", " padded "},
      {"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="},
      {"=?base64?"
       "?=",
       ""},
      {"=?BASE64?SGVs?=", "=?BASE64?SGVs?="},
      {"=?base64?SGVs", "=?base64?SGVs"},
      {"=?base64?=", "=?base64?="},
      {"=?base64?SGVsbG8?=", nullptr},
      {"=?base64?SGVs*G8=?=", nullptr},
      {"=?base64?SGVsbG9=?=", nullptr},
      {"=?base64?====?=", nullptr},
      {"=?base64?S===?=", nullptr},
  };
  for (const auto& [value, expected] : cases) {
    const auto decoded = decoded_header(value);
    EXPECT_EQ(expected != nullptr, decoded.has_value()) << value;
    if (expected != nullptr && decoded) {
      EXPECT_EQ(expected, *decoded);
    }
  }
}

TEST(HttpAnswer, SaysWhen) {
  const std::string text = http::whole_response({.status = 200}, "application/json", "{}");
  EXPECT_THAT(
      text, testing::ContainsRegex("Date: [A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] 20[0-9][0-9] "
                                   "[0-9][0-9]:[0-9][0-9]:[0-9][0-9] GMT\r\n"));
}

} // namespace
} // namespace paddock::mcp
