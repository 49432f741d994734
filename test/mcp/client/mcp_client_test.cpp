// SPDX-License-Identifier: MIT

// What the client makes of what a server says: test/support/mcp/fault_server.cpp has every bad
// habit.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/mcp/client_fixture.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::children;
using test::eventually;
using test::IsError;
using test::IsOk;
using test::mcp_client;
using test::text;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST_F(mcp_client, calls_a_tool) {
  auto c = connect("");
  ASSERT_THAT(c, IsOk());
  EXPECT_EQ("fault", c->server().name);
  EXPECT_EQ("2024-11-05", c->server().revision);
  ASSERT_THAT(*c->tools(), SizeIs(1));
  EXPECT_EQ("t", c->tools()->front().name);
  EXPECT_EQ(R"({"type":"object"})", c->tools()->front().input_schema);
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json, HasSubstr(text("pong")));
  EXPECT_FALSE(reply->failed);
  EXPECT_TRUE(c->connected());
  c->close();
  EXPECT_FALSE(c->connected());
  EXPECT_THAT(call(*c), IsError(error_code::cancelled));
  EXPECT_THAT(lost_, SizeIs(0));
}

// --- faults -------------------------------------------------------------------------------------

struct fault {
  const char* mode;
  error_code expected;
  const char* why;
  bool connected_afterwards;
};

std::ostream& operator<<(std::ostream& out, const fault& f) {
  return out << f.mode;
}

class mcp_client_fault : public mcp_client, public testing::WithParamInterface<fault> {};

TEST_P(mcp_client_fault, ends_in_an_error) {
  const fault& f = GetParam();
  client_options options = quick();
  options.message_bytes_max = std::size_t{1} * 1024 * 1024;
  {
    auto c = client::connect(server(f.mode), options);
    ASSERT_THAT(c, IsOk());
    const bool times_out = f.expected == error_code::timed_out;
    const auto reply = c->call_tool("t", "{}",
                                    {.timeout_ms = times_out ? 100 : 60'000,
                                     .timeout_ms_max = times_out ? 300 : 60'000,
                                     .on_progress = [](double, double, std::string_view) {}});
    EXPECT_THAT(reply, IsError(f.expected, HasSubstr(f.why)));
    EXPECT_EQ(f.connected_afterwards, c->connected());
    if (!f.connected_afterwards) {
      EXPECT_THAT(call(*c), IsError(f.expected)) << "again";
    }
  }
  EXPECT_THAT(lost_, SizeIs(f.connected_afterwards ? 0 : 1));
  EXPECT_EQ(0U, children());
}

INSTANTIATE_TEST_SUITE_P(
    all, mcp_client_fault,
    testing::Values(fault{"crashes", error_code::io, "killed by signal 9", false},
                    fault{"exits_within_a_line", error_code::io, "exited with status 7", false},
                    fault{"closes_stdout", error_code::io, "closed its standard output", false},
                    fault{"leaves_daemon", error_code::io, "exited with status 0", false},
                    fault{"endless_line", error_code::too_large, "longer than allowed", false},
                    fault{"floods_garbage", error_code::timed_out, "tools/call", true},
                    fault{"floods_notifications", error_code::timed_out, "tools/call", true},
                    fault{"floods_requests", error_code::timed_out, "tools/call", true},
                    fault{"never_answers", error_code::timed_out, "tools/call", true},
                    fault{"wrong_ids", error_code::timed_out, "tools/call", true},
                    fault{"progress_forever", error_code::timed_out, "tools/call", true},
                    fault{"stops_reading", error_code::timed_out, "tools/call", true},
                    fault{"result_is_text", error_code::io, "no result object", true},
                    fault{"refuses", error_code::invalid_argument, "no (-32602)", true},
                    fault{"needs_input", error_code::unsupported, "input", true},
                    fault{"unknown_kind", error_code::unsupported, "resultType", true}),
    [](const auto& p) { return std::string(p.param.mode); });

// --- what the server may do ---------------------------------------------------------------------

struct habit {
  const char* mode;
  const char* reply;
};

std::ostream& operator<<(std::ostream& out, const habit& h) {
  return out << h.mode;
}

class mcp_client_habit : public mcp_client, public testing::WithParamInterface<habit> {};

/// Twice, because the first answer may come by accident.
TEST_P(mcp_client_habit, is_no_obstacle) {
  auto c = connect(GetParam().mode);
  ASSERT_THAT(c, IsOk());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto reply = call(*c);
    ASSERT_THAT(reply, IsOk());
    EXPECT_THAT(reply->json, HasSubstr(text(GetParam().reply)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, mcp_client_habit,
    testing::Values(habit{"garbage_first", "after garbage"}, habit{"answers_twice", "first"},
                    habit{"huge_stderr", "told"}, habit{"sends_requests", "answered"},
                    habit{"changes_tools", "changed"}, habit{"has_child", "child"},
                    habit{"silent", "pong"}, habit{"modern", "pong"}, habit{"no_tools", "pong"}),
    [](const auto& p) { return std::string(p.param.mode); });

TEST_F(mcp_client, gives_the_last_answer_of_a_server_that_takes_nothing_more) {
  auto c = connect("closes_stdin");
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(call(*c), IsOk());
  EXPECT_THAT(call(*c), IsError(error_code::io));
  EXPECT_TRUE(eventually([&] { return !c->connected(); }));
}

TEST_F(mcp_client, drops_an_answer_that_is_late) {
  auto c = connect("answers_late");
  ASSERT_THAT(c, IsOk());
  EXPECT_THAT(call(*c, 50), IsError(error_code::timed_out));
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json, HasSubstr(text("in time")));
}

TEST_F(mcp_client, logs_what_is_not_json_and_the_standard_error) {
  auto c = connect("garbage_first");
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(call(*c), IsOk());
  EXPECT_THAT(log(),
              testing::IsSupersetOf({"Server listening on stdio", "{\"half\": ", "\"text\""}));
  EXPECT_THAT(log(), Not(Contains("")));
  c = connect("huge_stderr");
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(call(*c), IsOk());
  EXPECT_TRUE(eventually([&] { return log().size() >= 500; }));
  EXPECT_EQ(std::string(8192, 'e'), log().back());
}

TEST_F(mcp_client, tells_progress_which_extends_the_deadline) {
  auto c = connect("progress");
  ASSERT_THAT(c, IsOk());
  std::vector<double> seen;
  const auto reply =
      c->call_tool("t", "{}",
                   {.timeout_ms = 20'000,
                    .on_progress = [&](double progress, double total, std::string_view message) {
                      EXPECT_EQ(3, total);
                      EXPECT_EQ("step", message);
                      seen.push_back(progress);
                    }});
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(mcp_client, progress_forever_outlives_the_timeout_but_not_the_cap) {
  auto c = connect("progress_forever");
  ASSERT_THAT(c, IsOk());
  int steps = 0; // one every 10 ms
  EXPECT_THAT(c->call_tool("t", "{}",
                           {.timeout_ms = 2'000,
                            .timeout_ms_max = 3'000,
                            .on_progress = [&](double, double, std::string_view) { ++steps; }}),
              IsError(error_code::timed_out));
  EXPECT_GT(steps, 1);
}

TEST_F(mcp_client, says_that_the_tools_changed) {
  std::atomic<int> changes = 0;
  client_options options = quick();
  options.on_tools_changed = [&] { ++changes; };
  auto c = client::connect(server("changes_tools"), options);
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(call(*c), IsOk());
  EXPECT_EQ(1, changes);
  EXPECT_THAT(c->refresh_tools(), IsOk());
  EXPECT_THAT(*c->tools(), SizeIs(1));
}

TEST_F(mcp_client, tells_the_server_what_nobody_waits_for) {
  auto c = connect("cancelled");
  ASSERT_THAT(c, IsOk());
  const cancellation cancel;
  std::thread canceller([&] { cancel.request(); });
  EXPECT_THAT(c->call_tool("t", "{}", {.cancel = &cancel}), IsError(error_code::cancelled));
  canceller.join();
  EXPECT_THAT(c->call_tool("t", "{}", {.cancel = &cancel}), IsError(error_code::cancelled));
}

TEST_F(mcp_client, cancels_at_the_server_after_a_timeout) {
  auto c = connect("cancelled");
  ASSERT_THAT(c, IsOk());
  EXPECT_THAT(call(*c, 50), IsError(error_code::timed_out));
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json, HasSubstr("notifications/cancelled"));
}

// --- agreeing -----------------------------------------------------------------------------------

TEST_F(mcp_client, agrees_with_every_revision) {
  for (const char* revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    const auto c = connect(std::string("revision:") + revision);
    ASSERT_THAT(c, IsOk());
    EXPECT_EQ(revision, c->server().revision);
  }
  const auto c = connect("modern");
  ASSERT_THAT(c, IsOk());
  EXPECT_EQ("2026-07-28", c->server().revision);
  EXPECT_EQ("fault", c->server().name);
}

struct peer {
  const char* mode;
  protocol_choice choice;
  error_code expected; ///< io: agrees, because no agreement fails with it
};

TEST_F(mcp_client, agrees_as_far_as_it_may) {
  using enum protocol_choice;
  using enum error_code;
  const peer peers[] = {
      {"", legacy, io},
      {"", modern, unsupported},
      {"modern", modern, io},
      {"modern", automatic, io},
      {"exits_on_discover", automatic, io},
      {"exits_on_discover", legacy, io},
      {"silent_on_discover", automatic, io},
      {"silent_on_discover", modern, timed_out},
      {"other_version", modern, unsupported},
      {"unknown_revision", automatic, unsupported},
      {"exits_on_initialize", automatic, io},
  };
  for (const peer& p : peers)
    for (const char* round : {"first", "with the verdict of the first"}) {
      client_options options = quick();
      options.protocol = p.choice;
      options.discover_timeout_ms = p.mode == std::string("silent_on_discover") ? 50 : 20'000;
      options.connect_timeout_ms = p.expected == timed_out ? 100 : 30'000;
      const auto c = client::connect(server(p.mode), options);
      SCOPED_TRACE(std::string(p.mode) + " " + std::to_string(static_cast<int>(p.choice)) + " " +
                   round);
      if (p.expected == io)
        EXPECT_THAT(c, IsOk());
      else
        EXPECT_THAT(c, IsError(p.expected));
    }
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client, a_server_that_ends_cannot_be_connected_to) {
  EXPECT_THAT(connect("exits_at_once"), IsError(error_code::io, HasSubstr("exited with status 5")));
  client_options options = quick();
  options.protocol = protocol_choice::legacy;
  EXPECT_THAT(client::connect(server("exits_on_initialize"), options), IsError(error_code::io));
  EXPECT_THAT(client::connect(server("other_version"), quick()), IsError(error_code::io));
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client, connecting_can_be_cancelled) {
  const cancellation cancel;
  std::thread canceller([&] { cancel.request(); });
  client_options options = quick();
  options.protocol = protocol_choice::modern;
  EXPECT_THAT(client::connect(server("silent_on_discover"), options, &cancel),
              IsError(error_code::cancelled));
  canceller.join();
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client, reads_all_pages_of_tools) {
  auto c = connect("pages");
  ASSERT_THAT(c, IsOk());
  ASSERT_THAT(*c->tools(), SizeIs(2));
  EXPECT_EQ("t1", c->tools()->back().name);
  client_options options = quick();
  options.tools_max = 50;
  EXPECT_THAT(client::connect(server("endless_pages"), options), IsError(error_code::too_large));
  EXPECT_THAT(connect("tools_are_no_list"), IsError(error_code::io));
  c = connect("odd_tools");
  ASSERT_THAT(c, IsOk());
  EXPECT_THAT(*c->tools(), SizeIs(1));
  c = connect("no_tools");
  ASSERT_THAT(c, IsOk());
  EXPECT_THAT(*c->tools(), SizeIs(0));
}

} // namespace
} // namespace paddock::mcp
