// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_programs.hpp"

#include "exec/search_path.hpp"

#include <paddock/exec/environment.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <vector>

namespace paddock::mcp {
namespace {

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

std::optional<std::string> installed_at(const command& run, std::string_view name) {
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
