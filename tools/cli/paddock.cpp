// SPDX-License-Identifier: MIT

// paddock: the command for people. Every subcommand has a source of its own.

#include "subcommands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace cli = paddock::cli;

struct row {
  std::string_view name;
  cli::subcommand (*add)(CLI::App&);
  std::string_view group; ///< of the help
};
/// In the order of the help.
constexpr row table[] = {{"search", cli::add_search, "Look"},
                         {"find", cli::add_find, "Look"},
                         {"changes", cli::add_changes, "Look"},
                         {"diff", cli::add_diff, "Look"},
                         {"review", cli::add_review, "Look"},
                         {"apply", cli::add_apply, "Change"},
                         {"undo", cli::add_undo, "Change"},
                         {"checkpoint", cli::add_checkpoint, "Change"},
                         {"exec", cli::add_exec, "Run"},
                         {"call", cli::add_call, "Run"},
                         {"ps", cli::add_ps, "Run"},
                         {"skills", cli::add_skills, "Set up"},
                         {"experts", cli::add_experts, "Set up"},
                         {"doctor", cli::add_doctor, "Set up"},
                         {"map", cli::add_map, cli::named_only},
                         {"history", cli::add_history, cli::named_only},
                         {"tools", cli::add_tools, cli::named_only},
                         {"logs", cli::add_logs, cli::named_only},
                         {"stop", cli::add_stop, cli::named_only},
                         {"demo", cli::add_demo, cli::named_only}};

/// Whether the command follows the workspace.
bool begins_with_workspace(std::span<char* const> words) {
  const std::string_view first = words.size() > 3 ? words[1] : "";
  return first == "-w" || first == "--workspace";
}

/// `paddock -w DIR search X` is `paddock search --workspace DIR X`.
std::vector<char*> with_workspace_behind(const CLI::App& app, std::vector<char*> words) {
  static std::array<char, 12> option{"--workspace"};
  if (!begins_with_workspace(words)) return words;
  char* const directory = words[2];
  words.erase(words.begin() + 1, words.begin() + 3);
  auto behind = words.begin() + 1;
  for (const CLI::App* at = &app; behind != words.end(); ++behind) {
    const auto named =
        at->get_subcommands([&](const CLI::App* each) { return each->get_name() == *behind; });
    if (named.empty()) break;
    at = named.front();
  }
  words.insert(behind, {option.data(), directory});
  return words;
}

} // namespace

int main(int argc, char** argv) {
  // `paddock help exec` is `paddock exec --help`.
  std::array<char, 7> help{"--help"};
  if (argc >= 2 && std::string_view(argv[1]) == "help") {
    for (int i = 1; i + 1 < argc; ++i)
      argv[i] = argv[i + 1];
    argv[argc - 1] = help.data();
  }
  const std::string program(cli::paddock_program);
  CLI::App app("Try and inspect the sandboxed workspace tools of AI agents.", program);
  cli::add_version_option(app);
  app.footer(cli::exit_codes_help);
  app.require_subcommand(1);
  std::vector<cli::subcommand> commands;
  // The options of all commands take longer to set up than most commands to run.
  const std::size_t at = begins_with_workspace({argv, argv + argc}) ? 3 : 1;
  const std::string_view named = argc > 1 ? argv[at] : "";
  const bool is_named = (argc == 2 && named == "--version") ||
                        std::ranges::find(table, named, &row::name) != std::end(table);
  for (const row& each : table) {
    if (is_named && each.name != named) continue;
    commands.push_back(each.add(app));
    commands.back().parser->group(std::string(each.group));
  }
  std::vector<char*> words = with_workspace_behind(app, {argv, argv + argc});
  if (const auto done = cli::parse(app, static_cast<int>(words.size()), words.data())) return *done;
  for (const cli::subcommand& each : commands)
    if (each.parser->parsed()) return each.run();
  return cli::usage; // not reached: one is required
}
