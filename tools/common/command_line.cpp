// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <CLI/CLI.hpp>

namespace paddock::cli {
namespace {

void write_option(mcp::json_writer& out, const CLI::Option& option) {
  out.begin_object().key("names").begin_array();
  for (const auto& name : option.get_snames())
    out.string("-" + name);
  for (const auto& name : option.get_lnames())
    out.string("--" + name);
  out.end_array();
  // The checks after a colon are no part of the value's name.
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) out.member("value", type.substr(0, type.find(':')));
  out.member("group", option.get_group()).member("text", option.get_description()).end_object();
}

void write_positional(mcp::json_writer& out, const CLI::Option& option) {
  const std::string type = option.get_type_name();
  out.begin_object().member("name", option.get_name(true));
  out.member("value", type.substr(0, type.find(':')));
  out.key("required").boolean(option.get_required());
  out.key("repeated").boolean(option.get_items_expected_max() > 1);
  out.member("text", option.get_description()).end_object();
}

/// Commands of commands are two deep; nobody outside decides the depth.
void write_command(mcp::json_writer& out, const CLI::App& app) {
  out.begin_object().member("name", app.get_name()).member("text", app.get_description());
  out.member("footer", app.get_footer());
  const auto shown = [](const CLI::Option* option) { return !option->get_group().empty(); };
  out.key("options").begin_array();
  for (const CLI::Option* option : app.get_options(shown))
    if (option->nonpositional()) write_option(out, *option);
  out.end_array().key("arguments").begin_array();
  for (const CLI::Option* option : app.get_options(shown))
    if (!option->nonpositional()) write_positional(out, *option);
  out.end_array().key("commands").begin_array();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    write_command(out, *command);
  out.end_array();
  if (app.get_parent() == nullptr) {
    out.key("tools").begin_array();
    for (const auto name : mcp::workspace_tool_names())
      out.string(name);
    out.end_array();
  }
  out.end_object();
}

} // namespace

std::string describe_command_line(const CLI::App& app) {
  mcp::json_writer out;
  write_command(out, app);
  return out.take();
}

} // namespace paddock::cli
