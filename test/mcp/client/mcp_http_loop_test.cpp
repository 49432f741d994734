// SPDX-License-Identifier: MIT
// What the client's use of libcurl promises: how answers are read, where it connects to, and what
// is never done.
#include "mcp/client/http/transfer/http_loop.hpp"
#include "support/http/full_listener.hpp"
#include "support/http/http_peer.hpp"
#include "support/mcp/transport_sink.hpp"

#include <initializer_list>

namespace paddock::mcp {
namespace {

using test::http_peer;
using test::http_received;
using test::http_script_server;
using test::signal_once;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What came of one request.
struct heard {
  int status = 0;
  std::string type;
  std::string body;
  std::string problem; ///< empty: the answer was whole
  error_code code{};
};

class listener final : public response_handler {
public:
  struct report {
    heard what;
    signal_once done;
  };
  explicit listener(std::shared_ptr<report> to) : to_(std::move(to)) {}
  bool on_head(const http_head& head) override {
    to_->what.status = head.status;
    to_->what.type = head.header("content-type");
    return true;
  }
  bool on_body(std::string_view piece) override {
    to_->what.body += piece;
    return true;
  }
  void on_end(const http_failure* failed) override {
    if (failed != nullptr) {
      to_->what.problem = failed->why;
      to_->what.code = failed->reason.code;
    }
    to_->done.raise();
  }

private:
  const std::shared_ptr<report> to_;
};

class http_loop_test : public testing::Test {
protected:
  void TearDown() override {
    loop_.reset();
    server_.reset(); // its threads use what the tests have
  }
  void serve(http_script_server::handler h) {
    server_ = std::make_unique<http_script_server>(std::move(h));
  }
  [[nodiscard]] http_origin origin(const std::string& host = "127.0.0.1") const {
    http_origin out;
    out.to = {.scheme = url_scheme::http,
              .host = host,
              .port = static_cast<std::uint16_t>(server_->port()),
              .target = "/mcp"};
    out.addresses = {*sys::inet_pton("127.0.0.1")};
    out.allowed = address_policy::any;
    return out;
  }
  void start(http_origin to) {
    auto started = http_loop::start(std::move(to));
    ASSERT_TRUE(started);
    loop_ = *std::move(started);
  }
  heard ask(std::string body = "{}", std::string_view method = "POST",
            std::int64_t timeout_ms = 0) {
    const auto report = std::make_shared<listener::report>();
    loop_->post([this, report, method, timeout_ms, body = std::move(body)] {
      http_request request{.method = method,
                           .target = "/mcp",
                           .headers = {},
                           .body = body,
                           .timeout_ms = timeout_ms};
      loop_->send(std::move(request), std::make_unique<listener>(report));
    });
    EXPECT_TRUE(report->done.wait());
    return report->what;
  }
  /// What is made of a server that answers with `bytes`, in pieces, and ends the connection where
  /// it `ends`.
  heard read(std::string_view stream, std::size_t piece, bool ends) {
    TearDown();
    // The server may still be sending when the test is over.
    serve([bytes = std::string(stream), piece, ends](http_peer& peer, const http_received&) {
      for (std::size_t at = 0; at < bytes.size(); at += piece)
        peer.send(std::string_view(bytes).substr(at, piece));
      if (ends) peer.hang_up();
    });
    start(origin());
    return ask();
  }

  std::unique_ptr<http_script_server> server_;
  std::unique_ptr<http_loop> loop_;
};

// --- answers ------------------------------------------------------------------------------------

const std::string ok = "HTTP/1.1 200 OK\r\n";

struct framing {
  std::string stream;
  int status;
  const char* type;
  const char* body;
  bool is_reusable; ///< the connection
  bool ends = false;
};

const framing good_answers[] = {
    {ok + "Content-Length: 0\r\n\r\n", 200, "", "", true},
    {ok + "Content-Length: 3\r\nContent-Type: a/b\r\n\r\nxyz", 200, "a/b", "xyz", true},
    {ok + "content-LENGTH:3\r\n\r\nxyzHTTP", 200, "", "xyz", false},
    {ok + "Content-Length: 3\r\nConnection: Close\r\n\r\nxyz", 200, "", "xyz", false},
    {ok + "Content-Length: 3\r\nConnection: x, close\r\n\r\nxyz", 200, "", "xyz", false},
    {ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nxyz", 200, "", "xyz", true},
    {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nxyz", 200, "", "xyz", false},
    {"HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 404, "", "", true},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", true},
    {"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 200, "", "x", true},
    {"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", 200, "", "x", true},
    {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n", 200, "", "xyz", true},
    {ok + "Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n02 \r\nyz\r\n0\r\nT: u\r\n\r\n", 200, "",
     "xyz", true},
    {ok + "\r\nxyz", 200, "", "xyz", false, true},
    {ok + "\r\n", 200, "", "", false, true},
    {"HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\nxyz", 200, "a/b", "xyz", false, true},
};

TEST_F(http_loop_test, reads_answers_in_pieces_of_any_size) {
  for (const framing& c : good_answers)
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, c.stream.size()}) {
      const heard got = read(c.stream, piece, c.ends);
      EXPECT_THAT(got.problem, IsEmpty()) << c.stream << " in " << piece;
      EXPECT_EQ(got.status, c.status) << c.stream << " in " << piece;
      EXPECT_EQ(got.type, c.type) << c.stream << " in " << piece;
      EXPECT_EQ(got.body, c.body) << c.stream << " in " << piece;
      if (c.ends || piece < c.stream.size()) continue; // some pieces may still be on their way
      const heard again = ask();
      EXPECT_EQ(again.status, c.status) << c.stream << " in " << piece;
      EXPECT_EQ(again.body, c.body) << c.stream << " in " << piece;
      EXPECT_EQ(server_->connections(), c.is_reusable ? 1 : 2) << c.stream << " in " << piece;
    }
}

TEST_F(http_loop_test, refuses_answers_that_are_not_clear) {
  const std::string long_line(1'000'000, 'a');
  // Some are refused by libcurl before http_head_reader sees them, with words of its own.
  const struct {
    std::string stream;
    const char* problem;
  } cases[] = {
      {"SSH-2.0-x\r\n", "not HTTP"},
      {"\x16\x03\x01\r\n", "not HTTP"},
      {"HTTP/2 200\r\n\r\n", ""},
      {"HTTP/1.1 2000 x\r\n\r\n", ""},
      {"HTTP/1.1 abc x\r\n\r\n", ""},
      {"HTTP/1.1 099 x\r\n\r\n", ""},
      {"HTTP/1.1 600 x\r\n\r\n", ""},
      {"HTTP/1.1 101 x\r\n\r\n", ""},
      {"HTTP/1.1 200 " + long_line + "\r\n", "too long"},
      {ok + "a: " + long_line, "too long"},
      {ok + "a\r\n\r\n", ""},
      {ok + "a : b\r\n\r\n", ""},
      {ok + " folded\r\n\r\n", ""},
      {ok + ": b\r\n\r\n", ""},
      {ok + std::string("a: b\0c\r\n\r\n", 10), ""},
      {ok + "a: b\rc\r\n\r\n", ""},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", ""},
      {ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
      {ok + "Content-Length: -1\r\n\r\n", ""},
      {ok + "Content-Length: 1x\r\n\r\n", ""},
      {ok + "Content-Length: 99999999999999999999\r\n\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\nx\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\n" + std::string(1'000, '0'), ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\na: " + long_line, ""},
  };
  for (const auto& c : cases)
    for (const std::size_t piece : {std::size_t{4096}, c.stream.size()}) {
      const heard got = read(c.stream, piece, true);
      EXPECT_THAT(got.problem, AllOf(Not(IsEmpty()), HasSubstr(c.problem)))
          << c.stream.substr(0, 100) << " in " << piece;
      EXPECT_EQ(got.code, error_code::io) << c.stream.substr(0, 100);
    }
}

TEST_F(http_loop_test, an_end_too_early_is_none) {
  const std::string whole[] = {ok + "Content-Length: 3\r\n\r\nxyz",
                               ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n"};
  for (const std::string& stream : whole)
    for (std::size_t cut = 0; cut + 2 < stream.size(); ++cut) { // an empty line may be missing
      const std::string part = stream.substr(0, cut);
      // Some versions of libcurl take a body without any chunk for an empty one.
      if (part.ends_with("chunked\r\n\r\n")) continue;
      EXPECT_THAT(read(part, stream.size(), true).problem, Not(IsEmpty())) << part;
    }
}

// --- connections --------------------------------------------------------------------------------

TEST_F(http_loop_test, a_request_that_may_have_been_received_is_not_sent_again) {
  std::vector<std::string> got;
  std::vector<const http_peer*> from;
  serve([&](http_peer& peer, const http_received& request) {
    got.push_back(request.method + " " + request.body);
    from.push_back(&peer);
    if (got.size() == 2) return peer.hang_up();
    peer.answer(200, "text/plain", "");
  });
  start(origin());
  EXPECT_THAT(ask("one").problem, IsEmpty());
  EXPECT_THAT(ask("two").problem, HasSubstr("without an answer"));
  EXPECT_THAT(ask("three").problem, IsEmpty());
  EXPECT_THAT(got, testing::ElementsAre("POST one", "POST two", "POST three"));
  EXPECT_EQ(from[0], from[1]) << "the second was sent on a connection that had been used";

  // The control: what asks for nothing to be done is.
  got.clear();
  EXPECT_THAT(ask("one").problem, IsEmpty());
  EXPECT_THAT(ask("", "GET").problem, IsEmpty());
  EXPECT_THAT(got, testing::ElementsAre("POST one", "GET ", "GET "));
}

TEST_F(http_loop_test, connections_that_nobody_uses_are_closed) {
  signal_once closed;
  serve([&](http_peer& peer, const http_received&) {
    peer.answer(200, "text/plain", "");
    peer.wait_for_client();
    closed.raise();
  });
  start(origin());
  EXPECT_THAT(ask().problem, IsEmpty());
  EXPECT_TRUE(closed.wait());
  EXPECT_THAT(ask().problem, IsEmpty()); // it lives on
  TearDown();                            // before the signal
}

TEST_F(http_loop_test, connects_to_the_addresses_that_were_judged) {
  serve([](http_peer& peer, const http_received&) { peer.answer(200, "text/plain", ""); });
  start(origin("paddock.invalid"));
  EXPECT_THAT(ask().problem, IsEmpty());
}

/// Addresses of which some answer nothing, behind a name.
class http_addresses : public http_loop_test {
protected:
  void SetUp() override {
    serve([](http_peer& peer, const http_received&) {
      peer.answer(200, "text/plain", "", "Connection: close\r\n");
    });
  }
  [[nodiscard]] http_origin origin_at(std::initializer_list<const char*> addresses) const {
    http_origin out = origin("paddock.invalid");
    out.addresses.clear();
    for (const char* address : addresses)
      out.addresses.push_back(*sys::inet_pton(address));
    return out;
  }
};

TEST_F(http_addresses, one_that_answers_nothing_holds_up_nobody) {
  const test::full_listener silent("127.0.0.2", server_->port());
  if (!silent.is_full()) GTEST_SKIP() << "this system lets connections into a full queue";
  // One after the other they would take half of the time for connecting, which is more than the
  // request has.
  start(origin_at({"127.0.0.2", "127.0.0.1"}));
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(ask("{}", "POST", 4'000).problem, IsEmpty());

  // The control: nobody else is there.
  http_origin alone = origin_at({"127.0.0.2"});
  alone.connect_timeout_ms = 300;
  start(std::move(alone));
  const heard got = ask();
  EXPECT_EQ(got.code, error_code::timed_out);
  EXPECT_THAT(got.problem, HasSubstr("could not be reached in time"));
}

/// How a network looks whose route for IPv6 leads nowhere.
TEST_F(http_addresses, of_ipv6_that_answer_nothing_hold_up_nobody) {
  const test::full_listener silent("::1", server_->port());
  if (!silent.is_full()) GTEST_SKIP() << "this system has no ::1, or lets in more than it says";
  start(origin_at({"::1", "127.0.0.1"}));
  EXPECT_THAT(ask("{}", "POST", 4'000).problem, IsEmpty());

  // The control: nobody else is there.
  http_origin alone = origin_at({"::1"});
  alone.connect_timeout_ms = 300;
  start(std::move(alone));
  EXPECT_EQ(ask().code, error_code::timed_out);
}

TEST_F(http_addresses, one_that_answered_is_the_first_from_then_on) {
  start(origin_at({"127.0.0.2", "127.0.0.3", "127.0.0.1"})); // nobody is at the first two yet
  EXPECT_THAT(ask().problem, IsEmpty());
  // Somebody is now, who lets in whoever comes and says nothing.
  const test::full_listener first("127.0.0.2", server_->port(), 16);
  const test::full_listener second("127.0.0.3", server_->port(), 16);
  for (int i = 0; i < 10; ++i) // with a new connection each
    EXPECT_THAT(ask("{}", "POST", 4'000).problem, IsEmpty()) << i;
}

TEST_F(http_loop_test, judges_every_address_that_it_connects_to) {
  serve([](http_peer& peer, const http_received&) { peer.answer(200, "text/plain", ""); });
  for (const char* host : {"127.0.0.1", "localhost", "paddock.invalid", "::ffff:127.0.0.1"})
    for (const address_policy allowed : {address_policy::public_only, address_policy::any}) {
      http_origin to = origin(host);
      to.allowed = allowed;
      start(std::move(to));
      const int before = server_->connections();
      const heard got = ask();
      const bool is_denied = allowed == address_policy::public_only;
      EXPECT_EQ(server_->connections() - before, is_denied ? 0 : 1) << host;
      if (!is_denied) continue;
      EXPECT_EQ(got.code, error_code::denied_by_policy) << host;
      EXPECT_THAT(got.problem, HasSubstr("loopback")) << host;
    }
}

TEST_F(http_loop_test, keeps_no_cookies) {
  std::vector<http_received> got;
  serve([&](http_peer& peer, const http_received& request) {
    got.push_back(request);
    peer.answer(200, "text/plain", "", "Set-Cookie: a=b\r\n");
  });
  start(origin());
  EXPECT_THAT(ask().problem, IsEmpty());
  EXPECT_THAT(ask().problem, IsEmpty());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1].headers.count("cookie"), 0u);
}

/// Set for the process while it lives.
class variable {
public:
  variable(const char* name, const std::string& value) : name_(name) {
    EXPECT_EQ(::setenv(name, value.c_str(), 1), 0);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv(name_); }

private:
  const char* name_;
};

TEST_F(http_loop_test, the_environment_does_not_say_where_to_go) {
  http_script_server proxy([](http_peer& peer, const http_received&) {
    peer.answer(200, "text/plain", "from the proxy");
  });
  const variable names[] = {{"http_proxy", proxy.url("")},
                            {"https_proxy", proxy.url("")},
                            {"all_proxy", proxy.url("")},
                            {"ALL_PROXY", proxy.url("")}};
  serve([](http_peer& peer, const http_received&) { peer.answer(200, "text/plain", "direct"); });
  start(origin());
  EXPECT_EQ(ask().body, "direct");
  EXPECT_EQ(proxy.connections(), 0);

  // The control: whoever says so himself gets it, although the environment has an exception.
  const variable exception("no_proxy", "*");
  http_origin to = origin();
  to.proxy = proxy.url("");
  start(std::move(to));
  EXPECT_EQ(ask().body, "from the proxy");
}

TEST_F(http_loop_test, a_proxy_looks_up_names) {
  http_received got;
  serve([&](http_peer& peer, const http_received& request) {
    got = request;
    peer.answer(200, "text/plain", "from the proxy");
  });
  http_origin to = origin("paddock.invalid");
  to.to.port = 80;
  to.addresses.clear();
  to.proxy = server_->url("");
  start(std::move(to));
  EXPECT_EQ(ask().body, "from the proxy");
  EXPECT_EQ(got.target, "http://paddock.invalid/mcp");
}

TEST_F(http_loop_test, a_proxy_that_is_not_there_says_so) {
  serve([](http_peer&, const http_received&) {});
  http_origin to = origin();
  to.proxy = "http://127.0.0.1:1";
  start(to);
  EXPECT_THAT(ask().problem, HasSubstr("the proxy"));
  to.proxy = "http://paddock.invalid";
  start(std::move(to));
  EXPECT_THAT(ask().problem, HasSubstr("no such proxy"));
  EXPECT_EQ(server_->connections(), 0);
}

} // namespace
} // namespace paddock::mcp
