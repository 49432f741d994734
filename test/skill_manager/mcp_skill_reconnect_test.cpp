// SPDX-License-Identifier: MIT
// A skill whose server speaks HTTP with SSE: what happens when the stream is lost.
#include "support/http/http_peer.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill_manager/mcp_skill.hpp>

namespace paddock::skill_manager {
namespace {

using test::http_peer;
using test::http_received;
using test::IsError;
using test::IsOk;
using testing::AllOf;
using testing::HasSubstr;

/// A server of revision 2024-11-05 whose stream ends when the test says so.
class sse_server {
public:
  sse_server()
      : server_([this](http_peer& peer, const http_received& got) { answer(peer, got); }) {}
  ~sse_server() { hang_up(); }

  [[nodiscard]] mcp::endpoint endpoint() const {
    return mcp::http_endpoint{.url = server_.url("/sse"),
                              .kind = mcp::http_kind::sse,
                              .addresses = mcp::address_policy::any};
  }
  /// Of every stream from now on; 0: there is one.
  void refuse_with(int status) { status_ = status; }
  /// How long clients are asked to wait.
  void ask_for_pause(int ms) { retry_ms_ = ms; }
  /// Ends the stream of everybody.
  void hang_up() {
    const std::lock_guard lock(guard_);
    if (stream_ != nullptr) stream_->hang_up();
  }
  [[nodiscard]] int streams() const { return streams_; }
  [[nodiscard]] int refusals() const { return refusals_; }
  [[nodiscard]] int calls() const { return calls_; }
  test::signal_once called; ///< of a tool that never answers

private:
  void answer(http_peer& peer, const http_received& got) {
    if (got.method == "POST") {
      peer.answer(202, "text/plain", "Accepted");
      return reply(got.body);
    }
    if (status_ != 0) {
      ++refusals_;
      return (void)peer.answer(status_, "text/plain", "not now");
    }
    ++streams_;
    {
      const std::lock_guard lock(guard_);
      stream_ = &peer;
      peer.begin_events();
      if (retry_ms_ >= 0) peer.chunk("retry: " + std::to_string(retry_ms_) + "\n\n");
      peer.chunk("event: endpoint\ndata: /messages\n\n");
    }
    peer.wait_for_client();
    const std::lock_guard lock(guard_);
    if (stream_ == &peer) stream_ = nullptr;
  }
  void reply(const std::string& body) {
    mcp::json_document document;
    const auto root = document.parse(body);
    const auto method = (*root)["method"].string().value_or("");
    std::string result = R"({"content":[{"type":"text","text":"done"}]})";
    if (!(*root)["id"].exists()) return;
    if (method == "initialize")
      result = R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},)"
               R"("serverInfo":{"name":"sse","version":"1"}})";
    if (method == "tools/list")
      result = R"({"tools":[{"name":"t","inputSchema":{"type":"object"}},)"
               R"({"name":"never","inputSchema":{"type":"object"}}]})";
    if (method == "tools/call") ++calls_;
    if ((*root)["params"]["name"].string() == "never") return called.raise();
    const std::lock_guard lock(guard_);
    if (stream_ != nullptr)
      stream_->event(R"({"jsonrpc":"2.0","id":)" + std::string((*root)["id"].text()) +
                     R"(,"result":)" + result + "}");
  }

  std::atomic<int> status_{0};
  std::atomic<int> retry_ms_{-1};
  std::atomic<int> streams_{0};
  std::atomic<int> refusals_{0};
  std::atomic<int> calls_{0};
  std::mutex guard_;
  http_peer* stream_ = nullptr;
  test::http_script_server server_; // last: its threads use the rest
};

class reconnecting_skills : public testing::Test {
protected:
  [[nodiscard]] std::unique_ptr<mcp_skill> make(reconnect_pauses pauses) {
    return std::make_unique<mcp_skill>(
        mcp_options{.name = "s",
                    .endpoint = server_.endpoint(),
                    .reconnect = pauses,
                    .on_event = [this](const any_event& e) {
                      const std::lock_guard lock(guard_);
                      if (const auto* r = std::get_if<event::reconnecting>(&e)) {
                        attempts_.push_back(r->attempt);
                        pauses_ms_.push_back(r->pause_ms);
                        whys_.emplace_back(r->why);
                      }
                      if (std::holds_alternative<event::connected>(e)) ++connections_;
                      changed_.notify_all();
                    }});
  }
  template <class Condition> void wait_until(Condition holds) {
    std::unique_lock lock(guard_);
    ASSERT_TRUE(changed_.wait_for(lock, test::patience, holds));
  }
  void wait_for_attempts(std::size_t n) {
    wait_until([&] { return attempts_.size() >= n; });
  }
  void wait_for_connections(int n) {
    wait_until([&] { return connections_ >= n; });
  }

  sse_server server_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<unsigned> attempts_;
  std::vector<std::int64_t> pauses_ms_;
  std::vector<std::string> whys_;
  int connections_ = 0;
};

constexpr reconnect_pauses quick{.first_ms = 1, .max_ms = 8};
constexpr reconnect_pauses never{.first_ms = 3'600'000, .max_ms = 3'600'000};

TEST_F(reconnecting_skills, a_lost_stream_is_opened_again) {
  const auto skill = make(quick);
  ASSERT_THAT(skill->init(), IsOk());
  ASSERT_THAT(skill->call_tool("t", "{}"), IsOk());
  server_.hang_up();
  wait_for_connections(2);
  // Connected was told just before the state is set; a use waits for that.
  EXPECT_THAT(skill->call_tool("t", "{}"), IsOk());
  EXPECT_EQ(skill->state(), state::ready);
  EXPECT_EQ(server_.calls(), 2);
  EXPECT_EQ(server_.streams(), 2);
}

TEST_F(reconnecting_skills, a_server_that_refuses_is_tried_with_growing_pauses) {
  const auto skill = make(quick);
  ASSERT_THAT(skill->init(), IsOk());
  server_.refuse_with(503);
  server_.hang_up();
  wait_for_attempts(8);
  server_.refuse_with(0);
  wait_for_connections(2);
  EXPECT_THAT(skill->call_tool("t", "{}"), IsOk());
  const std::lock_guard lock(guard_);
  EXPECT_GE(server_.refusals(), 7);
  EXPECT_LE(server_.refusals(), static_cast<int>(attempts_.size()));
  const std::int64_t longest[] = {1, 2, 4, 8, 8, 8, 8, 8};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(attempts_[i], i + 1);
    EXPECT_GE(pauses_ms_[i], longest[i] / 2);
    EXPECT_LE(pauses_ms_[i], longest[i]);
  }
  EXPECT_THAT(whys_[0], HasSubstr("the connection ended"));
  EXPECT_THAT(whys_[1], AllOf(HasSubstr("503"), HasSubstr("not now")));
}

TEST_F(reconnecting_skills, calls_in_flight_and_meanwhile_fail_and_are_not_repeated) {
  const auto skill = make(never);
  ASSERT_THAT(skill->init(), IsOk());
  ASSERT_THAT(skill->tool_definitions(), IsOk());
  std::thread caller([&] {
    EXPECT_THAT(skill->call_tool("never", "{}"),
                IsError(error_code::io, AllOf(HasSubstr("the connection ended"),
                                              HasSubstr("may have been carried out"))));
  });
  ASSERT_TRUE(server_.called.wait());
  server_.hang_up();
  caller.join();
  wait_for_attempts(1);
  EXPECT_EQ(skill->state(), state::reconnecting);
  EXPECT_THAT(
      skill->call_tool("t", "{}"),
      IsError(error_code::io, AllOf(HasSubstr("connected to again"), HasSubstr("attempt 1"))));
  EXPECT_THAT(*skill->tool_definitions(), testing::SizeIs(2)) << "as before";
  EXPECT_EQ(server_.calls(), 1);
  EXPECT_EQ(server_.streams(), 1) << "a call does not shorten the pause";
  skill->close(); // does not wait for the pause
  EXPECT_EQ(skill->state(), state::closed);
}

// Whoever calls while the loss is being told must get past the one who tells it, and so must the
// observer past whoever calls.
TEST_F(reconnecting_skills, a_loss_is_told_while_others_use_the_skill) {
  struct seen_by { // kept by the thread that may hang
    std::unique_ptr<mcp_skill> skill;
    std::atomic<bool> got_past{false};
    std::atomic<int> state_told{-1};
    test::signal_once called, told;
  };
  const auto seen = std::make_shared<seen_by>();
  seen->skill = std::make_unique<mcp_skill>(
      mcp_options{.name = "s",
                  .endpoint = server_.endpoint(),
                  .reconnect = never,
                  .on_event = [seen = seen.get(), kept = std::weak_ptr(seen)](const any_event& e) {
                    if (!std::holds_alternative<event::disconnected>(e) || seen->state_told >= 0)
                      return;
                    std::thread([seen = kept.lock()] {
                      EXPECT_THAT(seen->skill->call_tool("t", "{}"), IsError(error_code::io));
                      seen->called.raise();
                    }).detach();
                    seen->got_past = seen->called.wait();
                    if (!seen->got_past) return; // or asking would hang for good
                    seen->state_told = static_cast<int>(seen->skill->state());
                    seen->told.raise();
                  }});
  ASSERT_THAT(seen->skill->init(), IsOk());
  server_.hang_up();
  ASSERT_TRUE(seen->told.wait());
  EXPECT_TRUE(seen->got_past);
  EXPECT_EQ(seen->state_told, static_cast<int>(state::reconnecting));
}

TEST_F(reconnecting_skills, the_server_says_how_long_to_wait) {
  server_.ask_for_pause(250'000);
  const auto skill = make(quick);
  ASSERT_THAT(skill->init(), IsOk());
  server_.hang_up();
  wait_for_attempts(1);
  EXPECT_EQ(pauses_ms_[0], 250'000);
}

TEST_F(reconnecting_skills, what_will_not_change_is_not_tried_again) {
  const auto skill = make(quick);
  ASSERT_THAT(skill->init(), IsOk());
  server_.refuse_with(401);
  server_.hang_up();
  wait_for_attempts(1);
  while (skill->state() != state::failed)
    std::this_thread::yield();
  EXPECT_THAT(skill->call_tool("t", "{}"), IsError(error_code::permission_denied,
                                                   AllOf(HasSubstr("401"), HasSubstr("not now"))));
  EXPECT_EQ(server_.refusals(), 1);
}

TEST_F(reconnecting_skills, closing_ends_an_attempt) {
  for (int round = 0; round < 20; ++round) {
    const auto skill = make(quick);
    ASSERT_THAT(skill->init(), IsOk());
    server_.hang_up();
    std::thread other([&] { skill->close(); });
    skill->close();
    other.join();
    EXPECT_EQ(skill->state(), state::closed);
  }
}

} // namespace
} // namespace paddock::skill_manager
