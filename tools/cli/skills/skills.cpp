// SPDX-License-Identifier: MIT

// paddock skills: the skills of a directory, for people.

#include "cli/skills/skills_cli.hpp"
#include "common/history_cli.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"

#include <paddock/base/detail/visible_text.hpp>

#include <CLI/CLI.hpp>
#include <utility>

namespace paddock::cli {
CLI::App* add_skills_command(CLI::App& skills, const std::string& name, const std::string& text,
                             skills_cli& target) {
  CLI::App* parser = skills.add_subcommand(name, text);
  parser->footer(exit_codes_help);
  parser
      ->add_option("--root", target.root,
                   "Use the .agents/skills in this directory (default: the current directory)")
      ->type_name("DIR");
  parser->add_flag_callback(
      "--json", [&] { target.form = output::json; }, "Print JSON");
  return parser;
}

std::optional<skill_store> open_store(const skills_cli& from) {
  auto opened = root::open(from.root);
  if (!opened) {
    const auto code = opened.error().code;
    const char* const next = code == error_code::not_found
                                 ? "; make it, or give another with --root"
                                 : "; give a directory with --root that holds .agents/skills";
    complain(skills_program,
             "the directory " + from.root + " cannot be used: " + std::string(text(code)) + next);
    return std::nullopt;
  }
  auto store = skill_store::open(
      std::make_shared<const root>(*std::move(opened)),
      {.durability = durability::full, .state_directory = default_history_directory()});
  if (!store) {
    const auto code = store.error().code;
    const std::string next = code == error_code::not_a_directory
                                 ? ".agents, .agents/skills and .agents/sys.skills have to be "
                                   "directories; move away what is there"
                                 : std::string(advice(code));
    complain(skills_program, "the skills of " + from.root +
                                 " cannot be used: " + std::string(text(code)) + "; " + next);
    return std::nullopt;
  }
  return *std::move(store);
}

int fail(std::string_view subject, const error& e) {
  const std::string message =
      std::string(subject).append(": ").append(text(e.code)).append("; ").append(advice(e.code));
  complain(skills_program, fit(message, message.size()));
  return failed;
}

int fail_skill(const std::string& id, const error& e) {
  const auto complain_of = [&](const std::string& message) {
    complain(skills_program, fit(message, message.size()));
    return static_cast<int>(failed);
  };
  if (e.code == error_code::not_found)
    return complain_of((id.empty() ? "an id is not empty" : "there is no skill " + id) +
                       "; paddock skills list shows which there are");
  if (e.code == error_code::read_only && std::string_view(e.operation) == "system skill")
    return complain_of(id + " is a system skill, which is changed only by hand; make a user skill "
                            "of another id");
  if (e.code == error_code::already_exists && std::string_view(e.operation) == "system skill")
    return complain_of("there is a system skill " + id + " already; choose another id");
  if (e.code == error_code::already_exists)
    return complain_of("there is a skill " + id +
                       " already; choose another id, or change it with edit");
  if (e.code == error_code::invalid_argument && std::string_view(e.operation) == "id")
    return complain_of(id + " cannot be an id; use letters, digits and hyphens");
  if (e.code == error_code::invalid_argument && std::string_view(e.operation) == "frontmatter")
    return complain_of(
        "the SKILL.md of " + id +
        " is unchanged: its frontmatter is written in a way (anchors, explicit keys, "
        "two of one key, no closing line) that cannot be edited without breaking it; "
        "change it in an editor, and see what validate says");
  if (e.code == error_code::invalid_argument)
    return complain_of(
        std::string("the ") + e.operation +
        " cannot be used; give one line of text that is not empty and has no invisible characters");
  return fail("the skill " + id, e);
}

void print_line(const mcp::json_writer& out) {
  print_json_line(out.str());
}

std::string line_of(std::string_view path, const frontmatter::diagnostic& d, std::string_view key) {
  const bool is_error = level(d.code) == frontmatter::severity::error;
  std::string line = fit(path, path.size());
  line.append(":").append(std::to_string(d.line)).append(":").append(std::to_string(d.column));
  line.append(is_error ? ": error: " : ": warning: ");
  if (!key.empty()) line.append(fit(key, shown_characters_max)).append(": ");
  line.append(text(d.code));
  if (d.character != 0) {
    const char* const name = detail::hidden_name(d.character);
    line.append(": ").append(code_point_of(d));
    if (name != nullptr) line.append(", ").append(name);
  }
  return line.append(" [").append(wire_name(d.code)).append("]");
}

subcommand add_skills(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("skills", "List, check, change and import skills");
  parser->footer(exit_codes_help);
  parser->require_subcommand(1);
  const std::vector<subcommand> subcommands = {
      add_skills_list(*parser),   add_skills_show(*parser),   add_skills_validate(*parser),
      add_skills_add(*parser),    add_skills_edit(*parser),   add_skills_delete(*parser),
      add_skills_import(*parser), add_skills_prompt(*parser), add_skills_files(*parser),
      add_skills_ui(*parser)};
  return {parser, [subcommands] {
            for (const subcommand& each : subcommands)
              if (each.parser->parsed()) return each.run();
            return static_cast<int>(usage); // not reached: one is required
          }};
}

} // namespace paddock::cli
