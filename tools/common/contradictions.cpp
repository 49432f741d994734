// SPDX-License-Identifier: MIT

// Options that are in order each by itself and make no sense together.

#include "workspace_cli.hpp"

#include <paddock/base/limits.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace paddock::cli {
namespace {

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

} // namespace

std::string_view forbids_commands(const workspace_cli& given) {
  if (given.tools.access == mcp::workspace_access::read_only) return "--read-only";
  if (given.confinement.mode == exec_choice::off) return "--exec off";
  if (has(given.tools.omit, "exec")) return "--omit exec";
  if (!given.tools.pick.empty() && !has(given.tools.pick, "exec")) return "--pick without exec";
  return {};
}

namespace {

std::string both(std::string_view one, std::string_view other, std::string_view why) {
  return std::string(one)
      .append(" and ")
      .append(other)
      .append(" contradict each other: ")
      .append(std::string(why) + "; leave out one of the two");
}

/// A default that nobody asked for is no more than the most.
std::string of_limits(const workspace_cli& given) {
  std::set<std::string_view> seen;
  for (const std::string_view each : given.limits_given)
    if (const auto name = each.substr(0, each.find('=')); !seen.insert(name).second)
      return "--limit " + std::string(name) + " is given twice; it has one value";
  const limits chosen = given.chosen_limits();
  const std::uint64_t asked = chosen.exec_timeout_ms;
  if (asked <= chosen.exec_timeout_ms_max || !given.is_given(&limits::exec_timeout_ms)) return {};
  return "--limit exec-default-ms=" + std::to_string(asked) +
         " is more than --limit exec-ms=" + std::to_string(chosen.exec_timeout_ms_max) +
         "; raise the second or lower the first";
}

} // namespace

std::string contradiction(const workspace_cli& given) {
  if (std::string wrong = given.confinement.protection.mistake(); !wrong.empty()) return wrong;
  for (const std::string& name : given.tools.pick)
    if (has(given.tools.omit, name))
      return both("--pick " + name, "--omit " + name, "a tool is offered or it is not");
  const std::string_view none = forbids_commands(given);
  if (!none.empty() && has(given.tools.pick, "exec"))
    return both("--pick exec", none, "no command runs");
  const confinement_cli& how = given.confinement;
  const bool is_host = how.mode == exec_choice::host;
  // What only matters where commands run, and of most of it, where they are confined.
  struct of_commands {
    const char* option;
    bool is_given;
    bool of_confined = true;
  };
  const of_commands options[] = {
      {"--network", how.reach.has_value()},
      {how.read_option, !how.read_paths.empty()},
      {how.write_option, !how.write_paths.empty()},
      {"--git-worktree", how.git_worktree},
      {"--home-tools", how.home_tools},
      {"--package-cache", how.package_caches},
      {"--scratch", how.scratch.has_value()},
      {"--max-memory", how.bounds.memory_bytes != 0},
      {"--max-pids", how.bounds.processes != 0},
      {"--max-file-size", how.bounds.file_size_bytes != 0},
      {"--require-confinement", how.require_all},
      {"--pass-env", !given.tools.pass_environment.empty(), false},
      {how.host_option, is_host, false},
      {"--exec best-effort", how.mode == exec_choice::best_effort, false},
  };
  for (const of_commands& each : options) {
    if (!each.is_given) continue;
    if (!none.empty()) return both(each.option, none, "no command runs");
    if (is_host && each.of_confined)
      return both(each.option, how.host_option, "no command is confined");
  }
  if (!how.egress_proxy.empty() && how.reach != network_reach::hosts)
    return "--egress-proxy is for the hosts of --network allow:LIST; give that, too";
  if (how.require_all && how.mode == exec_choice::best_effort)
    return both("--require-confinement", "--exec best-effort",
                "where a layer is missing, a command is refused or it runs");
  const bool is_history_named = !given.history.empty() && given.history != "off";
  if (is_history_named && given.tools.access == mcp::workspace_access::read_only)
    return both("--history", "--read-only", "nothing is changed");
  if (is_history_named && given.tools.tools != mcp::toolset::coding)
    return "--history " + given.history + " keeps what --tools coding changes; give that, too";
  return of_limits(given);
}

} // namespace paddock::cli
