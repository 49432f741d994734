// SPDX-License-Identifier: MIT
#include "json.hpp"

#include "common/skill_json.hpp"
#include "page/page.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::skills_page {
namespace {

using mcp::json_writer;

void write_unloaded(json_writer& out, const unloaded_directory& one) {
  out.begin_object().member("id", one.id).member("source", cli::name_of(one.source));
  out.member("path", one.path).member("why", wire_name(one.why));
  if (one.reason) out.member("reason", page::sentence(one.reason->code));
  cli::write_diagnostics(out.key("diagnostics"), one.diagnostics);
  out.end_object();
}

} // namespace

std::string to_json(const skill_list& list, std::string_view root) {
  json_writer out;
  out.begin_object().member("root", root).key("skills").begin_array();
  for (const auto& each : list.skills)
    cli::write_skill(out, each);
  out.end_array().key("notLoaded").begin_array();
  for (const auto& each : list.not_loaded)
    write_unloaded(out, each);
  return out.end_array().end_object().take();
}

std::string to_json(const skill& one) {
  json_writer out;
  cli::write_skill(out, one);
  return out.take();
}

std::string to_json(const std::vector<skill_file>& files) {
  json_writer out;
  out.begin_object().key("files").begin_array();
  for (const auto& each : files) {
    out.begin_object().member("path", each.path).key("size").unsigned_integer(each.size);
    out.member("kind", cli::name_of(each.kind)).end_object();
  }
  return out.end_array().end_object().take();
}

std::string preview_json(std::string_view text, std::uint64_t file_size) {
  json_writer out;
  out.begin_object().member("text", text).key("size").unsigned_integer(file_size);
  return out.key("truncated").boolean(file_size > text.size()).end_object().take();
}

std::string to_json(const import_report& report) {
  json_writer out;
  out.begin_object().member("id", report.id).key("files").unsigned_integer(report.files);
  out.key("bytes").unsigned_integer(report.bytes).key("replaced").boolean(report.replaced);
  cli::write_diagnostics(out.key("diagnostics"), report.diagnostics);
  return out.end_object().take();
}

std::string to_json(const import_error& failure) {
  const import_report& report = failure.report;
  json_writer out;
  out.begin_object().member("error", wire_name(failure.code));
  out.member("refusal", wire_name(report.refusal)).member("entry", report.entry);
  out.member("id", report.id);
  return out.member("message", text(report.refusal)).end_object().take();
}

} // namespace paddock::skills_page
