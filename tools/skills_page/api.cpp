// SPDX-License-Identifier: MIT
#include "api.hpp"

#include "json.hpp"
#include "upload.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace paddock::skills_page {
namespace {

using http::answer;

using page::say;

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

} // namespace

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

} // namespace paddock::skills_page
