// SPDX-License-Identifier: MIT

// paddock exec: one command, confined to a workspace, for people.

#include "common/history_cli.hpp"
#include "common/interruption.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/text_forms.hpp"
#include "mcp/tools/exec_hints.hpp"
#include "progress_line.hpp"
#include "subcommands.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/environment.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::string_view exec_command = "paddock exec";

// As shells and timeout(1) have them.
constexpr int exit_timed_out = 124;
constexpr int exit_not_started = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

constexpr std::uint64_t timeout_s_max = 30 * 86'400;

struct exec_options {
  workspace_cli place;
  double timeout_s = 0; ///< 0: none
  bool json = false;
  bool best_effort = false;
  bool host = false;
  bool learns_network = false;
  std::vector<std::string> command;
};

/// Of what somebody has ended by a signal for this program: that of the signal.
int exit_code_of(const command_outcome& o, std::optional<int> signal) {
  if (o.ended == ending::timed_out) return exit_timed_out;
  if (o.ended == ending::cancelled && signal) return ended_by_signal + *signal;
  if (o.ended == ending::exited) return o.exit_code.value_or(0);
  return ended_by_signal + o.signal.value_or(0);
}

int exit_code_of(const error& e) {
  const std::string_view stage = e.operation;
  if (stage != "execve" && stage != "interpreter") return exit_not_started;
  return e.code == error_code::not_found ? exit_not_found : exit_not_executable;
}

/// For who has put quotation marks around a whole command line.
std::string words_instead(const std::string& line) {
  if (line.find_first_of(" \t") == std::string::npos) return {};
  return "; write the program and its arguments as words of their own, -- " + line +
         ", or let a shell read the line, -- sh -c " + shell_word(line);
}

std::string why_not_started(const command_error& e, const root& workspace, const command& run) {
  const std::string& program_name = run.argv.front();
  const bool is_name = program_name.find('/') == std::string::npos;
  const std::string hint =
      mcp::start_hint_of(workspace, e, run, ".", mcp::hint_reader::person).text;
  if (e.code == error_code::not_found && std::string_view(e.operation) == "execve" && is_name)
    return "there is no program " + program_name + " in PATH" + words_instead(program_name) +
           (hint.empty() ? "" : "; " + hint);
  if (!hint.empty()) return program_name + ": " + hint;
  if (e.code == error_code::confinement_unavailable)
    return explain(e) +
           "; --best-effort runs it as confined as this system allows, --host without confinement";
  const bool is_helper = std::string_view(e.operation) == "helper" && !find_command_helper();
  return is_helper ? explain(e) : program_name + ": " + explain(e);
}

/// What became of the command, and what paddock-mcp would tell a model beside that.
struct finished {
  command_outcome outcome;
  std::string hint;
  int exit_code;
};

void write_network(mcp::json_writer& out, const std::vector<network_event>& events) {
  using place = std::pair<std::string, std::uint16_t>;
  std::map<place, std::size_t> ends; // of connections whose begin need not be listed
  for (const network_event& each : events)
    if (each.what == network_event::outcome::ended) ++ends[{each.host, each.port}];
  out.key("network").begin_array();
  for (const network_event& each : events) {
    if (each.what == network_event::outcome::connected)
      if (std::size_t& left = ends[{each.host, each.port}]; left > 0) {
        --left;
        continue;
      }
    write_event(out, each);
  }
  out.end_array();
}

/// The smallest list that the command could have done with.
std::string learned_from(const std::vector<network_event>& events) {
  std::set<std::string> entries;
  for (const network_event& each : events)
    if (each.what == network_event::outcome::connected)
      entries.insert(each.host + ":" + std::to_string(each.port));
  if (entries.empty()) return "the command reached no host: it needs no --network allow:";
  std::string list;
  for (const std::string& each : entries)
    list.append(list.empty() ? "" : ",").append(each);
  return "the command needed --network allow:" + list;
}

void print_json(const finished& done) {
  const command_outcome& o = done.outcome;
  mcp::json_writer out;
  out.begin_object().key("exitCode").integer(done.exit_code);
  if (o.signal) out.key("signal").integer(*o.signal);
  out.key("timedOut").boolean(o.ended == ending::timed_out);
  out.member("stdout", o.out.text()).member("stderr", o.err.text());
  out.key("stdoutBytes").unsigned_integer(o.out.total);
  out.key("stderrBytes").unsigned_integer(o.err.total);
  out.key("durationMs").integer(o.duration_ms);
  out.key("leftoversKilled").boolean(o.leftovers_killed);
  out.key("movedAside").begin_array();
  for (const appeared_entry& each : o.moved_aside)
    out.begin_object()
        .member("path", encode_name(each.path))
        .member("movedTo", encode_name(each.moved_to))
        .end_object();
  out.end_array();
  write_network(out, o.network);
  write_names(out, "uncovered", o.uncovered);
  write_names(out, "ledElsewhere", o.led_elsewhere);
  write_names(out, "emptied", o.emptied);
  out.key("confinement");
  mcp::write_confinement(out, o.confinement);
  if (!done.hint.empty()) out.member("hint", done.hint);
  out.end_object();
  print_json_line(out.str());
}

/// Told to a person, and to a program that waits for its object. The code, to exit with.
int refuse(const exec_options& options, int code, const std::string& why) {
  if (!why.empty()) complain(exec_command, why);
  if (!options.json) return code;
  mcp::json_writer out;
  out.begin_object().key("exitCode").integer(code);
  out.member("error", why.empty() ? "standard error says why" : std::string_view(why)).end_object();
  print_json_line(out.str());
  return code;
}

/// The outcome of what the options ask for; refuses and sets `code` when there is none.
std::optional<finished> run_it(const exec_options& options, command& run, int& code) {
  std::vector<std::string_view> inherited;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    inherited.emplace_back(*entry);
  const std::vector<std::string> set = options.place.set_environment();
  inherited.insert(inherited.end(), set.begin(), set.end());
  std::vector<std::string> pass;
  for (const std::string& assignment : set)
    pass.push_back(assignment.substr(0, assignment.find('=')));
  auto environment = build_environment({.inherited = inherited, .pass = pass, .extra = {}});
  const auto workspace = root::open(options.place.workspace);
  if (!environment || !workspace) {
    const error_code reason = workspace ? environment.error().code : workspace.error().code;
    code = refuse(options, exit_not_started, unusable_workspace(options.place.workspace, reason));
    return std::nullopt;
  }
  run.environment = *std::move(environment);
  mcp::adapt_to_network(run);
  run.working_directory = workspace->descriptor();
  run.workspace = workspace->descriptor();
  const interruption ends;
  auto outcome = paddock::run(run, &ends.asked());
  if (!outcome && ends.signal()) { // before it was started
    code = refuse(options, ended_by_signal + *ends.signal(), "interrupted before it was started");
    return std::nullopt;
  }
  if (!outcome) {
    code = refuse(options, exit_code_of(outcome.error()),
                  why_not_started(outcome.error(), *workspace, run));
    return std::nullopt;
  }
  std::string hint = mcp::command_hint(*workspace, run, *outcome, mcp::hint_reader::person);
  if (hint.starts_with("; ")) hint.erase(0, 2);
  code = exit_code_of(*outcome, ends.signal());
  return finished{*std::move(outcome), std::move(hint), code};
}

int run_exec(const exec_options& options) {
  // Were it closed, the next file this program opens would be the input of the command.
  const bool has_input = ::fcntl(STDIN_FILENO, F_GETFD) >= 0;
  command run;
  run.argv = options.command;
  if (run.argv.front().empty())
    return refuse(options, exit_not_found,
                  "there is no program with an empty name; write its name after --");
  workspace_cli place = options.place;
  place.confinement.read_option = "--read";
  place.confinement.write_option = "--write";
  place.confinement.host_option = "--host";
  if (options.best_effort) place.confinement.mode = exec_choice::best_effort;
  if (options.host) place.confinement.mode = exec_choice::host;
  if (options.learns_network) {
    place.confinement.reach = network_reach::hosts;
    (void)place.confinement.hosts.add("*,*:22");
  }
  if (!add_kept_rules(exec_command, place)) return refuse(options, exit_not_started, {});
  if (const std::string wrong = contradiction(place); !wrong.empty())
    return refuse(options, usage, wrong);
  auto policy = place.policy(exec_command);
  if (!policy) return refuse(options, exit_not_started, {});
  warn_of_program_in_workspace(exec_command, place);
  policy->git_settings = true;
  run.confinement = *std::move(policy);
  run.state_directory = state_directory_of(place);
  run.timeout_ms = options.timeout_s > 0
                       ? static_cast<std::int64_t>(std::ceil(options.timeout_s * 1000))
                       : std::numeric_limits<std::int64_t>::max();
  if (has_input) run.input = STDIN_FILENO;
  progress_line progress(exec_command);
  run.on_tick = [&progress] { progress.tick(); };
  if (!options.json) {
    run.on_output = [&progress](output_stream stream, std::string_view bytes) {
      progress.make_room(bytes);
      pass_on(bytes, stream == output_stream::out ? output_to::out : output_to::err);
      std::fflush(stream == output_stream::out ? stdout : stderr);
    };
  }
  int code = 0;
  const auto done = run_it(options, run, code);
  progress.make_room({});
  if (!done) return code;
  const command_outcome& outcome = done->outcome;
  if (options.learns_network) complain(exec_command, learned_from(outcome.network));
  if (options.json) {
    print_json(*done);
    return code;
  }
  for (const std::string& each : notices_of(outcome))
    complain(exec_command, each);
  if (outcome.ended == ending::timed_out) {
    std::array<char, 32> seconds{};
    (void)std::snprintf(seconds.data(), seconds.size(), "%g", options.timeout_s);
    complain(exec_command, "timed out after " + std::string(seconds.data()) +
                               " s; everything the command had started was killed");
  }
  if (outcome.ended == ending::cancelled)
    complain(exec_command, "interrupted; everything the command had started was ended");
  if (!done->hint.empty() && outcome.ended != ending::cancelled)
    complain(exec_command, "hint: " + done->hint);
  return code;
}

} // namespace

subcommand add_exec(CLI::App& app) {
  const auto options = std::make_shared<exec_options>();
  CLI::App* parser = app.add_subcommand("exec", "Run one command confined to a workspace");
  parser->footer("Write paddock exec [options] -- CMD ARGS...\n\nExit codes: the command's own; 2 "
                 "unusable command line, 124 deadline, 125 not started (a required layer is "
                 "missing, unusable workspace), 126 not executable, 127 no such program, 128+N "
                 "ended by signal N (130 for Ctrl-C).");
  parser
      ->add_option("-w,--workspace", options->place.workspace,
                   "Let the command change this directory (default: the current directory)")
      ->type_name("DIR");
  add_network_options(*parser, options->place.confinement);
  parser
      ->add_flag("--learn-network", options->learns_network,
                 "Let the command reach every public host at ports 22, 80 and 443, and print the "
                 "list of --network allow: that it needed")
      ->excludes(parser->get_option("--network"));
  parser
      ->add_option("--read", options->place.confinement.read_paths,
                   "Let the command read this path too (repeatable)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  parser
      ->add_option("--write", options->place.confinement.write_paths,
                   "Let the command change this path too (repeatable)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  add_home_options(*parser, options->place.confinement);
  add_protection_options(*parser, options->place.confinement.protection);
  parser
      ->add_option("--timeout", options->timeout_s,
                   "Stop the command after this time (default: never)")
      ->type_name("SECONDS")
      ->check(seconds(timeout_s_max));
  add_bound_options(*parser, options->place.confinement);
  auto* best_effort = parser->add_flag("--best-effort", options->best_effort,
                                       "Run even if some confinement layers are unavailable");
  parser->add_flag("--host", options->host, "Run without confinement")
      ->excludes(best_effort)
      ->excludes(parser->get_option("--learn-network"))
      ->excludes(parser->get_option("--protect"))
      ->excludes(parser->get_option("--unprotect"));
  parser->add_flag("--json", options->json, "Print one JSON object when the command has ended");
  parser->add_option("command", options->command, "The program and its arguments, after --")
      ->required()
      ->type_name("CMD");
  return {parser, [options] { return run_exec(*options); }};
}

} // namespace paddock::cli
