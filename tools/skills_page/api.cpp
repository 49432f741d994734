// SPDX-License-Identifier: MIT
#include "api.hpp"

#include "assets.hpp"
#include "http/server/access.hpp"
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

constexpr const char* json_type = "application/json";
constexpr std::size_t preview_bytes_max = std::size_t{1024} * 1024;

int status_of(error_code code) {
  if (code == error_code::not_found) return 404;
  if (code == error_code::already_exists || code == error_code::conflict) return 409;
  if (code == error_code::read_only || code == error_code::permission_denied) return 403;
  if (code == error_code::too_large || code == error_code::too_many) return 413;
  if (code == error_code::not_text) return 415;
  if (code == error_code::io || code == error_code::root_gone) return 500;
  return 422;
}

answer say(std::string json, int status = 200) {
  return {.status = status, .type = json_type, .body = std::move(json)};
}

answer say(const error& failure) {
  return say(to_json(failure), status_of(failure.code));
}

/// One request, with its target taken apart.
struct call {
  const http::request& request;
  std::string_view query;
  const skill_store& store;

  [[nodiscard]] std::string parameter(std::string_view name) const {
    return http::query_parameter(query, name);
  }
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
  return say(to_json(imported.error()), status_of(imported.error().code));
}

answer list_files(const call& c) {
  const auto files = c.store.files(c.parameter("id"));
  return files ? say(to_json(*files)) : say(files.error());
}

answer show_file(const call& c) {
  const auto content = preview(c.store, c.parameter("id"), c.parameter("path"));
  return content ? say(preview_json(content->bytes, content->status.size)) : say(content.error());
}

struct operation {
  std::string_view path;
  std::string_view method;
  answer (*run)(const call&);
};

constexpr operation operations[] = {
    {"/api/skills", "GET", list_skills},   {"/api/skills", "POST", add_skill},
    {"/api/skills", "PUT", edit_skill},    {"/api/skills", "DELETE", remove_skill},
    {"/api/import", "POST", import_skill}, {"/api/files", "GET", list_files},
    {"/api/file", "GET", show_file},
};

const asset* asset_at(std::string_view path, std::string_view page_path) {
  if (!path.starts_with(page_path)) return nullptr;
  path.remove_prefix(page_path.size());
  if (path.empty()) path = "page.html";
  const auto found =
      std::ranges::find_if(assets(), [&](const asset& each) { return each.name == path; });
  return found == assets().end() ? nullptr : &*found;
}

} // namespace

std::string methods_of(std::string_view path, std::string_view page_path) {
  if (asset_at(path, page_path) != nullptr) return "GET, HEAD";
  std::string out;
  for (const operation& each : operations)
    if (each.path == path) {
      out.append(out.empty() ? "" : ", ").append(each.method);
      if (each.method == "GET") out.append(", HEAD");
    }
  return out;
}

answer answer_to(const http::request& r, std::string_view page_path, const skill_store& store) {
  const http::target_parts target = http::split_target(r.head.target);
  if (const asset* file = asset_at(target.path, page_path))
    return {
        .status = 200, .type = std::string(file->content_type), .body = std::string(file->bytes)};
  const std::string_view method = r.head.method == "HEAD" ? "GET" : std::string_view(r.head.method);
  for (const operation& each : operations)
    if (each.path == target.path && each.method == method)
      return each.run({.request = r, .query = target.query, .store = store});
  return say(error{.code = error_code::not_found, .os_errno = 0, .operation = "page"});
}

} // namespace paddock::skills_page
