// SPDX-License-Identifier: MIT

// paddock: the command for people. Every subcommand has a source of its own.

#include "subcommands.hpp"

#include <paddock/version.hpp>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

int main(int argc, char** argv) {
  using namespace paddock;
  // `paddock help exec` is `paddock exec --help`.
  std::array<char, 7> help{"--help"};
  if (argc >= 2 && std::string_view(argv[1]) == "help") {
    for (int i = 1; i + 1 < argc; ++i)
      argv[i] = argv[i + 1];
    argv[argc - 1] = help.data();
  }
  const std::string program(cli::paddock_program);
  CLI::App app("Sandboxed workspace tools for AI agents, for people to try and to examine.",
               program);
  app.set_version_flag("--version", program + " " PADDOCK_VERSION);
  app.footer(cli::exit_codes_help);
  app.require_subcommand(0, 1); // none gets a better message below
  const cli::subcommand subcommands[] = {
      cli::add_call(app),       cli::add_search(app),  cli::add_find(app),   cli::add_map(app),
      cli::add_apply(app),      cli::add_changes(app), cli::add_diff(app),   cli::add_undo(app),
      cli::add_checkpoint(app), cli::add_history(app), cli::add_review(app), cli::add_tools(app),
      cli::add_exec(app),       cli::add_ps(app),      cli::add_logs(app),   cli::add_stop(app),
      cli::add_skills(app),     cli::add_experts(app), cli::add_demo(app),   cli::add_doctor(app)};
  if (const auto done = cli::parse(app, argc, argv)) return *done;
  for (const auto& each : subcommands)
    if (each.parser->parsed()) return each.run();
  cli::complain(
      program,
      "say what to do: call, search, find, map, apply, changes, diff, undo, checkpoint, "
      "history, review, tools, exec, ps, logs, stop, skills, experts, demo or doctor (see --help)");
  return cli::usage;
}
