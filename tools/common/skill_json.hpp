// SPDX-License-Identifier: MIT
#pragma once

// Skills as JSON, the same for the command line and the page.

#include <paddock/mcp/json.hpp>
#include <paddock/skill/store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// The JSON object of a skill, as in the output of `list`.
void write_skill(mcp::json_writer& out, const skill& s);
void write_diagnostics(mcp::json_writer& out,
                       const std::vector<frontmatter::diagnostic>& diagnostics);
/// As Unicode writes the character that a diagnostic is about: U+200B.
[[nodiscard]] std::string code_point_of(const frontmatter::diagnostic& d);
[[nodiscard]] std::string_view name_of(skill_source source);
[[nodiscard]] std::string_view name_of(entry_kind kind);

} // namespace paddock::cli
