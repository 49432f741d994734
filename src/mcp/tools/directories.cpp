// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"

#include <paddock/directory.hpp>

#include <algorithm>
#include <string>

namespace paddock::mcp {
namespace {

std::uint64_t count_argument(const call& c, std::string_view name, std::uint64_t otherwise) {
  const auto given = c.arguments()[name].integer();
  return given ? static_cast<std::uint64_t>(*given) : otherwise;
}

void write_entry(json_writer& out, const directory_listing& listing, const directory_entry& entry) {
  const auto name = listing.name(entry);
  const std::string escaped = needs_encoding(name) ? encode_name(name) : std::string();
  const std::string_view shown = escaped.empty() ? name : escaped;
  out.begin_object();
  out.member("name", shown).member("path", shown).member("type", type_name(entry.kind));
  out.key("size").unsigned_integer(entry.size);
  out.member("modified", iso8601_ms(entry.modified_ns));
  if (entry.symlink) out.key("symlink").boolean(true);
  if (!entry.known) out.key("unreadable").boolean(true);
  out.end_object();
}

} // namespace

tool_result list_directory(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const std::uint64_t entries_max = state.options.limits.list_entries_max;
  const list_options options{.offset = count_argument(c, "offset", 0),
                             .entries_max =
                                 std::min(count_argument(c, "limit", entries_max), entries_max)};
  const auto listing = paddock::list_directory(*state.root, path, options);
  if (!listing) return failure(listing.error(), path);
  const std::size_t json_max = result_bytes_max(c);
  object_result result;
  json_writer& out = result.path("path", *state.root, listing->path).writer();
  std::uint64_t shown = 0;
  out.key("items").begin_array();
  for (const auto& entry : listing->entries) {
    constexpr std::size_t entry_bytes_max = 2 * 6 * name_bytes_max + 256;
    if (out.str().size() + entry_bytes_max > json_max) break;
    write_entry(out, *listing, entry);
    ++shown;
  }
  out.end_array();
  if (shown != listing->total) {
    out.key("total").unsigned_integer(listing->total);
    if (options.offset + shown < listing->total) out.key("truncated").boolean(true);
  }
  return result.take();
}

tool_result create_directory(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto done = paddock::create_directory(*state.root, path);
  if (!done && done.error().code == error_code::already_exists)
    return failure(done.error(), path,
                   "it is already there: use it if it is a directory, or choose another name");
  if (!done) return failure(done.error(), path);
  return object_result().path("path", *state.root, *done).take();
}

tool_result delete_directory(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const bool recursive = c.arguments()["recursive"].boolean().value_or(false);
  if (recursive) c.may_block();
  const auto done = remove_directory(
      *state.root, path,
      {.recursive = recursive ? recursion::yes : recursion::no, .cancelled = &c.cancelled()});
  if (!done && done.error().code == error_code::not_a_directory)
    return failure(done.error(), path, "use deleteFile for files and links");
  if (!done) return failure(done.error(), path);
  return object_result().path("path", *state.root, done->path).take();
}

} // namespace paddock::mcp
