// SPDX-License-Identifier: MIT
#include "support/matchers.hpp"
#include "support/mcp/mcp_fixture.hpp"
#include "support/process/line_counts.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/mcp/stdio_transport.hpp>

#include <poll.h>
#include <sys/socket.h>

namespace paddock::mcp {
namespace {

using testing::HasSubstr;

constexpr int hang_ms = 10'000; // only a broken server takes that long

enum class carrier : std::uint8_t { pipes, nonblocking_pipes, sockets };

std::string request(int id, std::string_view method, std::string_view params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":)" + std::string(params) + "}\n";
}
std::string call_of(int id, std::string_view tool, std::string_view arguments = "{}") {
  return request(id, "tools/call",
                 R"({"name":")" + std::string(tool) + R"(","arguments":)" + std::string(arguments) +
                     "}");
}
std::string cancel(int id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
         std::to_string(id) + "}}\n";
}
std::string pong(int id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})";
}

/// A client at one end, `serve` on a thread at the other.
class connected {
public:
  explicit connected(server& s, carrier how = carrier::pipes, serve_options options = {}) {
    std::array<int, 2> to{}, from{};
    if (how == carrier::sockets) {
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to.data()) != 0) std::abort();
      to_server_.reset(to[0]);
      server_in_.reset(to[1]);
      from_server_.reset(::dup(to[0]));
      server_out_.reset(::dup(to[1]));
    } else {
      const int flags = O_CLOEXEC | (how == carrier::nonblocking_pipes ? O_NONBLOCK : 0);
      if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), flags) != 0) std::abort();
      if (how == carrier::nonblocking_pipes) ::fcntl(to[0], F_SETFL, O_NONBLOCK);
      server_in_.reset(to[0]);
      to_server_.reset(to[1]);
      from_server_.reset(from[0]);
      server_out_.reset(from[1]);
    }
    ::signal(SIGPIPE, SIG_IGN);
    thread_ = std::thread([this, &s, options] {
      auto outcome = serve(s, server_in_.get(), server_out_.get(), options);
      ASSERT_THAT(outcome, test::IsOk());
      outcome_ = *outcome;
      server_in_.reset();
      server_out_.reset();
    });
  }
  ~connected() {
    close_input();
    if (thread_.joinable()) thread_.join();
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(to_server_.get(), bytes.data(), bytes.size());
      ASSERT_GT(n, 0) << std::strerror(errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// To a server that may have ended already.
  void send_if_open(std::string_view line) {
    const bool sent = ::write(to_server_.get(), line.data(), line.size()) >= 0;
    EXPECT_TRUE(sent || errno == EPIPE) << std::strerror(errno);
  }
  void close_input() {
    if (to_server_) ::shutdown(to_server_.get(), SHUT_WR);
    to_server_.reset();
  }
  void close_output() { from_server_.reset(); }

  /// The next line, or nothing at the end.
  std::optional<std::string> receive() {
    for (;;) {
      if (const auto n = buffer_.find('\n'); n != std::string::npos) {
        std::string line = buffer_.substr(0, n);
        buffer_.erase(0, n + 1);
        return line;
      }
      pollfd entry{.fd = from_server_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&entry, 1, hang_ms) != 1) {
        ADD_FAILURE() << "the server says nothing";
        return std::nullopt;
      }
      std::array<char, 65536> chunk;
      const ssize_t n = ::read(from_server_.get(), chunk.data(), chunk.size());
      if (n <= 0) {
        EXPECT_EQ("", buffer_) << "a torn line";
        return std::nullopt;
      }
      buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    }
  }
  /// The ids of the next `n` responses.
  std::multiset<std::int64_t> receive_ids(std::size_t n) {
    std::multiset<std::int64_t> ids;
    json_document document;
    while (ids.size() < n) {
      const auto line = receive();
      if (!line) break;
      const auto parsed = document.parse(*line);
      EXPECT_THAT(parsed, test::IsOk()) << *line;
      if (parsed) ids.insert((*parsed)["id"].integer().value_or(-1));
    }
    return ids;
  }
  serve_outcome outcome() {
    thread_.join();
    return outcome_;
  }

private:
  file_descriptor to_server_, server_in_, from_server_, server_out_;
  std::thread thread_;
  serve_outcome outcome_;
  std::string buffer_;
};

class McpTransport : public testing::TestWithParam<carrier> {
protected:
  std::unique_ptr<connected> connect(serve_options options = {}) {
    return std::make_unique<connected>(server_, GetParam(), options);
  }
  ~McpTransport() override { gate_.open(); }

  static std::vector<tool> tools(const test::gate& g) {
    std::vector<tool> made = test::fixture_tools(g);
    made.push_back(
        {.name = "wait", .description = "Waits for others, and says so.", .handler = [g](call& c) {
           c.only_waits();
           return test::wait_at(g, c);
         }});
    return made;
  }

  test::gate gate_;
  server server_{test::fixture_options(), tools(gate_)};
};

std::string carrier_name(const testing::TestParamInfo<carrier>& p) {
  static constexpr const char* names[] = {"pipes", "nonblocking", "sockets"};
  return names[static_cast<std::size_t>(p.param)];
}

INSTANTIATE_TEST_SUITE_P(, McpTransport,
                         testing::Values(carrier::pipes, carrier::nonblocking_pipes,
                                         carrier::sockets),
                         carrier_name);

TEST_P(McpTransport, AnswersAndEnds) {
  const auto c = connect();
  c->send(request(1, "ping"));
  EXPECT_EQ(pong(1), c->receive());
  c->send(call_of(2, "echo", R"({"text":"x"})"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr(R"("structuredContent":{"text":"x"})")));
  c->close_input();
  EXPECT_EQ(std::nullopt, c->receive());
  const serve_outcome o = c->outcome();
  EXPECT_EQ(end_reason::input_ended, o.reason);
  EXPECT_EQ(0U, o.calls_abandoned);
}

TEST_P(McpTransport, EndsAtOnceWithoutInput) {
  const auto c = connect();
  c->close_input();
  EXPECT_EQ(std::nullopt, c->receive());
}

TEST_P(McpTransport, FramingIsTolerant) {
  const auto c = connect();
  c->send("\n  \n\r\n");
  c->send(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
          "\r\n");
  EXPECT_EQ(pong(1), c->receive());
  for (const char byte : request(2, "ping"))
    c->send({&byte, 1});
  EXPECT_EQ(pong(2), c->receive());
  c->send("garbage\n" + request(3, "ping"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("-32700")));
  EXPECT_EQ(pong(3), c->receive());
  c->send(R"({"jsonrpc":"2.0","id":4,"method":"ping"})"); // no newline, then the end
  c->close_input();
  EXPECT_EQ(pong(4), c->receive());
  EXPECT_EQ(std::nullopt, c->receive());
}

TEST_P(McpTransport, ALineCutOffByTheEndIsAParseError) {
  const auto c = connect();
  c->send(R"({"jsonrpc":"2.0","id":4,"meth)");
  c->close_input();
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("-32700")));
  EXPECT_EQ(std::nullopt, c->receive());
}

TEST_P(McpTransport, OversizedLinesAreRefusedOnceAndSkipped) {
  auto options = test::fixture_options();
  options.limits.message_in_bytes_max = 1000;
  server small(options, test::fixture_tools(gate_));
  connected c(small, GetParam());
  c.send(std::string(300'000, 'x'));
  c.send(std::string(300'000, 'x') + "\n" + request(1, "ping"));
  EXPECT_THAT(c.receive(), testing::Optional(HasSubstr("-32600")));
  EXPECT_EQ(pong(1), c.receive());
}

TEST_P(McpTransport, PingIsAnsweredWhileACallBlocks) {
  for (const char* tool : {"block", "hang"}) {
    SCOPED_TRACE(tool);
    test::gate gate;
    server s(test::fixture_options(), test::fixture_tools(gate));
    connected c(s, GetParam());
    c.send(call_of(1, tool) + request(2, "ping") + call_of(3, "echo", R"({"text":"x"})"));
    EXPECT_EQ(pong(2), c.receive());
    EXPECT_THAT(c.receive(), testing::Optional(HasSubstr("\"id\":3"))) << "out of order";
    gate.open();
    EXPECT_THAT(c.receive(), testing::Optional(HasSubstr(R"("id":1,"result":{"content")")));
  }
}

TEST_P(McpTransport, ACancelledCallIsToldAndNeverAnswered) {
  for (const char* tool : {"block", "hang"}) {
    SCOPED_TRACE(tool);
    const auto c = connect();
    c->send(call_of(1, tool) + cancel(7) + cancel(1) + request(2, "ping"));
    EXPECT_EQ(pong(2), c->receive());
    c->close_input();
    EXPECT_EQ(std::nullopt, c->receive());
    EXPECT_EQ(0U, c->outcome().calls_abandoned) << "it returned, so it was told";
  }
}

TEST_P(McpTransport, AnIdIsFreeAgainAfterItsResponseAndNotBefore) {
  const auto c = connect();
  c->send(call_of(1, "block") + request(1, "ping"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("-32600")));
  gate_.open();
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("\"id\":1")));
  c->send(request(1, "ping"));
  EXPECT_EQ(pong(1), c->receive());
}

TEST_P(McpTransport, TenThousandPipelinedCalls) {
  constexpr int calls = 10'000;
  const auto c = connect();
  std::thread sender([&] {
    for (int i = 0; i < calls; ++i)
      c->send(call_of(i, "echo", R"({"text":"pipelined"})"));
    c->close_input();
  });
  const auto ids = c->receive_ids(calls);
  sender.join();
  EXPECT_EQ(static_cast<std::size_t>(calls), ids.size());
  EXPECT_EQ(static_cast<std::size_t>(calls), std::set<std::int64_t>(ids.begin(), ids.end()).size());
  EXPECT_EQ(std::nullopt, c->receive());
}

TEST_P(McpTransport, MoreBlockingCallsThanThreads) {
  const auto c = connect({.threads_max = 4});
  std::string lines;
  for (int i = 0; i < 64; ++i)
    lines += call_of(i, i % 2 == 0 ? "block" : "hang");
  c->send(lines + cancel(63) + request(100, "ping"));
  EXPECT_EQ(pong(100), c->receive()) << "three calls block, the rest wait";
  gate_.wait_for_arrivals(3);
  gate_.open();
  std::multiset<std::int64_t> expected;
  for (int i = 0; i < 63; ++i)
    expected.insert(i);
  EXPECT_EQ(expected, c->receive_ids(63)) << "all but the cancelled one";
}

TEST_P(McpTransport, CallsThatOnlyWaitKeepNoThreadFromOthers) {
  const auto c = connect({.threads_max = 4});
  std::string lines;
  for (int i = 0; i < 64; ++i)
    lines += call_of(i, "wait");
  c->send(lines + call_of(100, "echo", R"({"text":"x"})"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("\"id\":100")));
  gate_.wait_for_arrivals(64);
  gate_.open();
  EXPECT_EQ(64U, c->receive_ids(64).size());
  c->send(call_of(101, "echo", R"({"text":"x"})"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("\"id\":101")));
}

TEST_P(McpTransport, AfterCallsThatOnlyWaitedAsManyRunAsBefore) {
  const auto c = connect({.threads_max = 2});
  c->send(call_of(0, "wait") + call_of(1, "wait"));
  gate_.wait_for_arrivals(2);
  gate_.open();
  EXPECT_EQ(2U, c->receive_ids(2).size());
  gate_.close();
  c->send(call_of(2, "block") + call_of(3, "block") + request(4, "ping"));
  EXPECT_EQ(pong(4), c->receive());
  gate_.wait_for_arrivals(3);
  c->send(request(5, "ping"));
  EXPECT_EQ(pong(5), c->receive());
  EXPECT_EQ(3, gate_.arrived()) << "one blocks, one reads";
  gate_.open();
  EXPECT_EQ((std::multiset<std::int64_t>{2, 3}), c->receive_ids(2));
}

TEST_P(McpTransport, OneThreadServesInTurn) {
  const auto c = connect({.threads_max = 1});
  c->send(call_of(1, "block") + request(2, "ping"));
  gate_.wait_for_arrivals(1);
  gate_.open();
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("\"id\":1")));
  EXPECT_EQ(pong(2), c->receive());
}

TEST_P(McpTransport, EndOfInputCancelsWhatBlocksAndAnswersIt) {
  const auto c = connect();
  c->send(call_of(1, "block") + call_of(2, "hang") + call_of(3, "echo", R"({"text":"x"})"));
  c->close_input();
  EXPECT_EQ((std::multiset<std::int64_t>{1, 2, 3}), c->receive_ids(3));
  EXPECT_EQ(std::nullopt, c->receive());
  const serve_outcome o = c->outcome();
  EXPECT_EQ(end_reason::input_ended, o.reason);
  EXPECT_EQ(0U, o.calls_abandoned);
}

TEST_P(McpTransport, AHandlerThatIgnoresItsCancellationIsLeftBehind) {
  const auto c = connect();
  c->send(call_of(1, "deaf") + call_of(2, "echo", R"({"text":"x"})"));
  c->close_input();
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("\"id\":2")));
  EXPECT_EQ(std::nullopt, c->receive());
  EXPECT_EQ(1U, c->outcome().calls_abandoned);
  gate_.open(); // its thread ends by itself
}

TEST_P(McpTransport, AClosedOutputEndsTheServer) {
  const auto c = connect();
  c->send(call_of(1, "block"));
  gate_.wait_for_arrivals(1);
  c->close_output();
  if (GetParam() == carrier::sockets) c->close_input(); // the same descriptor at our end
  for (int i = 0; GetParam() != carrier::sockets && i < 2; ++i)
    c->send_if_open(request(2, "ping"));
  const serve_outcome o = c->outcome();
  EXPECT_EQ(end_reason::output_closed, o.reason);
  EXPECT_EQ(0U, o.calls_abandoned);
}

TEST_P(McpTransport, AClientThatNeverReadsCanStillCancelAndLeave) {
  const auto c = connect();
  c->send(call_of(1, "block"));
  gate_.wait_for_arrivals(1);
  for (int i = 0; i < 40; ++i)
    c->send(call_of(100 + i, "big", R"({"bytes":20000})")); // far beyond a pipe
  c->send(cancel(1) + call_of(2, "block"));
  gate_.wait_for_arrivals(2);
  c->close_input();
  const serve_outcome o = c->outcome();
  EXPECT_EQ(end_reason::output_closed, o.reason);
  EXPECT_EQ(0U, o.calls_abandoned);
}

TEST_P(McpTransport, BackpressureWhenTheClientIsFarBehind) {
  auto options = test::fixture_options();
  options.limits.message_out_bytes_max = 100'000;
  server small(options, test::fixture_tools(gate_));
  connected c(small, GetParam());
  constexpr int calls = 400;
  std::thread sender([&] {
    for (int i = 0; i < calls; ++i)
      c.send(call_of(i, "big", R"({"bytes":40000})"));
  });
  EXPECT_EQ(static_cast<std::size_t>(calls), c.receive_ids(calls).size());
  sender.join();
  c.close_input(); // not before: then the server waits for a reader only for a moment
  EXPECT_EQ(std::nullopt, c.receive());
  EXPECT_EQ(end_reason::input_ended, c.outcome().reason);
}

TEST_P(McpTransport, AStopDescriptorEndsTheServer) {
  std::array<int, 2> stop{};
  ASSERT_EQ(0, ::pipe2(stop.data(), O_CLOEXEC));
  const file_descriptor stop_read(stop[0]);
  const file_descriptor stop_write(stop[1]);
  const auto c = connect({.stop_fd = stop[0]});
  c->send(call_of(1, "block"));
  gate_.wait_for_arrivals(1);
  ASSERT_EQ(1, ::write(stop[1], "x", 1));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("cancelled")));
  EXPECT_EQ(end_reason::stopped, c->outcome().reason);
}

TEST_P(McpTransport, SubscriptionsAreClosedAtTheEnd) {
  const auto c = connect();
  c->send(request(
      5, "subscriptions/listen",
      R"({"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}})"));
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr("acknowledged")));
  c->close_input();
  EXPECT_THAT(c->receive(), testing::Optional(HasSubstr(
                                R"({"jsonrpc":"2.0","id":5,"result":{"resultType":"complete")")));
  EXPECT_EQ(std::nullopt, c->receive());
}

TEST_P(McpTransport, SubscriptionsHearOfTasksUntilTheyAreCancelled) {
  std::vector<tool> tools = test::fixture_tools(gate_);
  for (tool& each : tools)
    each.tasks = task_support::optional;
  server_options options = test::fixture_options();
  options.tasks.prompt_ms = 0;
  server with_tasks(options, std::move(tools));
  connected c(with_tasks, GetParam());
  const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":)"
                           R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})";
  const auto begin = [&](int id) {
    c.send(request(id, "tools/call", R"({"name":"block",)" + meta + "}"));
    const std::string line = c.receive().value_or("");
    const std::size_t at = line.find(R"("taskId":")");
    return at == line.npos ? line : line.substr(at + 10, 48);
  };
  const auto listen = [&](int id, const std::string& task) {
    c.send(request(id, "subscriptions/listen",
                   R"({"notifications":{"taskIds":[")" + task + R"("]},)" + meta + "}"));
    return c.receive();
  };
  const std::string task = begin(1);
  EXPECT_THAT(listen(2, task), testing::Optional(HasSubstr(R"({"taskIds":[")" + task + "\"]}")));
  EXPECT_THAT(listen(3, task), testing::Optional(HasSubstr("acknowledged")));
  c.send(cancel(2));
  EXPECT_THAT(listen(4, task), testing::Optional(HasSubstr("acknowledged"))); // and so 2 is over
  gate_.open();
  const auto of_end = [](const char* id) {
    return testing::AllOf(HasSubstr("notifications/tasks"), HasSubstr("completed"), HasSubstr(id));
  };
  const std::vector<std::string> told = {c.receive().value_or(""), c.receive().value_or("")};
  EXPECT_THAT(told, testing::UnorderedElementsAre(of_end(R"(subscriptionId":3})"),
                                                  of_end(R"(subscriptionId":4})")));
  c.close_input();
  for (const char* id : {R"("id":3)", R"("id":4)"})
    EXPECT_THAT(c.receive(), testing::Optional(HasSubstr(id)));
  EXPECT_EQ(std::nullopt, c.receive());
}

TEST_P(McpTransport, ConnectionsOfOneServerAreIndependent) {
  const auto a = connect();
  const auto b = connect();
  a->send(call_of(1, "block"));
  gate_.wait_for_arrivals(1);
  b->send(cancel(1) + request(1, "ping"));
  EXPECT_EQ(pong(1), b->receive());
  gate_.open();
  EXPECT_THAT(a->receive(), testing::Optional(HasSubstr("passed")));
}

/// Runs serve_stdio in a process of its own, with a tool that writes to descriptor 1 behind the
/// protocol's back.
class McpStandardStreams : public testing::Test {
protected:
  void SetUp() override {
    std::array<int, 2> to{}, from{};
    ASSERT_EQ(0, ::pipe2(to.data(), O_CLOEXEC));
    ASSERT_EQ(0, ::pipe2(from.data(), O_CLOEXEC));
    std::fflush(nullptr); // or the child might write what was buffered before
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::close(to[1]);
      ::close(from[0]);
      ::close(from[1]);
      std::vector<tool> tools = test::fixture_tools(test::gate{});
      tools.push_back({.name = "shout", .description = "Writes to 1.", .handler = [](call&) {
                         const ssize_t n = ::write(1, "noise\n", 6);
                         std::array<char, 1> byte{};
                         const ssize_t at_end = ::read(0, byte.data(), 1);
                         return tool_result{.json = n == 6 && at_end == 0 ? "{}" : R"({"bad":1})"};
                       }});
      const auto outcome = serve_stdio(server(test::fixture_options(), std::move(tools)));
      test::keep_line_counts();
      ::_exit(outcome ? 10 + static_cast<int>(outcome->reason) : 1);
    }
    to_.reset(to[1]);
    from_.reset(from[0]);
    ::close(to[0]);
    ::close(from[1]);
  }
  void send(std::string_view line) {
    ASSERT_EQ(static_cast<ssize_t>(line.size()), ::write(to_.get(), line.data(), line.size()));
  }
  std::string receive() {
    std::string line;
    for (char c = 0; ::read(from_.get(), &c, 1) == 1 && c != '\n';)
      line += c;
    return line;
  }
  int exit_code() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t child_ = -1;
  file_descriptor to_, from_;
};

/// A connection whose calls of tools that wait can go on as tasks.
class McpTransportTasks : public testing::Test {
protected:
  McpTransportTasks() {
    talk_.send(request(0, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
    (void)talk_.receive();
  }
  ~McpTransportTasks() override { gate_.open(); }
  static std::vector<tool> tools(const test::gate& g) {
    std::vector<tool> made = test::fixture_tools(g);
    for (tool& each : made)
      each.tasks = task_support::optional;
    return made;
  }
  /// What a task of this tool is called.
  std::string begin(std::string_view tool) {
    talk_.send(request(1, "tools/call",
                       R"({"name":")" + std::string(tool) +
                           R"(","task":{},"_meta":{"progressToken":"p"}})"));
    const std::string line = talk_.receive().value_or("");
    const std::string key = R"("taskId":")";
    const auto at = line.find(key);
    EXPECT_NE(line.npos, at) << line;
    return at == line.npos ? "" : line.substr(at + key.size(), 48);
  }

  test::gate gate_;
  server server_{test::fixture_options(), tools(gate_)};
  connected talk_{server_};
};

TEST_F(McpTransportTasks, SayThatTheyHaveEnded) {
  const std::string id = begin("block");
  gate_.open();
  const std::string line = talk_.receive().value_or("");
  EXPECT_THAT(line,
              HasSubstr(R"("method":"notifications/tasks/status","params":{"taskId":")" + id));
  EXPECT_THAT(line, HasSubstr(R"("status":"completed")"));
}

TEST_F(McpTransportTasks, TakeNoThreadFromOtherCalls) {
  const std::string id = begin("hang");
  talk_.send(request(2, "tasks/result", R"({"taskId":")" + id + R"("})") + request(3, "ping"));
  EXPECT_EQ(pong(3), talk_.receive());
  gate_.open();
  std::string both = talk_.receive().value_or("") + talk_.receive().value_or("");
  EXPECT_THAT(both, HasSubstr(R"("id":2,"result":{"content")"));
  EXPECT_THAT(both, HasSubstr("notifications/tasks/status"));
}

TEST_F(McpTransportTasks, LetARequestForTheResultBeCancelled) {
  const std::string id = begin("block");
  talk_.send(request(2, "tasks/result", R"({"taskId":")" + id + R"("})") + cancel(2) +
             request(3, "tasks/get", R"({"taskId":")" + id + R"("})"));
  EXPECT_THAT(talk_.receive().value_or(""), HasSubstr("working"));
}

TEST_F(McpTransportTasks, EndWithTheConnection) {
  begin("block");
  gate_.wait_for_arrivals(1);
  talk_.close_input();
  EXPECT_EQ(0U, talk_.outcome().calls_abandoned);
}

TEST_F(McpTransportTasks, AreLeftBehindWhenTheyDoNotEnd) {
  begin("deaf");
  gate_.wait_for_arrivals(1);
  talk_.close_input();
  EXPECT_EQ(1U, talk_.outcome().calls_abandoned);
}

TEST_F(McpStandardStreams, CarryTheProtocolAndNothingElse) {
  send(call_of(1, "shout"));
  EXPECT_THAT(receive(), HasSubstr(R"("structuredContent":{},)"));
  send(request(2, "ping"));
  EXPECT_EQ(pong(2), receive());
  to_.reset();
  EXPECT_EQ("", receive());
  EXPECT_EQ(10 + static_cast<int>(end_reason::input_ended), exit_code());
}

TEST_F(McpStandardStreams, EndOnSigterm) {
  send(call_of(1, "block") + request(2, "ping"));
  EXPECT_EQ(pong(2), receive());
  ASSERT_EQ(0, ::kill(child_, SIGTERM));
  EXPECT_THAT(receive(), HasSubstr("cancelled"));
  EXPECT_EQ(10 + static_cast<int>(end_reason::stopped), exit_code());
}

} // namespace
} // namespace paddock::mcp
