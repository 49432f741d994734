// SPDX-License-Identifier: MIT
#include "api.hpp"

#include "assets.hpp"
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

using httplib::Request;
using httplib::Response;

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

void answer(Response& response, std::string json, int status = 200) {
  response.status = status;
  response.set_content(std::move(json), json_type);
}

void answer(Response& response, const error& failure) {
  answer(response, to_json(failure), status_of(failure.code));
}

std::string parameter(const Request& request, const char* name) {
  return request.get_param_value(name);
}

/// The two texts that a request to add or edit may have.
struct given_fields {
  std::optional<std::string> id, name, description;
};

std::optional<given_fields> fields_of(const Request& request) {
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

void import_upload(const skill_store& store, const Request& request, Response& response,
                   const std::atomic<bool>& cancelled) {
  const auto files = read_upload(request.body);
  if (!files) return answer(response, files.error());
  const import_options options{
      .id = parameter(request, "id"),
      .overwrite = parameter(request, "overwrite") == "1" ? overwrite::replace : overwrite::refuse,
      .on_progress = {},
      .cancelled = &cancelled};
  const std::string name = parameter(request, "name");
  const bool archive = parameter(request, "kind") == "archive" && files->size() == 1;
  import_report report;
  const auto imported = archive ? store.import_archive(files->front().bytes, name, options, &report)
                                : store.import_files(*files, name, options, &report);
  if (imported) return answer(response, to_json(report), 201);
  const error failure = imported.error();
  answer(response, to_json(failure, report), status_of(failure.code));
}

void add_changes(server& to, const std::shared_ptr<const skill_store>& store) {
  to.Post("/api/skills", [store](const Request& request, Response& response) {
    const auto given = fields_of(request);
    if (!given) return answer(response, no_fields);
    const auto made = store->add(given->id.value_or(""), given->name.value_or(""),
                                 given->description.value_or(""));
    made ? answer(response, to_json(*made), 201) : answer(response, made.error());
  });
  to.Put("/api/skills", [store](const Request& request, Response& response) {
    const auto given = fields_of(request);
    if (!given) return answer(response, no_fields);
    const auto edited = store->edit(parameter(request, "id"),
                                    {.name = given->name, .description = given->description});
    edited ? answer(response, to_json(*edited)) : answer(response, edited.error());
  });
  to.Delete("/api/skills", [store](const Request& request, Response& response) {
    const auto removed = store->remove(parameter(request, "id"));
    removed ? answer(response, "{}") : answer(response, removed.error());
  });
  to.Post("/api/import", [store, &to](const Request& request, Response& response) {
    import_upload(*store, request, response, to.ending());
  });
}

} // namespace

void add_page(server& to) {
  for (const asset& each : assets()) {
    const std::string name(each.name == "page.html" ? "" : each.name);
    // Nothing in these paths means anything to a regular expression but the dot, which does no
    // harm.
    to.Get(to.page_path() + name, [&each](const Request&, Response& response) {
      response.set_content(each.bytes.data(), each.bytes.size(), std::string(each.content_type));
    });
  }
}

void add_api(server& to, std::shared_ptr<const skill_store> store) {
  to.Get("/api/skills", [store](const Request&, Response& response) {
    const auto list = store->list();
    if (!list) return answer(response, list.error());
    answer(response, to_json(**list, store->root_shared()->path()));
  });
  to.Get("/api/files", [store](const Request& request, Response& response) {
    const auto files = store->files(parameter(request, "id"));
    files ? answer(response, to_json(*files)) : answer(response, files.error());
  });
  to.Get("/api/file", [store](const Request& request, Response& response) {
    const auto content = preview(*store, parameter(request, "id"), parameter(request, "path"));
    content ? answer(response, preview_json(content->bytes, content->status.size))
            : answer(response, content.error());
  });
  add_changes(to, store);
}

} // namespace paddock::skills_page
