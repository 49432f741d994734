// SPDX-License-Identifier: MIT

// paddock call: one tool, called in this process the way a client would call it.

#include "call_arguments.hpp"
#include "common/history_cli.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"
#include "mcp_request.hpp"
#include "subcommands.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

namespace paddock::cli {
namespace {

constexpr std::string_view call_command = "paddock call";

struct call_options {
  workspace_cli workspace;
  std::string tool;
  std::string arguments = "{}";
  std::vector<std::string> pairs; ///< key=value
};

/// What may have been meant: one argument, perhaps without its name.
std::string in_pairs(const std::string& given, const mcp::tool& tool) {
  if (given.empty() || given.find_first_of("{[\"") != std::string::npos) return {};
  std::string pair = given;
  if (given.find('=') == std::string::npos) {
    mcp::json_document schema;
    const auto parsed = schema.parse(mcp::input_schema_of(tool));
    const std::string first = parsed ? (*parsed)["required"].text() : std::string();
    const std::size_t begin = first.find('"');
    const std::size_t end = begin == first.npos ? begin : first.find('"', begin + 1);
    if (end == first.npos) return {};
    pair = first.substr(begin + 1, end - begin - 1) + "=" + given;
  }
  return "; write one argument as --arg " + shell_word(fit(pair, shown_characters_max));
}

/// What a sentence about the arguments as they were given begins with.
std::string subject_of(const std::string& given) {
  if (given == "-" || given == "@-") return "standard input is";
  if (given.size() < 2 || given[0] != '@' || given[1] == '@') return "the arguments are";
  return "the file " + given.substr(1) + " is";
}

/// The arguments as one line of JSON; complains and returns nothing when they cannot be used.
std::optional<std::string> arguments_of(const call_options& options, const mcp::tool& tool) {
  if (!options.pairs.empty()) {
    std::string problem;
    auto made = arguments_from_pairs(tool, options.pairs, problem);
    if (!made) complain(call_command, problem);
    return made;
  }
  std::string problem;
  const auto read = value_or_file(options.arguments == "-" ? "@-" : options.arguments, problem);
  if (!read) {
    complain(call_command, problem);
    return std::nullopt;
  }
  const std::string& given = *read;
  mcp::json_document document;
  const auto parsed = document.parse(given);
  if (!parsed) {
    const bool is_file = options.arguments == "-" || options.arguments.starts_with("@");
    std::string text = subject_of(options.arguments) + " not JSON";
    if (const std::string_view how = parsed.error().operation; how != "not JSON")
      text.append(": ").append(how);
    complain(call_command, text + (is_file ? "" : in_pairs(given, tool)));
    return std::nullopt;
  }
  if (!parsed->is(mcp::json_kind::object)) {
    complain(call_command, R"(the arguments must be a JSON object, for example '{"path": "."}')");
    return std::nullopt;
  }
  return parsed->text();
}

/// Who starts a process here may take it for one that goes on.
void tell_of_its_end(const std::string& result) {
  mcp::json_document document;
  const auto told = document.parse(result);
  if (!told || (*told)["state"].string() != "running") return;
  complain(call_command,
           "the process ends now, with this call; a server keeps one running, and paddock "
           "exec runs a command to its end");
}

int run_tool_call(const call_options& options) {
  workspace_cli from = options.workspace;
  if (!add_kept_rules(call_command, from)) return usage;
  const auto workspace = open_workspace(call_command, from);
  if (!workspace || !open_served_history(call_command, from, workspace, history::session::look))
    return usage;
  from.tools.state_directory = state_directory_of(from);
  auto server = make_server(call_command, from, workspace, {});
  if (!server) return usage;
  const mcp::tool* tool = find_tool(call_command, *server, options.tool);
  if (tool == nullptr) return usage;
  const auto arguments = arguments_of(options, *tool);
  if (!arguments) return usage;
  // A command may change what nobody has read yet.
  const history_reader reader(options.tool == "exec" ? from.tools.history : nullptr);
  const auto lines = server->handle_line(tool_request(1, options.tool, *arguments));
  const tool_response response = read_tool_response(lines.empty() ? "" : lines.back());
  if (response.json.empty()) {
    complain(call_command, response.problem);
    return failed;
  }
  print_json_line(response.json);
  if (options.tool == "startProcess") tell_of_its_end(response.json);
  return response.failed ? failed : success;
}

} // namespace

subcommand add_call(CLI::App& app) {
  const auto options = std::make_shared<call_options>();
  CLI::App* parser = app.add_subcommand("call", "Call one tool and print its result as JSON");
  add_workspace_options(*parser, options->workspace);
  group_server_options(*parser);
  parser->footer("The other options of paddock-mcp work here, too: --help-all lists them.\n\n" +
                 std::string(exit_codes_help));
  parser->add_option("tool", options->tool, "The tool's name, for example listDirectory")
      ->required()
      ->type_name("TOOL");
  auto* json = parser
                   ->add_option("arguments", options->arguments,
                                "The tool's arguments: a JSON object (default {}), @FILE to read "
                                "it from a file, or - to read it from standard input")
                   ->type_name("JSON");
  parser
      ->add_option("-a,--arg", options->pairs,
                   "Give one argument (repeatable): text as it is; numbers, true, false, lists and "
                   "maps as JSON; @FILE for the content of a file")
      ->allow_extra_args(false)
      ->excludes(json)
      ->type_name("KEY=VALUE");
  return {parser, [options] { return run_tool_call(*options); }};
}

} // namespace paddock::cli
