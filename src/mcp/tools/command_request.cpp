// SPDX-License-Identifier: MIT
#include "mcp/tools/command_request.hpp"

#include "exec/confinement_policy.hpp"
#include "exec/held_scratch.hpp"
#include "mcp/tools/exec_denials.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/environment.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace paddock::mcp {
namespace {

tool_result too_much(std::string_view what, std::uint64_t given, std::uint64_t most,
                     std::string_view remedy) {
  return tool_result::failure(error_code::too_large,
                              std::string(what) + " " + std::to_string(given) + ", at most " +
                                  std::to_string(most) + " are accepted; " + std::string(remedy));
}

/// What the call gives is counted before any of it is copied: the kernel takes less than a line can
/// hold, and does not say which part was too much.
std::optional<tool_result> refuse_too_much(const limits& bounds, const call& c) {
  constexpr std::string_view shorter = "write it to a file and name that instead";
  const json_view arguments = c.arguments()["args"];
  const json_view variables = c.arguments()["env"];
  if (arguments.size() > bounds.exec_arguments_max)
    return too_much("args: the number of arguments is", arguments.size(), bounds.exec_arguments_max,
                    "call several times with a part each");
  if (variables.size() > bounds.exec_variables_max)
    return too_much("env: the number of variables is", variables.size(), bounds.exec_variables_max,
                    "give only those that the command needs");
  std::uint64_t total = 0;
  std::optional<tool_result> refused;
  const auto add = [&](auto name, std::uint64_t bytes) {
    total += bytes + 1; // the NUL that ends it
    if (bytes > argument_bytes_max && !refused)
      refused = too_much(name() + ": the number of bytes is", bytes, argument_bytes_max, shorter);
  };
  std::size_t index = 0;
  for (const char* const name : {"command", "script"})
    add([&] { return std::string(name); }, text_argument(c, name).size());
  arguments.for_each_element([&](json_view v) {
    add([&] { return "args[" + std::to_string(index) + "]"; }, v.string().value_or("").size());
    ++index;
  });
  variables.for_each_member([&](std::string_view name, json_view v) {
    add([&] { return "env: " + shown(name); }, name.size() + 1 + v.string().value_or("").size());
  });
  if (!refused && total > bounds.exec_argument_bytes_max)
    refused = too_much("the bytes of all arguments and variables together are", total,
                       bounds.exec_argument_bytes_max, shorter);
  return refused;
}

/// The coding set takes one of two; in base the table of parameters has asked for the command.
std::optional<tool_result> refuse_unclear(const call& c) {
  const bool has_command = c.arguments()["command"].exists();
  const bool has_script = c.arguments()["script"].exists();
  if (has_command != has_script) return std::nullopt;
  return tool_result::failure(error_code::invalid_argument,
                              has_command
                                  ? "command and script: give one of them: script is shell text, "
                                    "command one program"
                                  : "script is missing: give shell text as script, or one program "
                                    "as command");
}

std::vector<std::string> strings_of(json_view array) {
  std::vector<std::string> out;
  array.for_each_element(
      [&](json_view v) { out.emplace_back(v.string().value_or(std::string_view())); });
  return out;
}

/// For whoever asks for an editor, as git does for a message, nobody can type: else it would wait
/// until the deadline. By itself and behind a shell it fails, and git tells of it.
constexpr std::string_view no_editor =
    "EDITOR=sh -c \"echo 'no editor: use git commit -m and the like, or set EDITOR' >&2; exit 1\"";

void refuse_editors(command& run) {
  constexpr std::string_view choices[] = {"EDITOR=", "VISUAL=", "GIT_EDITOR="};
  const bool is_chosen = std::ranges::any_of(run.environment, [&](const std::string& variable) {
    return std::ranges::any_of(choices, [&](auto name) { return variable.starts_with(name); });
  });
  if (!is_chosen) run.environment.emplace_back(no_editor);
}

std::optional<tool_result> set_environment(const workspace_state& state, const call& c,
                                           command& run) {
  std::vector<environment_variable> extra;
  c.arguments()["env"].for_each_member([&](std::string_view name, json_view value) {
    extra.push_back({std::string(name), std::string(value.string().value_or(std::string_view()))});
  });
  std::vector<std::string_view> inherited;
  for (const char* const* entry = sys::environment(); entry != nullptr && *entry != nullptr;
       ++entry)
    inherited.emplace_back(*entry);
  std::vector<std::string> pass = state.options.pass_environment;
  for (const std::string& assignment : state.options.set_environment) {
    inherited.emplace_back(assignment);
    pass.push_back(assignment.substr(0, assignment.find('=')));
  }
  environment_refusal refusal;
  const bool is_confined = run.confinement.file_system == demand::required;
  auto built =
      build_environment({.inherited = inherited,
                         .pass = pass,
                         .extra = extra,
                         .place = is_confined ? command_place::confined : command_place::host},
                        &refusal);
  if (!built)
    return tool_result::failure(built.error().code, "env: the variable " + shown(refusal.name) +
                                                        " " + std::string(refusal.reason) +
                                                        "; call again without it");
  run.environment = *std::move(built);
  const bool in_terminal = c.arguments()["tty"].boolean().value_or(false);
  if (state.options.tools != toolset::base && !in_terminal) refuse_editors(run);
  if (state.options.tools != toolset::base) adapt_to_network(run);
  return std::nullopt;
}

void set_program(const call& c, command& run) {
  run.argv = strings_of(c.arguments()["args"]);
  const std::string script(text_argument(c, "script"));
  if (script.empty()) {
    run.argv.insert(run.argv.begin(), std::string(text_argument(c, "command")));
    return;
  }
  const std::string shell = installed_at(run, "bash") ? "bash" : "sh";
  run.argv.insert(run.argv.begin(), {shell, "-c", script, shell});
}

std::optional<tool_result> set_directory(const workspace_state& state, const call& c,
                                         command_request& r) {
  const std::string path = path_argument(c, "cwd");
  auto found = state.root->open_beneath(path, access::inspect);
  if (!found) return failure(found.error(), "cwd " + path);
  if (found->status.kind != entry_kind::directory)
    return failure({error_code::not_a_directory, 0, "exec"}, "cwd " + path,
                   "name a directory inside the workspace");
  r.directory = *std::move(found);
  r.run.working_directory = r.directory.fd.get();
  r.run.workspace = state.root->descriptor();
  return std::nullopt;
}

} // namespace

void adapt_to_network(command& run) {
  const auto add = [&](std::initializer_list<std::string_view> assignments) {
    for (const std::string_view assignment : assignments) {
      const std::string_view name = assignment.substr(0, assignment.find('=') + 1);
      if (std::ranges::none_of(run.environment, [&](const std::string& variable) {
            return variable.starts_with(name);
          }))
        run.environment.emplace_back(assignment);
    }
  };
  if (run.confinement.wanted(confinement_layer::network) == demand::off ||
      run.confinement.reach == network_reach::host_network)
    return;
  if (run.confinement.reach == network_reach::hosts) // a refused host stays refused
    return add({"npm_config_update_notifier=false", "npm_config_fetch_retry_mintimeout=100",
                "npm_config_fetch_retry_maxtimeout=1000", "CARGO_NET_RETRY=1", "PIP_RETRIES=1"});
  add({"npm_config_offline=true", "npm_config_update_notifier=false", "CARGO_NET_OFFLINE=true",
       "UV_OFFLINE=1", "PIP_RETRIES=0"});
}

std::optional<tool_result> prepare_command(const workspace_state& state, const call& c,
                                           command_request& r) {
  const limits& bounds = state.limits;
  if (auto refused = refuse_too_much(bounds, c)) return refused;
  if (auto refused = refuse_unclear(c)) return refused;
  r.run.confinement = state.options.confinement;
  r.run.kill_grace_ms = static_cast<std::int64_t>(bounds.exec_kill_grace_ms);
  r.run.output_bytes_max = bounds.exec_output_bytes_max;
  r.run.state_directory = state.options.state_directory;
  r.run.helper = state.options.exec_helper;
  if (auto refused = set_environment(state, c, r.run)) return refused;
  set_program(c, r.run);
  return set_directory(state, c, r);
}

std::string shown_hosts(const host_list& hosts) {
  constexpr std::size_t bytes_max = 300;
  const std::string all = hosts.text();
  if (all == "all") return "the Internet (TCP)";
  return "of the network, " +
         (all.size() <= bytes_max ? all : all.substr(0, all.rfind(',', bytes_max)) + " and others");
}

/// Short, because every model reads it: what programs usually have and these have not.
std::string surroundings_of_commands(const workspace_options& options) {
  const confinement_policy& policy = options.confinement;
  const bool sees_all = policy.wanted(confinement_layer::file_system) == demand::off;
  const bool reaches_all = policy.wanted(confinement_layer::network) == demand::off;
  if (sees_all && reaches_all) return " It is not confined: take care.";
  const bool is_sure = policy.wanted(confinement_layer::file_system) != demand::best_effort;
  std::string words = is_sure ? " It has " : " As far as this system can confine it, it has ";
  if (reaches_all)
    words += "the network";
  else if (policy.reach == network_reach::hosts)
    words += "a loopback of its own and " + shown_hosts(policy.hosts);
  else
    words += policy.reach == network_reach::loopback ? "no network but a loopback of its own"
                                                     : "no network";
  if (sees_all) return words + ".";
  words += confine::shares_scratch(policy) && policy.scratch->os_errno == 0
               ? "; a /tmp and HOME that commands share, empty at first, until this server ends"
               : "; a /tmp and HOME of its own, empty, that end with it";
  words += "; outside the workspace only installed programs, read-only";
  if (!options.home_tools.empty() && options.home_tools != "none")
    words += ", those of HOME (" + options.home_tools + ") too";
  if (!options.package_caches.empty() && options.package_caches != "none")
    words += "; packages fetched before (" + options.package_caches + ") can be installed";
  const bool is_more_named =
      !policy.write_paths.empty() || (options.home_tools.empty() && !policy.read_paths.empty());
  return words + (is_more_named ? ", and what the user has named." : ".");
}

} // namespace paddock::mcp
