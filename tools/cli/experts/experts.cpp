// SPDX-License-Identifier: MIT

// paddock experts: the experts of a configuration, their skills connected, their tools called.

#include "experts.hpp"

#include "common/output.hpp"
#include "common/terminal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

namespace paddock::cli {

namespace {

constexpr std::chrono::seconds patience(2);

} // namespace

waiting_notices::waiting_notices(std::function<void(const std::string& skill)> say)
    : say_(std::move(say)), thread_([this] { watch(); }) {}

waiting_notices::~waiting_notices() {
  stop();
}

void waiting_notices::stop() {
  {
    const std::lock_guard lock(guard_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void waiting_notices::begin(std::string_view skill) {
  {
    const std::lock_guard lock(guard_);
    due_.insert_or_assign(std::string(skill), clock::now() + patience);
  }
  changed_.notify_one();
}

void waiting_notices::end(std::string_view skill) {
  const std::lock_guard lock(guard_);
  if (const auto found = due_.find(skill); found != due_.end()) due_.erase(found);
}

void waiting_notices::watch() {
  std::unique_lock lock(guard_);
  while (!over_) {
    const auto next =
        std::ranges::min_element(due_, {}, [](const auto& each) { return each.second; });
    if (next == due_.end()) {
      changed_.wait(lock);
    } else if (next->second > clock::now()) {
      changed_.wait_until(lock, next->second);
    } else {
      say_(next->first);
      due_.erase(next);
    }
  }
}

namespace {

using skill_manager::expert;
using skill_manager::skill_error;

using chosen = std::vector<const expert*>;
constexpr std::size_t problem_width = 4096;

std::string said(const skill_error& e) {
  return e.skill.empty() ? explain(e) : e.skill + ": " + explain(e);
}

int run_list(const skill_manager::config& config, const chosen& experts,
             const experts_options& options) {
  show_experts(config, experts, options.form());
  return success;
}

int run_tools(const skill_manager::config& config, const chosen& experts,
              const experts_options& options) {
  mcp::json_writer json;
  json.begin_array();
  bool good = true;
  for (const expert* e : experts) {
    const auto running = running_expert::start_or_complain(config, *e, options);
    const auto tools =
        running ? running->skills().tool_definitions() : error{error_code::cancelled, 0, "experts"};
    if (running && !tools) complain(experts_program, e->name + ": " + said(tools.error()));
    good = good && tools;
    if (tools) show_tools(e->name, *tools, options.json ? &json : nullptr);
  }
  if (options.json) print_json_line(json.end_array().str());
  return good ? success : failed;
}

/// Each skill of an expert with its state, as lines or as objects.
void show_skills(running_expert& running, mcp::json_writer* json) {
  const auto times = running.times();
  for (const auto& skill : running.skills().managers()) {
    const auto found = times.find(skill->name());
    const skill_times t = found == times.end() ? skill_times() : found->second;
    const std::string_view state = skill_manager::name_of(skill->state());
    if (json == nullptr) {
      print_words("  %s %s %s\n", column(skill_manager::name_of(skill->type()), 12).c_str(),
                  column(skill->name(), 24).c_str(), std::string(state).c_str());
      continue;
    }
    json->begin_object().member("skill", skill->name()).member("state", state);
    json->key("tools").unsigned_integer(t.tools).key("connectUs").integer(t.us).end_object();
  }
}

/// What came of a skill that was started alone.
struct skill_trial {
  std::string skill;
  std::string problem; ///< empty: it works
  std::int64_t us = 0;
};

class stopwatch {
public:
  [[nodiscard]] std::int64_t us() const {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now() - began_).count();
  }

private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// What came of all skills together.
struct known_failure {
  std::string problem{};
  std::string late{}; ///< as in start_problem
  std::int64_t us = 0;
};

/// Together the first failure ends the others, so that each tells only alone what is wrong with it.
std::vector<skill_trial> try_each(const skill_manager::config& config, const expert& e,
                                  const experts_options& options, const known_failure& known) {
  std::vector<skill_trial> trials;
  experts_options one = options;
  one.is_trial = true;
  for (const auto& skill : e.skills) {
    expert alone = e;
    alone.skills = {skill};
    alone.delegates.clear();
    skill_trial& trial = trials.emplace_back(skill_trial{.skill = skill.name});
    trial.problem = known.problem;
    trial.us = known.us;
    if (known.late != skill.name) { // one that did not answer is not waited for once more
      trial.problem.clear();
      const stopwatch watch;
      const auto running = running_expert::start(config, alone, one);
      if (running) {
        const auto tools = (*running)->skills().tool_definitions();
        if (!tools) trial.problem = said(tools.error());
      } else {
        trial.problem = explain(running.error());
      }
      trial.us = watch.us();
    }
    const std::string prefix = trial.skill + ": ";
    if (trial.problem.starts_with(prefix)) trial.problem.erase(0, prefix.size());
  }
  return trials;
}

/// Why the expert does not work: every skill that fails alone, or what is wrong with all together.
void show_failure(const skill_manager::config& config, const expert& e,
                  const experts_options& options, const known_failure& known,
                  mcp::json_writer& json) {
  const auto trials = try_each(config, e, options, known);
  bool explained = false;
  for (const auto& [skill, why, us] : trials) {
    const std::string_view state = why.empty() ? "works" : "failed";
    explained = explained || !why.empty();
    if (!why.empty())
      complain(experts_program, fit(e.name + ": " + skill + ": " + why, problem_width));
    if (!options.json)
      print_words("  %s %s after %s\n", column(skill, 24).c_str(), std::string(state).c_str(),
                  duration(us * 1000).c_str());
    json.begin_object().member("skill", skill).member("state", state);
    if (!why.empty()) json.member("problem", why);
    json.key("tools").unsigned_integer(0).key("connectUs").integer(us).end_object();
  }
  if (!explained) complain(experts_program, fit(e.name + ": " + known.problem, problem_width));
}

/// One expert's line, or its object; whether all its skills work.
bool check_one(const skill_manager::config& config, const expert& e, experts_options options,
               mcp::json_writer& json) {
  options.warned = std::make_shared<told_warnings>();
  known_failure known;
  std::string& problem = known.problem;
  const stopwatch watch;
  auto started = running_expert::start(config, e, options);
  known.us = watch.us();
  std::size_t tools = 0;
  if (!started) {
    problem = explain(started.error());
    known.late = started.error().late;
  } else {
    const auto all = (*started)->skills().tool_definitions(); // starts lazy ones too
    if (all)
      tools = all->size();
    else
      problem = said(all.error());
  }
  json.begin_object().member("expert", e.name).key("ok").boolean(problem.empty());
  if (!problem.empty()) json.member("problem", problem);
  json.key("tools").unsigned_integer(tools).key("skills").begin_array();
  if (!options.json)
    print_words("%s  %s: %s\n",
                problem.empty() ? styled("ok", style::good).c_str()
                                : styled("failed", style::bad).c_str(),
                fit(e.name, 255).c_str(),
                problem.empty() ? (std::to_string(tools) + " tools").c_str() : "see below");
  if (problem.empty()) {
    show_skills(**started, options.json ? &json : nullptr);
  } else {
    if (started) started->reset();
    std::fflush(stdout);
    show_failure(config, e, options, known, json);
  }
  json.end_array().end_object();
  return problem.empty();
}

int run_check(const skill_manager::config& config, const chosen& experts,
              const experts_options& options) {
  mcp::json_writer json;
  json.begin_array();
  bool good = true;
  for (const expert* e : experts)
    good = check_one(config, *e, options, json) && good;
  if (options.json) print_json_line(json.end_array().str());
  return good ? success : failed;
}

/// What an interactive tool is called with when the command line does not say; nothing for other
/// tools.
std::optional<std::string> schema_to_ask(running_expert& running, const std::string& tool) {
  for (const auto& m : running.skills().managers()) {
    if (m->type() != skill_manager::skill_type::interactive) continue;
    const auto tools = m->tool_definitions();
    if (!tools) continue;
    const auto found = std::ranges::find(*tools, tool, &skill_manager::tool_definition::name);
    if (found != tools->end()) return found->input_schema;
  }
  return std::nullopt;
}

int show(const skill_manager::call_outcome& outcome, const experts_options& options) {
  if (const auto* reply = std::get_if<skill_manager::tool_reply>(&outcome)) {
    show_reply(*reply, options.form());
    return reply->failed ? failed : success;
  }
  if (const auto* call = std::get_if<skill_manager::delegate_call>(&outcome)) {
    show_delegate(*call, options.form());
    return success;
  }
  const auto& call = std::get<skill_manager::interactive_call>(outcome);
  const auto answer = ask(call);
  if (!answer) {
    complain(experts_program, "no answer was given");
    return failed;
  }
  show_answer(call, *answer, options.form());
  return success;
}

int run_call(const skill_manager::config& config, const chosen& experts,
             const experts_options& options) {
  if (experts.size() > 1) {
    std::string names;
    for (const expert* e : experts)
      names += " " + e->name;
    complain(experts_program, "say whose tool it is with --expert; the experts are:" + names);
    return usage;
  }
  const auto running = running_expert::start_or_complain(config, *experts.front(), options);
  if (!running) return failed;
  std::string arguments = options.arguments.value_or("{}");
  if (!options.arguments) {
    if (const auto schema = schema_to_ask(*running, options.tool)) {
      const auto given = ask_for_arguments(*schema);
      if (!given) {
        complain(experts_program, "no answer was given");
        return failed;
      }
      arguments = *given;
    }
  }
  const auto outcome = running->skills().call_tool(options.tool, arguments);
  if (outcome) return show(*outcome, options);
  complain(experts_program, said(outcome.error()));
  const bool mistake = outcome.error().code == error_code::not_found ||
                       outcome.error().code == error_code::invalid_argument;
  return mistake ? usage : failed;
}

struct verb {
  const char* name;
  const char* text;
  int (*run)(const skill_manager::config&, const chosen&, const experts_options&);
};
constexpr verb verbs[] = {
    {"list", "Show the experts and their skills; nothing is started", run_list},
    {"tools", "Connect all skills and list every tool with its skill", run_tools},
    {"call", "Connect all skills and call one tool", run_call},
    {"check", "Read the configuration, connect all skills, and say what does not work", run_check},
};

void add_options(CLI::App& parser, experts_options& options) {
  parser.footer(exit_codes_help);
  parser
      .add_option("-c,--config", options.config,
                  "Read this configuration, TOML or .json (default: the nearest perstack.toml, "
                  "from here upwards)")
      ->type_name("FILE");
  parser.add_option("-e,--expert", options.expert, "Use only this expert")->type_name("NAME");
  parser
      .add_option("-w,--workspace", options.workspace,
                  "Let the Base Skill work in this directory (default: the current directory)")
      ->type_name("DIR");
  parser.add_flag("--json", options.json, "Print JSON");
  parser.add_flag("-q,--quiet", options.quiet, "Print no progress on standard error");
}

} // namespace

subcommand add_experts(CLI::App& app) {
  const auto options = std::make_shared<experts_options>();
  CLI::App* parser = app.add_subcommand("experts", "List configured experts, and use their tools");
  parser->require_subcommand(1);
  parser->footer(exit_codes_help);
  for (const verb& each : verbs) {
    CLI::App* sub = parser->add_subcommand(each.name, each.text);
    add_options(*sub, *options);
    if (each.run != run_call) continue;
    sub->add_option("tool", options->tool, "The tool's name")->required()->type_name("TOOL");
    sub->add_option("arguments", options->arguments,
                    "Its arguments, a JSON object (default {}; asked for when a person answers it)")
        ->type_name("JSON");
  }
  return {parser, [options, parser] {
            const auto config = load_config(*options);
            const chosen experts = config ? chosen_experts(*config, *options) : chosen();
            if (experts.empty()) return static_cast<int>(usage);
            for (const verb& each : verbs)
              if (parser->get_subcommand(each.name)->parsed())
                return each.run(*config, experts, *options);
            return static_cast<int>(usage); // not reached: one is required
          }};
}

} // namespace paddock::cli
