// SPDX-License-Identifier: MIT
#include "workspace_cli.hpp"

#include "option_values.hpp"
#include "output.hpp"
#include "terminal.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/environment.hpp>
#include <paddock/mcp/skills.hpp>
#include <paddock/version.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace paddock::cli {
namespace {

constexpr const char* instructions = "Tools for one workspace directory. Paths are relative to it; "
                                     "nothing outside it can be reached. "
                                     "Read a file before you edit it, and read large files in "
                                     "parts. Keep a todo list for longer work "
                                     "and finish with attemptCompletion.";

/// In the order in which the option's text names them.
template <class Enum> using words_of = std::vector<std::pair<std::string, Enum>>;

template <class Enum, class Target>
void add_word(CLI::App& app, const std::string& name, Target& target, const words_of<Enum>& choices,
              const std::string& text) {
  std::string names;
  for (const auto& [word, value] : choices)
    names += (names.empty() ? "{" : ",") + word;
  app.add_option(name, target, text)
      ->transform(word_of(std::map<std::string, Enum>(choices.begin(), choices.end())))
      ->type_name(names + "}");
}

/// A tool that another set has is a matter of the option; the rest the library says.
std::string refused_selection(const mcp::workspace_options& asked, const detailed_error& refusal) {
  const auto all = mcp::workspace_tool_names(mcp::toolset::coding);
  const auto known = mcp::workspace_tool_names(asked.tools);
  for (const auto* list : {&asked.pick, &asked.omit})
    for (const std::string& name : *list) {
      if (std::ranges::find(known, name) != known.end()) continue;
      if (std::ranges::find(all, name) == all.end()) return explain(refusal);
      return "the tool " + name + " is one of --tools coding";
    }
  return explain(refusal);
}

std::string check_extension(const std::string& text) {
  if (text.size() > 1 && text.starts_with('.') && text.find('/') == std::string::npos) return {};
  return fit(text, shown_characters_max) + " is no extension; write .md or .md,.txt";
}

std::string check_proxy(const std::string& given) {
  host_list one;
  if (one.add(given).empty() && one.rules().size() == 1) {
    const host_rule& rule = one.rules().front();
    const bool is_host = rule.to == host_rule::target::name ||
                         (rule.to == host_rule::target::addresses && rule.prefix_bits == 128 &&
                          given.find_first_of("/[") == std::string::npos);
    if (is_host && rule.port != 0 && rule.says == host_rule::verdict::allow) return {};
  }
  const bool is_here = given.starts_with("localhost:") || given.starts_with("127.0.0.1:");
  if (is_here && one.add("local" + given.substr(given.find(':'))).empty()) return {};
  return fit(given, shown_characters_max) +
         " is no proxy; write HOST:PORT, as proxy.example.org:3128, without http:// and a password";
}

std::string check_variable(const std::string& name) {
  const std::string shown = fit(name, shown_characters_max);
  if (!detail::environment::is_variable_name(name))
    return shown + " is not the name of a variable; its value is that of this program's own " +
           "environment, which is set by starting it so: A=1 paddock-mcp --pass-env A";
  if (const auto reason = refusal_of(name))
    return shown + " is never passed on: it " + std::string(*reason);
  return {};
}

} // namespace

void add_network_options(CLI::App& app, confinement_cli& target) {
  const auto read = [&target](const std::string& given) -> std::string {
    constexpr std::string_view allow = "allow:";
    constexpr std::pair<std::string_view, network_reach> words[] = {
        {"none", network_reach::none},
        {"loopback", network_reach::loopback},
        {"host", network_reach::host_network}};
    target.hosts = {};
    target.reach = network_reach::hosts;
    if (given == "all") return target.hosts.add(given);
    if (given.starts_with(allow)) return target.hosts.add(given.substr(allow.size()));
    const auto* const found =
        std::ranges::find(words, given, [](const auto& word) { return word.first; });
    if (found == std::end(words))
      return fit(given, shown_characters_max) +
             " is not one of: none, loopback, allow:HOST[:PORT],…, all, host";
    target.reach = found->second;
    return {};
  };
  app.add_option(
         "--network",
         "Let commands reach none, loopback (one of their own; the default where the "
         "system has it), the hosts of a list (allow:HOST[:PORT],… or a set as @npm; see "
         "docs/network.md), all (the Internet, but no service of this machine or of private "
         "networks), or host (whatever this machine reaches)")
      ->type_name("{none,loopback,allow:HOSTS,all,host}")
      ->check(CLI::Validator(read, ""));
  app.add_option("--egress-proxy", target.egress_proxy,
                 "Use this proxy to reach the hosts of --network allow:")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator([](const std::string& given) { return check_proxy(given); }, ""))
      ->group(seldom_used);
}

void add_bound_options(CLI::App& app, confinement_cli& target) {
  const auto bound = [&](const char* name, const char* unit, std::uint64_t& value,
                         std::uint64_t least, const char* text) {
    const bool is_size = std::string_view(unit) == "BYTES";
    app.add_option(name, value, text)
        ->type_name(unit)
        ->transform((is_size ? byte_count : whole_number)(INT64_MAX, least));
  };
  constexpr std::uint64_t memory_bytes_min = 1024 * 1024; // with less no program starts
  bound("--max-memory", "BYTES", target.bounds.memory_bytes, memory_bytes_min,
        "Limit the memory of a command and its children, where a control group is available; "
        "otherwise of each process");
  bound("--max-pids", "COUNT", target.bounds.processes, 1,
        "Limit the processes and threads of a command, where a control group is available; "
        "otherwise of this user");
  bound("--max-file-size", "BYTES", target.bounds.file_size_bytes, 1,
        "Limit the size of each file that a command writes");
}

void add_home_options(CLI::App& app, confinement_cli& target) {
  app.add_flag("--home-tools", target.home_tools,
               "Let commands use toolchains in your home directory (rustup, nvm, fnm, pyenv, uv, "
               "pipx, go, ~/.local/bin); doctor lists them");
  app.add_flag(
      "--package-cache", target.package_caches,
      "Let commands install from the package caches in your home directory, without changing them "
      "(npm, pnpm, yarn, pip, uv, cargo, go, maven, gradle); doctor lists them");
  app.add_flag("--git-worktree", target.git_worktree,
               "Let commands commit in a workspace that is a worktree of a git repository outside: "
               "they change its objects, its refs and this worktree's own directory, but not its "
               "configuration or hooks");
}

namespace {

void add_exec_options(CLI::App& app, confinement_cli& target) {
  add_word<exec_choice>(app, "--exec", target.mode,
                        {{"confined", exec_choice::confined},
                         {"best-effort", exec_choice::best_effort},
                         {"host", exec_choice::host},
                         {"off", exec_choice::off}},
                        "Run commands confined (the default; refuse what cannot be confined), "
                        "best-effort (as confined as this system allows), host (unconfined, with "
                        "all rights of this user), or off (never)");
  add_network_options(app, target);
  const auto path_list = [&](const std::string& name, std::vector<std::string>& paths,
                             const std::string& text) {
    app.add_option(name, paths, text)->allow_extra_args(false)->type_name("PATH");
  };
  add_home_options(app, target);
  add_word<scratch_life>(
      app, "--scratch", target.scratch,
      {{"call", scratch_life::call}, {"session", scratch_life::session}},
      "Keep what commands leave in /tmp and HOME until the command ends (call, the default of "
      "base), or for all commands until the server ends (session, the default of coding)");
  add_bound_options(app, target);
  path_list("--exec-read", target.read_paths, "Let commands read this path too (repeatable)");
  path_list("--exec-write", target.write_paths, "Let commands change this path too (repeatable)");
  app.add_flag("--require-confinement", target.require_all,
               "Refuse to run commands if any confinement layer is missing");
}

void add_skills_options(CLI::App& app, skills_options_cli& target) {
  app.add_flag("--skills", target.wanted,
               "Serve the skills in .agents/skills and .agents/sys.skills: tell the model of them, "
               "and offer ReadFile");
  app.add_option("--skills-root", target.root,
                 "Serve the skills of the .agents in this directory, and let ReadFile read it "
                 "(default: the workspace)")
      ->needs("--skills")
      ->type_name("DIR");
  app.add_option("--skills-read-extensions", target.read.extensions,
                 "Let ReadFile read files with these extensions (default "
                 ".md,.cs,.py,.txt,.json,.yml,.yaml)")
      ->needs("--skills")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(check_extension, "")
      ->type_name("EXTENSIONS");
}

/// What --skills adds to a server.
struct skills_offer {
  mcp::tool read_file;
  std::vector<mcp::extension> extensions;
  std::function<std::string()> instructions;
};

std::optional<skills_offer> offer_skills(std::string_view program, const workspace_cli& from,
                                         std::shared_ptr<const paddock::root> workspace,
                                         const std::shared_ptr<memory_budget>& memory) {
  const skills_options_cli& wanted = from.skills;
  std::shared_ptr<const paddock::root> root = std::move(workspace);
  if (!wanted.root.empty()) {
    auto opened = paddock::root::open(wanted.root, from.protected_root());
    if (!opened) {
      complain(program, "the skills' directory " + wanted.root +
                            " cannot be used: " + std::string(text(opened.error().code)));
      return std::nullopt;
    }
    root = std::make_shared<const paddock::root>(*std::move(opened));
  }
  auto opened = skill_store::open(root, {.durability = from.tools.durability});
  if (!opened) {
    complain(program, "the skills cannot be used: " + std::string(text(opened.error().code)));
    return std::nullopt;
  }
  const auto store = std::make_shared<const skill_store>(*std::move(opened));
  allowed_file_options read = wanted.read;
  const limits chosen = from.chosen_limits();
  read.bytes_max = chosen.read_bytes_max;
  skills_offer offer{.read_file = mcp::read_file_tool(root, std::move(read), chosen, memory),
                     .instructions = mcp::skill_instructions(store)};
  if (auto extension = mcp::skills_extension(store, chosen, memory))
    offer.extensions.push_back(*std::move(extension));
  return offer;
}

} // namespace

void add_workspace_options(CLI::App& app, workspace_cli& target) {
  app.add_option("-w,--workspace", target.workspace,
                 "Work in this directory (default: the current directory)")
      ->type_name("DIR");
  add_word<mcp::toolset>(
      app, "--tools", target.tools.tools,
      {{"base", mcp::toolset::base}, {"coding", mcp::toolset::coding}},
      "Offer base (17 tools, the default) or coding (adds search, edits of many files, "
      "processes and undo)");
  app.add_flag_callback(
      "--read-only", [&] { target.tools.access = mcp::workspace_access::read_only; },
      "Offer only tools that change nothing; exec is left out too");
  app.add_option("--pick", target.tools.pick,
                 "Offer only these tools; separate names by commas (repeatable)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  app.add_option("--omit", target.tools.omit,
                 "Leave out these tools; separate names by commas (repeatable)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  app.add_option("--history", target.history,
                 "Keep the history for undo in this directory, or off (default: off for base; for "
                 "coding $XDG_STATE_HOME/paddock)")
      ->type_name("DIR|off");
  add_exec_options(app, target.confinement);
  add_protection_options(app, target.confinement.protection);
  add_skills_options(app, target.skills);
  app.add_option("--pass-env", target.tools.pass_environment,
                 "Pass these environment variables on to commands too; separate names by commas "
                 "(repeatable)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(check_variable, "")
      ->type_name("NAMES");
  app.add_flag_callback(
      "--one-filesystem", [&] { target.root.mounts = mounts::refuse; },
      "Refuse to enter other file systems mounted in the workspace");
  add_word<durability>(
      app, "--fsync", target.tools.durability,
      {{"none", durability::none}, {"data", durability::data}, {"full", durability::full}},
      "Flush none of a file (the default), its data, or in full with its directory entry, before a "
      "write is reported");
  add_word<resolver>(
      app, "--resolver", target.root.resolver,
      {{"auto", resolver::automatic}, {"openat2", resolver::openat2}, {"walker", resolver::walker}},
      "Resolve paths by openat2 where the system allows it (auto, the default), only by openat2, "
      "or by a walker of our own");
  add_limit_option(app, target);
  for (const char* name :
       {"--max-pids", "--max-file-size", "--require-confinement", "--skills-root",
        "--skills-read-extensions", "--one-filesystem", "--fsync", "--resolver"})
    app.get_option(name)->group(seldom_used);
}

void group_server_options(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->nonpositional() && !option->check_name("--workspace") &&
        !option->check_name("--tools") && !option->check_name("--help"))
      option->group(seldom_used);
  app.set_help_all_flag("--help-all", "Print all options and limits, and exit");
}

std::string unusable_workspace(const std::string& path, error_code why) {
  std::string message = "the workspace " + path + " cannot be used: " + std::string(text(why));
  if (why == error_code::not_found)
    return message + "; create it, or name another directory with --workspace";
  if (why == error_code::not_a_directory || why == error_code::permission_denied)
    return message + "; name a directory that this user may read with --workspace";
  return message + "; " + std::string(advice(why));
}

std::shared_ptr<const root> open_workspace(std::string_view program, const workspace_cli& from) {
  if (const auto wrong = contradiction(from); !wrong.empty()) {
    complain(program, wrong);
    return nullptr;
  }
  auto opened = root::open(from.workspace, from.protected_root());
  if (opened) return std::make_shared<const root>(*std::move(opened));
  complain(program, unusable_workspace(from.workspace, opened.error().code));
  return nullptr;
}

std::optional<mcp::server> make_server(std::string_view program, const workspace_cli& from,
                                       std::shared_ptr<const root> workspace,
                                       mcp::server_options options) {
  mcp::workspace_options chosen = from.tools;
  chosen.limits = options.limits = from.chosen_limits();
  if (chosen.tools == mcp::toolset::base) options.unknown_tool_hint = mcp::missing_tool_hint;
  if (chosen.access == mcp::workspace_access::read_only && chosen.pick.empty())
    options.unknown_tool_hint = [names = mcp::workspace_tool_names(chosen.tools),
                                 omitted = chosen.omit](std::string_view name) {
      if (std::ranges::find(omitted, name) != omitted.end()) return std::string();
      return std::ranges::find(names, name) != names.end() ? "; --read-only leaves it out"
                                                           : mcp::missing_tool_hint(name);
    };
  if (from.confinement.mode == exec_choice::off) chosen.exec = mcp::exec_mode::off;
  auto policy = from.policy(program);
  if (!policy) return std::nullopt;
  chosen.confinement = *std::move(policy);
  chosen.set_environment = from.set_environment();
  if (from.confinement.home_tools) chosen.home_tools = names_of(from.home.tools());
  if (from.confinement.package_caches) chosen.package_caches = names_of(from.home.caches());
  chosen.warning = program_in_workspace(from);
  if (chosen.warning.empty()) chosen.warning = repository_out_of_reach(from);
  const auto memory = std::make_shared<memory_budget>(options.limits.memory_bytes_max);
  chosen.memory = memory;
  auto tools = mcp::workspace_tools(workspace, std::move(chosen));
  if (!tools) {
    complain(program, refused_selection(from.tools, tools.error()));
    return std::nullopt;
  }
  options.name = "paddock";
  options.title = "Paddock workspace";
  options.version = PADDOCK_VERSION;
  options.instructions = instructions;
  if (!from.skills.wanted) return mcp::server(std::move(options), *std::move(tools));
  auto offer = offer_skills(program, from, std::move(workspace), memory);
  if (!offer) return std::nullopt;
  tools->push_back(std::move(offer->read_file));
  options.current_instructions = std::move(offer->instructions);
  return mcp::server(std::move(options), *std::move(tools), std::move(offer->extensions));
}

const mcp::tool* find_tool(std::string_view program, const mcp::server& server,
                           std::string_view name) {
  for (const auto& tool : server.tools())
    if (tool.name == name) return &tool;
  std::vector<std::string_view> names;
  for (const auto& tool : server.tools())
    names.push_back(tool.name);
  const bool is_of_skills = name == "ReadFile";
  complain(program, is_of_skills ? "the tool ReadFile is there with --skills only; readTextFile "
                                   "reads files of the workspace"
                                 : mcp::no_such_tool(name, names));
  return nullptr;
}

void list_tools(const mcp::server& server) {
  for (const auto& tool : server.tools())
    print_words("%-18s %s\n", tool.name.c_str(), tool.description.c_str());
}

} // namespace paddock::cli
