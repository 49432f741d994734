// SPDX-License-Identifier: MIT
#include "mcp/skills/skill_files.hpp"

#include "crypto/crypto.hpp"
#include "mcp/json/json_escape.hpp"
#include "mcp/skills/frontmatter_json.hpp"
#include "mcp/skills/skill_uri.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/frontmatter/detail/validate.hpp>
#include <paddock/frontmatter/frontmatter_yaml.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr std::size_t name_characters_max = 64;
constexpr std::size_t description_characters_max = 1024;
constexpr std::size_t compatibility_characters_max = 500;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool has_characters(std::string_view text, std::size_t at_most) {
  return !text.empty() && detail::count_code_points(text) <= at_most;
}

/// The rules for the optional fields that clients check in every entry of a listing.
bool are_optional_fields_valid(json_view fields) {
  bool valid = true;
  if (const json_view c = fields["compatibility"]; c.exists()) {
    const auto text = c.string();
    valid = text && has_characters(*text, compatibility_characters_max);
  }
  if (const json_view m = fields["metadata"]; m.exists()) {
    valid = valid && m.is(json_kind::object);
    m.for_each_member(
        [&](std::string_view, json_view value) { valid = valid && value.is(json_kind::string); });
  }
  return valid;
}

/// `metadata` as a mapping of texts on one line: scalars as they are written, the others as JSON.
/// Nothing where all of them are texts, or it is no mapping.
std::optional<std::string> metadata_of_texts(std::string_view written, json_view values) {
  const auto inner = frontmatter::libyaml()(written.substr(written.find(':') + 1), 1).entries;
  bool has_other = false;
  std::string line = "metadata: {";
  for (const frontmatter::entry& e : inner) {
    const json_view value = values[e.key];
    const auto text = value.string();
    has_other = has_other || !text;
    const bool is_scalar = e.kind == frontmatter::value_kind::other_scalar;
    line += line.ends_with('{') ? "" : ", ";
    append_json_string(line, e.key);
    line += ": ";
    append_json_string(line, text ? *text : is_scalar ? std::string_view(e.value) : value.text());
  }
  if (!has_other) return std::nullopt;
  return line + "}";
}

/// A SKILL.md that clients accept: by the specification the values of `metadata` are texts. They
/// refuse a whole list for another, and an entry that differs from its file, so the file has to say
/// so as well.
void make_metadata_texts(std::string& skill_md) {
  const auto found = frontmatter::detail::find_block(skill_md, true);
  const std::string_view block = std::string_view(skill_md).substr(found.begin, found.size);
  const bool has_block = found.state == frontmatter::detail::fence_state::found;
  if (!has_block || block.find("metadata") == std::string_view::npos) return;
  const auto json = frontmatter_json(block);
  json_document document;
  const auto fields = json ? document.parse(*json) : error{error_code::invalid_argument, 0, "yaml"};
  if (!fields || !(*fields)["metadata"].is(json_kind::object)) return;
  for (const auto& e : frontmatter::detail::read_entries(block, frontmatter::libyaml())) {
    if (e.key != "metadata") continue;
    const auto line = metadata_of_texts(block.substr(e.begin, e.end - e.begin), (*fields)[e.key]);
    if (line) skill_md.replace(found.begin + e.begin, e.end - e.begin, *line);
    return;
  }
}

/// The parser's bound on the depth bounds the recursion.
bool has_hidden(json_view value) {
  bool found = false;
  if (const auto text = value.string()) found = detail::has_hidden(*text);
  value.for_each_element([&](json_view element) { found = found || has_hidden(element); });
  value.for_each_member([&](std::string_view key, json_view member) {
    found = found || detail::has_hidden(key) || has_hidden(member);
  });
  return found;
}

/// The frontmatter of SKILL.md as JSON when it says what the store says, and nothing that hosts
/// refuse or people do not see. Hosts compare it with the file, so that it cannot be cleaned.
std::optional<std::string> published_frontmatter(std::string_view skill_md, const skill& s) {
  const auto found = frontmatter::detail::find_block(skill_md, true);
  if (found.state != frontmatter::detail::fence_state::found) return std::nullopt;
  auto json = frontmatter_json(skill_md.substr(found.begin, found.size));
  if (!json) return std::nullopt;
  json_document document;
  const auto fields = document.parse(*json);
  if (!fields) return std::nullopt;
  const auto name = (*fields)["name"].string();
  const auto description = (*fields)["description"].string();
  if (!name || !description || *name != s.name || !is_publishable(*name, *description) ||
      !are_optional_fields_valid(*fields) || has_hidden(*fields))
    return std::nullopt;
  return json;
}

/// A file as the manifest has it.
struct published_file {
  std::string digest;
  std::uint64_t bytes = 0;

  explicit published_file(std::string_view content)
      : digest("sha256:" + sha256_hex(content)), bytes(content.size()) {}
};

void write_resource(json_writer& out, const skill& s, std::string_view path,
                    const published_file& file) {
  out.begin_object().member("uri", skill_uri(s, path));
  out.member("digest", file.digest);
  out.key("size").unsigned_integer(file.bytes).end_object();
}

/// Writes the manifest: SKILL.md, and every other file, of which one at a time is held in memory.
/// False when it cannot be published.
result<bool> write_manifest(json_writer& out, const skill_store& store, const skill& s,
                            std::string_view directory, const published_file& skill_md,
                            const work_bounds& bounds) {
  const auto files = store.files(s.id);
  if (!files) return false;
  std::uint64_t bytes = skill_md.bytes;
  std::size_t count = 1;
  out.begin_array();
  write_resource(out, s, skill_file_name, skill_md);
  for (const skill_file& file : *files) {
    if (file.kind != entry_kind::file || file.path == skill_file_name) continue;
    if (++count > published_files_max || (bytes += file.size) > published_bytes_max) return false;
    PADDOCK_CHECK(bounds.check());
    const auto content = read_skill_file(store, directory, file.path, bounds);
    if (!content && is_stopped(content.error())) return content.error();
    if (!content) return false;
    write_resource(out, s, file.path, published_file(content->bytes));
  }
  out.end_array();
  PADDOCK_CHECK(bounds.check());
  return bytes <= published_bytes_max;
}

/// What SKILL.md says, without its content: whoever waits for memory must hold none.
struct published_head {
  std::string frontmatter;
  published_file file;
};

/// Nothing when it cannot be published.
result<std::optional<published_head>> read_head(const skill_store& store, const skill& s,
                                                std::string_view directory,
                                                const work_bounds& bounds) {
  const auto nothing = std::optional<published_head>();
  const auto content = read_skill_file(store, directory, skill_file_name, bounds);
  if (!content && is_stopped(content.error())) return content.error();
  if (!content) return nothing;
  auto fields = published_frontmatter(content->bytes, s);
  if (!fields) return nothing;
  return std::optional(published_head{*std::move(fields), published_file(content->bytes)});
}

} // namespace

result<std::string> directory_of(const skill_store& store, const skill& s) {
  auto opened = store.root_shared()->open_beneath(parent(s.path), access::directory);
  if (!opened) return opened.error();
  return std::move(opened->path);
}

result<file_content> read_skill_file(const skill_store& store, std::string_view directory,
                                     std::string_view path, const work_bounds& bounds) {
  const std::string whole = join(directory, path);
  auto content =
      read_file(*store.root_shared(), whole, {.bytes_max = published_bytes_max, .bounds = bounds});
  if (content && content->path != whole && path != skill_file_name)
    return error{error_code::escapes_root, 0, "skill"};
  if (content && path == skill_file_name) make_metadata_texts(content->bytes);
  return content;
}

bool is_stopped(const error& e) {
  return e.code == error_code::cancelled || e.code == error_code::timed_out || is_out_of_memory(e);
}

bool is_publishable(std::string_view name, std::string_view description) {
  const bool characters =
      std::ranges::all_of(name, [](char c) { return is_lower_or_digit(c) || c == '-'; });
  return characters && has_characters(name, name_characters_max) && !name.starts_with('-') &&
         !name.ends_with('-') && name.find("--") == std::string_view::npos &&
         has_characters(description, description_characters_max);
}

result<std::optional<std::string>> skill_entry(const skill_store& store, const skill& s,
                                               const work_bounds& bounds) {
  const auto unpublished = std::optional<std::string>();
  const auto directory = directory_of(store, s);
  if (!directory) return unpublished;
  PADDOCK_TRY(const auto head, read_head(store, s, *directory, bounds));
  if (!head) return unpublished;
  json_writer out;
  out.begin_object().member("uri", skill_uri(s, skill_file_name));
  out.key("frontmatter").raw(head->frontmatter);
  PADDOCK_TRY(const bool whole,
              write_manifest(out.key("resources"), store, s, *directory, head->file, bounds));
  if (!whole) return unpublished;
  out.end_object();
  return std::optional(out.take());
}

} // namespace paddock::mcp
