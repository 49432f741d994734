// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "common/history_cli.hpp"
#include "common/skill_json.hpp"
#include "common/workspace_cli.hpp"
#include "page/application.hpp"
#include "page/page.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/result.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::skills_page {
namespace {

// What the page sends to be imported: one line of JSON, an array of {"path", "size"}, and behind it
// the bytes of these files in this order. Form data would say the same, but not without names that
// are escaped differently by every browser and a search for boundaries through all of the bytes.

error malformed(const char* what) {
  return {.code = error_code::invalid_argument, .os_errno = 0, .operation = what};
}

/// The files refer to `body`. Errors: invalid_argument; `operation` says what is wrong.
result<std::vector<uploaded_file>> read_upload(std::string_view body) {
  const auto end_of_line = body.find('\n');
  if (end_of_line == std::string_view::npos) return malformed("there is no list of files");
  mcp::json_document document;
  const auto list = document.parse(body.substr(0, end_of_line));
  if (!list || !list->is(mcp::json_kind::array)) return malformed("the list of files is not JSON");
  std::string_view rest = body.substr(end_of_line + 1);
  std::vector<uploaded_file> files;
  bool sound = true;
  list->for_each_element([&](mcp::json_view each) {
    const auto path = each["path"].string();
    const auto size = each["size"].integer();
    sound = sound && path && size && *size >= 0 && static_cast<std::size_t>(*size) <= rest.size();
    if (!sound) return;
    const auto bytes = static_cast<std::size_t>(*size);
    files.push_back({.path = std::string(*path), .bytes = rest.substr(0, bytes)});
    rest.remove_prefix(bytes);
  });
  if (!sound || !rest.empty())
    return malformed("the list of files does not fit the bytes behind it");
  return files;
}

// What the page's script is told, as JSON.

using http::answer;
using mcp::json_writer;
using page::say;

void write_unloaded(json_writer& out, const unloaded_directory& one) {
  out.begin_object().member("id", one.id).member("source", cli::name_of(one.source));
  out.member("path", one.path).member("why", wire_name(one.why));
  if (one.reason) out.member("reason", page::sentence(one.reason->code));
  cli::write_diagnostics(out.key("diagnostics"), one.diagnostics);
  out.end_object();
}

/// {"root", "skills", "notLoaded"}
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

/// {"text", "size", "truncated"}
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

constexpr std::size_t preview_bytes_max = std::size_t{1024} * 1024;

/// A request to this store.
struct call : page::call {
  const skill_store& store;
};

/// The two texts that a request to add or edit may have.
struct given_fields {
  std::optional<std::string> id, name, description;
};

std::optional<given_fields> fields_of(const http::request& request) {
  mcp::json_document document;
  const auto body = document.parse(request.body);
  if (!body || !body->is(mcp::json_kind::object)) return std::nullopt;
  const auto text = [&](const char* key) -> std::optional<std::string> {
    if (const auto value = (*body)[key].string()) return std::string(*value);
    return std::nullopt;
  };
  return given_fields{text("id"), text("name"), text("description")};
}

constexpr error no_fields{.code = error_code::invalid_argument, .os_errno = 0, .operation = "body"};

/// The directory whose files `skill_store::files` lists.
std::optional<std::string> directory_of(const skill_list& list, std::string_view id) {
  for (const skill& each : list.skills)
    if (each.id == id) return each.path.substr(0, each.path.rfind('/'));
  const unloaded_directory* found = nullptr;
  for (const unloaded_directory& each : list.not_loaded)
    if (each.id == id && (found == nullptr || each.source == skill_source::system)) found = &each;
  if (found == nullptr) return std::nullopt;
  return found->path;
}

/// Text of a file that `skill_store::files` lists: so it is one of the skill and not behind a link.
result<file_content> preview(const skill_store& store, const std::string& id,
                             const std::string& path) {
  const auto files = store.files(id);
  if (!files) return files.error();
  const auto listed = std::ranges::any_of(*files, [&](const skill_file& each) {
    return each.kind == entry_kind::file && each.path == path;
  });
  const auto list = store.list();
  if (!list) return list.error();
  const auto directory = directory_of(**list, id);
  if (!listed || !directory)
    return error{.code = error_code::not_found, .os_errno = 0, .operation = "preview"};
  auto content = read_prefix(*store.root_shared(), *directory + "/" + path, preview_bytes_max);
  if (!content) return content;
  const auto valid = detail::first_invalid_utf8(content->bytes);
  const bool cut = content->status.size > content->bytes.size();
  if (content->bytes.find('\0') != std::string::npos ||
      content->bytes.size() - valid > (cut ? 3U : 0U))
    return error{.code = error_code::not_text, .os_errno = 0, .operation = "preview"};
  content->bytes.resize(valid);
  return content;
}

// --- what can be asked ---------------------------------------------------------------------------

answer list_skills(const call& c) {
  const auto list = c.store.list();
  return list ? say(to_json(**list, c.store.root_shared()->path())) : say(list.error());
}

answer add_skill(const call& c) {
  const auto given = fields_of(c.request);
  if (!given) return say(no_fields);
  const auto made = c.store.add(given->id.value_or(""), given->name.value_or(""),
                                given->description.value_or(""));
  return made ? say(to_json(*made), 201) : say(made.error());
}

answer edit_skill(const call& c) {
  const auto given = fields_of(c.request);
  if (!given) return say(no_fields);
  const auto edited =
      c.store.edit(c.parameter("id"), {.name = given->name, .description = given->description});
  return edited ? say(to_json(*edited)) : say(edited.error());
}

answer remove_skill(const call& c) {
  const auto removed = c.store.remove(c.parameter("id"));
  return removed ? say("{}") : say(removed.error());
}

answer import_skill(const call& c) {
  const auto files = read_upload(c.request.body);
  if (!files) return say(files.error());
  const import_options options{.id = c.parameter("id"),
                               .overwrite = c.parameter("overwrite") == "1" ? overwrite::replace
                                                                            : overwrite::refuse,
                               .on_progress = {},
                               .cancelled = &c.request.cancelled};
  const std::string name = c.parameter("name");
  const bool archive = c.parameter("kind") == "archive" && files->size() == 1;
  const auto imported = archive ? c.store.import_archive(files->front().bytes, name, options)
                                : c.store.import_files(*files, name, options);
  if (imported) return say(to_json(imported->report), 201);
  const import_error& failure = imported.error();
  if (failure.report.refusal == import_refusal::none) return say(failure);
  return say(to_json(failure), page::status_of(failure.code));
}

answer list_files(const call& c) {
  const auto files = c.store.files(c.parameter("id"));
  return files ? say(to_json(*files)) : say(files.error());
}

answer show_file(const call& c) {
  const auto content = preview(c.store, c.parameter("id"), c.parameter("path"));
  return content ? say(preview_json(content->bytes, content->status.size)) : say(content.error());
}

struct store_operation {
  std::string_view path;
  std::string_view method;
  answer (*run)(const call&);
};

constexpr store_operation all_operations[] = {
    {"/api/skills", "GET", list_skills},   {"/api/skills", "POST", add_skill},
    {"/api/skills", "PUT", edit_skill},    {"/api/skills", "DELETE", remove_skill},
    {"/api/import", "POST", import_skill}, {"/api/files", "GET", list_files},
    {"/api/file", "GET", show_file},
};

std::vector<page::operation> operations(std::shared_ptr<const skill_store> store) {
  std::vector<page::operation> out;
  for (const store_operation& each : all_operations)
    out.push_back({.path = each.path,
                   .method = each.method,
                   .run = [store, run = each.run](const page::call& c) {
                     return run(call{{.request = c.request, .query = c.query}, *store});
                   }});
  return out;
}

} // namespace

[[nodiscard]] std::span<const page::asset> assets() noexcept; // made by embed.py

namespace {

constexpr std::string_view program = "paddock skills ui";
/// Largest body of a request; the page refuses to send more.
constexpr std::size_t body_bytes_max = std::size_t{64} * 1024 * 1024;

int unusable(const std::string& what, const error& failure) {
  cli::complain(program, what + " cannot be used: " + page::sentence(failure.code));
  return cli::usage;
}

} // namespace

int run_skills_page(const page_options& options) {
  auto opened = root::open(options.root);
  if (!opened) return unusable("the directory " + options.root, opened.error());
  auto store = skill_store::open(
      std::make_shared<const root>(*std::move(opened)),
      {.durability = durability::full, .state_directory = cli::default_history_directory()});
  if (!store) return unusable("the directory " + options.root, store.error());
  return page::serve(
      {.command = program,
       .assets = assets(),
       .operations = operations(std::make_shared<const skill_store>(*std::move(store))),
       .body_bytes_max = body_bytes_max},
      options.port);
}

} // namespace paddock::skills_page
