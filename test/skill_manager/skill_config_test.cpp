// SPDX-License-Identifier: MIT

// Configurations: what is read from good ones, and what is said, where, about every mistake.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/skill_manager/config.hpp>

namespace paddock::skill_manager {
namespace {

using test::HoldsValue;
using test::IsError;
using test::IsOk;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

#ifdef PADDOCK_WITH_TOML
constexpr bool has_toml = true;
#else
constexpr bool has_toml = false;
#endif

result<config> toml(std::string_view text, std::vector<config_problem>* problems = nullptr) {
  return parse_config(text, config_format::toml, "c.toml", problems);
}
result<config> json(std::string_view text, std::vector<config_problem>* problems = nullptr) {
  return parse_config(text, config_format::json, "c.json", problems);
}

std::string all_texts(const std::vector<config_problem>& problems) {
  std::string all;
  for (const auto& p : problems)
    all += p.text() + "\n";
  return all;
}

class toml_config : public testing::Test {
protected:
  void SetUp() override {
    if (!has_toml) GTEST_SKIP() << "built without toml++";
  }
  config good(std::string_view text) {
    std::vector<config_problem> problems;
    auto made = toml(text, &problems);
    EXPECT_THAT(made, IsOk()) << all_texts(problems);
    return made ? *std::move(made) : config{};
  }
};

// --- good ---------------------------------------------------------------------------------------

// The fragments of the documentation in one file; those of one skill under names of their own.
constexpr std::string_view documented = R"(
[experts."my-expert".skills."file-ops"]
type = "mcpStdioSkill"
command = "npx"
packageName = "@perstack/base"
pick = ["readTextFile", "writeTextFile"] # Only these tools
omit = ["deleteFile"] # Exclude these tools

[experts."my-expert".skills."remote-api"]
type = "mcpSseSkill"
endpoint = "https://api.example.com/mcp"

[experts."my-expert".skills."db"]
type = "mcpStdioSkill"
command = "npx"
packageName = "@example/db-mcp"
requiredEnv = ["DATABASE_URL", "DB_PASSWORD"]

[experts."my-expert".skills."user-input"]
type = "interactiveSkill"
description = "Tools for user interaction"

[experts."my-expert".skills."user-input".tools.confirm]
name = "confirm"
description = "Ask user for confirmation"
inputJsonSchema = '{"type":"object","properties":{"message":{"type":"string"}}}'

[experts."orchestrator"]
delegates = ["researcher", "writer"]

[experts."researcher"]
instruction = "Find out."
[experts."writer"]
instruction = "Write."
)";

TEST_F(toml_config, reads_the_documented_example) {
  const config c = good(documented);
  const expert* e = c.find("my-expert");
  ASSERT_NE(e, nullptr);
  ASSERT_EQ(e->skills.size(), 4U);
  EXPECT_EQ(e->skills[0].name, "file-ops");
  EXPECT_TRUE(std::holds_alternative<base_entry>(e->skills[0].kind));
  EXPECT_THAT(e->skills[0].tools.pick, ElementsAre("readTextFile", "writeTextFile"));
  EXPECT_THAT(e->skills[0].tools.omit, ElementsAre("deleteFile"));
  EXPECT_EQ(std::get<http_entry>(e->skills[1].kind).url, "https://api.example.com/mcp");
  EXPECT_EQ(std::get<http_entry>(e->skills[1].kind).addresses, mcp::address_policy::public_only);
  const auto& db = std::get<stdio_entry>(e->skills[2].kind);
  EXPECT_THAT(db.argv, ElementsAre("npx", "-y", "@example/db-mcp"));
  EXPECT_THAT(db.required_environment, ElementsAre("DATABASE_URL", "DB_PASSWORD"));
  EXPECT_FALSE(db.confinement.has_value());
  EXPECT_EQ(e->skills[3].description, "Tools for user interaction");
  const auto& tools = std::get<interactive_entry>(e->skills[3].kind).tools;
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].name, "confirm");
  EXPECT_EQ(tools[0].description, "Ask user for confirmation");
  EXPECT_EQ(tools[0].input_schema,
            R"({"type":"object","properties":{"message":{"type":"string"}}})");
  ASSERT_NE(c.find("orchestrator"), nullptr);
  EXPECT_THAT(c.find("orchestrator")->delegates, ElementsAre("researcher", "writer"));
  EXPECT_EQ(c.find("nobody"), nullptr);
}

TEST_F(toml_config, hands_on_what_is_for_the_application) {
  const config c = good(R"(
model = "m"
maxSteps = 5
envPath = [".env"]
reasoningBudget = "low"
[provider]
providerName = "p"
setting = { a = 1.5, b = [true, "x"] }
[experts.e]
version = "1.0.0"
tags = ["t"]
)");
  std::vector<std::string> all;
  for (const setting& s : c.settings)
    all.push_back(s.key + "=" + s.json);
  EXPECT_THAT(all,
              ElementsAre(R"(model="m")", "maxSteps=5", R"(envPath=[".env"])",
                          R"(reasoningBudget="low")",
                          R"(provider={"providerName":"p","setting":{"a":1.5,"b":[true,"x"]}})"));
  ASSERT_EQ(c.experts.size(), 1U);
  EXPECT_EQ(c.experts[0].version, "1.0.0");
  EXPECT_EQ(c.experts[0].settings.size(), 1U);
}

TEST_F(toml_config, reads_own_keys) {
  const config c = good(R"(
[experts.e.skills.s]
type = "mcpStdioSkill"
command = "server"
args = ["--a b", "c"]
cwd = "/tmp"
env = { A = "1", B = "2" }
lazyInit = true
protocol = "legacy"
timeout = 120000
connectTimeout = 5000
confinement = "best-effort"
network = true
readPaths = ["/opt"]
limits = { memoryBytes = 1000000, cpuSeconds = 9 }
[experts.e.skills.t]
type = "mcpStdioSkill"
command = "server"
limits = { processes = 3 }
[experts.e.skills.h]
type = "mcpSseSkill"
endpoint = "http://127.0.0.1:1/mcp"
allowPrivateAddresses = true
transport = "sse"
headers = { A = "b" }
headersFromEnv = { Authorization = "TOKEN" }
proxy = "http://proxy:3128"
clientCertificate = "/c.pem"
clientKey = "/c.key"
)");
  const auto& skills = c.experts.at(0).skills;
  ASSERT_EQ(skills.size(), 3U);
  const auto& s = std::get<stdio_entry>(skills[0].kind);
  EXPECT_THAT(s.argv, ElementsAre("server", "--a b", "c"));
  EXPECT_THAT(s.environment, ElementsAre(Pair("A", "1"), Pair("B", "2")));
  EXPECT_EQ(s.working_directory, "/tmp");
  EXPECT_EQ(skills[0].start, startup::lazy);
  EXPECT_EQ(skills[0].protocol, mcp::protocol_choice::legacy);
  EXPECT_EQ(skills[0].timeout_ms, 120'000);
  EXPECT_EQ(skills[0].connect_timeout_ms, 5'000);
  ASSERT_TRUE(s.confinement.has_value());
  EXPECT_EQ(s.confinement->file_system, demand::best_effort);
  EXPECT_EQ(s.confinement->network, demand::off);
  EXPECT_EQ(s.confinement->limits, demand::required);
  EXPECT_EQ(s.confinement->bounds.memory_bytes, 1'000'000U);
  EXPECT_EQ(s.confinement->bounds.cpu_seconds, 9U);
  const auto& t = std::get<stdio_entry>(skills[1].kind);
  ASSERT_TRUE(t.confinement.has_value());
  EXPECT_EQ(t.confinement->file_system, demand::off);
  EXPECT_EQ(t.confinement->limits, demand::required);
  const auto& h = std::get<http_entry>(skills[2].kind);
  EXPECT_EQ(h.kind, mcp::http_kind::sse);
  EXPECT_EQ(h.addresses, mcp::address_policy::any);
  EXPECT_THAT(h.headers_from_environment, ElementsAre(Pair("Authorization", "TOKEN")));
  EXPECT_EQ(h.proxy, "http://proxy:3128");
  EXPECT_EQ(h.client_certificate, "/c.pem");
  EXPECT_EQ(h.client_key, "/c.key");
}

struct npx_case {
  std::string_view keys;
  std::vector<std::string> argv; ///< empty: the Base Skill in this process
};
TEST_F(toml_config, command_lines) {
  const npx_case cases[] = {
      {R"(command = "npx"
          packageName = "x")",
       {"npx", "-y", "x"}},
      {R"(command = "npx"
          args = ["x", "a"])",
       {"npx", "-y", "x", "a"}},
      {R"(command = "npx"
          args = ["--yes", "x"])",
       {"npx", "--yes", "x"}},
      {R"(command = "npx"
          args = ["x", "-y"])",
       {"npx", "x", "-y"}},
      {R"(command = "/usr/bin/npx"
          args = ["x"])",
       {"/usr/bin/npx", "-y", "x"}},
      {R"(command = "uvx"
          packageName = "x")",
       {"uvx", "x"}},
      {R"(command = "server")", {"server"}},
      {R"(command = "npx"
          packageName = "@perstack/base")",
       {}},
      {R"(command = "npx"
          args = ["-y", "@perstack/base"])",
       {}},
      {R"(command = "npx"
          packageName = "@perstack/base@0.0.34")",
       {"npx", "-y", "@perstack/base@0.0.34"}},
      {R"(command = "npx"
          packageName = "@perstack/base-like")",
       {"npx", "-y", "@perstack/base-like"}},
  };
  for (const npx_case& each : cases) {
    const config c =
        good("[experts.e.skills.s]\ntype = \"mcpStdioSkill\"\n" + std::string(each.keys));
    const auto& kind = c.experts.at(0).skills.at(0).kind;
    const auto* program = std::get_if<stdio_entry>(&kind);
    EXPECT_EQ(program != nullptr ? program->argv : std::vector<std::string>(), each.argv)
        << each.keys;
  }
}

TEST_F(toml_config, another_program_can_be_the_base_skill) {
  const config c = good(R"(
perstackBaseSkillCommand = ["my-base", "--flag"]
[experts.e.skills.b]
type = "mcpStdioSkill"
command = "npx"
packageName = "@perstack/base"
pick = ["anything"]
)");
  EXPECT_THAT(std::get<stdio_entry>(c.experts.at(0).skills.at(0).kind).argv,
              ElementsAre("my-base", "--flag"));
}

TEST(json_config, reads_servers_as_other_programs_list_them) {
  std::vector<config_problem> problems;
  const auto made = json(R"({"mcpServers": {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
              "env": {"A": "b"}},
    "off": {"command": "x", "disabled": true},
    "web": {"type": "sse", "url": "https://example.com/sse", "headers": {"Authorization": "Bearer x"}}
  }})",
                         &problems);
  ASSERT_THAT(made, IsOk()) << all_texts(problems);
  const expert* e = made->find("default");
  ASSERT_NE(e, nullptr);
  ASSERT_EQ(e->skills.size(), 2U);
  EXPECT_THAT(std::get<stdio_entry>(e->skills[0].kind).argv,
              ElementsAre("npx", "-y", "@modelcontextprotocol/server-filesystem", "/tmp"));
  EXPECT_EQ(e->skills[0].line, 2U);
  const auto& web = std::get<http_entry>(e->skills[1].kind);
  EXPECT_EQ(web.kind, mcp::http_kind::sse);
  EXPECT_THAT(web.headers, ElementsAre(Pair("Authorization", "Bearer x")));
}

TEST(json_config, reads_experts_too) {
  const auto made =
      json(R"({"experts": {"e": {"skills": {"s": {"type": "mcpStdioSkill", "command": "x"}}}}})");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->experts.at(0).skills.at(0).name, "s");
}

// --- mistakes -----------------------------------------------------------------------------------

struct mistake {
  std::string_view name;
  std::string text;
  /// A line for each problem: how it begins behind the name of the file, and behind ~ what else it
  /// has. @ stands for experts.e.skills.s.
  std::string said;
};

void expect_refused(std::span<const mistake> mistakes, config_format format) {
  const std::string file = format == config_format::toml ? "c.toml" : "c.json";
  for (const mistake& each : mistakes) {
    SCOPED_TRACE(each.name);
    std::vector<config_problem> problems;
    EXPECT_THAT(parse_config(each.text, format, file, &problems),
                IsError(error_code::invalid_argument));
    std::istringstream said(each.said);
    std::size_t met = 0;
    for (std::string line; std::getline(said, line); ++met) {
      ASSERT_LT(met, problems.size()) << all_texts(problems);
      if (const std::size_t at = line.find(": @"); at != line.npos)
        line.replace(at + 2, 1, "experts.e.skills.s");
      const std::size_t tilde = line.find('~');
      EXPECT_THAT(problems[met].text(), testing::StartsWith(file + line.substr(0, tilde)));
      EXPECT_THAT(problems[met].text(),
                  HasSubstr(tilde == line.npos ? "" : line.substr(tilde + 1)));
    }
    EXPECT_EQ(problems.size(), met) << all_texts(problems);
  }
}

constexpr std::string_view stdio = "[experts.e.skills.s]\ntype = \"mcpStdioSkill\"\n";
constexpr std::string_view sse = "[experts.e.skills.s]\ntype = \"mcpSseSkill\"\n";

TEST_F(toml_config, mistakes_of_the_file) {
  const mistake mistakes[] = {
      {"empty", "", ": has neither"},
      {"syntax", "[experts.e]\nversion = \n", ":2: not TOML"},
      {"same table twice", "[experts.e]\n[experts.e]\n", ":2: not TOML"},
      {"letters outside of strings", "model = \xC3\xA9\n", ":1: not TOML"},
      {"no key in a header", "\n[)a]\n", ":2: not TOML"},
      {"letters in a bare key", "\n\xD0\x9A = 1\n", ":2: not TOML"},
      {"not UTF-8", "model = \"\xFF\"\n", ":1: not TOML"},
      {"deep", "\nexperts = {{{{{{{{{{{{{{{{{{{{", ":2: not TOML"},
      {"unknown key", "[experts.e]\n\nversoin = \"1\"\n",
       ":3: experts.e.versoin: is not a key~version"},
      {"nearly known at the top", "modle = 1\n[experts.e]\n", ":1: modle: is not a key~model"},
      {"wrong types", "maxSteps = \"5\"\nmodel = 5\nenvPath = [\"a\",\n 5]\nexperts = []\n",
       ":1: maxSteps: must be an integer that is not negative, not a string\n"
       ":2: model: must be a string, not an integer\n"
       ":4: envPath: must be an array of strings, not with an integer\n"
       ":5: experts: must be a table, not an array"},
      {"negative", "maxSteps = -1\n[experts.e]\n", ":1: maxSteps: must not be negative"},
      {"date", "model = 1979-05-27\n[experts.e]\n", ":1: model: must be a string~date"},
      {"expert is no table", "[experts]\ne = 1\n", ":2: experts.e: must be a table"},
      {"expert's name", "[experts.\"My Expert\"]\n",
       ":1: experts.\"My Expert\": is no name of an expert"},
      {"scope without name", "[experts.\"@org/\"]\n", ":1: experts.\"@org/\": is no name"},
      {"delegate", "[experts.e]\nversion = \"1\"\ndelegates = [\"ghost\"]\n",
       ":3: experts.e.delegates: names ghost, which is no expert"},
      {"delegate twice", "[experts.e]\ndelegates = [\"f\", \"f\"]\n[experts.f]\n",
       ":2: experts.e.delegates: names f twice"},
      {"default twice", "[experts.default]\n[mcpServers.s]\ncommand = \"x\"\n",
       ":2: mcpServers: makes the expert"},
      {"long instruction", "[experts.e]\ninstruction = \"" + std::string(21'000, 'x') + "\"\n",
       ":2: experts.e.instruction: has at most"},
  };
  expect_refused(mistakes, config_format::toml);
}

TEST_F(toml_config, mistakes_of_a_skill) {
  const std::string s(stdio);
  const std::string h(sse);
  const mistake mistakes[] = {
      {"no type", "[experts.e.skills.s]\ncommand = \"x\"\n", ":1: @.type: must be mcpStdioSkill"},
      {"type", "[experts.e.skills.s]\ntype = \"stdio\"\n", ":2: @.type: must be mcpStdioSkill"},
      {"type misspelt", "[experts.e.skills.s]\ntype = \"mcpStdioSkil\"\n",
       ":2: @.type: must be mcpStdioSkill"},
      {"confinement misspelt", s + "command = \"x\"\nconfinment = \"required\"\n",
       ":4: @.confinment: is not a key~did you mean confinement"},
      {"no table", "[experts.e.skills]\ns = 1\n", ":2: @: must be a table"},
      {"no command", s, ":1: @.command: is required"},
      {"package and args", s + "command = \"npx\"\npackageName = \"a\"\nargs = [\"b\"]\n",
       ":4: @.packageName: and args exclude"},
      {"npx alone", s + "command = \"npx\"\n", ":1: @.packageName: or args is required"},
      {"key of another kind", s + "command = \"x\"\nendpoint = \"https://a\"\n",
       ":4: @.endpoint: is not a key~packageName"},
      {"all are told",
       s + "command = 1\nlazyInit = \"yes\"\npick = \"a\"\nprotocol = \"new\"\ntimeout = 0\n",
       ":3: @.command: must be a string, not an integer\n"
       ":4: @.lazyInit: must be true or false, not a string\n"
       ":5: @.pick: must be an array of strings\n"
       ":6: @.protocol: must be one of: automatic, modern, legacy\n"
       ":7: @.timeout: must be 1 to"},
      {"variable", s + "command = \"x\"\nrequiredEnv = [\"A=B\"]\nenv = { \"1\" = \"x\" }\n",
       ":4: @.requiredEnv: names \"A=B\"\n"
       ":5: @.env: names 1, which"},
      {"confinement", s + "command = \"x\"\nconfinement = \"yes\"\n",
       ":4: @.confinement: must be one of: off, best-effort, required"},
      {"network unconfined", s + "command = \"x\"\nnetwork = true\n",
       ":4: @.network: means nothing"},
      {"relative path", s + "command = \"x\"\nconfinement = \"required\"\nreadPaths = [\"a\"]\n",
       ":5: @.readPaths: must hold absolute"},
      {"limits", s + "command = \"x\"\n[experts.e.skills.s.limits]\nmemory = 1\ncpuSeconds = -1\n",
       ":5: @.limits.memory: is not a key~memoryBytes\n"
       ":6: @.limits.cpuSeconds: must not be negative"},
      {"NUL", s + "command = \"a\\u0000b\"\n", ":3: @.command: must not hold a NUL"},
      {"base is no process",
       s + "command = \"npx\"\npackageName = \"@perstack/base\"\nlimits = { processes = 1 }\n",
       ":5: @.limits: means nothing for the Base Skill"},
      {"base twice",
       s + "command = \"npx\"\npackageName = \"@perstack/base\"\n[experts.e.skills.t]\ntype = "
           "\"mcpStdioSkill\"\ncommand = \"npx\"\npackageName = \"@perstack/base\"\n",
       ":5: experts.e.skills.t: configures the Base Skill a second time; s does"},
      {"no endpoint", h, ":1: @.endpoint: is required"},
      {"http", h + "endpoint = \"http://example.com\"\n",
       ":3: @.endpoint: must begin with https://~allowPrivateAddresses"},
      {"no scheme", h + "endpoint = \"example.com\"\nallowPrivateAddresses = true\n",
       ":3: @.endpoint: must begin with https:// or http://"},
      {"transport", h + "endpoint = \"https://a\"\ntransport = \"ws\"\n",
       ":4: @.transport: must be one of"},
  };
  expect_refused(mistakes, config_format::toml);
}

TEST_F(toml_config, mistakes_of_interactive_tools) {
  const std::string begin = "[experts.e.skills.s]\ntype = \"interactiveSkill\"\n";
  const std::string tool = begin + "[experts.e.skills.s.tools.ask]\n";
  const mistake mistakes[] = {
      {"no tools", begin, ":1: @.tools: is required"},
      {"no schema", tool, ":3: @.tools.ask.inputJsonSchema: is required"},
      {"schema is no JSON", tool + "inputJsonSchema = '{'\n",
       ":4: @.tools.ask.inputJsonSchema: must be JSON"},
      {"schema is no object", tool + "inputJsonSchema = '[]'\n",
       ":4: @.tools.ask.inputJsonSchema: must be a JSON object"},
      {"schema is no string", tool + "inputJsonSchema = {}\n",
       ":4: @.tools.ask.inputJsonSchema: must be a string"},
      {"another name", tool + "name = \"confirm\"\ninputJsonSchema = '{}'\n",
       ":4: @.tools.ask.name: must be ask"},
  };
  expect_refused(mistakes, config_format::toml);
}

TEST(json_config, mistakes) {
  const mistake mistakes[] = {
      {"empty", "", ":1: not JSON: it ends where a value is expected"},
      {"no comma", "{\"mcpServers\": {\n\"a\": {}\n\"b\": {}}}",
       ":3: not JSON: a comma or } is expected at column 1"},
      {"two commas too many", "{\"mcpServers\": {},\n,}",
       ":2: not JSON: a name in double quotes is expected at column 1"},
      {"mistake behind a comment", "{ // servers\n/* {\n*/ x}",
       ":3: not JSON: a name in double quotes or } is expected at column 4"},
      {"comment without end", "{}\n/*", ": has neither"},
      {"not closed", "{\"a\": [1,\n\"x\"\n",
       ":3: not JSON: it ends where a comma or ] is expected"},
      {"line break in a string", "{\n\"a\": \"b\nc\"}",
       ":2: not JSON: the closing quote is missing on the line of the text that begins at column "
       "6"},
      {"closed by another", "{\"a\":\n[}", ":2: not JSON: a value or ] is expected at column 2"},
      {"more behind it", "{}\n{}", ":2: not JSON: nothing more is expected at column 1"},
      {"no value", "{\"a\": x}", ":1: not JSON: a value is expected at column 7"},
      {"bad number", "{\"a\":\n 01}", ":2: not JSON: a value is expected at column 2"},
      {"half a number", "[1.]", ":1: not JSON: a value or ] is expected at column 2"},
      {"single quotes", "{'a':1}",
       ":1: not JSON: a name in double quotes or } is expected at column 2"},
      {"a comma first", ",", ":1: not JSON: a value is expected at column 1"},
      {"a comma behind all", "{},", ":1: not JSON: nothing more is expected at column 3"},
      {"no colon", "{\"a\" 1}", ":1: not JSON: a colon is expected at column 6"},
      {"bad escape", "{\"a\": \"\\q\"}",
       ":1: not JSON: there is no such escape (a backslash itself is written twice) at column 8"},
      {"array", "\n[]", ":2: must be an object"},
      {"nothing", "{}", ": has neither"},
      {"unknown", "{\"mcpServers\":\n{\"a\":\n{\"command\":\"x\",\n\"comand\":\"y\"}}}",
       ":4: mcpServers.a.comand: is not a key~did you mean command"},
      {"line in nested values",
       "{\"mcpServers\": {\n\"a\": {\"command\": \"x\", \"args\": [\n\"[1,\\\"2\", "
       "\"{\\n\",\n-1.5e3, true],\n\"env\": {\"A\": \"}\"},\n\"cwd\": 5}}}",
       ":4: mcpServers.a.args: must be an array of strings, not with a number\n"
       ":6: mcpServers.a.cwd: must be a string, not an integer"},
      {"null", "{\"mcpServers\": {\"a\": {\"command\": null}}}",
       ":1: mcpServers.a.command: must be a string, not null"},
      {"both", "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"https://a\"}}}",
       ":1: mcpServers.a: needs either command or url"},
      {"of the other kind",
       "{\"mcpServers\": {\"a\": {\"url\": \"https://a\",\n\"limits\": {}}, \"b\": {\"command\": "
       "\"x\",\n\"proxy\": \"\"}}}",
       ":2: mcpServers.a.limits: means nothing\n"
       ":3: mcpServers.b.proxy: means nothing"},
      {"type", "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"type\": \"sse\"}}}",
       ":1: mcpServers.a.type: must be stdio"},
      {"member twice", "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"command\": \"y\"}}}",
       ":2: mcpServers.a.command: is given twice"},
      {"disabled ones are read too", "{\"mcpServers\": {\"a\": {\"disabled\": true}}}",
       ":1: mcpServers.a: needs either"},
  };
  expect_refused(mistakes, config_format::json);
}

// --- what other programs write ------------------------------------------------------------------

constexpr std::string_view vs_code = R"({
  // what VS Code writes
  "inputs": [{"id": "key", "type": "promptString", "password": true}],
  "servers": {
    "files": {"type": "stdio", "command": "npx", "args": ["-y", "x", "${workspaceFolder}"], "dev": {}},
    "web": {"type": "http", "url": "https://example.com/mcp", /* tokens */
            "headers": {"Authorization": "Bearer ${input:key}"}},
  },
})";

TEST(foreign_config, is_taken_as_far_as_it_is_understood) {
  const struct {
    const char* name;
    std::string_view text;
    const char* skills;
    const char* warned; ///< what each warning has, a line for each
  } cases[] = {
      {"Claude Desktop",
       R"({"globalShortcut": "", "mcpServers": {"a": {"command": "x", "args": ["y"], "env": {}}}})",
       "a", "c.json:1: has keys that mean nothing here and are ignored: globalShortcut"},
      {"VS Code", vs_code, "files web", "inputs\nservers.files: has keys"},
      {"Cursor",
       R"({"mcpServers": {"a": {"url": "http://localhost:8931/sse"}, "b": {"command": "c", "envFile": "e"}}})",
       "a b", "mcpServers.b: has keys that mean nothing here and are ignored: envFile"},
      {"Gemini",
       R"({"theme": "x", "mcpServers": {"a": {"httpUrl": "https://example.com/mcp", "trust": true,
           "includeTools": ["one"], "excludeTools": ["two"], "timeout": 5}}})",
       "a", "ignored: theme\nmcpServers.a: has keys that mean nothing here and are ignored: trust"},
      {"Gemini's later settings, and what is like our keys",
       R"({"model": {"name": "x"}, "mode": 1, "timeout": "30s", "mcpServers": {"a": {"command": "x"}}})",
       "a", "mode: is not a key\nmodel: must be a string\ntimeout: must be an integer"},
      {"Cline",
       R"({"mcpServers": {"a": {"command": "x", "alwaysAllow": ["t"], "autoApprove": [], "disabled": false}}})",
       "a", "alwaysAllow, autoApprove"},
      {"Windsurf", R"({"mcpServers": {"a": {"serverUrl": "https://example.com/mcp"}}})", "a", ""},
      {"Zed",
       R"({"context_servers": {"a": {"command": "x", "source": "custom", "enabled": true}}})", "a",
       ""},
      {"Zed's extensions",
       R"({"context_servers": {"a": {"source": "extension", "settings": {}}, "b": {"command": "x"}}})",
       "b", "context_servers.a: is started by an extension"},
      {"Zed's older commands",
       R"({"context_servers": {"a": {"command": {"path": "x", "args": []}}, "b": {"command": "x"}}})",
       "b", "context_servers.a: has a command of an older form"},
      {"remarks",
       R"({"mcpServers": {"_comment": "mine", "b": {"command": "x", "comment": "y", "_comand": 1, "//args": []}}})",
       "b", "mcpServers._comment: is no server\ncomment, _comand"},
      {"no list around them",
       R"({"a": {"command": "x", "args": ["y"]}, "b": {"httpUrl": "https://example.com/mcp"}})",
       "a b", ""},
      {"no list around them, and a remark",
       R"({"a": {"command": "x"}, "_comment": "mine", "c": {"cmd": "x"}})", "a",
       "_comment: is no server\nmcpServers.c: needs either\nmcpServers.c.cmd: is not a key"},
      {"a URL with variables",
       R"({"mcpServers": {"a": {"url": "${BASE:-https://example.com}/mcp"}, "b": {"url": "${URL}"}}})",
       "a b", ""},
      {"what another kind of server has",
       R"({"mcpServers": {"a": {"url": "https://example.com", "args": [], "env": {}}, "b": {"command": "x", "headers": {}}}})",
       "a b", "a.args: means nothing\na.env: means nothing\nb.headers: means nothing"},
      {"Copilot",
       R"({"mcpServers": {"a": {"type": "local", "command": "x", "args": [], "tools": ["*"]}}})",
       "a", "tools"},
      {"unknown transport",
       R"({"mcpServers": {"a": {"type": "websocket", "url": "wss://example.com"}, "b": {"command": "x"}}})",
       "b", "mcpServers.a: is of the type websocket, which is not known here, and is left out"},
      {"switched off",
       R"({"mcpServers": {"a": {"command": "x", "enabled": false}, "b": {"command": "x", "enabled": true}}})",
       "b", ""},
      {"two lists",
       R"({"mcpServers": {"a": {"command": "x"}}, "servers": {"b": {"command": "x"}}})", "a b", ""},
  };
  for (const auto& each : cases) {
    std::vector<config_problem> problems;
    const auto made = json(each.text, &problems);
    ASSERT_THAT(made, IsOk()) << each.name << ": " << all_texts(problems);
    std::string names;
    for (const skill_entry& skill : made->find("default")->skills)
      names += (names.empty() ? "" : " ") + skill.name;
    EXPECT_EQ(names, each.skills) << each.name;
    std::istringstream warned(each.warned);
    std::size_t met = 0;
    for (std::string line; std::getline(warned, line); ++met) {
      ASSERT_LT(met, made->warnings.size()) << each.name;
      EXPECT_THAT(made->warnings[met].text(), HasSubstr(line)) << each.name;
    }
    EXPECT_EQ(made->warnings.size(), met) << each.name << "\n" << all_texts(made->warnings);
  }
}

/// An entry with a fault is left out with a warning that says what is wrong; the others stay.
TEST(foreign_config, a_faulty_server_leaves_the_others) {
  const std::pair<std::string_view, std::string_view> faulty[] = {
      {R"({"command": 5})", "a.command: must be a string, not an integer"},
      {R"({"command": ["x", "y"]})", "a.command: must be a string, not an array"},
      {R"({"command": ""})", "a.command: is required"},
      {R"({"command": "x", "args": "y"})", "a.args: must be an array of strings, not a string"},
      {R"({"command": "x", "args": ["y", 1]})", "a.args: must be an array of strings"},
      {R"({"command": "x", "env": ["A=b"]})", "a.env: must be a table of strings, not an array"},
      {R"({"command": "x", "env": {"A": null}})", "a.env: must be a table of strings"},
      {R"({"command": "x", "env": {"A=B": ""}})", "which is no variable's name"},
      {R"({"command": "x", "type": 1})", "a.type: must be a string"},
      {R"({"command": "x", "type": "sse"})", "a.type: must be stdio"},
      {R"({"command": "x", "disabled": "no"})", "a.disabled: must be true or false"},
      {R"({"command": "x", "timeout": 1.5})", "a.timeout: must be an integer"},
      {R"({"command": "x", "confinment": "required"})", "did you mean confinement"},
      {R"({"url": {"host": "example.com"}})", "a.url: must be a string, not a table"},
      {R"({"url": "example.com"})", "a.url: must begin with https://"},
      {R"({"url": "https://example.com", "headers": []})", "a.headers: must be a table of strings"},
      {R"({"url": "https://example.com", "command": "x"})", "a: needs either command or url"},
      {R"({"args": ["y"]})", "a: needs either command or url"},
      {"null", "a: is no server"},
  };
  for (const auto& [entry, what] : faulty) {
    std::vector<config_problem> problems;
    const auto made = json(R"({"mcpServers": {"b": {"command": "x"}, "a": )" + std::string(entry) +
                               R"(, "c": {"url": "https://example.com"}}})",
                           &problems);
    ASSERT_THAT(made, IsOk()) << entry << ": " << all_texts(problems);
    const auto& skills = made->find("default")->skills;
    ASSERT_EQ(skills.size(), 2U) << entry;
    EXPECT_EQ(skills[0].name + skills[1].name, "bc") << entry;
    EXPECT_THAT(all_texts(made->warnings), HasSubstr(std::string(what))) << entry;
    EXPECT_THAT(all_texts(made->warnings), HasSubstr("left out")) << entry;
  }
}

TEST(foreign_config, a_list_without_a_usable_server_is_refused) {
  std::vector<config_problem> problems;
  EXPECT_THAT(json(R"({"mcpServers": {"a": {"command": 5}, "b": {"url": 5}}})", &problems),
              IsError(error_code::invalid_argument));
  EXPECT_EQ(problems.size(), 2U) << all_texts(problems);
}

/// As JSON readers of other programs have it.
TEST(foreign_config, of_a_name_that_is_given_twice_the_last_counts) {
  const auto made = json(
      R"({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "a": {"command": "z"}}})");
  ASSERT_THAT(made, IsOk());
  const auto& skills = made->find("default")->skills;
  ASSERT_EQ(skills.size(), 2U);
  EXPECT_THAT(std::get<stdio_entry>(skills[1].kind).argv, ElementsAre("z"));
  EXPECT_THAT(all_texts(made->warnings),
              HasSubstr("mcpServers.a: is given twice; the last counts"));
}

TEST(foreign_config, names_of_tools_and_headers_are_taken) {
  const auto made = json(R"({"mcpServers": {
    "a": {"httpUrl": "https://example.com", "includeTools": ["one", "mcp__a__two"], "excludeTools": ["three"],
          "http_headers": {"X": "y"}, "env_http_headers": {"Z": "ZED"}, "bearer_token_env_var": "TOKEN"},
    "b": {"command": "x", "allowedTools": ["*"], "disabledTools": ["four"]}}})");
  ASSERT_THAT(made, IsOk());
  const auto& skills = made->find("default")->skills;
  EXPECT_THAT(skills[0].tools.pick, ElementsAre("one", "two"));
  EXPECT_THAT(skills[0].tools.omit, ElementsAre("three"));
  const auto& web = std::get<http_entry>(skills[0].kind);
  EXPECT_EQ(web.kind, mcp::http_kind::streamable);
  EXPECT_THAT(web.headers, ElementsAre(Pair("X", "y"), Pair("Authorization", "Bearer ${TOKEN}")));
  EXPECT_THAT(web.headers_from_environment, ElementsAre(Pair("Z", "ZED")));
  EXPECT_TRUE(skills[1].tools.pick.empty());
  EXPECT_THAT(skills[1].tools.omit, ElementsAre("four"));
}

/// A URL that names this machine says so by itself; one that only looks like it does not.
TEST(foreign_config, servers_on_this_machine) {
  const std::pair<std::string_view, bool> urls[] = {{"http://localhost:3000/mcp", true},
                                                    {"http://127.0.0.1:1/sse", true},
                                                    {"http://[::1]/mcp", true},
                                                    {"https://localhost", true},
                                                    {"http://localhost.example.com", false},
                                                    {"http://localhost:x@example.com/", false},
                                                    {"http://example.com/", false},
                                                    {"http://192.168.1.1/", false},
                                                    {"http://127.0.0.1.example.com/", false}};
  for (const auto& [url, here] : urls) {
    std::vector<config_problem> problems;
    const auto made =
        json(R"({"mcpServers": {"a": {"url": ")" + std::string(url) + "\"}}}", &problems);
    EXPECT_EQ(made.has_value(), here) << url;
    if (!made) {
      EXPECT_THAT(all_texts(problems), HasSubstr("must begin with https://")) << url;
    }
  }
}

TEST_F(toml_config, codex_servers) {
  const config c = good(R"(
model = "gpt-5"
model_reasoning_effort = "high"
[projects."/srv"]
trust_level = "trusted"
[mcp_servers.a]
command = "npx"
args = ["-y", "x"]
env_vars = ["HOME"]
startup_timeout_sec = 10.5
enabled_tools = ["one"]
[mcp_servers.b]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
enabled = true
)");
  const expert* e = c.find("default");
  ASSERT_NE(e, nullptr);
  ASSERT_EQ(e->skills.size(), 2U);
  EXPECT_THAT(e->skills[0].tools.pick, ElementsAre("one"));
  EXPECT_THAT(all_texts(c.warnings), HasSubstr("startup_timeout_sec"));
  EXPECT_THAT(all_texts(c.warnings), HasSubstr("model_reasoning_effort, projects"));
}

TEST_F(toml_config, skills_of_another_type_are_left_out) {
  const config c = good(R"(
[experts.e.skills.a]
type = "browserSkill"
anything = 1
[experts.e.skills.b]
type = "mcpStdioSkill"
command = "x"
allowedCommands = ["y"]
)");
  ASSERT_EQ(c.experts.at(0).skills.size(), 1U);
  EXPECT_EQ(c.experts.at(0).skills[0].name, "b");
  EXPECT_THAT(all_texts(c.warnings),
              HasSubstr("c.toml:3: experts.e.skills.a: is of the type browserSkill"));
  EXPECT_THAT(all_texts(c.warnings), HasSubstr("ignored: allowedCommands"));
}

TEST(foreign_config, warnings_are_bounded) {
  std::string text = R"({"mcpServers": {)";
  for (int i = 0; i < 1'000; ++i)
    text += "\"s" + std::to_string(i) + R"(": {"command": "x", "foreign": 1},)";
  const auto made = json(text + "}}");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->warnings.size(), 101U);
}

TEST_F(toml_config, keys_that_nest_without_end_are_refused) {
  std::string deep = "a";
  for (int i = 0; i < 200'000; ++i)
    deep += ".a";
  std::vector<config_problem> problems;
  EXPECT_THAT(toml("\n" + deep + " = 1", &problems), IsError(error_code::invalid_argument));
  EXPECT_THAT(all_texts(problems), HasSubstr("c.toml:2: a line has at most"));
  const std::string dots(200, '.');
  EXPECT_THAT(toml("model = \"" + dots + "\" # " + dots + "\nruntime = '''\n" + dots +
                   "\n'''\n[experts.e]\n"),
              IsOk());
}

TEST_F(toml_config, problems_are_bounded) {
  std::string text;
  for (int i = 0; i < 1'000; ++i)
    text += "[experts.E" + std::to_string(i) + "]\n";
  std::vector<config_problem> problems;
  EXPECT_THAT(toml(text, &problems), IsError(error_code::invalid_argument));
  EXPECT_EQ(problems.size(), 101U);
}

TEST(config_without_toml, says_so) {
  if (has_toml) GTEST_SKIP() << "built with toml++";
  std::vector<config_problem> problems;
  EXPECT_THAT(toml("", &problems), IsError(error_code::unsupported));
  EXPECT_THAT(all_texts(problems), HasSubstr("cannot read TOML"));
}

// --- files --------------------------------------------------------------------------------------

TEST(config_file, is_read_by_its_name) {
  const test::temp_tree tree;
  tree.file("c.json", R"({"mcpServers": {"a": {"command": "x"}}})");
  EXPECT_THAT(read_config(tree / "c.json"), IsOk());
  std::vector<config_problem> problems;
  EXPECT_THAT(read_config(tree / "absent.toml", &problems), IsError(error_code::not_found));
  EXPECT_THAT(all_texts(problems), HasSubstr("absent.toml: cannot be read: no such file"));
  EXPECT_THAT(read_config(tree.path()), IsError(error_code::is_a_directory));
  ASSERT_EQ(::mkfifo((tree / "fifo.json").c_str(), 0600), 0);
  EXPECT_THAT(read_config(tree / "fifo.json"), IsError(error_code::not_regular));
  tree.file("big.json", std::string(config_bytes_max + 1, ' '));
  EXPECT_THAT(read_config(tree / "big.json"), IsError(error_code::too_large));
}

TEST(config_file, is_found_upwards) {
  const test::temp_tree tree;
  tree.directory("a/b");
  EXPECT_THAT(find_config(tree / "a/b"), IsError(error_code::not_found));
  tree.file("perstack.toml");
  EXPECT_THAT(find_config(tree / "a/b"), HoldsValue(tree / "perstack.toml"));
  tree.file("a/b/perstack.toml");
  EXPECT_THAT(find_config(tree / "a/b"), HoldsValue(tree / "a/b/perstack.toml"));
}

} // namespace
} // namespace paddock::skill_manager
