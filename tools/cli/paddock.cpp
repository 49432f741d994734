// SPDX-License-Identifier: MIT

// paddock: the command for people. Every subcommand has a source of its own.

#include "subcommands.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <vector>

namespace {

/// `paddock -w DIR search X` is `paddock search --workspace DIR X`.
std::vector<char*> with_workspace_behind(const CLI::App& app, std::vector<char*> words) {
  static std::array<char, 12> option{"--workspace"};
  const std::string_view first = words.size() > 3 ? words[1] : "";
  if (first != "-w" && first != option.data()) return words;
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
  using namespace paddock;
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
  const struct {
    const char* name; // of a group in the help
    std::vector<cli::subcommand> members;
  } groups[] = {{"Look",
                 {cli::add_search(app), cli::add_find(app), cli::add_changes(app),
                  cli::add_diff(app), cli::add_review(app)}},
                {"Change", {cli::add_apply(app), cli::add_undo(app), cli::add_checkpoint(app)}},
                {"Run", {cli::add_exec(app), cli::add_call(app), cli::add_ps(app)}},
                {"Set up", {cli::add_skills(app), cli::add_experts(app), cli::add_doctor(app)}},
                {cli::named_only,
                 {cli::add_map(app), cli::add_history(app), cli::add_tools(app), cli::add_logs(app),
                  cli::add_stop(app), cli::add_demo(app)}}};
  for (const auto& group : groups)
    for (const auto& each : group.members)
      each.parser->group(group.name);
  std::vector<char*> words = with_workspace_behind(app, {argv, argv + argc});
  if (const auto done = cli::parse(app, static_cast<int>(words.size()), words.data())) return *done;
  for (const auto& group : groups)
    for (const auto& each : group.members)
      if (each.parser->parsed()) return each.run();
  return cli::usage; // not reached: one is required
}
