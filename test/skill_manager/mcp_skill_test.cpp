// SPDX-License-Identifier: MIT

// Skills of real servers: test/support/mcp/skill_server.py, started as a configuration says, and
// our own adapter.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"
#include "support/process/command_fixture.hpp"

#include <paddock/skill_manager/mcp_skill.hpp>
#include <paddock/skill_manager/skill_set.hpp>

namespace paddock::skill_manager {
namespace {

using test::IsError;
using test::IsOk;
using test::processes_with;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string shown(const any_event& e) {
  struct {
    std::string operator()(const event::starting& s) const {
      return "starting " + std::string(s.skill);
    }
    std::string operator()(const event::connected& c) const {
      const bool in_process = c.server.name == "paddock" && c.times.spawn_us == 0;
      EXPECT_TRUE(in_process || c.times.spawn_us + c.times.handshake_us + c.times.tools_us > 0);
      return "connected " + std::string(c.skill) + " " + c.server.name + " " +
             std::to_string(c.tools);
    }
    std::string operator()(const event::log_line& l) const {
      return "log " + std::string(l.skill) + " " + std::string(l.text);
    }
    std::string operator()(const event::disconnected& d) const {
      return "disconnected " + std::string(d.skill) + (d.why.empty() ? "" : " lost");
    }
    std::string operator()(const event::reconnecting& r) const {
      return "reconnecting " + std::string(r.skill) + " " + std::to_string(r.attempt);
    }
    std::string operator()(const event::warning& w) const {
      return "warning " + std::string(w.skill) + ": " + std::string(w.text);
    }
    std::string operator()(const event::interactive& i) const { return "asks " + i.call.tool; }
    std::string operator()(const event::delegated& d) const { return "delegates " + d.call.tool; }
  } words;
  return std::visit(words, e);
}

class mcp_skills : public testing::Test {
protected:
  mcp_skills() : cookie("cookie-" + std::to_string(::getpid()) + "-" + std::to_string(next_++)) {}
  ~mcp_skills() override {
    for (const pid_t left : processes_with(cookie))
      ::kill(left, SIGKILL);
  }

  [[nodiscard]] stdio_entry program(std::vector<std::string> arguments) const {
    stdio_entry made;
    made.argv = {PADDOCK_TEST_SKILL_SERVER, "--cookie", cookie};
    made.argv.insert(made.argv.end(), arguments.begin(), arguments.end());
    return made;
  }
  [[nodiscard]] skill_entry entry(std::string name, std::vector<std::string> arguments) const {
    skill_entry made;
    made.name = std::move(name);
    made.kind = program(std::move(arguments));
    return made;
  }
  [[nodiscard]] observer listener() {
    return [this](const any_event& e) {
      const std::lock_guard lock(guard_);
      events_.push_back(shown(e));
    };
  }
  [[nodiscard]] std::vector<std::string> events() {
    const std::lock_guard lock(guard_);
    return events_;
  }
  void clear_events() {
    const std::lock_guard lock(guard_);
    events_.clear();
  }
  [[nodiscard]] std::unique_ptr<mcp_skill> make(const skill_entry& from,
                                                std::int64_t ping_timeout_ms = 60'000) {
    auto endpoint = endpoint_of(from, environment);
    EXPECT_THAT(endpoint, IsOk());
    return std::make_unique<mcp_skill>(mcp_options{.name = from.name,
                                                   .endpoint = std::move(endpoint->to),
                                                   .client = client,
                                                   .tools = from.tools,
                                                   .start = from.start,
                                                   .timeout_ms = from.timeout_ms,
                                                   .ping_timeout_ms = ping_timeout_ms,
                                                   .on_event = listener()});
  }
  [[nodiscard]] std::string called(manager& m, std::string_view tool,
                                   std::string_view arguments = "{}") {
    const auto outcome = m.call_tool(tool, arguments, {.timeout_ms = 20'000});
    if (!outcome)
      return std::string(wire_name(outcome.error().code)) + ": " + explain(outcome.error());
    return std::get<tool_reply>(*outcome).content;
  }
  [[nodiscard]] std::vector<std::unique_ptr<manager>> managers(const expert& e,
                                                               observer heard_by = {}) {
    auto opened = root::open(tree.path());
    EXPECT_THAT(opened, IsOk());
    config c;
    auto made = make_managers(c, e,
                              {.workspace = std::make_shared<const root>(*std::move(opened)),
                               .base = {},
                               .environment = environment,
                               .client = client,
                               .on_event = heard_by ? std::move(heard_by) : listener()});
    EXPECT_THAT(made, IsOk());
    return made ? *std::move(made) : std::vector<std::unique_ptr<manager>>();
  }
  [[nodiscard]] std::size_t lines_of(std::string_view file) const {
    std::ifstream in(tree / file);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
  }

  const test::temp_tree tree;
  const std::string cookie;
  std::vector<std::string_view> environment = {"PATH=/usr/bin:/bin", "SECRET=s",
                                               "EMPTY=", "NODE_OPTIONS=--x"};
  mcp::client_options client{.discover_timeout_ms = 20'000, .close_grace_ms = 500};

private:
  static inline int next_ = 0;
  std::mutex guard_;
  std::vector<std::string> events_;
};

constexpr const char* text_ = R"([{"type":"text","text":")";

std::string text(const std::string& content) {
  return text_ + content + "\"}]";
}

// --- calls --------------------------------------------------------------------------------------

TEST_F(mcp_skills, what_nobody_sees_of_a_tool_is_not_told) {
  const auto skill = make(entry("s", {"smuggles"}));
  ASSERT_THAT(skill->init(), IsOk());
  const auto tools = skill->tool_definitions();
  ASSERT_THAT(tools, IsOk());
  EXPECT_EQ(tools->front().description, "does it 👩\u200D💻\n- all");
  EXPECT_EQ(tools->front().input_schema,
            R"({"type":"object","properties":{"a":{"type":"string","title":"A",)"
            R"("description":"say it","default":""}}})");
}

TEST_F(mcp_skills, a_tool_that_cannot_be_told_without_what_nobody_sees_is_left_out) {
  struct {
    const char* tool;
    const char* called;
    const char* said;
  } cases[] = {
      {"smuggles-name", "smug\u200Bgles",
       "warning s: the tool smug\\u{200B}gles is left out: its name has characters that nobody "
       "sees; have its server mended, or name it in omit"},
      {"smuggles-property", "smuggles-property",
       "warning s: the tool smuggles-property is left out: the name a\\u{200B} in its input schema "
       "has characters that nobody sees; have its server mended, or name it in omit"},
      {"smuggles-enum", "smuggles-enum",
       "warning s: the tool smuggles-enum is left out: the value x\\u{E0041} in its input schema "
       "has characters that nobody sees; have its server mended, or name it in omit"},
  };
  for (const auto& c : cases) {
    clear_events();
    const auto skill = make(entry("s", {"one", c.tool}));
    ASSERT_THAT(skill->init(), IsOk());
    const auto tools = skill->tool_definitions();
    ASSERT_THAT(tools, IsOk());
    ASSERT_THAT(*tools, SizeIs(1)) << c.tool;
    EXPECT_EQ(tools->front().name, "one");
    EXPECT_THAT(events(), Contains(c.said));
    EXPECT_THAT(called(*skill, c.called), HasSubstr("not_found"));
    EXPECT_THAT(called(*skill, "one"), HasSubstr("one 1")) << "the refused one did not reach it";
  }
  // Who leaves it out on purpose hears nothing; pick does not bring it back.
  for (const tool_choice& choice : {tool_choice{.pick = {}, .omit = {"smug\u200Bgles"}},
                                    tool_choice{.pick = {"one", "smug\u200Bgles"}, .omit = {}}}) {
    clear_events();
    skill_entry from = entry("s", {"one", "smuggles-name"});
    from.tools = choice;
    const auto skill = make(from);
    ASSERT_THAT(skill->init(), IsOk());
    EXPECT_THAT(*skill->tool_definitions(), SizeIs(1));
    const std::string told = testing::PrintToString(events());
    EXPECT_EQ(told.find("warning") == std::string::npos, choice.pick.empty()) << told;
    EXPECT_THAT(events(), Not(Contains(HasSubstr("\u200B"))));
  }
}

TEST_F(mcp_skills, connects_lists_and_calls) {
  const auto skill = make(entry("s", {"one", "two"}));
  EXPECT_THAT(called(*skill, "one"), HasSubstr("not initialised"));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_EQ(skill->state(), state::ready);
  EXPECT_THAT(skill->init(), IsError(error_code::conflict));
  const auto tools = skill->tool_definitions();
  ASSERT_THAT(tools, IsOk());
  ASSERT_THAT(*tools, SizeIs(2));
  EXPECT_EQ(tools->front().skill, "s");
  EXPECT_EQ(tools->front().description, "does one");
  EXPECT_EQ(tools->front().input_schema, R"({"type":"object"})");
  EXPECT_EQ(called(*skill, "one", R"({ "a": 1 })"), text(R"(one 1 {\"a\":1})"));
  EXPECT_THAT(called(*skill, "three"), HasSubstr("not_found: the skill has no tool three"));
  EXPECT_THAT(called(*skill, "one", "[]"), HasSubstr("invalid_argument"));
  skill->close();
  EXPECT_EQ(skill->state(), state::closed);
  EXPECT_THAT(called(*skill, "one"), HasSubstr("cancelled"));
  EXPECT_THAT(processes_with(cookie), IsEmpty());
  EXPECT_THAT(events(), AllOf(Contains("starting s"), Contains("connected s skill_server 2"),
                              Contains("log s a line for the log"), Contains("disconnected s")));
}

TEST_F(mcp_skills, every_reply_has_content) {
  const auto skill = make(entry("s", {"empty", "structured", "fail"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_EQ(called(*skill, "empty"), text("empty returned nothing"));
  EXPECT_EQ(called(*skill, "structured"), text(R"({\"a\":1})"));
  const auto outcome = skill->call_tool("fail", "{}");
  ASSERT_THAT(outcome, IsOk());
  EXPECT_TRUE(std::get<tool_reply>(*outcome).failed);
  EXPECT_EQ(std::get<tool_reply>(*outcome).content, text("went wrong"));
}

TEST_F(mcp_skills, new_tools_are_found) {
  const auto skill = make(entry("s", {"grow"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "grown"), HasSubstr("not_found"));
  EXPECT_THAT(called(*skill, "grow"), HasSubstr("grow 1"));
  EXPECT_THAT(called(*skill, "grown"), HasSubstr("grown 2"));
  EXPECT_THAT(*skill->tool_definitions(), SizeIs(2));
}

TEST_F(mcp_skills, why_new_tools_cannot_be_fetched_is_told) {
  const auto skill = make(entry("s", {"spoil"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "spoil"), HasSubstr("spoil 1"));
  EXPECT_THAT(skill->tool_definitions(),
              IsError(error_code::invalid_argument,
                      EndsWith("the server's tools changed and cannot be fetched: the server "
                               "refused the request: spoilt (-32603)")));
}

TEST_F(mcp_skills, the_configured_timeout_holds) {
  skill_entry slow = entry("s", {"hang"});
  slow.timeout_ms = 50;
  const auto skill = make(slow);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "hang"), HasSubstr("timed_out"));
}

TEST_F(mcp_skills, closing_ends_calls_in_flight) {
  const auto skill = make(entry("s", {"hang"}));
  ASSERT_THAT(skill->init(), IsOk());
  std::thread closer([&] { skill->close(); });
  const auto outcome = skill->call_tool("hang", "{}");
  EXPECT_THAT(outcome, IsError(error_code::cancelled));
  closer.join();
  EXPECT_THAT(processes_with(cookie), IsEmpty());
}

// --- pick and omit ------------------------------------------------------------------------------

TEST_F(mcp_skills, pick_and_omit_also_refuse_the_call) {
  skill_entry chosen = entry("s", {"one", "two", "three"});
  chosen.tools = {.pick = {"one", "two"}, .omit = {"two"}};
  const auto skill = make(chosen);
  ASSERT_THAT(skill->init(), IsOk());
  const auto tools = skill->tool_definitions();
  ASSERT_THAT(tools, IsOk());
  ASSERT_THAT(*tools, SizeIs(1));
  EXPECT_EQ(tools->front().name, "one");
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 1"));
  EXPECT_THAT(called(*skill, "two"), HasSubstr("not_found"));
  EXPECT_THAT(called(*skill, "three"), HasSubstr("not_found"));
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 2")); // the refused ones did not reach it
}

TEST_F(mcp_skills, names_of_tools_that_are_gone_are_warned_of_once) {
  struct {
    tool_choice choice;
    std::size_t left;
    std::vector<const char*> said;
  } cases[] = {
      {{.pick = {"first", "furst", "away"}, .omit = {}},
       1,
       {"pick names furst, which is no tool here and is ignored; did you mean first?",
        "pick names away, which is no tool here and is ignored"}},
      {{.pick = {}, .omit = {"secondTool"}},
       2,
       {"omit names secondTool, which is no tool here and is ignored; did you mean second?"}},
      {{.pick = {"first"}, .omit = {"first"}}, 0, {"pick and omit leave no tool"}},
      {{.pick = {"gone"}, .omit = {}}, 0, {"pick names gone", "leave no tool of the server"}},
      {{.pick = {"first"}, .omit = {"second"}}, 1, {}}, // the control
  };
  for (auto& each : cases) {
    clear_events();
    skill_entry chosen = entry("s", {"first", "second", "crash"});
    each.choice.omit.push_back("crash"); // there, and left out
    chosen.tools = each.choice;
    const auto skill = make(chosen);
    ASSERT_THAT(skill->init(), IsOk());
    EXPECT_EQ(skill->state(), state::ready);
    EXPECT_THAT(*skill->tool_definitions(), SizeIs(each.left));
    EXPECT_THAT(*skill->tool_definitions(), SizeIs(each.left));
    std::vector<std::string> warnings = events();
    std::erase_if(warnings, [](const auto& line) { return !line.starts_with("warning s: "); });
    ASSERT_EQ(warnings.size(), each.said.size());
    for (std::size_t i = 0; i < warnings.size(); ++i)
      EXPECT_THAT(warnings[i], HasSubstr(each.said[i]));
    EXPECT_THAT(called(*skill, "gone"), HasSubstr("not_found"));
  }
}

// --- environment --------------------------------------------------------------------------------

TEST_F(mcp_skills, only_the_minimum_and_what_is_required_reaches_the_server) {
  skill_entry with = entry("s", {"environment"});
  auto& p = std::get<stdio_entry>(with.kind);
  p.required_environment = {"SECRET"};
  p.environment = {{"MINE", "m"}};
  environment = {"PATH=/usr/bin:/bin", "SECRET=s", "OTHER=o", "HOME=/h", "NODE_OPTIONS=--x"};
  const auto skill = make(with);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "environment"),
              AllOf(HasSubstr(R"(\"SECRET\": \"s\")"), HasSubstr(R"(\"MINE\": \"m\")"),
                    HasSubstr(R"(\"HOME\": \"/h\")"), Not(HasSubstr("OTHER")),
                    Not(HasSubstr("NODE_OPTIONS"))));
}

TEST_F(mcp_skills, what_is_required_is_delivered_whatever_its_name) {
  skill_entry with = entry("s", {"environment"});
  std::get<stdio_entry>(with.kind).required_environment = {"NODE_OPTIONS"};
  const auto skill = make(with);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "environment"), HasSubstr(R"(\"NODE_OPTIONS\": \"--x\")"));
}

TEST_F(mcp_skills, missing_variables_are_named) {
  for (const char* name : {"ABSENT", "EMPTY", "SECRE"}) {
    skill_entry with = entry("db", {"t"});
    std::get<stdio_entry>(with.kind).required_environment = {"SECRET", name};
    const auto made = endpoint_of(with, environment);
    ASSERT_THAT(made,
                IsError(error_code::invalid_argument, HasSubstr(std::string("variable ") + name)));
    EXPECT_EQ(made.error().skill, "db");
  }
  skill_entry remote;
  remote.kind = http_entry{.url = "https://example.com",
                           .headers = {{"A", "b"}},
                           .headers_from_environment = {{"Authorization", "SECRET"}}};
  const auto endpoint = endpoint_of(remote, environment);
  ASSERT_THAT(endpoint, IsOk());
  EXPECT_THAT(std::get<mcp::http_endpoint>(endpoint->to).headers,
              ElementsAre(testing::Pair("A", "b"), testing::Pair("Authorization", "s")));
  EXPECT_THAT(endpoint_of(remote, {}), IsError(error_code::invalid_argument));
}

/// A URL is judged with what its variables stand for.
TEST_F(mcp_skills, variables_in_urls_are_filled_in_before_they_are_judged) {
  const struct {
    std::string_view url, asked;
    mcp::address_policy addresses;
  } cases[] = {
      {"${ABSENT:-https://example.com}/mcp", "https://example.com/mcp",
       mcp::address_policy::public_only},
      {"${ABSENT:-http://localhost:1}/mcp", "http://localhost:1/mcp", mcp::address_policy::any},
      {"${ABSENT:-http://example.com}/mcp", "", {}},
      {"${ABSENT:-file:///etc}", "", {}},
  };
  for (const auto& each : cases) {
    skill_entry remote = entry("s", {});
    remote.expands_variables = true;
    remote.kind = http_entry{.url = std::string(each.url)};
    const auto endpoint = endpoint_of(remote, environment);
    ASSERT_EQ(endpoint.has_value(), !each.asked.empty()) << each.url;
    if (!endpoint) continue;
    EXPECT_EQ(std::get<mcp::http_endpoint>(endpoint->to).url, each.asked);
    EXPECT_EQ(std::get<mcp::http_endpoint>(endpoint->to).addresses, each.addresses) << each.url;
  }
}

TEST_F(mcp_skills, variables_in_foreign_values_are_filled_in) {
  skill_entry with = entry("s", {});
  with.expands_variables = true;
  auto& p = std::get<stdio_entry>(with.kind);
  p.argv = {"x",
            "${SECRET}/${env:SECRET}",
            "${ABSENT:-other} ${EMPTY:-}",
            "$HOME ${",
            "${A+b} $${1}",
            "${workspaceFolder}/a"};
  p.environment = {
      {"ONE", "${SECRET}"}, {"TWO", "${ABSENT}"}, {"THREE", "${input:key}"}, {"FOUR", "4"}};
  const auto endpoint = endpoint_of(with, environment);
  ASSERT_THAT(endpoint, IsOk());
  const auto& made = std::get<mcp::stdio_endpoint>(endpoint->to);
  EXPECT_THAT(made.argv, ElementsAre("x", "s/s", "other ", "$HOME ${", "${A+b} $${1}", "./a"));
  EXPECT_THAT(made.environment, AllOf(Contains("ONE=s"), Contains("FOUR=4"),
                                      Not(Contains(testing::StartsWith("TWO="))),
                                      Not(Contains(testing::StartsWith("THREE=")))));
  EXPECT_THAT(endpoint->left_out,
              ElementsAre(AllOf(HasSubstr("env.TWO"), HasSubstr("ABSENT")),
                          AllOf(HasSubstr("env.THREE"), HasSubstr("input:key"))));
  p.argv.push_back("${ABSENT}");
  EXPECT_THAT(endpoint_of(with, environment),
              IsError(error_code::invalid_argument, HasSubstr("needs a value for ${ABSENT}")));
  with.expands_variables = false; // the control
  const auto literal = endpoint_of(with, environment);
  ASSERT_THAT(literal, IsOk());
  EXPECT_EQ(std::get<mcp::stdio_endpoint>(literal->to).argv.back(), "${ABSENT}");
}

// --- lazy ---------------------------------------------------------------------------------------

void use_at_once(mcp_skill& skill) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      if (i % 2 == 0)
        EXPECT_THAT(skill.call_tool("one", "{}"), IsOk());
      else
        EXPECT_THAT(skill.tool_definitions(), IsOk());
    });
  for (auto& each : threads)
    each.join();
}

TEST_F(mcp_skills, a_lazy_skill_starts_once_however_many_come) {
  skill_entry lazy = entry("s", {"--started", tree / "started", "one"});
  lazy.start = startup::lazy;
  const auto skill = make(lazy);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_EQ(skill->state(), state::idle);
  EXPECT_THAT(processes_with(cookie), IsEmpty());
  use_at_once(*skill);
  EXPECT_EQ(lines_of("started"), 1U);
}

TEST_F(mcp_skills, a_lazy_skill_that_cannot_start_says_so_to_all) {
  skill_entry lazy = entry("s", {});
  std::get<stdio_entry>(lazy.kind).argv = {"/nowhere/server"};
  lazy.start = startup::lazy;
  const auto skill = make(lazy);
  ASSERT_THAT(skill->init(), IsOk());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(skill->tool_definitions(),
                IsError(error_code::not_found, HasSubstr("/nowhere/server")));
  }
  EXPECT_EQ(skill->state(), state::failed);
}

// --- crashes ------------------------------------------------------------------------------------

TEST_F(mcp_skills, a_crashed_server_is_restarted_once) {
  const auto skill = make(entry("s", {"--started", tree / "started", "one", "crash"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 1"));
  EXPECT_THAT(called(*skill, "crash"),
              AllOf(HasSubstr("io: "), HasSubstr("restarted for the next")));
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 1")); // a new process
  EXPECT_EQ(skill->state(), state::ready);
  EXPECT_EQ(lines_of("started"), 2U);
  EXPECT_THAT(called(*skill, "crash"), AllOf(HasSubstr("io: "), HasSubstr("not restarted again")));
  EXPECT_EQ(skill->state(), state::failed);
  EXPECT_THAT(called(*skill, "one"), HasSubstr("lost again"));
  EXPECT_THAT(skill->tool_definitions(), IsError(error_code::io));
  EXPECT_EQ(lines_of("started"), 2U);
  EXPECT_EQ(std::ranges::count(events(), "disconnected s lost"), 2);
}

TEST_F(mcp_skills, many_calls_meet_one_restart) {
  const auto skill = make(entry("s", {"--started", tree / "started", "one", "crash"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(skill->call_tool("crash", "{}"), IsError(error_code::io));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_THAT(skill->call_tool("one", "{}"), IsOk()); });
  for (auto& each : threads)
    each.join();
  EXPECT_EQ(lines_of("started"), 2U);
}

// --- servers that hang --------------------------------------------------------------------------

TEST_F(mcp_skills, a_server_that_hangs_is_restarted_once) {
  const auto skill = make(entry("s", {"--started", tree / "started", "one", "hang"}), 100);
  ASSERT_THAT(skill->init(), IsOk());
  const auto hang = [&] {
    EXPECT_THAT(skill->call_tool("hang", "{}", {.timeout_ms = 50}),
                IsError(error_code::timed_out, HasSubstr("asked whether it still answers")));
    EXPECT_EQ(skill->state(), state::unresponsive);
  };
  hang();
  EXPECT_EQ(lines_of("started"), 1U);
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 1")); // a new process
  EXPECT_EQ(skill->state(), state::ready);
  EXPECT_EQ(lines_of("started"), 2U);
  EXPECT_THAT(processes_with(cookie), SizeIs(1));
  hang();
  EXPECT_THAT(called(*skill, "one"), AllOf(HasSubstr("io: "), HasSubstr("lost again")));
  EXPECT_EQ(skill->state(), state::failed);
  EXPECT_TRUE(test::eventually([&] { return processes_with(cookie).empty(); }));
  EXPECT_EQ(std::ranges::count(events(), "disconnected s lost"), 2);
}

/// The control: a tool is slow, the server is not.
TEST_F(mcp_skills, a_server_that_still_answers_is_not_restarted) {
  const auto skill = make(entry("s", {"--started", tree / "started", "one", "slow"}));
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(skill->call_tool("slow", "{}", {.timeout_ms = 50}), IsError(error_code::timed_out));
  EXPECT_EQ(skill->state(), state::unresponsive);
  EXPECT_THAT(called(*skill, "one"), HasSubstr("one 2")); // the same process
  EXPECT_EQ(skill->state(), state::ready);
  EXPECT_EQ(lines_of("started"), 1U);
}

TEST_F(mcp_skills, many_uses_of_a_server_that_hangs_meet_one_restart) {
  const auto skill = make(entry("s", {"--started", tree / "started", "one", "hang"}), 100);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(skill->call_tool("hang", "{}", {.timeout_ms = 50}), IsError(error_code::timed_out));
  use_at_once(*skill);
  EXPECT_EQ(lines_of("started"), 2U);
}

TEST_F(mcp_skills, closing_does_not_wait_for_a_server_that_hangs) {
  const auto skill = make(entry("s", {"hang"}), 200);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(skill->call_tool("hang", "{}", {.timeout_ms = 50}), IsError(error_code::timed_out));
  std::thread other([&] { (void)skill->tool_definitions().has_value(); });
  skill->close();
  other.join();
  EXPECT_EQ(skill->state(), state::closed);
  EXPECT_TRUE(test::eventually([&] { return processes_with(cookie).empty(); }));
}

// --- sets ---------------------------------------------------------------------------------------

TEST_F(mcp_skills, ten_servers_start_at_the_same_time) {
  constexpr int count = 10;
  tree.directory("barrier");
  expert e;
  for (int i = 0; i < count; ++i) // no server answers before all have started
    e.skills.push_back(
        entry("s" + std::to_string(i),
              {"--barrier", tree / "barrier", std::to_string(count), "tool" + std::to_string(i)}));
  e.delegates = {"@org/writer"};
  skill_set set(managers(e));
  ASSERT_THAT(set.init(), IsOk());
  const auto tools = set.tool_definitions();
  ASSERT_THAT(tools, IsOk());
  EXPECT_THAT(*tools, SizeIs(mcp::workspace_tool_names().size() + count + 1));
  const auto outcome = set.call_tool("tool7", "{}");
  ASSERT_THAT(outcome, IsOk());
  EXPECT_THAT(std::get<tool_reply>(*outcome).content, HasSubstr("tool7 1"));
  EXPECT_THAT(set.call_tool("writer", R"({"query":"q"})"), IsOk());
  set.close();
  EXPECT_THAT(processes_with(cookie), IsEmpty());
}

TEST_F(mcp_skills, a_failing_server_leaves_nothing_behind) {
  expert e;
  e.skills = {entry("good", {"--started", tree / "started", "one"}),
              entry("slow", {"--silent", "--started", tree / "started"}),
              entry("bad", {"--barrier", tree / "barrier", "1", "--fail"})};
  tree.directory("barrier");
  client.connect_timeout_ms = 600'000; // the slow one would take that long
  client.discover_timeout_ms = 600'000;
  skill_set set(managers(e));
  const auto started = set.init();
  ASSERT_THAT(started, IsError(error_code::io, HasSubstr("skill_server.py")));
  EXPECT_EQ(started.error().skill, "bad");
  EXPECT_THAT(processes_with(cookie), IsEmpty());
  EXPECT_THAT(set.tool_definitions(), IsError(error_code::cancelled));
}

TEST_F(mcp_skills, servers_with_one_tool_name_are_refused) {
  expert e;
  e.skills = {entry("alpha", {"ask"}), entry("zeta", {"ask"})};
  skill_set set(managers(e));
  EXPECT_THAT(set.init(),
              IsError(error_code::conflict,
                      AllOf(HasSubstr("tool ask"), HasSubstr("alpha"), HasSubstr("zeta"))));
  EXPECT_THAT(processes_with(cookie), IsEmpty());
}

TEST_F(mcp_skills, a_base_skill_of_the_configuration_replaces_the_whole_one) {
  skill_entry base;
  base.name = "file-ops";
  base.kind = base_entry{.pass_environment = {"SECRET"}};
  base.tools.pick = {"readTextFile", "writeTextFile"};
  expert e;
  e.skills = {base};
  {
    skill_set set(managers(e));
    ASSERT_THAT(set.init(), IsOk());
    EXPECT_THAT(*set.tool_definitions(), SizeIs(2));
    EXPECT_THAT(set.call_tool("exec", "{}"), IsError(error_code::not_found));
    EXPECT_EQ(set.managers().front()->name(), "file-ops");
  }
  skill_entry other = entry("base-1.0", {"readTextFile"});
  std::get<stdio_entry>(other.kind).replaces_base = true;
  e.skills = {other};
  skill_set set(managers(e));
  ASSERT_THAT(set.init(), IsOk());
  EXPECT_THAT(*set.tool_definitions(), SizeIs(1));
}

TEST_F(mcp_skills, an_observer_hears_one_event_at_a_time) {
  expert e;
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i)
    e.skills.push_back(entry("s" + std::to_string(i), {"t" + std::to_string(i)}));
  skill_set set(managers(e));
  ASSERT_THAT(set.init(), IsOk());
  set.close();
  const auto heard = events();
  for (int i = 0; i < 6; ++i) {
    const std::string s = "s" + std::to_string(i);
    const auto at = [&](const std::string& line) {
      return std::ranges::find(heard, line) - heard.begin();
    };
    EXPECT_LT(at("starting " + s), at("connected " + s + " skill_server 1"));
    EXPECT_LT(at("connected " + s + " skill_server 1"), at("disconnected " + s));
    EXPECT_EQ(std::ranges::count(heard, "disconnected " + s), 1);
  }
}

TEST_F(mcp_skills, an_observer_may_ask_every_skill_at_every_event) {
  struct asking { // kept by the thread that may hang
    std::unique_ptr<skill_set> set;
    std::atomic<const skill_set*> ready{nullptr};
    std::mutex guard;
    std::set<std::string> heard;
    test::signal_once done;
  };
  const auto asked = std::make_shared<asking>();
  expert e;
  e.skills = {entry("eager", {"one", "crash"}), entry("lazy", {"two"}), entry("later", {"three"})};
  e.skills[0].tools.pick = {"one", "crash", "gone"};
  e.skills[1].start = e.skills[2].start = startup::lazy;
  const auto ask = [to = asked.get()](const any_event& event) {
    if (to->ready == nullptr) return;
    for (const auto& m : to->set->managers()) {
      (void)m->state();
      (void)m->tool_definitions().has_value();
      if (m->type() != skill_type::mcp) continue;
      EXPECT_THAT(m->init(), IsError(error_code::conflict));
      EXPECT_FALSE(m->call_tool("one", "{}").has_value());
    }
    (void)to->set->tool_definitions().has_value();
    const std::lock_guard lock(to->guard);
    to->heard.insert(shown(event).substr(0, shown(event).find(' ')));
  };
  asked->set = std::make_unique<skill_set>(managers(e, ask));
  asked->ready = asked->set.get();
  std::thread([asked] {
    EXPECT_THAT(asked->set->init(), IsOk());
    EXPECT_THAT(*asked->set->tool_definitions(), SizeIs(testing::Ge(4)));
    EXPECT_THAT(asked->set->call_tool("crash", "{}"), IsError(error_code::io));
    EXPECT_THAT(asked->set->call_tool("one", "{}"), IsOk()); // started again
    asked->set->close();
    asked->done.raise();
  }).detach();
  ASSERT_TRUE(asked->done.wait()) << "the skills and their observer wait for each other";
  EXPECT_THAT(asked->heard, ElementsAre("connected", "disconnected", "log", "starting", "warning"));
}

#ifdef PADDOCK_TEST_ADAPTER
TEST_F(mcp_skills, works_with_the_adapter) {
  skill_entry adapter;
  adapter.name = "adapter";
  stdio_entry p;
  p.argv = {PADDOCK_TEST_ADAPTER, "--workspace", tree.path(), "--exec", "off"};
  adapter.kind = p;
  adapter.tools.pick = {"writeTextFile"};
  const auto skill = make(adapter);
  ASSERT_THAT(skill->init(), IsOk());
  EXPECT_THAT(called(*skill, "writeTextFile", R"({"path":"a","text":"x"})"), HasSubstr("text"));
  EXPECT_EQ(tree.content("a"), "x");
}
#endif

} // namespace
} // namespace paddock::skill_manager
