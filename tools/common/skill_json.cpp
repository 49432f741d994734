// SPDX-License-Identifier: MIT
#include "common/skill_json.hpp"

#include <array>
#include <cstdio>

namespace paddock::cli {

std::string code_point_of(const frontmatter::diagnostic& d) {
  std::array<char, 16> out;
  std::snprintf(out.data(), out.size(), "U+%04X", static_cast<unsigned>(d.character));
  return out.data();
}

std::string_view name_of(skill_source source) {
  return source == skill_source::system ? "system" : "user";
}

std::string_view name_of(entry_kind kind) {
  switch (kind) {
  case entry_kind::file:
    return "file";
  case entry_kind::directory:
    return "directory";
  case entry_kind::symlink:
    return "symlink";
  case entry_kind::other:
    break;
  }
  return "other";
}

void write_diagnostics(mcp::json_writer& out,
                       const std::vector<frontmatter::diagnostic>& diagnostics) {
  out.begin_array();
  for (const frontmatter::diagnostic& d : diagnostics) {
    const bool is_error = level(d.code) == frontmatter::severity::error;
    out.begin_object().member("code", wire_name(d.code));
    out.member("severity", is_error ? "error" : "warning");
    out.key("line").unsigned_integer(d.line).key("column").unsigned_integer(d.column);
    if (d.character != 0) out.member("character", code_point_of(d));
    out.member("message", text(d.code)).end_object();
  }
  out.end_array();
}

void write_skill(mcp::json_writer& out, const skill& s) {
  out.begin_object().member("id", s.id).member("name", s.name);
  out.member("description", s.description).member("source", name_of(s.source));
  out.member("path", s.path);
  write_diagnostics(out.key("diagnostics"), s.diagnostics);
  out.end_object();
}

} // namespace paddock::cli
