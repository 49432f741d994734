// SPDX-License-Identifier: MIT

// Messages that clients write in more than one way: the same answer in process, on standard
// streams, over HTTP and in a batch, in both eras.

#include "support/http/http_server_fixture.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/mcp/stdio_transport.hpp>

namespace paddock::mcp {
namespace {

using testing::ElementsAre;

struct shape_case {
  const char* name;
  std::string text;   ///< with %M for the member _meta of its era, and a comma behind it
  const char* method; ///< for the headers of HTTP
  int code = 0;       ///< of the error; 0: none
  const char* id = "7";
  bool legacy_only = false; ///< without an envelope no message is modern by itself
};

std::string of(std::string_view id, std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","id":)" + std::string(id);
  return out.append(R"(,"method":")").append(method).append(R"(","params":)").append(params) + "}";
}
std::string list(std::string_view id) {
  return of(id, "tools/list", "{%M\"x\":1}");
}
std::string cursor(std::string_view value) {
  return of("7", "tools/list", "{%M\"cursor\":" + std::string(value) + "}");
}
std::string params(std::string_view value) {
  return of("7", "tools/list", value);
}
std::string call(std::string_view arguments) {
  return of("7", "tools/call", R"({%M"name":"steps","arguments":)" + std::string(arguments) + "}");
}

const std::string bom = "\xEF\xBB\xBF";

const shape_case cases[] = {
    {"id 7", list("7"), "tools/list"},
    {"id 7.0", list("7.0"), "tools/list"},
    {"id 7e0", list("7e0"), "tools/list"},
    {"id 70e-1", list("70e-1"), "tools/list"},
    {"id -0.0", list("-0.0"), "tools/list", 0, "0"},
    {"id of 64 bits", list("-9223372036854775808"), "tools/list", 0, "-9223372036854775808"},
    {"id as text", list(R"("7.0")"), "tools/list", 0, R"("7.0")"},
    {"id 7.5", list("7.5"), "tools/list", -32600, ""},
    {"id beyond 64 bits", list("9223372036854775808"), "tools/list", -32600, ""},
    {"id 1e300", list("1e300"), "tools/list", -32600, ""},
    {"id null", list("null"), "tools/list", -32600, ""},
    {"id true", list("true"), "tools/list", -32600, ""},
    {"id []", list("[]"), "tools/list", -32600, ""},
    {"cursor null", cursor("null"), "tools/list"},
    {"cursor unknown", cursor("\"x\""), "tools/list", -32602},
    {"cursor empty", cursor("\"\""), "tools/list", -32602},
    {"cursor 7", cursor("7"), "tools/list", -32602},
    {"params null", params("null"), "tools/list", 0, "7", true},
    {"params []", params("[]"), "tools/list", -32602, "7", true},
    {"params text", params("\"x\""), "tools/list", -32602, "7", true},
    {"params 7", params("7"), "tools/list", -32602, "7", true},
    {"params true", params("true"), "tools/list", -32602, "7", true},
    {"params [] of ping", of("7", "ping", "[]"), "ping", -32602, "7", true},
    {"params null of ping", of("7", "ping", "null"), "ping", 0, "7", true},
    {"params [] of what is unknown", of("7", "x/y", "[]"), "x/y", -32602, "7", true},
    {"arguments null", call("null"), "tools/call"},
    {"arguments {}", call("{}"), "tools/call"},
    {"arguments []", call("[]"), "tools/call", -32602},
    {"arguments text", call("\"{}\""), "tools/call", -32602},
    {"byte order mark", bom + list("7"), "tools/list"},
    {"byte order mark and blanks", bom + " \t" + list("7"), "tools/list"},
    {"two byte order marks", bom + bom + list("7"), "tools/list", -32700, ""},
    {"byte order mark behind a blank", " " + bom + list("7"), "tools/list", -32700, ""},
    {"byte order mark behind", list("7") + bom, "tools/list", -32700, ""},
    {"half a byte order mark", "\xEF\xBB" + list("7"), "tools/list", -32700, ""},
    {"nothing but a byte order mark", bom, "tools/list", -32700, ""},
};

std::string in_era(std::string text, std::string_view meta) {
  if (const std::size_t at = text.find("%M"); at != std::string::npos)
    text.replace(at, 2, std::string(meta) + ",");
  return text;
}
std::string legacy_text(const shape_case& c) {
  return in_era(c.text, R"("_meta":{})");
}
std::string modern_text(const shape_case& c) {
  return in_era(c.text, test::envelope());
}

const std::string initialize_batches =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26",)"
    R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";

void expect_answer(const shape_case& c, const std::string& answer, const char* where) {
  json_document document;
  const auto parsed = document.parse(answer);
  ASSERT_TRUE(parsed) << c.name << ", " << where << ": " << answer;
  EXPECT_EQ(c.code, (*parsed)["error"]["code"].integer().value_or(0)) << c.name << ", " << where;
  EXPECT_EQ(c.code == 0, (*parsed)["result"].exists()) << c.name << ", " << where;
  EXPECT_EQ(c.id, (*parsed)["id"].text()) << c.name << ", " << where;
}

class McpMessageShapes : public testing::Test {
protected:
  ~McpMessageShapes() override { gate_.open(); }

  /// What a fresh connection in this process answers to the last of the lines.
  std::vector<std::string> in_process(const std::vector<std::string>& lines) {
    server fresh(test::fixture_options(), test::fixture_tools(gate_));
    std::vector<std::string> answers;
    for (const std::string& line : lines)
      answers = fresh.handle_line(line);
    return answers;
  }

  /// The answers to these lines on pipes, to the end.
  std::string on_pipes(const std::string& lines) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) std::abort();
    const file_descriptor in(to[0]);
    const file_descriptor out(from[0]);
    file_descriptor server_out(from[1]);
    {
      const file_descriptor ours(to[1]);
      EXPECT_EQ(static_cast<ssize_t>(lines.size()),
                ::write(ours.get(), lines.data(), lines.size()));
    }
    EXPECT_TRUE(serve(server_, in.get(), server_out.get()));
    server_out.reset();
    std::string answers;
    std::array<char, 4096> piece{};
    for (ssize_t n = 0; (n = ::read(out.get(), piece.data(), piece.size())) > 0;)
      answers.append(piece.data(), static_cast<std::size_t>(n));
    return answers;
  }

  test::gate gate_;
  server server_{test::fixture_options(), test::fixture_tools(gate_)};
  test::served http_;
};

TEST_F(McpMessageShapes, LegacyAnswersAreTheSameEverywhere) {
  const std::string session = test::session_header(test::new_session(http_));
  for (const shape_case& c : cases) {
    const std::string text = legacy_text(c);
    const auto answers = in_process({test::initialize_body, text});
    ASSERT_EQ(1U, answers.size()) << c.name;
    const std::string& answer = answers.front();
    expect_answer(c, answer, "in process");
    EXPECT_EQ(answer + "\n", on_pipes(text + "\n")) << c.name;
    EXPECT_EQ(answer + "\n", on_pipes(text + "\r\n")) << c.name;
    EXPECT_EQ(answer, http_.ask(test::post(session, text)).body) << c.name;
  }
}

TEST_F(McpMessageShapes, BatchesAnswerAsSingleMessages) {
  for (const shape_case& c : cases) {
    const std::string text = legacy_text(c);
    if (text == bom) continue; // in brackets it is an empty batch
    const bool marked = text.starts_with(bom);
    const auto single = in_process({initialize_batches, text});
    const auto batch = in_process(
        {initialize_batches, marked ? bom + "[" + text.substr(3) + "]" : "[" + text + "]"});
    ASSERT_EQ(1U, single.size()) << c.name;
    ASSERT_EQ(1U, batch.size()) << c.name;
    if (c.code == -32700)
      EXPECT_EQ(single.front(), batch.front()) << c.name;
    else
      EXPECT_EQ("[" + single.front() + "]", batch.front()) << c.name;
  }
}

TEST_F(McpMessageShapes, ModernAnswersAreTheSameEverywhere) {
  for (const shape_case& c : cases) {
    const std::string text = modern_text(c);
    const std::string headers =
        test::modern_headers(c.method, c.method == std::string_view("tools/call") ? "steps" : "");
    const std::string over_http = http_.ask(test::post(headers, text)).body;
    if (c.legacy_only) { // the header alone makes it modern
      json_document document;
      ASSERT_TRUE(document.parse(over_http)) << c.name;
      EXPECT_EQ(-32602, document.root()["error"]["code"].integer()) << c.name;
      EXPECT_EQ("7", document.root()["id"].text()) << c.name;
      continue;
    }
    const auto answers = in_process({text});
    ASSERT_EQ(1U, answers.size()) << c.name;
    expect_answer(c, answers.front(), "in process");
    EXPECT_EQ(answers.front() + "\n", on_pipes(text + "\n")) << c.name;
    EXPECT_EQ(answers.front(), over_http) << c.name;
  }
}

TEST_F(McpMessageShapes, EqualIdsAreOneWhateverTheirSpelling) {
  const std::string listening = R"({"notifications":{},)" + test::envelope() + "}";
  EXPECT_EQ(1U, server_.handle_line(of("7.0", "subscriptions/listen", listening)).size());
  EXPECT_THAT(server_.handle_line(of("7", "ping", "{}")),
              ElementsAre(testing::HasSubstr("already has the id 7")));
  EXPECT_THAT(server_.handle_line(of("\"7\"", "ping", "{}")),
              ElementsAre(testing::HasSubstr(R"("id":"7")")))
      << "text is another id";
  const std::string cancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":70e-1}})";
  EXPECT_THAT(server_.handle_line(cancel), testing::IsEmpty());
  EXPECT_THAT(server_.handle_line(of("7", "ping", "{}")),
              ElementsAre(testing::HasSubstr("result")));
}

TEST_F(McpMessageShapes, NotificationsAreIgnoredWhateverTheirParams) {
  for (const char* value : {"null", "[]", "7", "\"x\"", "{\"requestId\":[]}"}) {
    const std::string text = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)" +
                             std::string(value) + "}";
    EXPECT_THAT(in_process({text}), testing::IsEmpty()) << value;
    EXPECT_EQ("", on_pipes(text + "\n")) << value;
    const auto reply = http_.ask(test::post(test::session_header(test::new_session(http_)), text));
    EXPECT_EQ(202, reply.status) << value;
    EXPECT_EQ("", reply.body) << value;
  }
}

} // namespace
} // namespace paddock::mcp
