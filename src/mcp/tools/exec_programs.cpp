// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_programs.hpp"

#include "exec/search_path.hpp"

#include <paddock/exec/environment.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace paddock::mcp {
namespace {

using words = std::span<const std::string_view>;

/// What has to be among the arguments.
enum class wants : bool {
  nothing,
  address, ///< scheme://…, but not file://, or HOST:PATH as ssh has it
};

struct network_program {
  std::string_view name;
  std::string_view subcommand; ///< its first argument that is no option, when only that fetches
  wants argument = wants::nothing;
};

constexpr network_program network_programs[] = {
    {"npm", "install"},
    {"npm", "i"},
    {"npm", "ci"},
    {"npm", "add"},
    {"npm", "update"},
    {"npm", "view"},
    {"npm", "publish"},
    {"npx", {}},
    {"yarn", "install"},
    {"yarn", "add"},
    {"pnpm", "install"},
    {"pnpm", "i"},
    {"pnpm", "add"},
    {"pip", "install"},
    {"pip", "download"},
    {"pip3", "install"},
    {"pip3", "download"},
    {"uv", "sync"},
    {"cargo", "install"},
    {"cargo", "fetch"},
    {"cargo", "update"},
    {"go", "get"},
    {"go", "install"},
    {"gem", "install"},
    {"bundle", "install"},
    {"apt", "update"},
    {"apt", "install"},
    {"apt-get", "update"},
    {"apt-get", "install"},
    {"git", "clone", wants::address},
    {"git", "fetch"},
    {"git", "pull"},
    {"git", "push"},
    {"git", "ls-remote"},
    {"curl", {}, wants::address},
    {"wget", {}},
    {"ssh", {}},
    {"scp", {}, wants::address},
    {"rsync", {}, wants::address},
};

struct network_exit {
  std::string_view name;
  int exit_code;
};

constexpr network_exit network_exits[] = {{"curl", 6}, {"curl", 7}, {"wget", 4}};

bool is_address(std::string_view word) {
  if (const auto scheme = word.find("://"); scheme != std::string_view::npos)
    return !word.starts_with("file:");
  const auto colon = word.find(':');
  return !word.starts_with('-') && colon != std::string_view::npos && colon > 0 &&
         word.find('/') > colon && word.find('@') < colon;
}

/// `git -C DIR -c NAME=VALUE clone` has options with a value of their own before what it does.
std::string_view subcommand_of(words arguments, std::string_view program) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-')) return arguments[i];
    if (program == "git" && (arguments[i] == "-C" || arguments[i] == "-c")) ++i;
  }
  return {};
}

bool needs_network(words line) {
  if (line.empty()) return false;
  std::string_view program = file_name(line.front());
  words arguments = line.subspan(1);
  if (program.starts_with("python") && arguments.size() > 1 && arguments[0] == "-m") {
    program = arguments[1];
    arguments = arguments.subspan(2);
  }
  return std::ranges::any_of(network_programs, [&](const network_program& row) {
    return row.name == program &&
           (row.subcommand.empty() || row.subcommand == subcommand_of(arguments, program)) &&
           (row.argument == wants::nothing || std::ranges::any_of(arguments, is_address));
  });
}

/// The script of `sh -c SCRIPT`, or nothing.
std::string_view script_of(const command& run) {
  const std::string_view program = file_name(run.argv.front());
  const bool is_shell = program == "sh" || program == "bash" || program == "dash" ||
                        program == "zsh" || program == "ash";
  return is_shell && run.argv.size() > 2 && run.argv[1].ends_with('c') ? run.argv[2]
                                                                       : std::string_view();
}

std::vector<std::string_view> words_in(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> found;
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    found.push_back(line.substr(at, end - at));
    at = end;
  }
  return found;
}

bool script_needs_network(std::string_view script) {
  constexpr std::string_view ends = ";&|()\n";
  while (!script.empty()) {
    const std::size_t end = std::min(script.find_first_of(ends), script.size());
    if (needs_network(words_in(script.substr(0, end)))) return true;
    script.remove_prefix(std::min(end + 1, script.size()));
  }
  return false;
}

bool is_content_printer(words line) {
  constexpr std::string_view printers[] = {"cat",  "head", "tail", "less",   "more", "grep",
                                           "rg",   "ag",   "sed",  "awk",    "find", "ls",
                                           "diff", "jq",   "nl",   "strings"};
  constexpr std::string_view of_git[] = {"diff", "show", "log", "grep", "blame", "cat-file"};
  if (line.empty()) return false;
  const std::string_view program = file_name(line.front());
  if (program == "git") {
    const auto subcommand = subcommand_of(line.subspan(1), program);
    return std::ranges::find(of_git, subcommand) != std::end(of_git);
  }
  return std::ranges::find(printers, program) != std::end(printers);
}

std::string_view path_of(const command& run) {
  constexpr std::string_view name = "PATH=";
  for (const std::string& variable : run.environment)
    if (variable.starts_with(name)) return std::string_view(variable).substr(name.size());
  return {};
}

/// Among directories that both the server and the command search.
std::optional<std::string> installed(const command& run, std::string_view name) {
  const auto of_command = absolute_entries(path_of(run));
  for (const std::string_view directory : absolute_entries(run.confinement.search_path)) {
    if (std::ranges::find(of_command, directory) == of_command.end()) continue;
    std::string path = std::string(directory) + "/" + std::string(name);
    if (is_runnable(path)) return path;
  }
  return std::nullopt;
}

/// Whether the program is there, asked only of places that the command may know of.
bool is_known_program(const root& root, const command& run, std::string_view directory,
                      std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos) return installed(run, name).has_value();
  if (name.front() == '/') {
    const auto searched = absolute_entries(run.confinement.search_path);
    return std::ranges::find(searched, name.substr(0, slash)) != searched.end() &&
           is_runnable(std::string(name));
  }
  const auto found =
      root.open_beneath(std::string(directory) + "/" + std::string(name), access::inspect);
  return found && found->status.kind == entry_kind::file && (found->status.mode & 0111) != 0;
}

} // namespace

bool is_known_to_need_network(const command& run) {
  const std::vector<std::string_view> line(run.argv.begin(), run.argv.end());
  return needs_network(line) || script_needs_network(script_of(run));
}

bool prints_content(const command& run) {
  const std::vector<std::string_view> line(run.argv.begin(), run.argv.end());
  if (is_content_printer(line)) return true;
  std::string_view script = script_of(run);
  while (!script.empty()) { // what follows a pipe prints what another program says
    const std::size_t end = std::min(script.find_first_of(";&()\n"), script.size());
    if (is_content_printer(words_in(script.substr(0, end)))) return true;
    script.remove_prefix(std::min(end + 1, script.size()));
  }
  return false;
}

bool is_exit_code_for_network(const command& run, int exit_code) {
  const std::string_view program = file_name(run.argv.front());
  return std::ranges::any_of(network_exits, [&](const network_exit& row) {
    return row.name == program && row.exit_code == exit_code;
  });
}

std::optional<std::string> out_of_sight(const command& run, std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  return installed(run, name);
}

bool is_for_shell(std::string_view word) {
  constexpr std::string_view built_in[] = {"cd",    "export", "source", ".",    "alias",
                                           "unset", "set",    "eval",   "exec", "ulimit",
                                           "umask", "pushd",  "popd",   "type", "exit"};
  const std::size_t equals = word.find('=');
  return std::ranges::find(built_in, word) != std::end(built_in) ||
         (equals != std::string_view::npos &&
          detail::environment::is_variable_name(word.substr(0, equals)));
}

std::string as_arguments(const root& root, const command& run, std::string_view directory) {
  const std::string& line = run.argv.front();
  const std::size_t end = line.find_first_of(" \t\n");
  if (end == 0 || end == std::string::npos) return {};
  const std::string first = line.substr(0, end);
  constexpr std::string_view of_shells = "|&;<>()$`\\\"'*?[]#~%{}\n";
  const bool is_script = line.find_first_of(of_shells) != std::string::npos;
  const bool is_builtin = is_for_shell(first);
  const bool is_known = is_known_program(root, run, directory, first);
  if (!is_known && !(is_script && is_builtin)) return {};
  json_writer args;
  args.begin_array();
  if (is_script || is_builtin) {
    args.string("-c").string(line);
  } else {
    for (const std::string_view word : words_in(std::string_view(line).substr(end)))
      args.string(word);
    for (std::size_t i = 1; i < run.argv.size(); ++i)
      args.string(run.argv[i]);
  }
  args.end_array();
  if (args.str().size() > echo_characters_max) // a part of it would be no JSON
    return is_script || is_builtin
               ? R"(command "sh" with args ["-c", "…"], where the second is this line)"
               : R"(the first word as command, and each other word as one string of args)";
  json_writer program;
  program.string(is_script || is_builtin ? std::string_view("sh") : std::string_view(first));
  return "command " + program.str() + " with args " + args.str();
}

} // namespace paddock::mcp
