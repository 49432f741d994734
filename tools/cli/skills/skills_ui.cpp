// SPDX-License-Identifier: MIT

// paddock skills ui: the page for people.

#include "cli/skills/skills_cli.hpp"
#include "common/option_values.hpp"
#include "skills_page/page.hpp"

#include <cstdint>

namespace paddock::cli {
namespace {

struct ui_options {
  std::string root = ".";
  std::uint16_t port = 0;
};

} // namespace

subcommand add_skills_ui(CLI::App& skills) {
  const auto options = std::make_shared<ui_options>();
  CLI::App* parser = skills.add_subcommand(
      "ui", "Serve a local web page that does all of this, and print its address");
  parser->footer(exit_codes_help);
  parser
      ->add_option("--root", options->root,
                   "Use the .agents/skills in this directory (default: the current directory)")
      ->type_name("DIR");
  parser->add_option("--port", options->port, "Listen on this port (default 0: any free port)")
      ->type_name("N")
      ->check(whole_number(65'535));
  return {parser, [options] {
            return skills_page::run_skills_page({.root = options->root, .port = options->port});
          }};
}

} // namespace paddock::cli
