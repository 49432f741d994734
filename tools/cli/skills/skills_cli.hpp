// SPDX-License-Identifier: MIT
#pragma once

// What the subcommands of `paddock skills` share: which store they work on, and how skills,
// diagnostics and errors are shown.

#include "common/skill_json.hpp"
#include "common/subcommand.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill/store.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::cli {

inline constexpr std::string_view skills_program = "paddock skills";

enum class output : std::uint8_t { text, json };

struct skills_cli {
  std::string root = ".";
  output form = output::text;
};

/// Adds a subcommand with --root and --json, which fill `target`; it must live as long.
[[nodiscard]] CLI::App* add_skills_command(CLI::App& skills, const std::string& name,
                                           const std::string& text, skills_cli& target);

/// The store of the options; complains and returns nothing when it cannot be used.
[[nodiscard]] std::optional<skill_store> open_store(const skills_cli& from);

/// Complains of an error about `subject`; returns the exit code.
[[nodiscard]] int fail(std::string_view subject, const error& e);
/// The same for what the store says about a skill.
[[nodiscard]] int fail_skill(const std::string& id, const error& e);

void print_line(const mcp::json_writer& out);
/// "path:line:column: error: text [code]", as compilers write it.
[[nodiscard]] std::string line_of(std::string_view path, const frontmatter::diagnostic& d,
                                  std::string_view key = {});

// --- the subcommands -----------------------------------------------------------------------------

/// The skills of a directory.
[[nodiscard]] subcommand add_skills(CLI::App& app);
[[nodiscard]] subcommand add_skills_list(CLI::App& skills);
[[nodiscard]] subcommand add_skills_show(CLI::App& skills);
[[nodiscard]] subcommand add_skills_files(CLI::App& skills);
[[nodiscard]] subcommand add_skills_prompt(CLI::App& skills);
[[nodiscard]] subcommand add_skills_validate(CLI::App& skills);
[[nodiscard]] subcommand add_skills_add(CLI::App& skills);
[[nodiscard]] subcommand add_skills_edit(CLI::App& skills);
[[nodiscard]] subcommand add_skills_delete(CLI::App& skills);
[[nodiscard]] subcommand add_skills_import(CLI::App& skills);
[[nodiscard]] subcommand add_skills_ui(CLI::App& skills);

} // namespace paddock::cli
