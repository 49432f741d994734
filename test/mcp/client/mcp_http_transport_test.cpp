// SPDX-License-Identifier: MIT
// The HTTP transports of the client against a server that does as each test wants.
#include "mcp/client/client_transport.hpp"
#include "support/http/http_peer.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::test {
namespace {

using mcp::client_transport;
using mcp::http_kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string request_json(int id, std::string_view method = "tools/call") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) +
         "\"}";
}
std::string answer_json(int id, std::string_view text = "done") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"text":")" +
         std::string(text) + "\"}}";
}
std::string notification_json(std::string_view method) {
  return R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}";
}
mcp::request_id id_of(int id) {
  mcp::json_document document;
  return *mcp::request_id::from(*document.parse(std::to_string(id)));
}
/// The id of a request as the server got it.
int id_in(const http_received& request) {
  mcp::json_document document;
  const auto root = document.parse(request.body);
  return root ? static_cast<int>((*root)["id"].integer().value_or(-1)) : -1;
}

struct asked {
  std::string method = "tools/call";
  std::string name = "echo";
  std::string revision = "2026-07-28";
  bool modern = true;
};

class http_transport : public testing::Test {
protected:
  void TearDown() override {
    transport_.reset();
    server_.reset(); // its threads use what the tests have
  }
  void serve(http_script_server::handler h) {
    server_ = std::make_unique<http_script_server>(std::move(h));
  }
  result<void, detailed_error> open(http_kind kind = http_kind::streamable,
                                    mcp::client_options options = {},
                                    std::vector<std::pair<std::string, std::string>> headers = {}) {
    const mcp::http_endpoint to{.url = server_->url(),
                                .headers = std::move(headers),
                                .addresses = mcp::address_policy::any};
    auto opened = mcp::open_http(to, kind, options, sink_);
    if (!opened) return opened.error();
    transport_ = *std::move(opened);
    return {};
  }
  void request(int id, const asked& how = {}) {
    const std::string json = request_json(id, how.method);
    const mcp::request_id number = id_of(id);
    ASSERT_TRUE(transport_->send({.json = json,
                                  .id = &number,
                                  .method = how.method,
                                  .name = how.name,
                                  .revision = how.revision,
                                  .modern = how.modern}));
  }
  void notify(std::string_view method, bool modern = false) {
    const std::string json = notification_json(method);
    ASSERT_TRUE(transport_->send(
        {.json = json, .method = method, .name = {}, .revision = "2025-11-25", .modern = modern}));
  }
  /// The one refusal of a request, on a connection of its own to a server that does this.
  static refusal refused_by(http_script_server::handler h, mcp::client_options options = {}) {
    transport_sink sink;
    const http_script_server server(std::move(h));
    const auto transport =
        mcp::open_http({.url = server.url(), .headers = {}, .addresses = mcp::address_policy::any},
                       http_kind::streamable, options, sink);
    EXPECT_TRUE(transport);
    const mcp::request_id number = id_of(3);
    EXPECT_TRUE(
        (*transport)
            ->send({.json = "{}", .id = &number, .method = {}, .name = {}, .revision = {}}));
    sink.wait_for_refusals(1);
    (*transport)->close();
    const auto got = sink.wait_for_refusals(1);
    EXPECT_THAT(got, testing::SizeIs(1));
    return got.front();
  }

  std::unique_ptr<http_script_server> server_;
  transport_sink sink_; // outlives the transport
  std::unique_ptr<client_transport> transport_;
};

const asked legacy{.revision = "2025-11-25", .modern = false};

// --- Streamable HTTP ----------------------------------------------------------------------------

TEST_F(http_transport, says_what_the_current_revision_wants_in_headers) {
  http_received got;
  serve([&](http_peer& peer, const http_received& request) {
    got = request;
    peer.answer(200, "application/json", answer_json(7));
  });
  ASSERT_TRUE(open(http_kind::streamable, {}, {{"Authorization", "Bearer x"}}));
  request(7, {.name = "gr\xC3\xBC\xC3\x9F"});
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(7)));
  EXPECT_EQ(got.method, "POST");
  EXPECT_EQ(got.target, "/mcp");
  EXPECT_EQ(got.body, request_json(7));
  EXPECT_EQ(got.header("host"), "127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(got.header("content-type"), "application/json");
  EXPECT_EQ(got.header("accept"), "application/json, text/event-stream");
  EXPECT_EQ(got.header("mcp-protocol-version"), "2026-07-28");
  EXPECT_EQ(got.header("mcp-method"), "tools/call");
  EXPECT_EQ(got.header("mcp-name"), "=?base64?Z3LDvMOf?=");
  EXPECT_EQ(got.header("authorization"), "Bearer x");
  EXPECT_EQ(got.headers.count("mcp-session-id"), 0u);
}

TEST_F(http_transport, delivers_events_as_they_arrive) {
  signal_once first_seen;
  serve([&](http_peer& peer, const http_received&) {
    peer.begin_events();
    peer.event(notification_json("notifications/progress"));
    ASSERT_TRUE(first_seen.wait());
    const std::string last = "data: " + answer_json(1) + "\r\n\r\n";
    for (const char& byte : last)
      peer.chunk({&byte, 1});
    peer.end_events();
  });
  ASSERT_TRUE(open());
  request(1);
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(notification_json("notifications/progress")));
  first_seen.raise();
  EXPECT_EQ(sink_.wait_for_messages(2)[1], answer_json(1));
}

TEST_F(http_transport, keeps_the_session_of_older_revisions) {
  std::vector<http_received> got;
  std::mutex guard;
  signal_once listening;
  serve([&](http_peer& peer, const http_received& request) {
    {
      const std::lock_guard lock(guard);
      got.push_back(request);
    }
    if (request.method == "GET") {
      listening.raise();
      return (void)peer.answer(405, "text/plain", "no");
    }
    if (request.method == "DELETE") return (void)peer.answer(200, "text/plain", "");
    if (id_in(request) < 0) return (void)peer.answer(202, "text/plain", "");
    peer.answer(200, "application/json", answer_json(id_in(request)),
                id_in(request) == 1 ? "Mcp-Session-Id: s-1\r\n" : "");
  });
  ASSERT_TRUE(open());
  request(1, {.method = "initialize", .name = {}, .revision = {}, .modern = false});
  sink_.wait_for_messages(1);
  notify("notifications/initialized");
  request(2, legacy);
  sink_.wait_for_messages(2);
  ASSERT_TRUE(listening.wait());
  transport_->close();

  const std::lock_guard lock(guard);
  ASSERT_EQ(got.size(), 5u); // initialize, initialized, GET and a call in any order, DELETE
  EXPECT_EQ(got[0].headers.count("mcp-session-id"), 0u);
  EXPECT_EQ(got[0].headers.count("mcp-protocol-version"), 0u);
  EXPECT_THAT(got[1].body, HasSubstr("initialized"));
  for (std::size_t i = 1; i < got.size(); ++i) {
    EXPECT_EQ(got[i].header("mcp-session-id"), "s-1") << got[i].method;
    EXPECT_EQ(got[i].header("mcp-protocol-version"), "2025-11-25") << got[i].method;
    EXPECT_EQ(got[i].headers.count("mcp-method"), 0u);
  }
  EXPECT_EQ(got[4].method, "DELETE");
}

TEST_F(http_transport, nothing_overtakes_the_end_of_the_handshake) {
  std::atomic<bool> initialised{false};
  std::atomic<int> too_early{0};
  signal_once release;
  serve([&](http_peer& peer, const http_received& request) {
    if (request.method != "POST") return (void)peer.answer(405, "text/plain", "");
    if (id_in(request) < 0) {
      EXPECT_TRUE(release.wait());
      initialised = true;
      return (void)peer.answer(202, "text/plain", "");
    }
    if (!initialised) ++too_early;
    peer.answer(200, "application/json", answer_json(id_in(request)));
  });
  ASSERT_TRUE(open());
  notify("notifications/initialized");
  for (int id = 1; id <= 8; ++id)
    request(id, legacy);
  release.raise();
  sink_.wait_for_messages(8);
  EXPECT_EQ(too_early.load(), 0);
}

TEST_F(http_transport, listens_to_the_server_of_an_older_revision) {
  std::atomic<int> streams{0};
  std::string resumed_at;
  serve([&](http_peer& peer, const http_received& request) {
    if (request.method == "POST") return (void)peer.answer(202, "text/plain", "");
    if (request.method != "GET") return;
    peer.begin_events();
    if (++streams == 1) {
      peer.chunk("retry: 1\n\nid: e1\ndata: " + notification_json("a") + "\n\n");
      peer.hang_up();
    } else {
      resumed_at = request.header("last-event-id");
      peer.event(notification_json("b"));
      peer.wait_for_client();
    }
  });
  ASSERT_TRUE(open());
  notify("notifications/initialized");
  EXPECT_THAT(sink_.wait_for_messages(2),
              ElementsAre(notification_json("a"), notification_json("b")));
  EXPECT_EQ(resumed_at, "e1");
}

TEST_F(http_transport, takes_up_the_stream_of_an_answer_where_it_broke_off) {
  std::vector<std::string> resumed_at;
  serve([&](http_peer& peer, const http_received& request) {
    peer.begin_events();
    if (request.method == "POST") {
      peer.chunk("id: e1\nretry: 1\ndata:\n\n");
      return (void)peer.end_events();
    }
    resumed_at.push_back(request.header("last-event-id"));
    if (resumed_at.size() == 1) {
      peer.chunk("id: e2\ndata: " + notification_json("half") + "\n\n");
      return peer.hang_up(); // no end at all
    }
    peer.event(answer_json(1));
    peer.end_events();
  });
  ASSERT_TRUE(open());
  request(1, legacy);
  EXPECT_THAT(sink_.wait_for_messages(2), ElementsAre(notification_json("half"), answer_json(1)));
  EXPECT_THAT(resumed_at, ElementsAre("e1", "e2"));
}

TEST_F(http_transport, gives_up_a_stream_that_cannot_be_taken_up) {
  serve([&](http_peer& peer, const http_received& request) {
    if (request.method != "POST") return (void)peer.answer(405, "text/plain", "");
    peer.begin_events();
    peer.chunk("id: e1\nretry: 1\ndata:\n\n");
    peer.end_events();
  });
  ASSERT_TRUE(open());
  request(1, legacy);
  EXPECT_EQ(sink_.wait_for_refusals(1)[0].status, 405);
}

TEST_F(http_transport, many_calls_at_once) {
  constexpr int calls = 96;
  std::atomic<int> arrived{0};
  signal_once all_here;
  serve([&](http_peer& peer, const http_received& request) {
    if (++arrived == calls) all_here.raise();
    ASSERT_TRUE(all_here.wait());
    peer.answer(200, "application/json", answer_json(id_in(request)));
  });
  ASSERT_TRUE(open());
  for (int id = 1; id <= calls; ++id)
    request(id);
  const auto got = sink_.wait_for_messages(calls);
  for (int id = 1; id <= calls; ++id)
    EXPECT_THAT(got, testing::Contains(answer_json(id)));
  EXPECT_EQ(server_->connections(), calls);
}

TEST_F(http_transport, too_many_calls_at_once_are_refused_at_once) {
  serve([](http_peer& peer, const http_received&) { peer.wait_for_client(); });
  ASSERT_TRUE(open());
  const mcp::request_id number = id_of(1);
  const std::string json = request_json(1);
  result<void, detailed_error> sent;
  for (int i = 0; i < 1'000 && sent; ++i)
    sent =
        transport_->send({.json = json, .id = &number, .method = {}, .name = {}, .revision = {}});
  EXPECT_THAT(sent, IsError(error_code::too_many, HasSubstr("too many")));
}

TEST_F(http_transport, uses_connections_again) {
  serve([](http_peer& peer, const http_received& request) {
    peer.answer(200, "application/json", answer_json(id_in(request)));
  });
  ASSERT_TRUE(open());
  for (int id = 1; id <= 20; ++id) {
    request(id);
    sink_.wait_for_messages(static_cast<std::size_t>(id));
  }
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(http_transport, does_not_use_connections_that_the_server_ended) {
  serve([](http_peer& peer, const http_received& request) {
    peer.answer(200, "application/json", answer_json(id_in(request)), "Connection: close\r\n");
    peer.hang_up();
  });
  ASSERT_TRUE(open());
  for (int id = 1; id <= 20; ++id) {
    request(id);
    sink_.wait_for_messages(static_cast<std::size_t>(id));
  }
  EXPECT_EQ(server_->connections(), 20);
}

TEST_F(http_transport, a_forgotten_request_ends_its_stream) {
  signal_once begun;
  signal_once ended;
  serve([&](http_peer& peer, const http_received& request) {
    if (id_in(request) != 1)
      return (void)peer.answer(200, "application/json", answer_json(id_in(request)));
    peer.begin_events();
    begun.raise();
    peer.wait_for_client();
    ended.raise();
  });
  ASSERT_TRUE(open());
  request(1);
  ASSERT_TRUE(begun.wait());
  transport_->forget(id_of(1));
  EXPECT_TRUE(ended.wait());
  request(2); // the transport lives on
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(2)));
  EXPECT_EQ(sink_.delivered(), 1u);
}

TEST_F(http_transport, closes_with_calls_in_flight) {
  std::atomic<int> arrived{0};
  signal_once all_here;
  serve([&](http_peer& peer, const http_received& request) {
    if (id_in(request) % 2 == 0) peer.begin_events(); // half of them have begun to answer
    if (++arrived == 64) all_here.raise();
    peer.wait_for_client();
  });
  ASSERT_TRUE(open());
  for (int id = 1; id <= 64; ++id)
    request(id);
  ASSERT_TRUE(all_here.wait());
  transport_->close();
  transport_->close();
  const std::size_t before = sink_.delivered();
  server_.reset();
  EXPECT_EQ(sink_.delivered(), before);
  EXPECT_EQ(before, 0u);
}

TEST_F(http_transport, closes_although_the_session_never_ends) {
  serve([](http_peer& peer, const http_received& request) {
    if (request.method == "POST")
      peer.answer(200, "application/json", answer_json(1), "Mcp-Session-Id: s\r\n");
    else
      peer.wait_for_client();
  });
  ASSERT_TRUE(open(http_kind::streamable, {.close_grace_ms = 1}));
  request(1, {.method = "initialize", .name = {}, .revision = {}, .modern = false});
  sink_.wait_for_messages(1);
  transport_->close(); // returns, or the test's own deadline ends it
}

TEST_F(http_transport, follows_redirects_of_the_same_origin_only) {
  std::vector<std::string> targets;
  serve([&](http_peer& peer, const http_received& request) {
    targets.push_back(request.method + " " + request.target + " " + request.body);
    if (request.target == "/mcp") return (void)peer.answer(307, "", "", "Location: /mcp/\r\n");
    peer.answer(200, "application/json", answer_json(1));
  });
  ASSERT_TRUE(open());
  request(1);
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(1)));
  EXPECT_THAT(targets,
              ElementsAre("POST /mcp " + request_json(1), "POST /mcp/ " + request_json(1)));
}

TEST_F(http_transport, what_a_redirect_names_is_relative_to_where_it_was_found) {
  std::vector<std::string> targets;
  serve([&](http_peer& peer, const http_received& request) {
    targets.push_back(request.target);
    if (request.target == "/mcp") return (void)peer.answer(307, "", "", "Location: /a/b/\r\n");
    if (request.target == "/a/b/") return (void)peer.answer(307, "", "", "Location: c\r\n");
    peer.answer(200, "application/json", answer_json(1));
  });
  ASSERT_TRUE(open());
  request(1);
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(1)));
  EXPECT_THAT(targets, ElementsAre("/mcp", "/a/b/", "/a/b/c"));
}

TEST_F(http_transport, takes_up_a_stream_where_a_redirect_led) {
  std::vector<std::string> targets;
  serve([&](http_peer& peer, const http_received& request) {
    targets.push_back(request.method + " " + request.target);
    if (request.target == "/mcp") return (void)peer.answer(307, "", "", "Location: /mcp/\r\n");
    peer.begin_events();
    if (request.method == "POST")
      peer.chunk("id: e1\nretry: 1\ndata:\n\n");
    else
      peer.event(answer_json(1));
    peer.end_events();
  });
  ASSERT_TRUE(open());
  request(1, legacy);
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(1)));
  EXPECT_THAT(targets, ElementsAre("POST /mcp", "POST /mcp/", "GET /mcp/"));
}

TEST_F(http_transport, credentials_do_not_leave_the_origin) {
  http_script_server other([](http_peer& peer, const http_received&) {
    peer.answer(200, "application/json", answer_json(1));
  });
  std::size_t refused = 0;
  for (const int status : {301, 302, 303, 307, 308}) {
    const std::string to = other.url();
    serve([&](http_peer& peer, const http_received&) {
      peer.answer(status, "", "", "Location: " + to + "\r\n");
    });
    ASSERT_TRUE(open(http_kind::streamable, {}, {{"Authorization", "secret"}}));
    request(1);
    const auto got = sink_.wait_for_refusals(++refused);
    EXPECT_EQ(got.back().status, status);
    EXPECT_THAT(got.back().why, HasSubstr(to));
    transport_.reset();
  }
  EXPECT_EQ(other.connections(), 0);
}

TEST_F(http_transport, endless_redirects_end) {
  serve([&](http_peer& peer, const http_received& request) {
    peer.answer(307, "", "", "Location: " + request.target + "x\r\n");
  });
  ASSERT_TRUE(open());
  request(1);
  EXPECT_EQ(sink_.wait_for_refusals(1)[0].status, 307);
}

TEST_F(http_transport, reports_statuses_with_their_bodies) {
  for (const int status : {400, 401, 403, 404, 405, 429, 500, 503}) {
    const bool is_denied = status == 401 || status == 403;
    const refusal got = refused_by([&](http_peer& peer, const http_received&) {
      peer.answer(status, "application/json", R"({"error":{"code":-32022}})");
    });
    EXPECT_EQ(got.id, "3");
    EXPECT_EQ(got.status, status);
    EXPECT_EQ(got.body, R"({"error":{"code":-32022}})");
    EXPECT_EQ(got.code, is_denied ? error_code::permission_denied : error_code::io);
    EXPECT_THAT(got.why, HasSubstr(std::to_string(status)));
  }
}

TEST_F(http_transport, refuses_answers_that_are_none) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const std::string events = "Content-Type: text/event-stream\r\n";
  const struct {
    std::string bytes;
    const char* why;
  } cases[] = {
      {"", "without an answer"},
      {"garbage\r\n\r\n", "not HTTP"},
      {"HTTP/1.1 200 " + std::string(1'000'000, 'a') + "\r\n", "too long"},
      {ok + std::string(1'000'000, 'a'), "too long"},
      {ok + "Content-Type: text/html\r\nContent-Length: 2\r\n\r\nhi", "text/html"},
      {ok + "Content-Length: 2\r\n\r\nhi", "of type"},
      {ok + json + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi", "encoding"},
      {ok + json + "Content-Length: 200\r\n\r\n{", "middle"},
      {ok + json + "Content-Length: 2\r\n\r\nhi", "does not answer the request"},
      {ok + json + "Content-Length: 2\r\n\r\n{}", "does not answer the request"},
      {ok + json + "Content-Length: 0\r\n\r\n", "does not answer the request"},
      {ok + json + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "the answer"},
      {ok + events + "Content-Length: 0\r\n\r\n", "without the answer"},
      {ok + events + "\r\ndata: {\"half\":", "without the answer"},
      {ok + events + "Transfer-Encoding: chunked\r\n\r\n5\r\nda", "middle"},
      {ok + events + "Transfer-Encoding: chunked\r\n\r\n" + std::string(1'000'000, '0'),
       "the answer can't be read"},
      {ok + events + "\r\n<html>\n\ngarbage\n\n", "without the answer"},
      {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "no answer"},
      {"HTTP/1.1 204 No Content\r\n\r\n", "no answer"},
  };
  for (const auto& c : cases) {
    const refusal got = refused_by([&](http_peer& peer, const http_received&) {
      peer.send(c.bytes);
      peer.hang_up();
    });
    EXPECT_THAT(got.why, HasSubstr(c.why)) << c.bytes.substr(0, 100);
  }
}

/// Each of these would go on for ever; what ends it is the bound on a message.
TEST_F(http_transport, endless_answers_end) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const struct {
    std::string begin;
    std::string repeated;
  } cases[] = {
      {ok + "Content-Type: application/json\r\n\r\n", "[[[[[[[["},
      {ok + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
       "8\r\n[[[[[[[[\r\n"},
      {ok + "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n", "[[[["},
      {ok + "Content-Type: text/event-stream\r\n\r\ndata: ", "[[[["},
      {ok + "Content-Type: text/event-stream\r\n\r\n", "data: [[[[\n"},
      {ok + "Content-Type: text/event-stream\r\n\r\n:", "[[[["},
      {"HTTP/1.1 400 Bad\r\n\r\n", "[[[["},
      {"HTTP/1.1 ", "2"},
      {ok, "a: b\r\n"},
      {ok + "a: ", "b"},
      {ok + "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n", "0"},
      {ok + "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n0\r\n",
       "a: b\r\n"},
  };
  for (const auto& c : cases) {
    const auto go_on = [&](http_peer& peer, const http_received&) {
      std::string block;
      while (block.size() < 16'384)
        block += c.repeated;
      bool going_on = peer.send(c.begin);
      while (going_on)
        going_on = peer.send(block);
    };
    const refusal got = refused_by(go_on, {.message_bytes_max = 100'000});
    EXPECT_THAT(got.why, Not(IsEmpty())) << c.begin;
    EXPECT_LE(got.body.size(), std::size_t{1} << 20);
  }
}

TEST_F(http_transport, a_message_as_large_as_allowed_arrives) {
  const std::string answer = answer_json(1, std::string(3'000'000, 'x'));
  for (const bool as_events : {false, true}) {
    transport_.reset();
    serve([&](http_peer& peer, const http_received&) {
      if (!as_events) return (void)peer.answer(200, "application/json", answer);
      peer.begin_events();
      peer.event(answer);
      peer.end_events();
    });
    ASSERT_TRUE(open(http_kind::streamable, {.message_bytes_max = answer.size()}));
    request(1);
    EXPECT_EQ(sink_.wait_for_messages(as_events ? 2 : 1).back().size(), answer.size());
  }
}

TEST_F(http_transport, a_large_request_arrives) {
  std::size_t got = 0;
  serve([&](http_peer& peer, const http_received& request) {
    got = request.body.size();
    peer.answer(200, "application/json", answer_json(1));
  });
  ASSERT_TRUE(open());
  const std::string json = "{\"x\":\"" + std::string(8'000'000, 'x') + "\"}";
  const mcp::request_id number = id_of(1);
  ASSERT_TRUE(
      transport_->send({.json = json, .id = &number, .method = {}, .name = {}, .revision = {}}));
  sink_.wait_for_messages(1);
  EXPECT_EQ(got, json.size());
}

TEST_F(http_transport, a_server_that_is_not_there) {
  serve([](http_peer&, const http_received&) {});
  const std::string url = server_->url();
  server_.reset();
  const mcp::http_endpoint to{.url = url, .headers = {}, .addresses = mcp::address_policy::any};
  auto opened = mcp::open_http(to, http_kind::streamable, {}, sink_);
  ASSERT_TRUE(opened);
  transport_ = *std::move(opened);
  request(1);
  const auto got = sink_.wait_for_refusals(1);
  EXPECT_EQ(got[0].status, 0);
  EXPECT_THAT(got[0].why, HasSubstr("can't be reached"));
  opened = mcp::open_http(to, http_kind::sse, {}, sink_);
  EXPECT_FALSE(opened);
}

TEST_F(http_transport, this_machine_is_not_public) {
  serve([](http_peer&, const http_received&) {});
  for (const http_kind kind : {http_kind::streamable, http_kind::sse}) {
    for (const std::string& host :
         std::vector<std::string>{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"}) {
      const mcp::http_endpoint to{
          .url = "https://" + host + ":" + std::to_string(server_->port()) + "/mcp", .headers = {}};
      const auto opened = mcp::open_http(to, kind, {}, sink_);
      EXPECT_THAT(opened, IsError(error_code::denied_by_policy)) << host;
    }
  }
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(http_transport, notifications_that_are_refused_are_logged) {
  serve([](http_peer& peer, const http_received&) { peer.answer(500, "text/plain", "no"); });
  ASSERT_TRUE(open());
  notify("notifications/cancelled");
  EXPECT_THAT(sink_.wait_for_logs(1)[0], HasSubstr("500"));
}

// --- HTTP with SSE ------------------------------------------------------------------------------

/// Serves the stream and hands over what is posted.
class http_with_sse : public http_transport {
protected:
  void serve_endpoint(std::string endpoint, std::function<void(http_peer&)> after = nullptr) {
    serve([this, endpoint, after](http_peer& peer, const http_received& request) {
      if (request.method == "POST") {
        {
          const std::lock_guard lock(guard_);
          posted_.push_back(request);
        }
        peer.answer(202, "text/plain", "Accepted");
        got_post_.raise();
        return;
      }
      peer.begin_events();
      peer.chunk("event: endpoint\ndata: " + endpoint + "\n\n");
      if (after) after(peer);
      peer.wait_for_client();
    });
  }

  std::mutex guard_;
  std::vector<http_received> posted_;
  signal_once got_post_;
};

TEST_F(http_with_sse, posts_to_the_endpoint_and_hears_on_the_stream) {
  serve_endpoint("/messages?sessionId=1", [this](http_peer& peer) {
    ASSERT_TRUE(got_post_.wait());
    peer.chunk("event: message\ndata: " + answer_json(1) + "\n\n");
  });
  ASSERT_THAT(open(http_kind::sse, {}, {{"X-Key", "k"}}), IsOk());
  request(1, legacy);
  EXPECT_THAT(sink_.wait_for_messages(1), ElementsAre(answer_json(1)));
  EXPECT_EQ(posted_[0].target, "/messages?sessionId=1");
  EXPECT_EQ(posted_[0].body, request_json(1));
  EXPECT_EQ(posted_[0].header("x-key"), "k");
  EXPECT_EQ(posted_[0].header("content-type"), "application/json");
}

TEST_F(http_with_sse, an_endpoint_is_relative_to_where_the_stream_was_found) {
  serve([this](http_peer& peer, const http_received& request) {
    if (request.method == "POST") {
      {
        const std::lock_guard lock(guard_);
        posted_.push_back(request);
      }
      peer.answer(202, "text/plain", "Accepted");
      return got_post_.raise();
    }
    if (request.target == "/mcp") return (void)peer.answer(307, "", "", "Location: mcp/\r\n");
    if (request.target == "/mcp/") return (void)peer.answer(307, "", "", "Location: v1/\r\n");
    peer.begin_events();
    peer.chunk("event: endpoint\ndata: messages?s=1\n\n");
    peer.wait_for_client();
  });
  ASSERT_THAT(open(http_kind::sse), IsOk());
  request(1, legacy);
  ASSERT_TRUE(got_post_.wait());
  EXPECT_EQ(posted_[0].target, "/mcp/v1/messages?s=1");
}

TEST_F(http_with_sse, the_endpoint_must_be_of_the_same_origin) {
  http_script_server other([](http_peer&, const http_received&) {});
  for (const std::string& endpoint :
       {other.url(), std::string("https://example.com/m"), std::string("//example.com/m"),
        std::string("mailto:x"), std::string("http://user@127.0.0.1/")}) {
    transport_.reset();
    server_.reset();
    serve_endpoint(endpoint);
    EXPECT_THAT(open(http_kind::sse),
                IsError(error_code::denied_by_policy, HasSubstr("another server")))
        << endpoint;
  }
  EXPECT_EQ(other.connections(), 0);
}

TEST_F(http_with_sse, the_endpoint_does_not_move_later) {
  serve_endpoint("/first", [](http_peer& peer) {
    peer.chunk("event: endpoint\ndata: /second\n\n");
    peer.chunk("event: endpoint\ndata: http://example.com/\n\n");
    peer.event(notification_json("seen"));
  });
  ASSERT_TRUE(open(http_kind::sse));
  sink_.wait_for_messages(1);
  request(1, legacy);
  ASSERT_TRUE(got_post_.wait());
  EXPECT_EQ(posted_[0].target, "/first");
}

TEST_F(http_with_sse, a_stream_that_does_not_begin_is_an_error) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const struct {
    std::string bytes;
    const char* why;
  } cases[] = {
      {"", "without an answer"},
      {ok + "Content-Type: text/html\r\nContent-Length: 0\r\n\r\n", "no stream of events"},
      {ok + "Content-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n", "ended the stream"},
      {"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n", "404"},
      {"HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n", "credentials"},
      {"HTTP/1.1 302 x\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n", "redirect"},
      {ok + "Content-Type: text/event-stream\r\n\r\ndata: " + std::string(200'000, 'x'), "larger"},
  };
  for (const auto& c : cases) {
    serve([&](http_peer& peer, const http_received&) {
      peer.send(c.bytes);
      peer.hang_up();
    });
    const auto opened = open(http_kind::sse, {.message_bytes_max = 100'000});
    ASSERT_FALSE(opened) << c.bytes.substr(0, 100);
    EXPECT_THAT(opened.error().detail, HasSubstr(c.why));
    server_.reset(); // its threads use the case
  }
  EXPECT_EQ(sink_.delivered(), 0u);
}

TEST_F(http_with_sse, a_server_that_names_no_endpoint_is_not_waited_for) {
  serve([](http_peer& peer, const http_received&) {
    peer.begin_events();
    peer.wait_for_client();
  });
  const auto opened = open(http_kind::sse, {.connect_timeout_ms = 50});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, error_code::timed_out);
}

TEST_F(http_with_sse, the_end_of_the_stream_is_the_end_of_the_connection) {
  signal_once go;
  serve_endpoint("/m", [&](http_peer& peer) {
    ASSERT_TRUE(go.wait());
    peer.hang_up();
  });
  ASSERT_TRUE(open(http_kind::sse));
  go.raise();
  EXPECT_THAT(sink_.wait_for_losses(1), testing::SizeIs(1));
  const mcp::request_id number = id_of(1);
  const auto sent =
      transport_->send({.json = "{}", .id = &number, .method = {}, .name = {}, .revision = {}});
  EXPECT_THAT(sent, IsError(error_code::io, HasSubstr("connect again")));
}

TEST_F(http_with_sse, a_refused_post_refuses_the_request) {
  serve([](http_peer& peer, const http_received& request) {
    if (request.method == "POST") return (void)peer.answer(503, "text/plain", "busy");
    peer.begin_events();
    peer.chunk("event: endpoint\ndata: /m\n\n");
    peer.wait_for_client();
  });
  ASSERT_TRUE(open(http_kind::sse));
  request(1, legacy);
  const auto got = sink_.wait_for_refusals(1);
  EXPECT_EQ(got[0].status, 503);
  EXPECT_EQ(got[0].body, "busy");
}

} // namespace
} // namespace paddock::test
