// SPDX-License-Identifier: MIT

// paddock tools: which tools there are, and for one of them what a model is told of it.

#include "call_arguments.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"
#include "subcommands.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace paddock::cli {
namespace {

constexpr std::string_view tools_command = "paddock tools";

struct tools_options {
  workspace_cli workspace;
  std::string tool;
  bool json = false;
};

void print_json(const mcp::tool& tool) {
  mcp::json_writer out;
  out.begin_object().member("name", tool.name).member("title", tool.title);
  out.member("description", tool.description);
  out.key("inputSchema").raw(mcp::input_schema_of(tool));
  if (!tool.output_schema.empty()) out.key("outputSchema").raw(tool.output_schema);
  if (!tool.example.empty()) out.key("example").raw(tool.example);
  out.end_object();
  print_json_line(out.str());
}

/// The options with which a call has the tool that was asked for, and its workspace.
std::string options_for(const workspace_cli& given) {
  std::string words;
  if (given.tools.tools == mcp::toolset::coding) words += " --tools coding";
  if (given.skills.wanted) words += " --skills";
  if (given.workspace != ".") words += " --workspace " + shell_word(given.workspace);
  return words;
}

void print_text(const mcp::tool& tool, const workspace_cli& given) {
  const std::string schema = indented(mcp::input_schema_of(tool));
  print_words("%s: %s\n\n%s\n\n%s\n%s\n", styled(tool.name, style::bold).c_str(),
              tool.title.c_str(), tool.description.c_str(),
              styled("Arguments (JSON Schema)", style::bold).c_str(), schema.c_str());
  mcp::json_document document;
  const auto example = document.parse(tool.example);
  if (!example) return;
  const std::string call = "paddock call " + tool.name, options = options_for(given);
  print_words("\n%s\n%s %s%s\n", styled("Example", style::bold).c_str(), call.c_str(),
              shell_word(tool.example).c_str(), options.c_str());
  if (example->size() > 0)
    print_words("%s%s%s\n", call.c_str(), pairs_for_shell(*example).c_str(), options.c_str());
}

int run_tools(const tools_options& options) {
  auto workspace = open_workspace(tools_command, options.workspace);
  if (!workspace) return usage;
  const auto server = make_server(tools_command, options.workspace, std::move(workspace), {});
  if (!server) return usage;
  if (options.tool.empty()) {
    if (options.json)
      print_json_line(server->tools_json());
    else
      list_tools(*server);
    return success;
  }
  const mcp::tool* tool = find_tool(tools_command, *server, options.tool);
  if (tool == nullptr) return usage;
  if (options.json)
    print_json(*tool);
  else
    print_text(*tool, options.workspace);
  return success;
}

} // namespace

subcommand add_tools(CLI::App& app) {
  const auto options = std::make_shared<tools_options>();
  CLI::App* parser =
      app.add_subcommand("tools", "List the tools, or print one's schema and an example call");
  add_workspace_options(*parser, options->workspace);
  group_server_options(*parser);
  parser->footer("The other options of paddock-mcp work here, too: --help-all lists them.\n\n" +
                 std::string(exit_codes_help));
  parser->add_option("tool", options->tool, "The tool's name (default: a line for each)")
      ->type_name("TOOL");
  parser->add_flag("--json", options->json,
                   "Print JSON: an array of all tools, or an object for one");
  return {parser, [options] { return run_tools(*options); }};
}

} // namespace paddock::cli
