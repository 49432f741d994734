// SPDX-License-Identifier: MIT

// Hostile clients, line by line: whatever a line is made of, the server owes what JSON-RPC says,
// and answers the next one as ever. PADDOCK_HOSTILE_LINES is the number of lines per era.

#include "support/files/canary.hpp"
#include "support/load/answer_ledger.hpp"
#include "support/load/hostile_lines.hpp"
#include "support/load/line_peer.hpp"

#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>

namespace paddock {
namespace {

using test::era;

std::string excerpt(std::string_view line) {
  constexpr std::size_t shown = 400;
  return mcp::json_writer().string(line.substr(0, shown)).take() + " of " +
         std::to_string(line.size()) + " bytes";
}

class hostile : public testing::TestWithParam<era> {
protected:
  void SetUp() override {
    const auto& t = canary.tree();
    t.file("ws/text.txt", "line\nline\nline\n");
    t.file("ws/image.png", "\x89PNG\r\n\x1a\n");
    t.file("ws/plan.pdf", "%PDF-1.7\n");
    t.link("ws/trap", "../out");
  }
  void TearDown() override { EXPECT_EQ(outside, canary.describe_outside()); }

  /// A request that always succeeds, and what its answer contains.
  [[nodiscard]] static std::string probe(std::size_t n) {
    const std::string id = "\"probe" + std::to_string(n) + "\"";
    std::string line = GetParam() == era::legacy
                           ? test::request_line(era::legacy, id, "ping")
                           : test::call_line(era::modern, id, "attemptCompletion");
    line.pop_back();
    return line;
  }

  /// Gives lines to the server under test and takes what it answers, until it has answered a probe.
  using exchange =
      std::function<std::vector<std::string>(const std::string& line, const std::string& probe)>;

  /// One line, and then one that must work.
  void judge(const std::string& line, const exchange& talk) {
    SCOPED_TRACE(excerpt(line));
    const std::string p = probe(++lines_);
    ledger.sent(line);
    ledger.sent(p);
    bool probed = false;
    std::string listening;
    for (const auto& answer : talk(line, p)) {
      EXPECT_EQ("", ledger.received(answer, &listening)) << excerpt(answer);
      EXPECT_LE(answer.size(), limits{}.message_out_bytes_max);
      if (answer.find("\"probe" + std::to_string(lines_) + "\"") == answer.npos) continue;
      probed = true;
      EXPECT_NE(answer.npos, answer.find("\"result\":")) << excerpt(answer);
    }
    EXPECT_TRUE(probed);
    EXPECT_TRUE(ledger.settled()) << ledger.open();
    if (listening.empty()) return;
    std::string end = test::cancel_line(GetParam(), listening);
    end.pop_back();
    judge(end, talk);
  }

  [[nodiscard]] mcp::server make_server() const {
    mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
    options.exec_helper = PADDOCK_TEST_HELPER;
    auto tools = mcp::workspace_tools(
        std::make_shared<const root>(test::open_root(canary.ws(), resolver::automatic)),
        std::move(options));
    if (!tools) std::abort();
    return {{}, *std::move(tools)};
  }
  static exchange in_process(mcp::server& server) {
    return [&server](const std::string& line, const std::string& probe) {
      auto answers = server.handle_line(line);
      for (auto& more : server.handle_line(probe))
        answers.push_back(std::move(more));
      return answers;
    };
  }

  void judge_mutations(const exchange& talk, std::size_t count) {
    const std::uint64_t seed = test::number_from_environment("PADDOCK_TEST_SEED", 11);
    std::mt19937_64 random(seed);
    std::size_t answered = 0;
    for (std::size_t n = 0; n < count && !HasFailure(); ++n) {
      const std::string id =
          n % 2 == 0 ? std::to_string(1'000'000 + n) : "\"line-" + std::to_string(n) + "\"";
      std::string line = test::valid_line(GetParam(), n, id);
      if (n % 50 != 0) line = test::mutate(std::move(line), random); // some stay as they are
      judge(line, [&](const std::string& l, const std::string& p) {
        auto answers = talk(l, p);
        answered += answers.size() - 1;
        return answers;
      });
    }
    std::printf("[ hostile  ] %zu lines of the %s era, seed %llu: %zu answered, %zu owed nothing\n",
                count, test::name_of(GetParam()).c_str(), static_cast<unsigned long long>(seed),
                answered, count - answered);
    EXPECT_GT(answered, count / 2);
  }

  test::canary_tree canary;
  const std::string outside = canary.describe_outside();
  test::answer_ledger ledger;

private:
  std::size_t lines_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, hostile, testing::Values(era::legacy, era::modern),
                         [](const auto& suite) { return test::name_of(suite.param); });

TEST_P(hostile, mutated_lines_get_what_they_are_owed) {
  mcp::server server = make_server();
  judge_mutations(in_process(server), test::campaign_size("PADDOCK_HOSTILE_LINES", 10'000));
}

TEST_P(hostile, every_argument_takes_every_odd_value) {
  mcp::server server = make_server();
  std::size_t n = 0;
  for (const auto& call : test::sample_calls) {
    const test::json_spans spans(call.arguments);
    for (const auto& span : spans.all())
      for (const std::string& odd : test::odd_values()) {
        if (HasFailure()) return;
        std::string arguments(call.arguments);
        arguments.replace(span.begin, span.end - span.begin, odd);
        std::string line = test::call_line(GetParam(), std::to_string(++n), call.tool, arguments);
        line.pop_back();
        judge(line, in_process(server));
      }
  }
  std::printf("[ hostile  ] %zu calls with one odd value\n", n);
}

TEST_P(hostile, every_member_may_be_missing) {
  mcp::server server = make_server();
  std::size_t n = 0;
  for (std::size_t method = 0; method < 24; ++method) {
    const std::string whole = test::valid_line(GetParam(), method, std::to_string(++n));
    const test::json_spans spans(whole);
    for (const auto& span : spans.all()) {
      if (HasFailure()) return;
      if (span.member == std::string::npos) continue;
      std::string line = whole;
      line.erase(span.member, span.end - span.member);
      // The comma that is one too many now.
      const auto comma = line.find_last_not_of(' ', span.member - 1);
      if (line[comma] == ',')
        line.erase(comma, 1);
      else if (line[span.member] == ',')
        line.erase(span.member, 1);
      judge(line, in_process(server));
    }
  }
}

std::string padded_to(std::size_t bytes) {
  std::string line = R"({"jsonrpc":"2.0","id":"large","method":"no/such","params":{"x":""}})";
  line.insert(line.size() - 3, bytes - line.size(), 'x');
  return line;
}

/// Lines that are large, deep or numerous in one way.
std::vector<std::string> monsters(era e) {
  const std::size_t line_max = limits{}.message_in_bytes_max;
  constexpr std::size_t million = 1'000'000;
  std::string flat = R"({"jsonrpc":"2.0","id":1,"method":"no/such","params":{"x":[0)";
  for (std::size_t n = 0; n < million; ++n)
    flat += ",0";
  std::string keys = R"({"jsonrpc":"2.0","id":1,"method":"no/such","params":{"k":0)";
  for (std::size_t n = 0; n < million / 5; ++n)
    keys += R"(,"k":0)";
  std::string surrogates;
  for (std::size_t n = 0; n < million; ++n)
    surrogates += "\\ud800";
  const auto call = [&](std::string_view tool, const std::string& arguments) {
    std::string line = test::call_line(e, "2", tool, arguments);
    line.pop_back();
    return line;
  };
  return {std::string(million, '['),
          std::string(million, '{'),
          std::string(million, '[') + std::string(million, ']'),
          R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(million, '[') +
              std::string(million, ']') + "}",
          R"({"jsonrpc":"2.0","id":)" + std::string(million, '1') + R"(,"method":"ping"})",
          R"({"jsonrpc":"2.0","id":")" + std::string(million, 'i') + R"(","method":"ping"})",
          R"({"jsonrpc":"2.0","id":3,"method":")" + std::string(million, 'm') + R"("})",
          flat + "]}}",
          keys + "}}",
          call(std::string(million, 't'), "{}"),
          call("readTextFile", R"({"path":")" + std::string(million, '/') + R"("})"),
          call("readTextFile", R"({"path":")" + surrogates + R"("})"),
          call("writeTextFile", R"({"path":"w","text":")" + surrogates + R"("})"),
          call("todo", R"({"newTodos":[")" + std::string(million, 'x') + R"("]})"),
          padded_to(line_max - 1),
          padded_to(line_max),
          std::string(million, '\0'),
          std::string(million, ' ') + "{" + std::string(million, ' ') + "}",
          std::string(million, '"'),
          std::string(million, '\\')};
}

#ifdef PADDOCK_TEST_ADAPTER
class hostile_program : public hostile {
protected:
  [[nodiscard]] exchange through() {
    return [this](const std::string& line, const std::string& probe) {
      adapter.peer.put(line + "\n" + probe + "\n");
      std::vector<std::string> answers;
      test::answer_ledger owed;
      owed.sent(line);
      owed.sent(probe);
      while (!owed.settled()) {
        auto answer = adapter.peer.receive();
        if (!answer) break;
        (void)owed.received(*answer);
        answers.push_back(*std::move(answer));
      }
      return answers;
    };
  }
  test::adapter_program adapter{canary.ws()};
};

INSTANTIATE_TEST_SUITE_P(, hostile_program, testing::Values(era::legacy, era::modern),
                         [](const auto& suite) { return test::name_of(suite.param); });

TEST_P(hostile_program, mutated_lines_get_what_they_are_owed) {
  judge_mutations(through(), test::campaign_size("PADDOCK_HOSTILE_LINES", 2'000));
  adapter.peer.close_input();
  EXPECT_EQ(std::nullopt, adapter.peer.receive());
  EXPECT_EQ(0, adapter.exit_code());
}

class hostile_monsters : public hostile_program {};
INSTANTIATE_TEST_SUITE_P(, hostile_monsters, testing::Values(era::modern),
                         [](const auto& suite) { return test::name_of(suite.param); });

TEST_P(hostile_monsters, are_refused_and_forgotten) {
  for (const auto& line : monsters(GetParam()))
    judge(line, through());
  adapter.peer.put(padded_to(limits{}.message_in_bytes_max + 1) + "\n");
  EXPECT_NE(std::string::npos, adapter.peer.receive().value_or("").find("-32600"));
  adapter.peer.put(padded_to(limits{}.message_in_bytes_max) + "\r\n");
  EXPECT_NE(std::string::npos, adapter.peer.receive().value_or("").find("-32601"));
  adapter.peer.put(test::request_line(era::legacy, "1", "ping"));
  EXPECT_EQ(R"({"jsonrpc":"2.0","id":1,"result":{}})", adapter.peer.receive());
  if (!test::instrumented) {
    EXPECT_LT(adapter.view().resident_kib(), 64U * 1024) << "the monsters were not forgotten";
  }
}
#endif

/// Many small requests in one line, each with a large answer.
TEST(hostile_batch, is_answered_in_one_bounded_line) {
  const test::temp_tree tree;
  auto tools = mcp::workspace_tools(
      std::make_shared<const root>(test::open_root(tree.path(), resolver::automatic)));
  ASSERT_TRUE(tools);
  mcp::server server({}, *std::move(tools));
  ASSERT_EQ(1U, server
                    .handle_line(test::request_line(era::legacy, "0", "initialize",
                                                    R"("protocolVersion":"2025-03-26")"))
                    .size());
  for (const std::string_view method : {"tools/list", "tools/call", "server/discover", "ping"}) {
    test::answer_ledger ledger;
    std::string batch;
    for (int n = 0; n < 1000; ++n) {
      const std::string line = test::request_line(
          method == "server/discover" ? era::modern : era::legacy, std::to_string(n), method,
          method == "tools/call" ? R"("name":"healthCheck")" : "");
      ledger.sent(line);
      batch += (n == 0 ? '[' : ',') + line.substr(0, line.size() - 1);
    }
    const auto answers = server.handle_line(batch + "]");
    ASSERT_EQ(1U, answers.size()) << method;
    EXPECT_LE(answers.front().size(), server.options().limits.message_out_bytes_max) << method;
    mcp::json_document document;
    const auto parsed = document.parse(answers.front());
    ASSERT_TRUE(parsed);
    std::size_t succeeded = 0;
    parsed->for_each_element([&](mcp::json_view each) {
      EXPECT_EQ("", ledger.received(each.text())) << method;
      succeeded += each["result"].exists() ? 1U : 0U;
    });
    EXPECT_TRUE(ledger.settled()) << method << ": " << ledger.open();
    EXPECT_GT(succeeded, 100U) << method;
  }
}

/// A ledger that accepts everything would prove nothing.
TEST(hostile_control, the_ledger_notices) {
  const std::string request = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::string right = R"({"jsonrpc":"2.0","id":1,"result":{}})";
  const std::string anonymous = R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}})";
  test::answer_ledger ledger;
  EXPECT_NE("", ledger.received(right)) << "nobody asked";
  EXPECT_NE("", ledger.received(anonymous));
  ledger.sent(request);
  EXPECT_FALSE(ledger.settled());
  for (const char* wrong :
       {"", "x", "{}", "[]", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":"1","result":{}})", R"({"jsonrpc":"2.0","id":1,"result":1})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m"}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32600}})", R"({"id":1,"result":{}})",
        R"({"jsonrpc":"2.0","method":"roots/list","id":1})"})
    EXPECT_NE("", ledger.received(wrong)) << wrong;
  EXPECT_EQ("", ledger.received(right));
  EXPECT_TRUE(ledger.settled());
  EXPECT_NE("", ledger.received(right)) << "twice";
  for (const char* line :
       {"garbage", "[]", "{}", "7", R"({"jsonrpc":"2.0","id":1.5,"method":"m"})"}) {
    ledger.sent(line);
    EXPECT_FALSE(ledger.settled()) << line;
    EXPECT_EQ("", ledger.received(anonymous)) << line;
  }
  for (const char* line :
       {"", " ", R"({"jsonrpc":"2.0","method":"m"})", R"({"id":1,"result":0})"}) {
    ledger.sent(line);
    EXPECT_TRUE(ledger.settled()) << line;
  }
}

} // namespace
} // namespace paddock
