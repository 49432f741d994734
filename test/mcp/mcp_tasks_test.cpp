// SPDX-License-Identifier: MIT

// Calls that go on as tasks: those that clients of 2025-11-25 ask for, and those that clients of
// 2026-07-28 are given.

#include "support/http/http_raw_client.hpp"
#include "support/http/http_server_fixture.hpp"
#include "support/matchers.hpp"
#include "support/mcp/mcp_fixture.hpp"

#include <paddock/mcp/http_server.hpp>
#include <paddock/mcp/server.hpp>

#include <latch>
#include <stdexcept>

namespace paddock::mcp {
namespace {

using test::legacy;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<tool> tools_with_tasks(const test::gate& g) {
  std::vector<tool> tools = test::fixture_tools(g);
  for (tool& each : tools)
    if (each.name != "every") each.tasks = task_support::optional;
  tools.push_back({.name = "throw",
                   .description = "Throws.",
                   .tasks = task_support::optional,
                   .handler = [](call&) -> tool_result { throw std::runtime_error("secret"); }});
  tools.push_back({.name = "tell",
                   .description = "Says how far it is, and waits.",
                   .tasks = task_support::optional,
                   .handler = [g](call& c) {
                     if (c.wants_progress()) c.progress(1, "half");
                     return test::wait_at(g, c);
                   }});
  tools.push_back({.name = "swell",
                   .description = "Waits, and has a result of many bytes.",
                   .parameters = {{.name = "bytes", .type = parameter_type::integer}},
                   .tasks = task_support::optional,
                   .handler = [g](call& c) {
                     tool_result waited = test::wait_at(g, c);
                     return waited.failed() ? waited : test::big(c);
                   }});
  return tools;
}

std::string of_task(std::string_view id) {
  return R"({"taskId":")" + std::string(id) + R"("})";
}

class TasksOfHandshake : public testing::Test {
protected:
  explicit TasksOfHandshake(task_options tasks = {.running_max = 3}) {
    options_.tasks = tasks;
    options_.observer = [this](const call_record& r) {
      if (r.tool == held_back_) release_.wait();
      const std::lock_guard lock(guard_);
      seen_.push_back(std::string(r.tool) + " " + std::to_string(static_cast<int>(r.outcome)));
    };
    server_.emplace(options_, tools_with_tasks(gate_));
    initialize("2025-11-25");
  }
  ~TasksOfHandshake() override { gate_.open(); }

  std::string initialize(std::string_view version) {
    return server_->handle_line(test::initialize(version)).at(0);
  }
  /// The one line that answers.
  std::string say(std::string_view method, std::string_view params = "{}") {
    const auto lines = server_->handle_line(legacy(method, params));
    EXPECT_EQ(1U, lines.size()) << method;
    return lines.empty() ? std::string() : lines.back();
  }
  std::string call(std::string_view tool, std::string_view more = R"(,"task":{})",
                   std::string_view arguments = "{}") {
    return say("tools/call", R"({"name":")" + std::string(tool) + R"(","arguments":)" +
                                 std::string(arguments) + std::string(more) + "}");
  }
  /// The id of the task that a call of this tool became.
  std::string begin(std::string_view tool, std::string_view more = R"(,"task":{})",
                    std::string_view arguments = "{}") {
    return field(call(tool, more, arguments), "taskId");
  }
  std::string about(std::string_view method, const std::string& id) {
    return say(method, of_task(id));
  }
  std::string status(const std::string& id) { return field(about("tasks/get", id), "status"); }

  static std::string field(const std::string& line, std::string_view name) {
    json_document document;
    const auto parsed = document.parse(line);
    if (!parsed) return "no JSON";
    const json_view result = (*parsed)["result"];
    const json_view at = result["task"].exists() ? result["task"] : result;
    return std::string(at[name].string().value_or("nothing"));
  }

  test::gate gate_;
  server_options options_{.name = "t"};
  std::mutex guard_;
  std::vector<std::string> seen_;
  std::string held_back_; ///< the tool whose calls wait when their results are there
  std::latch release_{1}; ///< until this
  std::optional<server> server_;
};

// --- who sees what ------------------------------------------------------------------------------

TEST_F(TasksOfHandshake, AreAdvertisedAsTheRevisionKnowsThem) {
  const std::string capability =
      R"("tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})";
  const std::string support = R"("execution":{"taskSupport":"optional"})";
  EXPECT_THAT(initialize("2025-11-25"), AllOf(HasSubstr(capability), Not(HasSubstr("extensions"))));
  EXPECT_THAT(say("tools/list"), HasSubstr(support));
  EXPECT_THAT(initialize("2025-06-18"), Not(HasSubstr("tasks")));
  EXPECT_THAT(say("tools/list"), Not(HasSubstr("execution")));
  const std::string modern = std::string("{") + test::envelope() + "}";
  EXPECT_THAT(say("server/discover", modern),
              AllOf(HasSubstr(R"("extensions":{"io.modelcontextprotocol/tasks":{}})"),
                    Not(HasSubstr(capability))));
  EXPECT_THAT(say("tools/list", modern), Not(HasSubstr("execution")));
}

TEST_F(TasksOfHandshake, AreUnknownToAServerWithoutThem) {
  server plain(server_options{.name = "t"}, test::fixture_tools(gate_));
  const auto told = [&](std::string_view method, std::string_view params) {
    return plain.handle_line(legacy(method, params)).at(0);
  };
  EXPECT_THAT(told("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"),
              HasSubstr(R"("capabilities":{"tools":{}})"));
  EXPECT_THAT(told("tools/list", "{}"), Not(HasSubstr("execution")));
  EXPECT_THAT(told("tools/call", R"({"name":"echo","arguments":{"text":"a"},"task":{}})"),
              HasSubstr("structuredContent"));
  EXPECT_THAT(told("tasks/list", "{}"), HasSubstr("-32601"));
}

TEST_F(TasksOfHandshake, AreNoneOfOlderRevisions) {
  initialize("2025-06-18");
  EXPECT_THAT(call("echo", R"(,"task":{})", R"({"text":"a"})"), HasSubstr("structuredContent"));
  EXPECT_THAT(say("tasks/list"), HasSubstr("-32601"));
}

TEST_F(TasksOfHandshake, AreBegunOnlyWhereAskedFor) {
  EXPECT_THAT(call("echo", "", R"({"text":"a"})"), HasSubstr("structuredContent"));
  EXPECT_THAT(call("echo", R"(,"task":null)", R"({"text":"a"})"), HasSubstr("structuredContent"));
  EXPECT_EQ(R"({"jsonrpc":"2.0","id":1,"result":{"tasks":[]}})", say("tasks/list"));
  EXPECT_THAT(call("every"), AllOf(HasSubstr("-32601"), HasSubstr(R"(without \"task\")")));
  for (const char* wrong : {"1", "[]", R"({"ttl":"long"})", R"({"ttl":-1})"})
    EXPECT_THAT(call("echo", R"(,"task":)" + std::string(wrong)), HasSubstr("-32602")) << wrong;
}

// --- the life of a task -------------------------------------------------------------------------

TEST_F(TasksOfHandshake, GoOnAfterTheAnswer) {
  const std::string begun = call("block", R"(,"task":{"ttl":60000})");
  EXPECT_THAT(begun, AllOf(HasSubstr(R"("result":{"task":{"taskId":")"),
                           HasSubstr(R"("status":"working")"), HasSubstr(R"("ttl":60000)"),
                           HasSubstr(R"("pollInterval":1000)"), Not(HasSubstr("content"))));
  const std::string id = field(begun, "taskId");
  gate_.wait_for_arrivals(1);
  EXPECT_EQ("working", status(id));
  gate_.open();
  const std::string plain = call("block", "");
  std::string result = about("tasks/result", id);
  const std::string related =
      R"(,"_meta":{"io.modelcontextprotocol/related-task":)" + of_task(id) + "}";
  ASSERT_THAT(result, HasSubstr(related));
  EXPECT_EQ(plain, result.erase(result.find(related), related.size()));
  EXPECT_EQ("completed", status(id));
  EXPECT_EQ(field(begun, "createdAt"), field(about("tasks/get", id), "createdAt"));
}

TEST_F(TasksOfHandshake, FailAsTheCallFails) {
  const std::string id = begin("fail");
  EXPECT_THAT(about("tasks/result", id),
              AllOf(HasSubstr("no such thing"), HasSubstr(R"("isError":true)")));
  EXPECT_THAT(about("tasks/get", id),
              AllOf(HasSubstr(R"("status":"failed")"), HasSubstr("not_found")));
  const std::string broken = begin("throw");
  EXPECT_THAT(about("tasks/result", broken),
              AllOf(HasSubstr(R"("error":{"code":-32603)"), Not(HasSubstr("secret"))));
  EXPECT_EQ("failed", status(broken));
  const std::string wrong = begin("echo", R"(,"task":{})", R"({"tex":"a"})");
  EXPECT_THAT(about("tasks/result", wrong), HasSubstr("invalid_argument"));
}

TEST_F(TasksOfHandshake, AreCancelled) {
  const std::string id = begin("block");
  gate_.wait_for_arrivals(1);
  EXPECT_THAT(about("tasks/cancel", id), HasSubstr(R"("status":"cancelled")"));
  EXPECT_THAT(about("tasks/result", id), HasSubstr(R"({\"error\":\"cancelled\")")); // it has ended
  EXPECT_EQ("cancelled", status(id));
  EXPECT_THAT(about("tasks/cancel", id), HasSubstr("-32602"));
  gate_.open();
  const std::string done = begin("block");
  EXPECT_THAT(about("tasks/result", done), HasSubstr("passed"));
  EXPECT_THAT(about("tasks/cancel", done), AllOf(HasSubstr("-32602"), HasSubstr("completed")));
}

TEST_F(TasksOfHandshake, SayHowFarTheyAre) {
  const std::string id = begin("tell");
  gate_.wait_for_arrivals(1);
  EXPECT_EQ("half", field(about("tasks/get", id), "statusMessage"));
}

TEST_F(TasksOfHandshake, AreUnknownByOtherIds) {
  const std::string id = begin("block");
  EXPECT_EQ(48U, id.size());
  for (const std::string& wrong : {std::string(), std::string("x"), id.substr(1)})
    for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
      EXPECT_THAT(about(method, wrong), HasSubstr("-32602")) << method << " " << wrong;
  for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
    EXPECT_THAT(say(method, R"({"taskId":7})"), HasSubstr("-32602"));
  EXPECT_EQ("working", status(id));
  EXPECT_THAT(about("tasks/update", id), HasSubstr("-32601"));
}

TEST_F(TasksOfHandshake, AreToldOfWhenTheyEnd) {
  EXPECT_THAT(about("tasks/result", begin("fail")), HasSubstr("no such thing"));
  gate_.open();
  EXPECT_THAT(about("tasks/result", begin("block")), HasSubstr("passed"));
  server_.reset(); // all threads have ended
  EXPECT_THAT(seen_, testing::UnorderedElementsAre("fail 1", "tasks/result 0", "block 0",
                                                   "tasks/result 0"));
}

// --- bounds -------------------------------------------------------------------------------------

TEST_F(TasksOfHandshake, RunInBoundedNumber) {
  std::vector<std::string> running;
  for (int i = 0; i < 3; ++i)
    running.push_back(begin("block"));
  gate_.wait_for_arrivals(3);
  EXPECT_THAT(call("block"), AllOf(HasSubstr("-32600"), HasSubstr("Too many tasks: 3")));
  EXPECT_THAT(call("echo", "", R"({"text":"a"})"), HasSubstr("structuredContent"));
  EXPECT_THAT(about("tasks/cancel", running[0]), HasSubstr("cancelled"));
  EXPECT_THAT(about("tasks/result", running[0]), HasSubstr("cancelled"));
  EXPECT_EQ("working", status(begin("block")));
}

class FewTasks : public TasksOfHandshake {
protected:
  FewTasks() : TasksOfHandshake({.running_max = 40, .kept_max = 2}) {}
};

TEST_F(FewTasks, ForgetTheOldestThatIsOver) {
  const std::string going = begin("block");
  const std::string first = begin("fail");
  EXPECT_THAT(about("tasks/result", first), HasSubstr("no such thing"));
  const std::string second = begin("fail");
  EXPECT_THAT(about("tasks/result", second), HasSubstr("no such thing"));
  EXPECT_THAT(about("tasks/get", first), HasSubstr("-32602"));
  EXPECT_EQ("working", status(going));
}

class OneTask : public TasksOfHandshake {
protected:
  OneTask() : TasksOfHandshake({.running_max = 1, .kept_max = 2}) {}
};

/// Whoever has a result may begin the next task, though the thread of the first is not done yet.
TEST_F(OneTask, LeavesItsPlaceBeforeItsResultCanBeHad) {
  held_back_ = "fail";
  EXPECT_THAT(about("tasks/result", begin("fail")), HasSubstr("no such thing"));
  const std::string going = begin("block");
  EXPECT_EQ("working", status(going));
  EXPECT_EQ("nothing", begin("echo")); // the control: there is one place
  release_.count_down();
}

TEST_F(OneTask, IsNotForgottenForOneThatIsRefused) {
  const std::string over = begin("fail");
  EXPECT_THAT(about("tasks/result", over), HasSubstr("no such thing"));
  const std::string going = begin("block");
  EXPECT_EQ("nothing", begin("fail"));
  EXPECT_THAT(about("tasks/result", over), HasSubstr("no such thing"));
  EXPECT_EQ("working", status(going));
}

TEST_F(TasksOfHandshake, AreForgottenAfterTheirTime) {
  const std::string kept = begin("fail");
  const std::string id = begin("fail", R"(,"task":{"ttl":0.5})");
  while (status(id) != "nothing") // a client that asks without pause
    std::this_thread::yield();
  EXPECT_THAT(about("tasks/result", id), HasSubstr("-32602"));
  EXPECT_THAT(about("tasks/result", kept), HasSubstr("no such thing")); // the control
  EXPECT_THAT(call("block", R"(,"task":{"ttl":1e300})"), HasSubstr(R"("ttl":3600000)"));
}

class ManyTasks : public TasksOfHandshake {
protected:
  ManyTasks() : TasksOfHandshake({.running_max = 60}) {}
};

TEST_F(ManyTasks, AreListedPageByPage) {
  std::vector<std::string> begun, listed;
  for (int i = 0; i < 60; ++i)
    begun.push_back(begin("block"));
  json_document document;
  std::string cursor;
  int pages = 0;
  do {
    const std::string params = cursor.empty() ? "{}" : R"({"cursor":")" + cursor + R"("})";
    const auto parsed = document.parse(say("tasks/list", params));
    ASSERT_TRUE(parsed);
    const json_view result = (*parsed)["result"];
    result["tasks"].for_each_element(
        [&](json_view each) { listed.emplace_back(each["taskId"].string().value_or("")); });
    cursor = result["nextCursor"].string().value_or("");
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(begun, listed);
  EXPECT_EQ(60U, std::set<std::string>(begun.begin(), begun.end()).size());
  EXPECT_EQ(3, pages);
  for (const char* wrong : {R"("x")", R"("61")", R"("")", "7"})
    EXPECT_THAT(say("tasks/list", R"({"cursor":)" + std::string(wrong) + "}"), HasSubstr("-32602"));
}

// --- 2026-07-28 ---------------------------------------------------------------------------------

class TasksOfExtension : public TasksOfHandshake {
protected:
  explicit TasksOfExtension(std::int64_t prompt_ms = 0)
      : TasksOfHandshake({.running_max = 3, .prompt_ms = prompt_ms}) {}

  static std::string meta(bool declared = true) {
    std::string text = test::envelope();
    if (declared)
      text.replace(text.find("{}}"), 2, R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
    return text;
  }
  std::string call_modern(std::string_view tool, bool declared = true,
                          std::string_view arguments = "{}") {
    return call(tool, "," + meta(declared), arguments);
  }
  std::string about_modern(std::string_view method, const std::string& id, bool declared = true,
                           std::string_view more = "") {
    return say(method,
               R"({"taskId":")" + id + "\"" + std::string(more) + "," + meta(declared) + "}");
  }
  /// The task when it is over.
  std::string end_of(const std::string& id) {
    std::string got;
    do { // a client that asks without pause
      got = about_modern("tasks/get", id);
      std::this_thread::yield();
    } while (got.find(R"("status":"working")") != std::string::npos);
    return got;
  }
};

TEST_F(TasksOfExtension, AreGivenToClientsThatDeclareThem) {
  const std::string begun = call_modern("block");
  EXPECT_THAT(begun, AllOf(HasSubstr(R"("resultType":"task")"), HasSubstr(R"("status":"working")"),
                           HasSubstr(R"("pollIntervalMs":1000)"), HasSubstr("serverInfo")));
  const std::string id = field(begun, "taskId");
  gate_.wait_for_arrivals(1);
  EXPECT_THAT(about_modern("tasks/get", id),
              AllOf(HasSubstr(R"("resultType":"complete")"), HasSubstr(R"("status":"working")"),
                    HasSubstr("ttlMs"), Not(HasSubstr(R"("result":{"content)"))));
  EXPECT_THAT(about_modern("tasks/update", id, true, R"(,"inputResponses":{})"),
              StartsWith(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete")"));
  EXPECT_THAT(about_modern("tasks/update", id), HasSubstr("-32602"));
  gate_.open();
  const std::string plain = call_modern("block", false);
  const std::string result = plain.substr(plain.find(R"({"resultType")"));
  EXPECT_THAT(end_of(id), AllOf(HasSubstr(R"("status":"completed")"),
                                HasSubstr(R"("result":)" + result.substr(0, result.size() - 1))));
}

TEST_F(TasksOfExtension, AreNothingForOtherClients) {
  gate_.open();
  EXPECT_THAT(call_modern("block", false), HasSubstr("passed"));
  EXPECT_THAT(call_modern("every", true, R"({"s":"a"})"), HasSubstr(R"("resultType":"complete")"));
  const std::string refusal =
      R"("data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})";
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"})
    EXPECT_THAT(about_modern(method, "x", false), AllOf(HasSubstr("-32021"), HasSubstr(refusal)));
  for (const char* method : {"tasks/list", "tasks/result"})
    EXPECT_THAT(about_modern(method, "x"), HasSubstr("-32601"));
  EXPECT_THAT(
      say("subscriptions/listen", R"({"notifications":{"taskIds":["x"]},)" + meta(false) + "}"),
      AllOf(HasSubstr("-32021"), HasSubstr(refusal)));
  EXPECT_THAT(say("subscriptions/listen", R"({"notifications":{"taskIds":["x"]},)" + meta() + "}"),
              HasSubstr(R"("notifications":{})"));
}

TEST_F(TasksOfExtension, EndAsTheCallDoes) {
  gate_.open();
  const std::string cancelled = field(call_modern("deaf"), "taskId"); // or it was prompt
  if (cancelled != "nothing") {
    EXPECT_THAT(end_of(cancelled), HasSubstr(R"("status":"completed")"));
    EXPECT_THAT(about_modern("tasks/cancel", cancelled), HasSubstr(R"("resultType":"complete")"));
    EXPECT_THAT(end_of(cancelled), HasSubstr(R"("status":"completed")")); // still
  }
  for (const char* method : {"tasks/get", "tasks/cancel"})
    EXPECT_THAT(about_modern(method, "x"), HasSubstr("-32602"));
}

TEST_F(TasksOfExtension, AreCancelledOnRequest) {
  const std::string id = field(call_modern("block"), "taskId");
  gate_.wait_for_arrivals(1);
  EXPECT_THAT(about_modern("tasks/cancel", id),
              StartsWith(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete")"));
  EXPECT_THAT(end_of(id), AllOf(HasSubstr(R"("status":"cancelled")"), Not(HasSubstr("content"))));
}

TEST_F(TasksOfExtension, LeaveTheCallAsItWasWhereThereIsNoRoom) {
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(call_modern("block"), HasSubstr(R"("resultType":"task")"));
  gate_.wait_for_arrivals(3);
  EXPECT_THAT(call_modern("echo", true, R"({"text":"a"})"),
              HasSubstr(R"("structuredContent":{"text":"a"})"));
}

class PromptCalls : public TasksOfExtension {
protected:
  PromptCalls() : TasksOfExtension(3'600'000) {}
};

TEST_F(PromptCalls, AreAnsweredWithTheirResult) {
  EXPECT_EQ(call_modern("echo", false, R"({"text":"a"})"),
            call_modern("echo", true, R"({"text":"a"})"));
  EXPECT_EQ(call_modern("fail", false), call_modern("fail"));
  EXPECT_EQ(call_modern("throw", false), call_modern("throw"));
  EXPECT_EQ(call_modern("big", false, R"({"bytes":9000000})"),
            call_modern("big", true, R"({"bytes":9000000})"));
  EXPECT_THAT(seen_, ElementsAre("echo 0", "echo 0", "fail 1", "fail 1", "throw 1", "throw 1",
                                 "big 2", "big 2"));
}

TEST_F(PromptCalls, SendTheProgressThatWasAskedFor) {
  std::string with = meta();
  with.insert(with.find('{') + 1, R"("progressToken":"p",)");
  const auto lines = server_->handle_line(legacy("tools/call", R"({"name":"steps",)" + with + "}"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr(R"("progress":1,)"), HasSubstr(R"("progress":2.5)"),
                                 HasSubstr(R"("resultType":"complete")")));
}

// --- whose they are -----------------------------------------------------------------------------

/// A server on HTTP whose tools can be tasks.
class HttpTasks : public testing::Test {
protected:
  explicit HttpTasks(http_server_options serving = {})
      : server_(options(), tools_with_tasks(gate_)),
        http_(std::move(http_server::make(server_, std::move(serving))).value()),
        thread_([this] { EXPECT_TRUE(http_.run()); }) {}
  ~HttpTasks() override {
    http_.stop();
    thread_.join();
  }
  static server_options options() {
    server_options o = test::fixture_options();
    o.tasks.prompt_ms = 0;
    return o;
  }
  test::http_reply say(std::string_view headers, std::string_view body) {
    test::raw_client c(http_.address());
    c.send(test::post(headers, body));
    return c.receive();
  }
  std::string new_session() {
    return test::session_header(say({}, test::initialize_body).header("mcp-session-id"));
  }
  static std::string id_in(const test::http_reply& reply) {
    const std::string key = R"("taskId":")";
    const auto at = reply.body.find(key);
    EXPECT_NE(at, reply.body.npos) << reply.body;
    return at == reply.body.npos ? "" : reply.body.substr(at + key.size(), 48);
  }

  test::gate gate_;
  server server_;
  http_server http_;
  std::thread thread_;
};

TEST_F(HttpTasks, BelongToTheirSession) {
  const std::string mine = new_session(), other = new_session();
  const std::string body = legacy("tools/call", R"({"name":"block","task":{}})");
  const std::string id = id_in(say(mine, body));
  EXPECT_THAT(say(mine, legacy("tasks/get", of_task(id))).body, HasSubstr("working"));
  EXPECT_THAT(say(mine, legacy("tasks/list", "{}")).body, HasSubstr(id));
  for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
    EXPECT_THAT(say(other, legacy(method, of_task(id))).body,
                AllOf(HasSubstr("-32602"), Not(HasSubstr("status"))))
        << method;
  EXPECT_THAT(say(other, legacy("tasks/list", "{}")).body, HasSubstr(R"("tasks":[])"));
  EXPECT_THAT(say(mine, legacy("tasks/get", of_task(id))).body,
              HasSubstr("working")); // the control
}

TEST_F(HttpTasks, EndWithTheirSession) {
  const std::string mine = new_session();
  const std::string id = id_in(say(mine, legacy("tools/call", R"({"name":"block","task":{}})")));
  gate_.wait_for_arrivals(1);
  test::raw_client waits(http_.address());
  waits.send(test::post(mine, legacy("tasks/result", of_task(id))));
  test::raw_client ends(http_.address());
  ends.send(test::request("DELETE", mine, ""));
  EXPECT_EQ(204, ends.receive().status);
  // It was waiting for the task, whose end it hears, or came when that or the session had gone.
  const test::http_reply reply = waits.receive();
  EXPECT_THAT(reply.body,
              testing::AnyOf(HasSubstr("cancelled"), HasSubstr("ending"),
                             HasSubstr("there is no task"), HasSubstr("no such session")));
}

TEST_F(HttpTasks, OfClientsWithoutASessionAreKnownByTheirId) {
  std::string meta = test::envelope();
  meta.replace(meta.find("{}}"), 2, R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  const std::string id = id_in(say(test::modern_headers("tools/call", "block"),
                                   legacy("tools/call", R"({"name":"block",)" + meta + "}")));
  const auto get = [&](std::string_view name) {
    return say(test::modern_headers("tasks/get", name),
               legacy("tasks/get", R"({"taskId":")" + id + R"(",)" + meta + "}"));
  };
  EXPECT_THAT(get(id).body, HasSubstr("working"));
  EXPECT_THAT(get("other").body, HasSubstr("-32020")); // the header says otherwise
  EXPECT_THAT(say(new_session(), legacy("tasks/get", of_task(id))).body, HasSubstr("-32602"));
  const std::string plain = test::envelope();
  const test::http_reply refused =
      say(test::modern_headers("tasks/get", id),
          legacy("tasks/get", R"({"taskId":")" + id + R"(",)" + plain + "}"));
  EXPECT_EQ(400, refused.status);
  EXPECT_THAT(refused.body, HasSubstr("-32021"));
}

// --- who is told --------------------------------------------------------------------------------

std::string meta_with_tasks() {
  std::string meta = test::envelope();
  return meta.replace(meta.find("{}}"), 2,
                      R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
}
std::string listen_to(std::string_view ids) {
  return legacy("subscriptions/listen", R"({"notifications":{"taskIds":)" + std::string(ids) +
                                            "}," + meta_with_tasks() + "}");
}

class Subscriptions : public HttpTasks {
protected:
  std::string begin_task(std::string_view tool = "block", std::string_view arguments = "{}") {
    std::string params = R"({"name":")" + std::string(tool) + R"(","arguments":)";
    params.append(arguments).append(",").append(meta_with_tasks()).append("}");
    return id_in(say(test::modern_headers("tools/call", tool), legacy("tools/call", params)));
  }
  /// The ids of so many tasks that are over, with results of so many bytes, as a list.
  std::string ended_tasks(int count, int bytes) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i)
      ids.push_back(begin_task("swell", R"({"bytes":)" + std::to_string(bytes) + "}"));
    gate_.open();
    std::string list;
    for (const std::string& id : ids) {
      while (about("tasks/get", id).find(R"("status":"working")") != std::string::npos)
        std::this_thread::yield();
      list += (list.empty() ? "[" : ",") + quoted(id);
    }
    return list + "]";
  }
  std::string about(std::string_view method, const std::string& id) {
    return say(test::modern_headers(method, id),
               legacy(method, R"({"taskId":")" + id + "\"," + meta_with_tasks() + "}"))
        .body;
  }
  /// What comes first is the acknowledgement.
  test::raw_client listen(std::string_view ids) {
    test::raw_client c(http_.address());
    c.send(test::post(test::modern_headers("subscriptions/listen") + std::string(test::accept_both),
                      listen_to(ids)));
    c.receive_head();
    return c;
  }
  static std::string next(test::raw_client& c) {
    std::string chunk;
    do // signs of life
      if (!c.next_chunk(chunk)) return "the end";
    while (chunk == ":\n\n");
    return chunk;
  }
  static std::string quoted(const std::string& id) { return "\"" + id + "\""; }
};

TEST_F(Subscriptions, HearOfTheEndsOfTheTasksTheyName) {
  const std::string one = begin_task(), unheard = begin_task(), two = begin_task();
  test::raw_client c =
      listen("[" + quoted(one) + R"(,"nobody's",)" + quoted(two) + "," + quoted(one) + "]");
  EXPECT_THAT(next(c), HasSubstr(R"("params":{"notifications":{"taskIds":[)" + quoted(one) + "," +
                                 quoted(two) + R"(]},"_meta":{)"));
  gate_.wait_for_arrivals(3);
  EXPECT_THAT(about("tasks/cancel", two), HasSubstr("complete"));
  const std::string cancelled = next(c);
  EXPECT_THAT(
      cancelled,
      AllOf(HasSubstr(R"("method":"notifications/tasks","params":{"taskId":)" + quoted(two)),
            HasSubstr(R"("status":"cancelled")"),
            HasSubstr(R"("_meta":{"io.modelcontextprotocol/subscriptionId":1})")));
  gate_.open();
  const std::string ended = next(c);
  EXPECT_THAT(ended,
              AllOf(HasSubstr(R"("taskId":)" + quoted(one)), HasSubstr(R"("status":"completed")"),
                    HasSubstr("passed"), Not(HasSubstr(unheard))));
  // As tasks/get has it.
  const std::string got = about("tasks/get", one);
  const std::size_t result = got.find(R"("result":{)", got.find(R"("status":"completed")"));
  ASSERT_NE(got.npos, result);
  EXPECT_THAT(ended, HasSubstr(got.substr(result, got.find("passed") - result)));
  http_.stop();
  EXPECT_THAT(next(c), HasSubstr(R"("id":1,"result")")); // each was told of once
}

TEST_F(Subscriptions, HearAtOnceOfTasksThatAreOver) {
  const std::string id = begin_task();
  gate_.open();
  while (about("tasks/get", id).find(R"("status":"working")") != std::string::npos)
    std::this_thread::yield();
  test::raw_client c = listen("[" + quoted(id) + "]");
  EXPECT_THAT(next(c), HasSubstr("acknowledged"));
  EXPECT_THAT(next(c), AllOf(HasSubstr("notifications/tasks"), HasSubstr("completed")));
}

TEST_F(Subscriptions, HearOfEveryTaskThatIsOver) {
  constexpr int count = 12, bytes = 29'000;
  test::raw_client c = listen(ended_tasks(count, bytes));
  EXPECT_THAT(next(c), HasSubstr("acknowledged"));
  for (int i = 0; i < count; ++i) {
    const std::string told = next(c);
    EXPECT_THAT(told.substr(0, 400),
                AllOf(HasSubstr("notifications/tasks"), HasSubstr("completed")));
    EXPECT_THAT(told, HasSubstr(std::string(bytes, 'x')));
  }
}

/// What does not fit beside one another for a client that does not read comes without the results.
TEST_F(Subscriptions, HearOfEveryTaskHoweverLargeTheResults) {
  constexpr int count = 14, bytes = 1'000'000;
  const std::string ids = ended_tasks(count, bytes);
  test::raw_client c = listen(ids);
  EXPECT_THAT(next(c), HasSubstr("acknowledged"));
  std::set<std::string> told;
  for (int i = 0; i < count; ++i) {
    const std::string line = next(c);
    EXPECT_THAT(line.substr(0, 400),
                AllOf(HasSubstr("notifications/tasks"), HasSubstr(R"("status":"completed")")));
    EXPECT_THAT(line.substr(line.size() - std::min<std::size_t>(line.size(), 200)),
                HasSubstr(R"("_meta":{"io.modelcontextprotocol/subscriptionId":1})"));
    const auto at = line.find(R"("taskId":")");
    ASSERT_NE(line.npos, at);
    const std::string id = line.substr(at + 10, 48);
    EXPECT_THAT(ids, HasSubstr(id));
    told.insert(id);
    if (line.find(R"("result":)") == line.npos) {
      EXPECT_THAT(about("tasks/get", id), HasSubstr(std::string(bytes, 'x')));
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(count), told.size());
}

TEST_F(Subscriptions, AreGrantedNothingThatIsNotThere) {
  for (const char* ids : {"null", "[]", R"(["x"])"}) {
    test::raw_client c = listen(ids);
    EXPECT_THAT(next(c), HasSubstr(R"("notifications":{},)")) << ids;
  }
  for (const char* ids : {"7", "{}", R"(["x",7])"}) {
    test::raw_client c(http_.address());
    c.send(test::post(test::modern_headers("subscriptions/listen") + std::string(test::accept_both),
                      listen_to(ids)));
    EXPECT_THAT(c.receive().body, HasSubstr("-32602")) << ids;
  }
}

// --- who waits ----------------------------------------------------------------------------------

class FewCalls : public HttpTasks {
protected:
  FewCalls() : HttpTasks({.calls_running_max = 2, .calls_waiting_max = 8}) {}

  /// Requests of one session that are not answered yet.
  void send(const std::string& session, const std::string& body, int times) {
    for (int i = 0; i < times; ++i) {
      std::string own = body;
      own.replace(own.find(R"("id":1)"), 6, R"("id":)" + std::to_string(sent_.size() + 10));
      sent_.emplace_back(http_.address()).send(test::post(session, own));
    }
  }
  std::string begin_task(const std::string& session) {
    return id_in(say(session, legacy("tools/call", R"({"name":"block","task":{}})")));
  }
  static std::string quick() {
    return legacy("tools/call", R"({"name":"echo","arguments":{"text":"a"}})");
  }

  std::vector<test::raw_client> sent_;
};

TEST_F(FewCalls, ThatOnlyWaitForATaskHoldUpNobody) {
  const std::string mine = new_session(), other = new_session();
  const std::string id = begin_task(mine);
  send(mine, legacy("tasks/result", of_task(id)), 5);
  EXPECT_THAT(say(other, quick()).body, HasSubstr("structuredContent"));
  EXPECT_THAT(say(mine, quick()).body, HasSubstr("structuredContent"));
  gate_.open();
  for (test::raw_client& each : sent_)
    EXPECT_THAT(each.receive().body, HasSubstr("passed"));
}

TEST_F(FewCalls, OfOneSessionLeaveRoomForThoseOfOthers) {
  const std::string mine = new_session(), other = new_session();
  const std::string wait = legacy("tasks/result", of_task(begin_task(mine)));
  send(mine, wait, 10); // its share is 2 + 8 / 2
  // Requests are read in the order of their arrival: by now all of these were.
  EXPECT_THAT(say(other, quick()).body, HasSubstr("structuredContent"));
  test::http_reply refused = say(mine, quick());
  // Calls that were answered count for a moment more.
  for (int i = 0; i < 10 && refused.status == 200; ++i, refused = say(mine, quick()))
    send(mine, wait, 1);
  EXPECT_EQ(503, refused.status);
  EXPECT_THAT(refused.body, HasSubstr("this session has too many calls under way; wait for one"));
  gate_.open();
  int answered = 0;
  for (test::raw_client& each : sent_)
    answered += each.receive().status == 200 ? 1 : 0;
  EXPECT_GE(answered, 5);
  while (say(mine, quick()).status == 503)
    std::this_thread::yield();
}

} // namespace
} // namespace paddock::mcp
