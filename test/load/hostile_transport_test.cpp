// SPDX-License-Identifier: MIT

// Hostile clients of the real program, by when they write, read, cancel and leave: memory stays
// bounded, everything owed is answered, and no process is left behind. PADDOCK_HOSTILE_CALLS is the
// number of calls in a flood.

#include "support/load/answer_ledger.hpp"
#include "support/load/hostile_lines.hpp"
#include "support/load/line_peer.hpp"
#include "support/process/command_fixture.hpp"

namespace paddock {
namespace {

using test::era;
using testing::HasSubstr;
using testing::Optional;

constexpr std::size_t mib_in_kib = 1024;
constexpr int stall_ms = 500; // then it does not read any more, or is slow; both may be

std::string pong(std::size_t id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})";
}
std::string ping(std::size_t id) {
  return test::request_line(era::legacy, std::to_string(id), "ping");
}

class hostile_transport : public testing::Test {
protected:
  [[nodiscard]] static std::size_t flood() {
    return test::campaign_size("PADDOCK_HOSTILE_CALLS", 100'000);
  }
  /// Writes until nothing is taken any more, and reads nothing.
  void write_until_stalled(int patience_ms = stall_ms) {
    while (peer.unsent() > 0 && peer.pump(patience_ms, test::line_peer::reading::no)) {
    }
  }
  void expect_resident_below(std::size_t mib) const {
    if (!test::instrumented) {
      const std::size_t kib = adapter.view().resident_kib();
      std::printf("[ resident ] %zu KiB\n", kib);
      EXPECT_LT(kib, mib * mib_in_kib);
    }
  }
  void expect_alive(std::size_t id = 9'999'999) {
    peer.put(ping(id));
    EXPECT_EQ(pong(id), peer.receive());
  }
  void expect_end() {
    peer.close_input();
    EXPECT_EQ(std::nullopt, peer.receive());
    EXPECT_FALSE(peer.torn());
    EXPECT_EQ(0, adapter.exit_code());
  }
  /// A command that never ends, with a mark on it.
  std::string endless(std::string_view id, std::string_view members = {}) {
    const std::string arguments = R"({"command":"sh","args":["-c","sleep 86400; : )" + cookie +
                                  R"("],"env":{},"cwd":".","stdout":true,"stderr":true})";
    return test::request_line(era::modern, id, "tools/call",
                              R"("name":"exec","arguments":)" + arguments + std::string(members));
  }
  [[nodiscard]] bool endless_ones_run(std::size_t n) const {
    return test::eventually([&] { return test::processes_with("; : " + cookie).size() >= n; });
  }
  [[nodiscard]] bool nothing_runs() const {
    return test::eventually([&] { return test::processes_with("; : " + cookie).empty(); });
  }

  const std::string cookie = "cookie-" + std::to_string(::getpid());
  test::temp_tree tree;
  test::adapter_program adapter{tree.path()};
  test::line_peer& peer = adapter.peer;
};

TEST_F(hostile_transport, one_that_asks_for_much_and_reads_nothing) {
  constexpr std::size_t calls = 2'000;
  tree.file("large", std::string(100'000, 'x') + "\n");
  for (std::size_t n = 0; n < calls; ++n)
    peer.put(test::call_line(n % 2 == 0 ? era::modern : era::legacy, std::to_string(n),
                             "readTextFile", R"({"path":"large"})"));
  write_until_stalled();
  EXPECT_GT(peer.unsent(), 0U) << "the server took everything, whoever reads the answers";
  expect_resident_below(48);
  std::set<std::string> ids;
  mcp::json_document document;
  for (std::size_t n = 0; n < calls && !HasFailure(); ++n) {
    const auto line = peer.receive();
    ASSERT_TRUE(line);
    const auto answer = document.parse(*line);
    ASSERT_TRUE(answer);
    EXPECT_EQ(100'001U, (*answer)["result"]["structuredContent"]["content"].string()->size());
    EXPECT_TRUE(ids.insert((*answer)["id"].text()).second);
  }
  expect_alive();
  expect_end();
}

TEST_F(hostile_transport, one_that_asks_for_everything_at_once_and_reads_later) {
  const std::size_t calls = flood();
  for (std::size_t n = 0; n < calls; ++n)
    peer.put(ping(n));
  write_until_stalled();
  expect_resident_below(48);
  for (std::size_t n = 0; n < calls && !HasFailure(); ++n)
    ASSERT_EQ(pong(n), peer.receive()) << "in order, and none is missing";
  expect_end();
}

TEST_F(hostile_transport, one_that_floods_with_calls) {
  const std::size_t calls = flood() / 10;
  for (std::size_t n = 0; n < calls; ++n)
    peer.put(test::call_line(era::modern, std::to_string(n), "attemptCompletion"));
  write_until_stalled();
  expect_resident_below(48);
  std::set<std::string> ids;
  mcp::json_document document;
  for (std::size_t n = 0; n < calls && !HasFailure(); ++n) {
    const auto line = peer.receive();
    ASSERT_TRUE(line && document.parse(*line));
    EXPECT_TRUE(ids.insert(document.root()["id"].text()).second);
  }
  expect_end();
}

TEST_F(hostile_transport, one_that_floods_with_notifications) {
  const std::size_t count = flood();
  for (std::size_t n = 0; n < count; ++n) {
    if (n % 3 == 0)
      peer.put(test::cancel_line(n % 2 == 0 ? era::modern : era::legacy, std::to_string(n)));
    else
      peer.put("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/none\"}\n");
  }
  expect_alive(); // and nothing before it
  expect_resident_below(32);
  expect_end();
}

TEST_F(hostile_transport, one_that_never_ends_its_line) {
  const std::string part(1'000'000, 'x');
  for (int n = 0; n < 64; ++n)
    peer.put(part);
  peer.flush();
  expect_resident_below(64);
  EXPECT_THAT(peer.receive(), Optional(HasSubstr("-32600"))) << "once";
  peer.put("\n");
  expect_alive();
  expect_end();
}

TEST_F(hostile_transport, one_that_leaves_in_the_middle_of_a_line) {
  constexpr std::size_t calls = 1'000;
  for (std::size_t n = 0; n < calls; ++n)
    peer.put(ping(n));
  peer.put(R"({"jsonrpc":"2.0","id":1,"meth)");
  peer.flush();
  peer.close_input();
  for (std::size_t n = 0; n < calls; ++n)
    ASSERT_EQ(pong(n), peer.receive());
  EXPECT_THAT(peer.receive(), Optional(HasSubstr("-32700")));
  EXPECT_EQ(std::nullopt, peer.receive());
  EXPECT_EQ(0, adapter.exit_code());
}

TEST_F(hostile_transport, one_that_leaves_while_commands_run) {
  for (int n = 0; n < 8; ++n)
    peer.put(endless(std::to_string(n)));
  peer.flush();
  EXPECT_TRUE(endless_ones_run(8));
  peer.close_input();
  for (int n = 0; n < 8; ++n)
    EXPECT_THAT(peer.receive(), Optional(HasSubstr("cancelled"))) << "they are told";
  EXPECT_EQ(std::nullopt, peer.receive());
  EXPECT_EQ(0, adapter.exit_code());
  EXPECT_TRUE(nothing_runs());
}

TEST_F(hostile_transport, one_that_closes_its_ears) {
  peer.put(endless("1"));
  peer.flush();
  EXPECT_TRUE(endless_ones_run(1));
  peer.close_output();
  peer.put(ping(2) + ping(3));
  peer.write_some();
  EXPECT_EQ(0, adapter.exit_code()) << "not killed by SIGPIPE";
  EXPECT_TRUE(nothing_runs());
}

TEST_F(hostile_transport, one_that_closes_its_ears_while_much_is_on_the_way) {
  tree.file("large", std::string(100'000, 'x'));
  for (std::size_t n = 0; n < 500; ++n)
    peer.put(
        test::call_line(era::legacy, std::to_string(n), "readTextFile", R"({"path":"large"})"));
  write_until_stalled();
  peer.close_output();
  EXPECT_EQ(0, adapter.exit_code());
}

TEST_F(hostile_transport, one_that_cancels_what_is_not_there) {
  mcp::json_document document;
  for (const auto e : {era::legacy, era::modern}) {
    peer.put(ping(1));
    EXPECT_EQ(pong(1), peer.receive());
    for (const std::string& odd : test::odd_values())
      if (document.parse(odd)) peer.put(test::cancel_line(e, odd));
    peer.put(test::cancel_line(e, "1")); // long over
  }
  // A cancellation with an id is a request, here for itself.
  peer.put(R"({"jsonrpc":"2.0","id":5,"method":"notifications/cancelled","params":{"requestId":5}})"
           "\n");
  EXPECT_THAT(peer.receive(), Optional(HasSubstr("-32601")));
  expect_alive(77);
  expect_end();
}

TEST_F(hostile_transport, one_with_odd_progress_tokens) {
  std::size_t n = 0;
  mcp::json_document document;
  for (const std::string& token : test::odd_values()) {
    if (!document.parse(token)) continue;
    const std::string id = std::to_string(++n);
    SCOPED_TRACE(token.substr(0, 100));
    peer.put(test::request_line(
        era::legacy, id, "tools/call",
        R"("name":"exec","arguments":{"command":"true","args":[],"env":{},"cwd":".","stdout":true,"stderr":true},"_meta":{"progressToken":)" +
            token + "}"));
    const auto token_value = document.root();
    const auto echo = test::answer_ledger::echo_of(token_value);
    for (;;) {
      const auto line = peer.receive();
      ASSERT_TRUE(line);
      mcp::json_document answer;
      ASSERT_TRUE(answer.parse(*line)) << *line;
      if (answer.root()["id"].text() == id) {
        EXPECT_EQ(false, answer.root()["result"]["isError"].boolean()) << *line;
        break;
      }
      EXPECT_EQ(echo, answer.root()["params"]["progressToken"].text()) << *line;
    }
  }
  EXPECT_GT(n, 20U);
}

TEST_F(hostile_transport, one_that_uses_an_id_twice) {
  peer.put(endless("1") + endless("1") + ping(1));
  EXPECT_THAT(peer.receive(), Optional(HasSubstr("-32600")));
  EXPECT_THAT(peer.receive(), Optional(HasSubstr("-32600")));
  EXPECT_TRUE(endless_ones_run(1));
  peer.put(test::cancel_line(era::modern, "1"));
  peer.flush();
  EXPECT_TRUE(nothing_runs());
  expect_alive(2);
  expect_end();
}

TEST_F(hostile_transport, one_that_subscribes_for_ever) {
  constexpr int subscriptions = 200;
  for (int n = 0; n < subscriptions; ++n)
    peer.put(test::request_line(era::modern, std::to_string(n), "subscriptions/listen",
                                R"("notifications":{})"));
  int acknowledged = 0;
  for (int n = 0; n < subscriptions; ++n)
    acknowledged += peer.receive().value_or("").find("acknowledged") != std::string::npos ? 1 : 0;
  EXPECT_EQ(64, acknowledged);
  peer.close_input();
  for (int n = 0; n < acknowledged; ++n)
    EXPECT_THAT(peer.receive(), Optional(HasSubstr("complete")));
  EXPECT_EQ(std::nullopt, peer.receive());
  EXPECT_EQ(0, adapter.exit_code());
}

/// Calls that run for ever, each with as many small values as a line holds.
TEST_F(hostile_transport, one_that_makes_the_server_remember_much) {
  constexpr int calls = 8;
  std::string values = "[0";
  while (values.size() < 15'000'000)
    values += ",0";
  const std::string members = R"(,"other":)" + values + "]";
  for (int n = 0; n < calls; ++n)
    peer.put(endless(std::to_string(n), members));
  write_until_stalled(6 * stall_ms);
  EXPECT_GT(peer.unsent(), 0U) << "the server took everything";
  expect_resident_below(768);
  adapter.peer.close_input();
  EXPECT_EQ(0, adapter.exit_code());
  EXPECT_TRUE(nothing_runs());
}

} // namespace
} // namespace paddock
