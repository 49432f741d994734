// SPDX-License-Identifier: MIT
// What the client does when a server has forgotten its session: another one, and nothing twice.
#include "mcp/client/http/http_message.hpp"
#include "support/http/http_peer.hpp"
#include "support/http/http_server_fixture.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A server of revision 2025-06-18 with one session, which it can be made to forget.
class forgetful {
public:
  struct habits {
    int status = 404;          ///< for a session that it does not know
    std::string body = "gone"; ///< likewise
    bool answers_as_stream = false;
    bool has_sessions = true;
    std::string later_revision = "2025-06-18"; ///< of every session but the first
    int wrong_call_status = 0;                 ///< every call is refused with it, session or not
    bool begins_no_more = false;
    std::string moved_to; ///< Location for every other target; a path is served, nothing else is
    int move_status = 307;
    int gone_status = 404;  ///< for a target that is served no more
    bool is_strict = false; ///< what is neither the URL's path nor moved_to is not served at all
  };
  explicit forgetful(habits h, const http_script_server::listen_at& at = {})
      : habits_(std::move(h)) {
    server_ = std::make_unique<http_script_server>(
        [this](http_peer& peer, const http_received& got) { answer(peer, got); }, at);
  }
  ~forgetful() { server_.reset(); }

  [[nodiscard]] mcp::http_endpoint endpoint() const {
    return {.url = server_->url(),
            .kind = mcp::http_kind::streamable,
            .addresses = mcp::address_policy::any};
  }
  void forget() {
    const std::lock_guard lock(guard_);
    session_.clear();
  }
  void forget_for_good() {
    const std::lock_guard lock(guard_);
    session_.clear();
    habits_.begins_no_more = true;
  }
  void begin_again() {
    const std::lock_guard lock(guard_);
    habits_.begins_no_more = false;
  }
  /// How often a method was executed, not refused.
  [[nodiscard]] int executed(const std::string& method) {
    const std::lock_guard lock(guard_);
    return executed_[method];
  }
  [[nodiscard]] int received(const std::string& method) {
    const std::lock_guard lock(guard_);
    return received_[method];
  }
  /// False when no request of this method comes.
  [[nodiscard]] bool wait_for(const std::string& method) {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return received_[method] > 0; });
  }
  void move_to(const std::string& location) {
    const std::lock_guard lock(guard_);
    habits_.moved_to = location;
  }
  /// Likewise, and nothing is served or leads on where the session was: its node is no more.
  void replace_node(const std::string& location) {
    const std::lock_guard lock(guard_);
    session_.clear();
    habits_.moved_to = location;
    habits_.is_strict = true;
  }
  /// From here on a session is begun at another target than the one that is asked.
  void lead_in_circles_to_begin() {
    const std::lock_guard lock(guard_);
    leads_in_circles_ = true;
  }
  /// The targets that requests named, in order, without repetitions.
  [[nodiscard]] std::vector<std::string> targets() {
    const std::lock_guard lock(guard_);
    return targets_;
  }
  [[nodiscard]] std::string url() const { return server_->url(); }
  [[nodiscard]] int port() const { return server_->port(); }
  [[nodiscard]] bool is_listening() const { return server_->is_listening(); }
  [[nodiscard]] int connections() const { return server_->connections(); }
  [[nodiscard]] std::vector<std::string> texts() {
    const std::lock_guard lock(guard_);
    return texts_;
  }

private:
  void answer(http_peer& peer, const http_received& got) {
    mcp::json_document document;
    const auto root = document.parse(got.body);
    const std::string method(root ? (*root)["method"].string().value_or("") : got.method);
    const std::string id(root ? (*root)["id"].text() : "");
    const std::unique_lock lock(guard_);
    if (targets_.empty() || targets_.back() != got.target) targets_.push_back(got.target);
    if (habits_.is_strict && got.target != "/mcp" && got.target != habits_.moved_to) {
      ++received_[method + " for nobody"];
      return (void)peer.answer(habits_.gone_status, "text/plain", "no such node");
    }
    if (!habits_.moved_to.empty() && got.target != habits_.moved_to)
      return (void)peer.answer(habits_.move_status, "text/plain", "",
                               "Location: " + habits_.moved_to + "\r\n");
    if (leads_in_circles_ && method == "initialize")
      return (void)peer.answer(307, "text/plain", "", "Location: " + got.target + "x\r\n");
    ++received_[method];
    changed_.notify_all();
    const bool known =
        !habits_.has_sessions || (!session_.empty() && got.header("mcp-session-id") == session_);
    if (method == "initialize" && !habits_.begins_no_more) {
      if (!got.header("mcp-session-id").empty()) ++executed_["initialize within a session"];
      session_ = "s" + std::to_string(++sessions_);
      const std::string revision = sessions_ == 1 ? "2025-06-18" : habits_.later_revision;
      return reply(peer, method, id,
                   R"({"protocolVersion":")" + revision +
                       R"(","capabilities":{"tools":{"listChanged":true}},)"
                       R"("serverInfo":{"name":"f","version":"1"}})");
    }
    if (method == "GET") return (void)peer.answer(405, "text/plain", "");
    if (!known || method == "initialize")
      return (void)peer.answer(habits_.status, "text/plain", habits_.body);
    if (method == "DELETE") return (void)peer.answer(200, "text/plain", "");
    ++executed_[method];
    if (id.empty()) return (void)peer.answer(202, "text/plain", "");
    if (method == "tools/list")
      return reply(peer, method, id, R"({"tools":[{"name":"t","inputSchema":{"type":"object"}}]})");
    if (method != "tools/call") return reply(peer, method, id, "{}");
    if (habits_.wrong_call_status != 0)
      return (void)peer.answer(habits_.wrong_call_status, "text/plain", "wrong\x1b[2J call");
    texts_.emplace_back((*root)["params"]["arguments"]["text"].string().value_or(""));
    reply(peer, method, id, R"({"content":[]})");
  }
  void reply(http_peer& peer, const std::string& method, const std::string& id,
             const std::string& result) const {
    const std::string json = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}";
    const std::string session = method == "initialize" && habits_.has_sessions
                                    ? "Mcp-Session-Id: " + session_ + "\r\n"
                                    : std::string();
    if (!habits_.answers_as_stream)
      return (void)peer.answer(200, "application/json", json, session);
    peer.begin_events(session);
    peer.event(json);
    peer.end_events();
  }

  habits habits_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::string session_;
  int sessions_ = 0;
  std::map<std::string, int> executed_;
  std::map<std::string, int> received_;
  std::vector<std::string> targets_;
  bool leads_in_circles_ = false;
  std::vector<std::string> texts_;
  std::unique_ptr<http_script_server> server_;
};

class http_session : public testing::Test {
protected:
  [[nodiscard]] result<mcp::client, detailed_error> connect(const forgetful& to) {
    return mcp::client::connect(to.endpoint(), {.protocol = mcp::protocol_choice::legacy,
                                                .on_tools_changed = [this] { ++tools_changed_; }});
  }
  std::atomic<int> tools_changed_{0};
};

TEST_F(http_session, is_begun_anew_and_the_refused_call_made_once) {
  const forgetful::habits ways[] = {
      {.status = 404},
      {.status = 404,
       .body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x"}})"},
      {.status = 404, .answers_as_stream = true},
      {.status = 400, .body = ""},
      {.status = 400,
       .body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}})"},
  };
  for (const auto& way : ways) {
    const std::string name = std::to_string(way.status) + " " + way.body;
    forgetful server(way);
    auto c = connect(server);
    ASSERT_THAT(c, IsOk()) << name;
    ASSERT_THAT(c->call_tool("t", R"({"text":"one"})"), IsOk()) << name;
    server.forget();
    EXPECT_THAT(c->call_tool("t", R"({"text":"two"})"), IsOk()) << name;
    EXPECT_THAT(c->call_tool("t", R"({"text":"three"})"), IsOk()) << name;
    EXPECT_THAT(server.texts(), testing::ElementsAre("one", "two", "three")) << name;
    EXPECT_EQ(server.received("initialize"), 2) << name;
    EXPECT_EQ(server.executed("initialize within a session"), 0) << name;
    EXPECT_EQ(server.executed("notifications/initialized"), 2) << name;
    EXPECT_EQ(tools_changed_.exchange(0), 1) << name;
    EXPECT_TRUE(c->connected());
  }
}

/// The control: the same statuses, but not for the session.
TEST_F(http_session, what_was_refused_for_another_reason_is_not_sent_again) {
  const forgetful::habits ways[] = {{.wrong_call_status = 400},
                                    {.wrong_call_status = 409},
                                    {.wrong_call_status = 500},
                                    {.has_sessions = false, .wrong_call_status = 404},
                                    {.has_sessions = false, .wrong_call_status = 400}};
  for (const auto& way : ways) {
    const std::string status = std::to_string(way.wrong_call_status);
    forgetful server(way);
    auto c = connect(server);
    ASSERT_THAT(c, IsOk());
    EXPECT_THAT(c->call_tool("t", "{}"),
                IsError(error_code::io, AllOf(HasSubstr(status), HasSubstr("wrong [2J call"),
                                              Not(HasSubstr("\x1b")))));
    EXPECT_EQ(server.received("tools/call"), 1) << status;
    EXPECT_EQ(server.received("initialize"), 1) << status;
  }
}

TEST_F(http_session, many_calls_share_the_new_one) {
  forgetful server({});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget();
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&c, i] {
      EXPECT_THAT(c->call_tool("t", R"({"text":")" + std::to_string(i) + "\"}"), IsOk());
    });
  for (auto& caller : callers)
    caller.join();
  EXPECT_EQ(server.executed("tools/call"), 16);
  EXPECT_EQ(server.received("initialize"), 2);
}

TEST_F(http_session, that_cannot_be_begun_says_so_and_is_tried_by_the_next_call) {
  forgetful server({.status = 404, .body = "no such session"});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget_for_good();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(c->call_tool("t", "{}"),
                IsError(error_code::io,
                        AllOf(HasSubstr("forgotten the session"), HasSubstr("no such session"))));
  }
  server.begin_again();
  EXPECT_THAT(c->call_tool("t", "{}"), IsOk());
  EXPECT_EQ(server.executed("tools/call"), 1);
}

TEST_F(http_session, of_another_revision_is_not_used) {
  forgetful server({.later_revision = "2025-03-26"});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget();
  EXPECT_THAT(c->call_tool("t", "{}"),
              IsError(error_code::io,
                      AllOf(HasSubstr("forgotten the session"), HasSubstr("another revision"))));
  EXPECT_EQ(server.executed("tools/call"), 0);
}

TEST_F(http_session, is_kept_where_the_server_led_it) {
  for (const auto& way :
       {forgetful::habits{.moved_to = "/mcp/", .move_status = 307},
        forgetful::habits{.status = 400, .moved_to = "/v2", .move_status = 308}}) {
    forgetful server(way);
    {
      auto c = connect(server);
      ASSERT_THAT(c, IsOk());
      server.forget();
      EXPECT_THAT(c->call_tool("t", R"({"text":"one"})"), IsOk());
      EXPECT_TRUE(server.wait_for("GET"));
    }
    EXPECT_THAT(server.texts(), testing::ElementsAre("one"));
    EXPECT_EQ(server.received("initialize"), 2);
    EXPECT_EQ(server.executed("notifications/initialized"), 2);
    EXPECT_EQ(server.received("DELETE"), 1);
    // Only the first of all requests went to where the session is not.
    EXPECT_THAT(server.targets(), testing::ElementsAre("/mcp", way.moved_to));
  }
}

/// The control: without a redirect it stays at the URL.
TEST_F(http_session, stays_at_the_url_of_a_server_that_leads_nowhere) {
  forgetful server({});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget();
  EXPECT_THAT(c->call_tool("t", "{}"), IsOk());
  EXPECT_THAT(server.targets(), testing::ElementsAre("/mcp"));
}

TEST_F(http_session, follows_a_server_that_moves_while_it_lasts) {
  forgetful server({.moved_to = "/a"});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.move_to("/b");
  EXPECT_THAT(c->call_tool("t", R"({"text":"one"})"), IsOk()); // as each call
  server.forget();
  EXPECT_THAT(c->call_tool("t", R"({"text":"two"})"), IsOk());
  server.forget();
  EXPECT_THAT(c->call_tool("t", R"({"text":"three"})"), IsOk());
  EXPECT_THAT(server.texts(), testing::ElementsAre("one", "two", "three"));
  EXPECT_EQ(server.received("initialize"), 3);
  EXPECT_EQ(server.targets().back(), "/b");
}

TEST_F(http_session, is_begun_at_the_url_when_the_node_that_had_it_is_gone) {
  for (const int status : {404, 400}) {
    forgetful server({.moved_to = "/a", .gone_status = status});
    auto c = connect(server);
    ASSERT_THAT(c, IsOk());
    ASSERT_THAT(c->call_tool("t", R"({"text":"one"})"), IsOk());
    server.replace_node("/b");
    EXPECT_THAT(c->call_tool("t", R"({"text":"two"})"), IsOk()) << status;
    EXPECT_THAT(c->call_tool("t", R"({"text":"three"})"), IsOk()) << status;
    EXPECT_THAT(server.texts(), testing::ElementsAre("one", "two", "three")) << status;
    EXPECT_EQ(server.received("initialize"), 2) << status;
    // First where the session was: most servers only forget.
    EXPECT_EQ(server.received("initialize for nobody"), 1) << status;
    EXPECT_EQ(server.targets().back(), "/b") << status;
  }
}

/// The control: nobody is at the URL either. It is asked once for each call.
TEST_F(http_session, is_not_begun_for_ever_when_the_url_leads_nowhere) {
  forgetful server({.moved_to = "/a"});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.replace_node("/b");
  server.forget_for_good();
  for (int i = 1; i <= 2; ++i) {
    EXPECT_THAT(
        c->call_tool("t", "{}"),
        IsError(error_code::io, AllOf(HasSubstr("forgotten the session"), HasSubstr("gone"))));
    EXPECT_EQ(server.received("initialize"), 1 + i);
    EXPECT_EQ(server.received("initialize for nobody"), i);
  }
  EXPECT_EQ(server.executed("tools/call"), 0);
}

/// Two nodes behind one name, of which the first ends. On the level of the transport, because only
/// there a name can stand for what a test wants.
class two_nodes : public testing::Test {
protected:
  void SetUp() override {
    if (!second_.is_listening()) GTEST_SKIP() << "127.0.0.2 is no address of this system";
    const auto v4 = [](const char* text) { return *sys::inet_pton(text); };
    auto opened = mcp::open_streamable_http(
        {.to = *mcp::parse_url("http://nodes.invalid:" + std::to_string(first_->port()) + "/mcp"),
         .addresses = {v4("127.0.0.1"), v4("127.0.0.2")},
         .allowed = mcp::address_policy::any},
        {}, {}, sink_);
    ASSERT_THAT(opened, IsOk());
    transport_ = *std::move(opened);
    send(1, "initialize");
    (void)sink_.wait_for_messages(1);
    send(0, "notifications/initialized");
    call(2, "one");
    (void)sink_.wait_for_messages(2);
    ASSERT_THAT(first_->texts(), testing::ElementsAre("one"));
  }
  void TearDown() override { transport_.reset(); }

  void send(std::int64_t id, std::string_view method, const std::string& params = "{}") {
    const mcp::request_id number = id == 0 ? mcp::request_id() : mcp::request_id(id);
    const std::string json =
        R"({"jsonrpc":"2.0",)" + (id == 0 ? "" : "\"id\":" + std::to_string(id) + ",") +
        R"("method":")" + std::string(method) + R"(","params":)" + params + "}";
    ASSERT_THAT(transport_->send({.json = json,
                                  .id = id == 0 ? nullptr : &number,
                                  .method = method,
                                  .revision = "2025-06-18"}),
                IsOk());
  }
  void call(std::int64_t id, const std::string& text) {
    send(id, "tools/call", R"({"name":"t","arguments":{"text":")" + text + "\"}}");
  }

  std::unique_ptr<forgetful> first_ =
      std::make_unique<forgetful>(forgetful::habits{.moved_to = "/a", .is_strict = true});
  forgetful second_{{.moved_to = "/b", .is_strict = true},
                    {.address = "127.0.0.2", .port = first_->port()}};
  transport_sink sink_;
  std::unique_ptr<mcp::client_transport> transport_;
};

TEST_F(two_nodes, the_session_is_begun_at_the_other_one) {
  first_.reset();
  call(3, "two");
  const auto messages = sink_.wait_for_messages(4);
  EXPECT_THAT(messages[2], HasSubstr("tools/list_changed"));
  EXPECT_THAT(messages[3], HasSubstr("\"id\":3"));
  EXPECT_THAT(second_.texts(), testing::ElementsAre("two"));
  EXPECT_THAT(second_.targets(), testing::ElementsAre("/a", "/mcp", "/b"));
}

/// The control: while it lives, the first one keeps the session.
TEST_F(two_nodes, the_session_stays_with_a_node_that_lives) {
  first_->forget();
  call(3, "two");
  (void)sink_.wait_for_messages(4);
  EXPECT_THAT(first_->texts(), testing::ElementsAre("one", "two"));
  EXPECT_EQ(second_.connections(), 0);
}

TEST_F(http_session, is_never_led_to_another_server) {
  forgetful other({});
  forgetful server({.moved_to = other.url()});
  EXPECT_THAT(connect(server), IsError(error_code::io));
  server.move_to("/a");
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget();
  server.move_to(other.url());
  EXPECT_THAT(c->call_tool("t", "{}"), IsError(error_code::io, HasSubstr("redirect")));
  EXPECT_EQ(other.connections(), 0);
}

TEST_F(http_session, is_not_led_in_a_circle_when_it_is_begun_anew) {
  forgetful server({});
  auto c = connect(server);
  ASSERT_THAT(c, IsOk());
  server.forget();
  server.lead_in_circles_to_begin();
  EXPECT_THAT(
      c->call_tool("t", "{}"),
      IsError(error_code::io, AllOf(HasSubstr("forgotten the session"), HasSubstr("redirect"))));
}

/// Our own server, restarted at the same address.
TEST_F(http_session, survives_the_restart_of_a_real_server) {
  auto first = std::make_unique<served>();
  const std::string address = first->address();
  auto c = mcp::client::connect(mcp::http_endpoint{.url = address,
                                                   .kind = mcp::http_kind::streamable,
                                                   .addresses = mcp::address_policy::any},
                                {.protocol = mcp::protocol_choice::legacy});
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(c->call_tool("echo", R"({"text":"a"})"), IsOk());
  const std::size_t begin = address.find("//") + 2;
  const std::string listen = address.substr(begin, address.find('/', begin) - begin);
  first.reset();
  EXPECT_THAT(c->call_tool("echo", R"({"text":"b"})"), IsError(error_code::io)); // nobody is there
  served second({.listen = listen});
  EXPECT_THAT(c->call_tool("echo", R"({"text":"c"})"), IsOk());
  EXPECT_EQ(second.calls.size(), 1U);
}

} // namespace
} // namespace paddock::test
