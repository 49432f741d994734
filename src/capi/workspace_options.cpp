// SPDX-License-Identifier: MIT
#include "capi/workspace_options.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/mcp/parameter.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace paddock::capi {
namespace {

using mcp::json_view;
using mcp::parameter_type;
using mcp::presence;

mcp::parameter text(std::string_view name, std::vector<std::string_view> choices = {}) {
  return {.name = name, .presence = presence::optional, .choices = std::move(choices)};
}
mcp::parameter list(std::string_view name) {
  return {.name = name, .type = parameter_type::string_array, .presence = presence::optional};
}

const std::vector<mcp::parameter>& table() {
  static const std::vector<mcp::parameter> rows = {
      text("tools", {"coding", "base"}),
      {.name = "readOnly", .type = parameter_type::boolean, .presence = presence::optional},
      list("pick"),
      list("omit"),
      text("exec", {"confined", "off"}),
      text("network"),
      list("execRead"),
      list("execWrite"),
      list("environment"),
      list("protect"),
      list("hide"),
      text("history"),
      text("execHelper")};
  return rows;
}

std::string text_of(json_view from, std::string_view name) {
  return std::string(from[name].string().value_or(""));
}
std::vector<std::string> texts_of(json_view from, std::string_view name) {
  std::vector<std::string> texts;
  from[name].for_each_element(
      [&](json_view each) { texts.emplace_back(each.string().value_or("")); });
  return texts;
}

/// Returns the mistake; empty: none.
std::string set_network(confinement_policy& policy, const std::string& asked) {
  constexpr std::string_view list_follows = "allow:";
  if (asked.empty() || asked == "loopback") return {};
  if (asked == "none") {
    policy.reach = network_reach::none;
    return {};
  }
  if (asked != "all" && !asked.starts_with(list_follows))
    return "network: " + asked + R"( is not "none", "loopback", "all" or "allow:LIST")";
  policy.reach = network_reach::hosts;
  const std::string wrong = policy.hosts.add(
      asked == "all" ? asked : std::string_view(asked).substr(list_follows.size()));
  return wrong.empty() ? wrong : "network: " + wrong;
}

/// Returns the mistake; empty: none.
std::string variable_without_value(const std::vector<std::string>& variables) {
  for (const std::string& each : variables)
    if (each.find('=') == std::string::npos) return "environment: " + each + " is not NAME=value";
  return {};
}

/// Where commands would reach the history: the mistake; empty: none.
std::string history_in_reach(const std::string& history, const confinement_policy& policy) {
  const auto real = [](const std::string& path) {
    std::error_code failed;
    return std::filesystem::weakly_canonical(path, failed).string();
  };
  for (const auto* paths : {&policy.read_paths, &policy.write_paths})
    for (const std::string& each : *paths)
      if (!history.empty() && (strip_root_prefix(real(history), real(each)) ||
                               strip_root_prefix(real(each), real(history))))
        return "history: commands reach " + each + ", so " + history +
               " is no place for it; name another directory";
  return {};
}

/// Returns the mistake; empty: none.
std::string protect_names(std::vector<protected_name>& names, json_view given) {
  for (const auto& [member, mode] :
       {std::pair{"protect", protection::read_only}, {"hide", protection::hidden}})
    for (std::string& name : texts_of(given, member)) {
      protected_name rule{.name = std::move(name), .mode = mode, .asked = true};
      if (!is_valid(rule))
        return std::string(member) + ": " + rule.name +
               " is no relative name, without . and ..; a hidden one has no slash";
      protect(names, std::move(rule));
    }
  return {};
}

/// Returns the mistake; empty: none.
std::string unknown_tool(const mcp::workspace_options& chosen) {
  const auto known = mcp::workspace_tool_names(chosen.tools);
  for (const auto* names : {&chosen.pick, &chosen.omit})
    for (const std::string& name : *names)
      if (std::ranges::find(known, name) == known.end()) return mcp::no_such_tool(name, known);
  return {};
}

} // namespace

result<open_options, detailed_error> options_from(std::string_view json) {
  const auto refused = [](std::string why) {
    return detailed_error({error_code::invalid_argument, 0, "options"}, std::move(why));
  };
  mcp::json_document document;
  const auto parsed = document.parse(json.empty() ? "{}" : json);
  if (!parsed) return refused("the options are no JSON: " + std::string(parsed.error().operation));
  const json_view given = *parsed;
  if (std::string wrong = mcp::problems_of(table(), given, "the options"); !wrong.empty())
    return refused(std::move(wrong));
  open_options made;
  mcp::workspace_options& tools = made.tools;
  tools.tools = text_of(given, "tools") == "base" ? mcp::toolset::base : mcp::toolset::coding;
  if (given["readOnly"].boolean().value_or(false)) tools.access = mcp::workspace_access::read_only;
  tools.pick = texts_of(given, "pick");
  tools.omit = texts_of(given, "omit");
  if (text_of(given, "exec") == "off") tools.exec = mcp::exec_mode::off;
  const bool is_coding = tools.tools == mcp::toolset::coding;
  tools.confinement.git_settings = tools.confinement.tracing = is_coding;
  tools.confinement.author = git_author_of(tools.confinement.home);
  tools.confinement.read_paths = texts_of(given, "execRead");
  tools.confinement.write_paths = texts_of(given, "execWrite");
  tools.set_environment = texts_of(given, "environment");
  tools.exec_helper = text_of(given, "execHelper");
  made.history = text_of(given, "history");
  std::string wrong = set_network(tools.confinement, text_of(given, "network"));
  if (wrong.empty()) wrong = protect_names(made.root.protected_names, given);
  if (wrong.empty()) wrong = unknown_tool(tools);
  if (wrong.empty()) wrong = variable_without_value(tools.set_environment);
  if (wrong.empty()) wrong = history_in_reach(made.history, tools.confinement);
  if (!wrong.empty()) return refused(std::move(wrong));
  tools.confinement.protected_names = made.root.protected_names;
  tools.state_directory = made.history;
  if (!made.history.empty()) made.root.lock_file = made.history + "/locks"; // as the programs do
  return made;
}

} // namespace paddock::capi
