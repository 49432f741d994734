// SPDX-License-Identifier: MIT
#include "crypto/crypto.hpp"
#include "mcp/json/json_members.hpp"
#include "mcp/skills/frontmatter_json.hpp"
#include "mcp/skills/skill_files.hpp"
#include "mcp/skills/skill_uri.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/mcp/skills.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view directory_type = "inode/directory";
constexpr std::string_view cursor_prefix = "after:";
/// A page ends after this many skills looked at, or when it is this long.
constexpr std::size_t page_skills_max = 250;
constexpr std::size_t skills_page_bytes_max = std::size_t{512} * 1024;

/// What all methods work with.
struct served {
  std::shared_ptr<const skill_store> skills;
  std::uint64_t timeout_ms; ///< of one call
  std::shared_ptr<memory_budget> memory;

  [[nodiscard]] work_bounds bounds_of(const call& c) const {
    return {.deadline_ms = deadline_in(timeout_ms),
            .cancelled = &c.cancelled(),
            .memory = memory.get()};
  }
};

method_result invalid(std::string_view message) {
  return method_result::failure(rpc_error::invalid_params, message);
}

method_result unreadable(const error& e) {
  return method_result::failure(rpc_error::internal_error,
                                "The skills cannot be read: " + std::string(text(e.code)));
}

/// The bounds have ended the work: because of what was asked for, or of what else goes on.
method_result stopped(const error& e, std::string_view uri) {
  const bool asks_too_much = e.code == error_code::timed_out || e.code == error_code::too_large;
  return method_result::failure(
      asks_too_much ? rpc_error::invalid_params : rpc_error::internal_error, failure_text(e, uri));
}

std::string quoted_uri(std::string_view uri) {
  return detail::excerpt(uri);
}

/// What a request's URI names: a skill, and a path in it.
struct target {
  skill which;
  std::string path;
};

std::optional<target> find_target(const skill_store& store, std::string_view uri) {
  const auto parts = parts_of_skill_uri(uri);
  if (!parts) return std::nullopt;
  auto found = store.find(parts->front());
  if (!found) return std::nullopt;
  auto path = path_in_skill(*found, *parts);
  if (!path) return std::nullopt;
  return target{*std::move(found), *std::move(path)};
}

// --- lists -------------------------------------------------------------------------------------

/// A page of skills, from the cursor on: `write` adds one to the array, or nothing; false: the
/// bounds have ended that.
template <class Write>
method_result page(const served& from, call& c, std::string_view member, Write write) {
  const work_bounds bounds = from.bounds_of(c);
  const json_view cursor = given(c.arguments(), "cursor");
  std::string after;
  if (cursor.exists()) {
    const auto text = cursor.string();
    if (!text || !text->starts_with(cursor_prefix)) return invalid("Invalid cursor");
    after = decode_name(text->substr(cursor_prefix.size()));
  }
  const auto list = from.skills->list();
  if (!list) return unreadable(list.error());
  const auto& skills = (*list)->skills;
  auto next =
      cursor.exists() ? std::ranges::upper_bound(skills, after, {}, &skill::id) : skills.begin();
  const std::size_t bytes_max = std::min(skills_page_bytes_max, c.message_bytes_max() / 4);
  json_writer out;
  out.begin_object().key(member).begin_array();
  for (std::size_t seen = 0; next != skills.end() && seen < page_skills_max; ++next, ++seen) {
    if (seen > 0 && (out.str().size() > bytes_max || !bounds.check())) break;
    // The first one takes the time that it needs, so that each page gets on.
    work_bounds of_one = bounds;
    if (seen == 0) of_one.deadline_ms = work_bounds::no_deadline;
    if (!write(out, *next, of_one) && seen > 0) break;
  }
  out.end_array();
  if (next != skills.end() && next != skills.begin())
    out.member("nextCursor", std::string(cursor_prefix) + encode_name(std::prev(next)->id));
  out.end_object();
  return {.json = out.take()};
}

method_result list_skills(const served& from, call& c) {
  return page(from, c, "skills", [&](json_writer& out, const skill& s, const work_bounds& bounds) {
    const auto entry = skill_entry(*from.skills, s, bounds);
    if (entry && *entry) out.raw(**entry);
    return entry || entry.error().code == error_code::too_large; // it never fits
  });
}

method_result list_resources(const served& from, call& c) {
  return page(from, c, "resources", [](json_writer& out, const skill& s, const work_bounds&) {
    const std::string description = detail::without_hidden(s.description);
    if (description.empty() || !is_publishable(s.name, s.description)) return true;
    out.begin_object().member("uri", skill_uri(s, skill_file_name)).member("name", s.name);
    out.member("description", description).member("mimeType", "text/markdown").end_object();
    return true;
  });
}

// --- one skill, one file, one directory --------------------------------------------------------

method_result get_skill(const served& from, call& c) {
  const skill_store& store = *from.skills;
  const auto uri = c.arguments()["uri"].string();
  if (!uri) return invalid("Invalid params: uri must be a string");
  const auto found = find_target(store, *uri);
  if (!found || found->path != skill_file_name)
    return invalid("No skill has the URI " + quoted_uri(*uri));
  const auto entry = skill_entry(store, found->which, from.bounds_of(c));
  if (!entry) return stopped(entry.error(), *uri);
  if (!*entry)
    return invalid("The skill " + quoted_uri(*uri) +
                   " does not conform to the Agent Skills specification, is too large, or has "
                   "invisible characters in its frontmatter, which paddock skills validate names");
  json_writer out;
  out.begin_object().key("skill").raw(**entry).end_object();
  return {.json = out.take()};
}

method_result read_resource(const served& from, call& c) {
  const skill_store& store = *from.skills;
  const auto uri = c.arguments()["uri"].string();
  if (!uri) return invalid("Invalid params: uri must be a string");
  const auto found = find_target(store, *uri);
  const auto directory =
      found ? directory_of(store, found->which) : error{error_code::not_found, 0, "uri"};
  if (!directory || found->path.empty()) return invalid("Unknown resource: " + quoted_uri(*uri));
  const work_bounds bounds = from.bounds_of(c);
  const auto file = read_skill_file(store, *directory, found->path, bounds);
  if (!file && is_stopped(file.error())) return stopped(file.error(), *uri);
  if (!file)
    return invalid("Unknown resource: " + quoted_uri(*uri) + " (" +
                   std::string(text(file.error().code)) + ")");
  const std::string_view head = std::string_view(file->bytes).substr(0, mime::sniff_bytes);
  const std::string_view type = mime::classify(found->path, head).type;
  json_writer out;
  out.begin_object().key("contents").begin_array().begin_object();
  out.member("uri", skill_uri(found->which, found->path));
  out.member("mimeType", type.empty() ? "application/octet-stream" : type);
  if (detail::is_valid_utf8(file->bytes))
    out.member("text", file->bytes);
  else
    out.member("blob", base64(file->bytes));
  out.end_object().end_array().end_object();
  return {.json = out.take()};
}

/// What is left of `path` beneath `directory` when it is a direct child; else empty.
std::string_view child_name(std::string_view path, std::string_view directory) {
  if (!directory.empty()) {
    if (!path.starts_with(directory) || path.substr(directory.size()).size() < 2 ||
        path[directory.size()] != '/')
      return {};
    path.remove_prefix(directory.size() + 1);
  }
  return path.find('/') == std::string_view::npos ? path : std::string_view();
}

method_result read_directory(const served& from, call& c) {
  const skill_store& store = *from.skills;
  const auto uri = c.arguments()["uri"].string();
  if (!uri) return invalid("Invalid params: uri must be a string");
  if (given(c.arguments(), "cursor").exists()) return invalid("Invalid cursor");
  const auto found = find_target(store, *uri);
  const auto files = found ? store.files(found->which.id) : error{error_code::not_found, 0, "uri"};
  if (!files) return invalid("Unknown directory: " + quoted_uri(*uri));
  const work_bounds bounds = from.bounds_of(c);
  const auto size_of = [&](const skill_file& file) -> std::uint64_t {
    if (file.path != skill_file_name) return file.size;
    const auto directory = directory_of(store, found->which);
    const auto served =
        directory ? read_skill_file(store, *directory, file.path, bounds) : directory.error();
    return served ? served->bytes.size() : file.size;
  };
  bool exists = found->path.empty();
  json_writer out;
  out.begin_object().key("resources").begin_array();
  for (const skill_file& file : *files) {
    const bool directory = file.kind == entry_kind::directory;
    exists = exists || (directory && file.path == found->path);
    const std::string_view name = child_name(file.path, found->path);
    if (name.empty() || (!directory && file.kind != entry_kind::file)) continue;
    out.begin_object().member("uri", skill_uri(found->which, file.path));
    out.member("name", encode_name(name));
    if (directory)
      out.member("mimeType", directory_type);
    else if (const auto type = mime::from_extension(name))
      out.member("mimeType", *type);
    if (!directory) out.key("size").unsigned_integer(size_of(file));
    out.end_object();
  }
  out.end_array().end_object();
  if (!exists) return invalid("Unknown directory: " + quoted_uri(*uri));
  return {.json = out.take()};
}

method_result list_templates(const served&, call&) {
  return {.json = R"({"resourceTemplates":[]})"};
}

extension_method make_method(std::string name, const served& from,
                             method_result (*run)(const served&, call&)) {
  // Nothing is kept by clients, because what is on disk may change at any time.
  return {.name = std::move(name),
          .time_to_live_ms = 0,
          .handler =
              [from, run](call& c) {
                c.may_block();
                return run(from, c);
              },
          .origin = json_origin::writer};
}

} // namespace

result<extension> skills_extension(std::shared_ptr<const skill_store> store,
                                   const paddock::limits& limits,
                                   std::shared_ptr<memory_budget> memory) {
  if (!has_frontmatter_json()) return error{error_code::unsupported, 0, "libyaml"};
  if (memory == nullptr) memory = std::make_shared<memory_budget>(limits.memory_bytes_max);
  const served from{.skills = std::move(store),
                    .timeout_ms = limits.tool_timeout_ms,
                    .memory = std::move(memory)};
  extension e{.name = std::string(skills_extension_name),
              .settings = R"({"directoryRead":true})",
              .capabilities = {"resources"}};
  e.methods = {make_method("skills/list", from, list_skills),
               make_method("skills/get", from, get_skill),
               make_method("resources/list", from, list_resources),
               make_method("resources/templates/list", from, list_templates),
               make_method("resources/read", from, read_resource),
               make_method("resources/directory/read", from, read_directory)};
  return e;
}

} // namespace paddock::mcp
