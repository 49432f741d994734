// SPDX-License-Identifier: MIT

// The set's order, its cleaning up and its names, with managers that do what the test says; and the
// skills that need no server.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill_manager/base_skill.hpp>
#include <paddock/skill_manager/delegate_skill.hpp>
#include <paddock/skill_manager/interactive_skill.hpp>
#include <paddock/skill_manager/skill_set.hpp>

namespace paddock::skill_manager {
namespace {

using test::IsError;
using test::IsOk;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// --- managers that do what the test says --------------------------------------------------------

class journal {
public:
  void add(std::string line) {
    const std::lock_guard lock(guard_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(guard_);
    return lines_;
  }
  [[nodiscard]] bool has(std::string_view line) const {
    const std::lock_guard lock(guard_);
    return std::ranges::find(lines_, line) != lines_.end();
  }
  /// Waits until this line was written; false when `give_up` says so first.
  bool wait_for(std::string_view line, const std::function<bool()>& give_up) {
    std::unique_lock lock(guard_);
    changed_.wait(lock,
                  [&] { return give_up() || std::ranges::find(lines_, line) != lines_.end(); });
    return std::ranges::find(lines_, line) != lines_.end();
  }
  void stir() {
    const std::lock_guard lock(guard_);
    changed_.notify_all();
  }

private:
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

struct plan {
  std::string name;
  skill_type type = skill_type::mcp;
  std::vector<std::string> tools = {};
  std::vector<std::string> waits_for = {}; ///< lines of the journal that init needs
  bool fails = false;
  bool lazy = false;
};

class fake final : public manager {
public:
  fake(plan p, journal& j) : plan_(std::move(p)), journal_(j) {}
  ~fake() override { close(); }

  [[nodiscard]] const std::string& name() const noexcept override { return plan_.name; }
  [[nodiscard]] skill_type type() const noexcept override { return plan_.type; }
  [[nodiscard]] skill_manager::state state() const noexcept override { return state_; }
  result<void, skill_error> init() override {
    if (plan_.lazy) return {};
    return start();
  }
  void close() noexcept override {
    if (closed_.exchange(true)) return;
    state_ = skill_manager::state::closed;
    journal_.add("close " + plan_.name);
  }
  result<std::vector<tool_definition>, skill_error> tool_definitions() override {
    if (state_ == skill_manager::state::idle) {
      PADDOCK_CHECK(start());
    }
    if (closed_) return error{error_code::cancelled, 0, "fake"};
    std::vector<tool_definition> all;
    for (const auto& tool : plan_.tools)
      all.push_back({.skill = plan_.name,
                     .name = tool,
                     .description = {},
                     .input_schema = "{}",
                     .type = plan_.type});
    return all;
  }
  result<call_outcome, skill_error> call_tool(std::string_view tool, std::string_view,
                                              const mcp::call_options&) override {
    return call_outcome(tool_reply{.content = plan_.name + "/" + std::string(tool), .result = {}});
  }

private:
  result<void, skill_error> start() {
    journal_.add("start " + plan_.name);
    for (const auto& line : plan_.waits_for)
      if (!journal_.wait_for(line, [&] { return closed_.load(); })) {
        journal_.add("cancelled " + plan_.name);
        return skill_error(plan_.name, {error_code::cancelled, 0, "fake"}, "was cancelled");
      }
    if (plan_.fails) {
      state_ = skill_manager::state::failed;
      return detailed_error({error_code::permission_denied, 0, "fake"}, "does not want to");
    }
    journal_.add("ready " + plan_.name);
    state_ = skill_manager::state::ready;
    return {};
  }

  const plan plan_;
  journal& journal_;
  std::atomic<bool> closed_{false};
  std::atomic<skill_manager::state> state_{skill_manager::state::idle};
};

std::vector<std::unique_ptr<manager>> fakes(journal& j, std::vector<plan> plans) {
  std::vector<std::unique_ptr<manager>> all;
  for (plan& p : plans)
    all.push_back(std::make_unique<fake>(std::move(p), j));
  return all;
}

std::string called(skill_set& set, std::string_view tool) {
  const auto outcome = set.call_tool(tool, "{}");
  if (!outcome)
    return std::string(wire_name(outcome.error().code)) + ": " + explain(outcome.error());
  return std::get<tool_reply>(*outcome).content;
}

// --- order --------------------------------------------------------------------------------------

TEST(skill_set, starts_in_order_of_types) {
  journal j;
  skill_set set(fakes(j, {{.name = "d", .type = skill_type::delegate},
                          {.name = "i", .type = skill_type::interactive},
                          {.name = "m", .type = skill_type::mcp},
                          {.name = "b", .type = skill_type::base}}));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_THAT(j.lines(), ElementsAre("start b", "ready b", "start m", "ready m", "start i",
                                     "ready i", "start d", "ready d"));
  std::vector<std::string> order;
  for (const auto& m : set.managers())
    order.push_back(m->name());
  EXPECT_THAT(order, ElementsAre("b", "m", "i", "d"));
  EXPECT_THAT(set.init(), IsError(error_code::conflict));
}

TEST(skill_set, starts_all_servers_at_once) {
  constexpr int count = 10;
  journal j;
  std::vector<plan> plans;
  for (int i = 0; i < count; ++i) {
    plan p{.name = "m" + std::to_string(i)};
    for (int other = 0; other < count; ++other) // each is ready only when all have started
      p.waits_for.push_back("start m" + std::to_string(other));
    plans.push_back(std::move(p));
  }
  plans.push_back({.name = "i", .type = skill_type::interactive});
  skill_set set(fakes(j, std::move(plans)));
  ASSERT_THAT(set.init(), IsOk());
  const auto lines = j.lines();
  EXPECT_EQ(lines.size(), 2U * count + 2);
  EXPECT_EQ(lines[2 * count], "start i");
}

// --- cleaning up --------------------------------------------------------------------------------

TEST(skill_set, closes_everything_when_one_fails) {
  journal j;
  skill_set set(fakes(j, {{.name = "b", .type = skill_type::base},
                          {.name = "good"},
                          {.name = "bad", .waits_for = {"ready good", "start slow"}, .fails = true},
                          {.name = "slow", .waits_for = {"never"}},
                          {.name = "i", .type = skill_type::interactive}}));
  // The slow one is cancelled and not waited for: it would never be ready.
  std::thread stir([&] {
    j.wait_for("close slow", [] { return false; });
    j.stir();
  });
  const auto started = set.init();
  stir.join();
  ASSERT_THAT(started, IsError(error_code::permission_denied, testing::StrEq("does not want to")));
  EXPECT_EQ(started.error().skill, "bad") << "which the manager did not say";
  for (const char* line : {"close b", "close good", "close bad", "close slow", "cancelled slow"})
    EXPECT_TRUE(j.has(line)) << line;
  EXPECT_FALSE(j.has("start i"));
  EXPECT_THAT(called(set, "x"), HasSubstr("cancelled"));
}

TEST(skill_set, is_closed_while_it_starts) {
  journal j;
  skill_set set(fakes(j, {{.name = "slow", .waits_for = {"never"}}}));
  std::thread closer([&] {
    j.wait_for("start slow", [] { return false; });
    set.close();
    j.stir();
  });
  EXPECT_THAT(set.init(), IsError(error_code::cancelled));
  closer.join();
  EXPECT_TRUE(j.has("cancelled slow"));
}

TEST(skill_set, closes_when_it_goes) {
  journal j;
  {
    skill_set set(fakes(j, {{.name = "a"}, {.name = "b"}}));
    ASSERT_THAT(set.init(), IsOk());
  }
  EXPECT_TRUE(j.has("close a"));
  EXPECT_TRUE(j.has("close b"));
}

// --- names --------------------------------------------------------------------------------------

TEST(skill_set, finds_tools_by_name) {
  journal j;
  skill_set set(
      fakes(j, {{.name = "a", .tools = {"one", "two"}}, {.name = "7", .tools = {"three"}}}));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_EQ(called(set, "two"), "a/two");
  EXPECT_EQ(called(set, "three"), "7/three");
  EXPECT_THAT(called(set, "four"), AllOf(HasSubstr("not_found"), HasSubstr("four")));
  const auto all = set.tool_definitions();
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->size(), 3U);
}

TEST(skill_set, refuses_two_of_one_name) {
  struct {
    std::vector<plan> plans;
    std::vector<std::string> said;
    bool started;
  } cases[] = {
      {{{.name = "writer"}, {.name = "writer", .type = skill_type::delegate}},
       {"two skills have this name", "writer (mcp)", "writer (delegate)"},
       false},
      {{{.name = "alpha", .tools = {"ask"}},
        {.name = "zeta", .type = skill_type::interactive, .tools = {"ask"}}},
       {"a tool ask", "alpha (mcp)", "zeta (interactive)"},
       true},
  };
  for (auto& each : cases) {
    journal j;
    skill_set set(fakes(j, each.plans));
    const auto started = set.init();
    ASSERT_THAT(started, IsError(error_code::conflict));
    for (const auto& words : each.said)
      EXPECT_THAT(started.error().detail, HasSubstr(words));
    EXPECT_EQ(j.has("start " + each.plans[0].name), each.started);
    EXPECT_TRUE(j.has("close " + each.plans[1].name));
  }
}

// --- lazy skills --------------------------------------------------------------------------------

TEST(skill_set, starts_lazy_skills_when_they_are_needed) {
  journal j;
  skill_set set(fakes(
      j, {{.name = "a", .tools = {"one"}}, {.name = "late", .tools = {"two"}, .lazy = true}}));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_EQ(called(set, "one"), "a/one");
  EXPECT_FALSE(j.has("start late"));
  EXPECT_EQ(called(set, "two"), "late/two");
  EXPECT_TRUE(j.has("start late"));
}

TEST(skill_set, a_list_of_all_tools_starts_lazy_skills) {
  journal j;
  skill_set set(fakes(j, {{.name = "late", .tools = {"two"}, .lazy = true}}));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_FALSE(j.has("start late"));
  const auto all = set.tool_definitions();
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->size(), 1U);
}

TEST(skill_set, a_lazy_skill_with_a_taken_name_leaves_the_others_usable) {
  journal j;
  skill_set set(fakes(
      j, {{.name = "a", .tools = {"one"}}, {.name = "late", .tools = {"one"}, .lazy = true}}));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_THAT(set.tool_definitions(),
              IsError(error_code::conflict, AllOf(HasSubstr("a (mcp)"), HasSubstr("late (mcp)"))));
  EXPECT_EQ(called(set, "one"), "a/one");
}

TEST(skill_set, a_lazy_skill_that_fails_is_told_once_and_left_out) {
  journal j;
  skill_set set(fakes(j, {{.name = "a", .tools = {"one"}},
                          {.name = "late", .tools = {"two"}, .fails = true, .lazy = true}}));
  ASSERT_THAT(set.init(), IsOk());
  const auto listed = set.tool_definitions();
  ASSERT_THAT(listed, IsError(error_code::permission_denied));
  EXPECT_EQ(listed.error().skill, "late");
  const auto all = set.tool_definitions();
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->size(), 1U);
  EXPECT_EQ(called(set, "one"), "a/one");
}

// --- interactive --------------------------------------------------------------------------------

interactive_options confirm(std::vector<std::string>* events = nullptr) {
  interactive_options o{.name = "user-input",
                        .tools = {{"confirm", "Ask user", R"({"type":"object","properties":
                          {"message":{"type":"string"}},"required":["message"]})"}},
                        .on_event = {}};
  if (events != nullptr)
    o.on_event = [events](const any_event& e) {
      events->push_back(std::get<event::interactive>(e).call.tool);
    };
  return o;
}

TEST(interactive_skills, hands_the_call_to_the_application) {
  std::vector<std::string> events;
  interactive_skill skill(confirm(&events));
  EXPECT_THAT(skill.call_tool("confirm", "{}"), IsError(error_code::conflict));
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_THAT(skill.init(), IsError(error_code::conflict));
  const auto outcome = skill.call_tool("confirm", R"({ "message": "Go on?" })");
  ASSERT_THAT(outcome, IsOk());
  const auto& call = std::get<interactive_call>(*outcome);
  EXPECT_EQ(call.skill, "user-input");
  EXPECT_EQ(call.tool, "confirm");
  EXPECT_EQ(call.description, "Ask user");
  EXPECT_EQ(call.arguments, R"({"message":"Go on?"})");
  EXPECT_THAT(events, ElementsAre("confirm"));
  skill.close();
  EXPECT_THAT(skill.tool_definitions(), IsError(error_code::cancelled));
}

TEST(interactive_skills, refuses_what_nobody_could_answer) {
  interactive_skill skill(confirm());
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_THAT(skill.call_tool("other", "{}"), IsError(error_code::not_found, HasSubstr("other")));
  for (const char* arguments : {"", "{}", "[]", "{", "null", "\"x\""})
    EXPECT_THAT(skill.call_tool("confirm", arguments), IsError(error_code::invalid_argument))
        << arguments;
  EXPECT_THAT(skill.call_tool("confirm", "{}"),
              IsError(error_code::invalid_argument, HasSubstr("message")));
  interactive_skill broken({.name = "x", .tools = {{"t", "", "[]"}}, .on_event = {}});
  EXPECT_THAT(broken.init(), IsError(error_code::invalid_argument));
}

// --- delegate -----------------------------------------------------------------------------------

TEST(delegate_skills, is_named_by_the_last_part) {
  for (const auto& [expert, tool] :
       {std::pair{"researcher", "researcher"}, {"@org/writer", "writer"}}) {
    delegate_skill skill({.expert = expert, .description = "d", .on_event = {}});
    ASSERT_THAT(skill.init(), IsOk());
    const auto tools = skill.tool_definitions();
    ASSERT_THAT(tools, IsOk());
    ASSERT_EQ(tools->size(), 1U);
    EXPECT_EQ(tools->front().name, tool);
    EXPECT_EQ(tools->front().input_schema,
              R"({"type":"object","properties":{"query":{"type":"string"}},"required":["query"]})");
    const auto outcome = skill.call_tool(tool, R"({"query":"Find out"})");
    ASSERT_THAT(outcome, IsOk());
    const auto& call = std::get<delegate_call>(*outcome);
    EXPECT_EQ(call.expert, expert);
    EXPECT_EQ(call.tool, tool);
    EXPECT_EQ(call.query, "Find out");
  }
  delegate_skill nameless({.expert = "@org/", .description = {}, .on_event = {}});
  EXPECT_THAT(nameless.init(), IsError(error_code::invalid_argument));
}

TEST(delegate_skills, needs_a_query) {
  delegate_skill skill({.expert = "a", .description = {}, .on_event = {}});
  ASSERT_THAT(skill.init(), IsOk());
  for (const char* arguments :
       {"{}", R"({"query":""})", R"({"query":1})", R"({"query":null})", "x"}) {
    EXPECT_THAT(skill.call_tool("a", arguments),
                IsError(error_code::invalid_argument, Not(IsEmpty())))
        << arguments;
  }
  EXPECT_THAT(skill.call_tool("b", R"({"query":"x"})"), IsError(error_code::not_found));
}

// --- base ---------------------------------------------------------------------------------------

class base_skills : public testing::Test {
protected:
  base_options options() const {
    base_options o;
    auto opened = root::open(tree.path());
    EXPECT_THAT(opened, IsOk());
    o.workspace = std::make_shared<const root>(*std::move(opened));
    o.tools.exec_helper = PADDOCK_TEST_HELPER;
    o.tools.confinement = confinement_policy::host();
    return o;
  }
  static std::string result_of(base_skill& skill, std::string_view tool,
                               std::string_view arguments) {
    const auto outcome = skill.call_tool(tool, arguments);
    return outcome ? std::get<tool_reply>(*outcome).result : explain(outcome.error());
  }
  const test::temp_tree tree;
};

TEST_F(base_skills, works_in_this_process) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_EQ(skill.name(), "@perstack/base");
  const auto tools = skill.tool_definitions();
  ASSERT_THAT(tools, IsOk());
  EXPECT_EQ(tools->size(), mcp::workspace_tool_names().size());
  const auto outcome = skill.call_tool("writeTextFile", R"({"path":"a.txt","text":"x"})");
  ASSERT_THAT(outcome, IsOk());
  const auto& reply = std::get<tool_reply>(*outcome);
  EXPECT_FALSE(reply.failed);
  EXPECT_EQ(tree.content("a.txt"), "x");
  mcp::json_document document;
  const auto content = document.parse(reply.content);
  ASSERT_THAT(content, IsOk());
  content->for_each_element([](mcp::json_view block) {
    EXPECT_EQ(block["type"].string(), "text");
    EXPECT_THAT(std::string(*block["text"].string()), HasSubstr("a.txt"));
  });
}

TEST_F(base_skills, reports_what_a_tool_reports) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  for (const auto& [tool, arguments, code] :
       {std::tuple{"readTextFile", R"({"path":"../x"})", "escapes_root"},
        std::tuple{"readTextFile", R"({"file":"x"})", "invalid_argument"}}) {
    const auto outcome = skill.call_tool(tool, arguments);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_TRUE(std::get<tool_reply>(*outcome).failed);
    EXPECT_THAT(std::get<tool_reply>(*outcome).content, HasSubstr(code));
  }
  EXPECT_THAT(skill.call_tool("nope", "{}"), IsError(error_code::not_found));
  EXPECT_THAT(skill.call_tool("todo", "[]"), IsError(error_code::invalid_argument));
}

/// As from a server: what a call does not give has its fallback.
TEST_F(base_skills, calls_the_coding_tools) {
  auto chosen = options();
  chosen.tools.tools = mcp::toolset::coding;
  chosen.tools.pick = {"searchText"};
  base_skill skill(std::move(chosen));
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_EQ(skill.tools().size(), 1U);
  tree.file("a.txt", "first\na fence\n");
  const auto outcome = skill.call_tool("searchText", R"({"pattern":"fence"})");
  ASSERT_THAT(outcome, IsOk());
  const auto& reply = std::get<tool_reply>(*outcome);
  EXPECT_FALSE(reply.failed);
  EXPECT_THAT(reply.text(), HasSubstr("a fence"));
  EXPECT_THAT(reply.structured(), HasSubstr("a fence"));
}

TEST_F(base_skills, has_a_todo_list_of_its_own) {
  base_skill one(options());
  base_skill two(options());
  ASSERT_THAT(one.init(), IsOk());
  ASSERT_THAT(two.init(), IsOk());
  EXPECT_THAT(result_of(one, "todo", R"({"newTodos":["work"]})"), HasSubstr("work"));
  EXPECT_THAT(result_of(one, "todo", "{}"), HasSubstr("work"));
  EXPECT_THAT(result_of(two, "todo", "{}"), testing::Not(HasSubstr("work")));
}

TEST_F(base_skills, pick_and_omit_also_refuse_the_call) {
  base_options o = options();
  o.tools.pick = {"todo", "exec"};
  o.tools.omit = {"exec"};
  base_skill skill(std::move(o));
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_EQ(skill.tool_definitions()->size(), 1U);
  EXPECT_THAT(skill.call_tool("todo", "{}"), IsOk());
  EXPECT_THAT(skill.call_tool("exec", "{}"), IsError(error_code::not_found));
}

TEST_F(base_skills, names_of_tools_that_are_gone_are_warned_of) {
  const struct {
    tool_choice choice;
    std::size_t left;
    std::vector<std::string> said;
  } cases[] = {
      {{.pick = {"readFile", "todo"}, .omit = {}},
       1,
       {"pick names readFile, which is no tool here and is ignored; did you mean readPdfFile, "
        "readTextFile or readImageFile?"}},
      {{.pick = {}, .omit = {"testUrl"}},
       mcp::workspace_tool_names().size(),
       {"omit names testUrl"}},
      {{.pick = {"nope"}, .omit = {}}, 0, {"pick names nope", "leave no tool of the Base Skill"}},
      {{.pick = {"todo"}, .omit = {"todo"}}, 0, {"leave no tool of the Base Skill"}},
      {{.pick = {"todo"}, .omit = {"exec"}}, 1, {}}, // the control
  };
  for (const auto& each : cases) {
    base_options o = options();
    o.tools.pick = each.choice.pick;
    o.tools.omit = each.choice.omit;
    std::vector<std::string> warnings;
    o.on_event = [&](const any_event& e) {
      if (const auto* w = std::get_if<event::warning>(&e)) warnings.emplace_back(w->text);
    };
    base_skill skill(std::move(o));
    ASSERT_THAT(skill.init(), IsOk());
    EXPECT_EQ(skill.state(), state::ready);
    EXPECT_EQ(skill.tool_definitions()->size(), each.left);
    ASSERT_EQ(warnings.size(), each.said.size());
    for (std::size_t i = 0; i < warnings.size(); ++i)
      EXPECT_THAT(warnings[i], HasSubstr(each.said[i]));
    if (each.left < 2) {
      EXPECT_THAT(skill.call_tool("exec", "{}"), IsError(error_code::not_found));
    }
  }
}

/// What an observer asks at every event. Kept by the threads that ask, so that one that hangs can
/// be left behind.
struct asking_observer {
  void hear(const any_event& e) {
    const state now = asked->state();
    const bool has_tools = asked->tool_definitions().has_value();
    const std::lock_guard lock(guard);
    heard.push_back(std::to_string(e.index()) + " " + std::string(name_of(now)) +
                    (has_tools ? " with tools" : ""));
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(guard);
    return heard;
  }
  std::unique_ptr<manager> asked;
  test::signal_once done;
  std::mutex guard;
  std::vector<std::string> heard;
};

TEST_F(base_skills, an_observer_may_ask_its_skill_at_every_event) {
  const auto observer = std::make_shared<asking_observer>();
  base_options o = options();
  o.tools.pick = {"todo", "noSuchTool"};
  o.on_event = [to = observer.get()](const any_event& e) { to->hear(e); };
  observer->asked = std::make_unique<base_skill>(std::move(o));
  std::thread([observer] {
    EXPECT_THAT(observer->asked->init(), IsOk());
    observer->asked->close();
    observer->done.raise();
  }).detach();
  ASSERT_TRUE(observer->done.wait()) << "the skill and its observer wait for each other";
  const auto index_of = [](auto e) { return std::to_string(any_event(e).index()); };
  const mcp::server_identity nobody;
  EXPECT_THAT(observer->lines(),
              ElementsAre(index_of(event::warning{}) + " ready with tools",
                          index_of(event::starting{}) + " ready with tools",
                          index_of(event::connected{{}, nobody, {}, 0}) + " ready with tools",
                          index_of(event::disconnected{}) + " closed"));
}

constexpr const char* sleeping =
    R"({"command":"sleep","args":["600"],"env":{},"cwd":".","stdout":true,"stderr":true,)"
    R"("timeout":600000})";

TEST_F(base_skills, a_blocking_call_is_cancelled) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  const cancellation cancel;
  mcp::call_options with{.on_progress = [&](double, double, std::string_view) { cancel.request(); },
                         .cancel = &cancel};
  EXPECT_THAT(skill.call_tool("exec", sleeping, with), IsError(error_code::cancelled));
  EXPECT_THAT(skill.call_tool("exec", sleeping, with), IsError(error_code::cancelled));
}

TEST_F(base_skills, a_blocking_call_ends_at_its_cap) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  EXPECT_THAT(skill.call_tool("exec", sleeping, {.timeout_ms_max = 50}),
              IsError(error_code::timed_out));
}

TEST_F(base_skills, closing_ends_blocking_calls) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  std::thread closer;
  const mcp::call_options with{.on_progress = [&](double, double, std::string_view) {
    if (!closer.joinable()) closer = std::thread([&] { skill.close(); });
  }};
  EXPECT_THAT(skill.call_tool("exec", sleeping, with), IsError(error_code::cancelled));
  closer.join();
  EXPECT_EQ(skill.state(), state::closed);
}

TEST_F(base_skills, many_calls_run_at_once) {
  base_skill skill(options());
  ASSERT_THAT(skill.init(), IsOk());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i)
        EXPECT_THAT(result_of(skill, "todo", R"({"newTodos":["t)" + std::to_string(t) + R"("]})"),
                    HasSubstr("todos"));
    });
  for (auto& each : threads)
    each.join();
  mcp::json_document document;
  const auto all = document.parse(result_of(skill, "todo", "{}"));
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ((*all)["structuredContent"]["todos"].size(), 160U);
}

} // namespace
} // namespace paddock::skill_manager
