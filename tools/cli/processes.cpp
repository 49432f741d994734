// SPDX-License-Identifier: MIT

// paddock ps, logs and stop: what agents have started with startProcess, seen and ended by a
// person. Each server of this user answers for its own.

#include "common/interruption.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/process_sockets.hpp"
#include "common/terminal.hpp"
#include "mcp/tools/process_socket.hpp"
#include "subcommands.hpp"

#include <paddock/mcp/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::size_t id_characters_shown = 8;
constexpr std::uint64_t grace_ms_usual = 2'000;
constexpr std::uint64_t grace_ms_max = 30'000;
constexpr std::chrono::milliseconds between_looks{200};

struct process_options {
  std::string process;
  std::uint64_t grace_ms = grace_ms_usual;
  bool follow = false, is_raw = false;
  bool json = false;
};

struct known_process {
  std::string socket; ///< the socket file of its server
  std::string workspace;
  std::string id;
  std::string command;
  bool runs = false;
  std::string ended; ///< how, for a person
  std::int64_t started_unix_ms = 0;
  std::uint64_t bytes = 0;
  std::string json; ///< as its server has it
};

std::string ending_of(const mcp::json_view& told) {
  if (told["state"].string() == "running") return "running";
  if (const auto signal = told["signal"].integer()) return "signal " + std::to_string(*signal);
  return "exited " + std::to_string(told["exitCode"].integer().value_or(0));
}

/// Of all servers that answer, in the order of their start.
std::vector<known_process> all_processes() {
  std::vector<known_process> all;
  for (const std::string& socket : mcp::process_sockets_in(process_sockets_directory())) {
    const auto answer = mcp::ask_process_socket(socket, R"({"list":true})");
    if (!answer) continue; // it has just ended
    mcp::json_document document;
    const auto told = document.parse(*answer);
    if (!told) continue;
    (*told)["processes"].for_each_element([&](const mcp::json_view& each) {
      const auto text = [](const mcp::json_view& of) {
        return std::string(of.string().value_or(""));
      };
      all.push_back({.socket = socket,
                     .workspace = text((*told)["workspace"]),
                     .id = text(each["process"]),
                     .command = text(each["command"]),
                     .runs = each["state"].string() == "running",
                     .ended = ending_of(each),
                     .started_unix_ms = each["startedUnixMs"].integer().value_or(0),
                     .bytes = static_cast<std::uint64_t>(each["bytes"].integer().value_or(0)),
                     .json = each.text()});
    });
  }
  std::ranges::sort(all, {}, [](const known_process& each) {
    return std::pair(each.started_unix_ms, std::string_view(each.id));
  });
  return all;
}

/// The one whose id begins so; complains when it is none, or several.
std::optional<known_process> find_process(std::string_view program, const std::string& id) {
  std::vector<known_process> met;
  for (known_process& each : all_processes())
    if (!id.empty() && each.id.starts_with(id)) met.push_back(std::move(each));
  if (met.size() == 1) return std::move(met.front());
  if (id.empty()) {
    complain(program, "the id is empty; give its beginning, as paddock ps shows it");
    return std::nullopt;
  }
  complain(program, met.empty()
                        ? "there is no process " + without_controls(id) + "; paddock ps lists them"
                        : "several processes begin with " + without_controls(id) +
                              "; give more of the id, as paddock ps --json shows it");
  return std::nullopt;
}

/// What its server says; nothing after the program has complained.
std::optional<std::string> asked(std::string_view program, const known_process& of,
                                 const std::string& question) {
  auto answer = mcp::ask_process_socket(of.socket, question);
  if (answer) return *std::move(answer);
  complain(program, answer.error().code == error_code::not_found
                        ? "its server has ended, and the process with it"
                        : "its server does not answer (" + std::string(text(answer.error().code)) +
                              "); try again");
  return std::nullopt;
}

int run_ps(const process_options& options) {
  const auto all = all_processes();
  if (options.json) {
    mcp::json_writer out;
    out.begin_object().key("processes").begin_array();
    for (const known_process& each : all)
      out.begin_object_with(each.json).member("workspace", each.workspace).end_object();
    out.end_array().end_object();
    print_json_line(out.str());
    return success;
  }
  for (const known_process& each : all)
    print_words("%s  %s  %s  %s  %s  %s\n", each.id.substr(0, id_characters_shown).c_str(),
                styled(column(each.ended, 10), each.runs ? style::good : style::dim).c_str(),
                local_time(each.started_unix_ms).c_str(),
                column(std::to_string(each.bytes) + " B", 12, align::right).c_str(),
                line_on_output(each.workspace).c_str(), line_on_output(each.command).c_str());
  if (all.empty()) print_words("No processes.\n");
  return success;
}

void print_output(std::string_view output, bool is_raw) {
  if (is_raw)
    pass_on(output);
  else
    (void)print_content(output);
  std::fflush(stdout);
}

int run_logs(const process_options& options) {
  constexpr std::string_view program = "paddock logs";
  const auto found = find_process(program, options.process);
  if (!found) return failed;
  const interruption ends; // the process goes on
  for (std::uint64_t from = 0;;) {
    if (ends.signal()) return 128 + *ends.signal();
    const auto answer = asked(
        program, *found, R"({"read":")" + found->id + R"(","from":)" + std::to_string(from) + "}");
    if (!answer) return failed;
    mcp::json_document document;
    const auto page = document.parse(*answer);
    if (!page || (*page)["error"].exists()) {
      complain(program, "the process was forgotten; it ended long ago");
      return failed;
    }
    if (const auto dropped = (*page)["dropped"].integer(); dropped.value_or(0) != 0)
      complain(program, std::to_string(*dropped) + " bytes are no longer kept");
    print_output((*page)["output"].string().value_or(""), options.is_raw);
    const auto next = static_cast<std::uint64_t>((*page)["next"].integer().value_or(0));
    const bool moved = next != from;
    from = next;
    if (moved) continue;
    if (!options.follow || (*page)["state"].string() != "running") return success;
    std::this_thread::sleep_for(between_looks);
  }
}

int run_stop(const process_options& options) {
  constexpr std::string_view program = "paddock stop";
  const auto found = find_process(program, options.process);
  if (!found) return failed;
  const auto answer = asked(program, *found,
                            R"({"stop":")" + found->id + R"(","graceMs":)" +
                                std::to_string(options.grace_ms) + "}");
  if (!answer) return failed;
  mcp::json_document document;
  const auto told = document.parse(*answer);
  if (!told || (*told)["state"].string() != "exited") {
    complain(program, "it has not ended; try again with a shorter --grace");
    return failed;
  }
  const bool was_killed = (*told)["signal"].integer().has_value();
  print_words("%s: %s\n", found->id.substr(0, id_characters_shown).c_str(),
              was_killed ? "stopped" : ("stopped, " + ending_of(*told)).c_str());
  return success;
}

} // namespace

subcommand add_ps(CLI::App& app) {
  const auto options = std::make_shared<process_options>();
  CLI::App* parser = app.add_subcommand("ps", "List agents' processes");
  parser->footer("Columns: id, state, start, bytes of output, workspace, command. " +
                 std::string(exit_codes_help));
  parser->add_flag("--json", options->json, "Print one JSON object");
  return {parser, [options] { return run_ps(*options); }};
}

subcommand add_logs(CLI::App& app) {
  const auto options = std::make_shared<process_options>();
  CLI::App* parser = app.add_subcommand("logs", "Show the output of an agent's process");
  parser->footer(exit_codes_help);
  parser->add_option("process", options->process, "The id that paddock ps shows, or its beginning")
      ->required()
      ->type_name("PROCESS");
  parser->add_flag("-f,--follow", options->follow, "Follow the output until the process ends");
  parser->add_flag("--raw", options->is_raw,
                   "Print each byte as it is: a terminal may obey what is in it");
  return {parser, [options] { return run_logs(*options); }};
}

subcommand add_stop(CLI::App& app) {
  const auto options = std::make_shared<process_options>();
  CLI::App* parser = app.add_subcommand("stop", "Stop an agent's process and its children");
  parser->footer(exit_codes_help);
  parser->add_option("process", options->process, "The id that paddock ps shows, or its beginning")
      ->required()
      ->type_name("PROCESS");
  parser
      ->add_option("--grace", options->grace_ms,
                   "Wait this many milliseconds before killing it (default: 2000)")
      ->type_name("MS")
      ->check(whole_number(grace_ms_max));
  return {parser, [options] { return run_stop(*options); }};
}

} // namespace paddock::cli
