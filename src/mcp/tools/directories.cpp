// SPDX-License-Identifier: MIT
#include "mcp/json/json_escape.hpp"
#include "mcp/protocol/iso_time.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace paddock::mcp {
namespace {

/// One entry after the other into a text that is kept, because a listing has thousands.
class entry_writer {
public:
  /// `directory` as the caller named it: the part before a name in a path for other tools.
  explicit entry_writer(std::string_view directory) {
    if (directory == "." || directory == "./") return; // the workspace: names alone will do
    append_json_string(prefix_, encode_name(directory));
    prefix_.pop_back();
    if (!directory.ends_with('/')) prefix_ += '/';
  }
  std::string_view write(const directory_listing& listing, const directory_entry& entry) {
    const auto name = listing.name(entry);
    quoted_.clear();
    append_json_string(quoted_, needs_encoding(name) ? std::string_view(encode_name(name)) : name);
    text_.assign(R"({"name":)").append(quoted_).append(R"(,"path":)");
    if (prefix_.empty())
      text_.append(quoted_);
    else
      text_.append(prefix_).append(quoted_, 1);
    text_.append(R"(,"type":")").append(type_name(entry.kind)).append(R"(","size":)");
    const auto size_end = std::to_chars(size_.data(), size_.data() + size_.size(), entry.size).ptr;
    text_.append(size_.data(), size_end).append(R"(,"modified":")");
    text_.append(iso8601_ms(entry.modified_ns, modified_)).append("\"");
    if (entry.symlink) text_.append(R"(,"symlink":true)");
    if (!entry.known) text_.append(R"(,"unreadable":true)");
    return text_.append("}");
  }

private:
  std::string prefix_; ///< begins with the quote
  std::string text_;
  std::string quoted_;
  std::array<char, 20> size_;
  iso8601_buffer modified_;
};

} // namespace

tool_result list_directory(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const std::uint64_t entries_max = state.limits.list_entries_max;
  const list_options options{.offset = count_argument(c, "offset", 0),
                             .entries_max =
                                 std::min(count_argument(c, "limit", entries_max), entries_max),
                             .bounds = bounds_of(state, c)};
  const auto listing = paddock::list_directory(*state.root, path, options);
  if (!listing)
    return failure(*state.root, listing.error(), path,
                   stopped_hint(listing.error(), "list a directory further down, or use exec"));
  const std::size_t json_max = result_bytes_max(c);
  object_result result;
  json_writer& out = result.path("path", state, listing->path).writer();
  entry_writer entries(path);
  std::uint64_t shown = 0;
  constexpr std::size_t entry_bytes_usual = 112; // without the name, which is there twice
  out.reserve(std::min(json_max, out.str().size() + 2 * listing->names.size() +
                                     listing->entries.size() * (entry_bytes_usual + path.size())));
  out.key("items").begin_array();
  for (const auto& entry : listing->entries) {
    const std::size_t entry_bytes_max = 2 * 6 * name_bytes_max + 6 * path.size() + 256;
    if (out.str().size() + entry_bytes_max > json_max) break;
    out.raw(entries.write(*listing, entry));
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
    return tool_result::failure(done.error().code,
                                shown(path) + " already exists; use it if it is a directory, or "
                                              "choose another name");
  if (!done) return failure(done.error(), path);
  return object_result().path("path", state, *done).take();
}

namespace {

/// Who keeps a protected entry, by its name alone, and what takes it off.
std::string why_kept(const workspace_state& state, const error& e, const std::string& kept) {
  if (e.code == error_code::write_protected)
    return *e.operation == '\0'
               ? "which is a file of the server itself and has to stay"
               : "which may not be changed: " + how_to_allow({.name = e.operation});
  const auto name = file_name(kept);
  for (const protected_name& rule : state.options.confinement.protected_names)
    if (rule.mode == protection::hidden && rule.name == name)
      return "which is reserved: a person can allow it with --unprotect " + rule.name;
  return "which is reserved and has to stay";
}

/// What a rule for a path protects in the directory, where that alone was refused; empty: nothing.
std::string ruled_below(const error& e, std::string_view path) {
  constexpr std::string_view asked = "--protect ";
  if (e.code != error_code::write_protected) return {};
  std::string_view name = e.operation;
  if (name.starts_with(asked)) name.remove_prefix(asked.size());
  while (path.starts_with("./"))
    path.remove_prefix(2);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  const bool is_below =
      name.size() > path.size() && name.starts_with(path) && name[path.size()] == '/';
  return is_below ? std::string(name) : std::string();
}

/// What has to stay, and what is gone: that has to be known.
tool_result not_deleted(const workspace_state& state, const error& e, std::string_view path,
                        std::uint64_t entries, std::string kept) {
  if (kept.empty()) kept = ruled_below(e, path);
  std::string hint;
  if (entries > 0 || e.code == error_code::timed_out) {
    hint = std::to_string(entries) + (entries == 1 ? " entry" : " entries");
    hint.append(" in it ").append(entries == 1 ? "was" : "were").append(" deleted before that; ");
  } else if (!kept.empty()) {
    hint = "nothing was deleted; ";
  }
  if (e.code == error_code::timed_out)
    hint += "call again to delete the rest";
  else if (kept.empty())
    hint += advice(e.code);
  else
    return tool_result::failure(e.code, shown(path) + ": it holds " + shown(kept) + ", " +
                                            why_kept(state, e, kept) + "; " + hint +
                                            "delete what is beside it one by one");
  return failure(e, path, hint);
}

} // namespace

tool_result delete_directory(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const bool recursive = c.arguments()["recursive"].boolean().value_or(false);
  if (recursive) c.may_block();
  std::uint64_t entries = 0;
  std::string kept;
  const auto done = remove_directory(*state.root, path,
                                     {.recursive = recursive ? recursion::yes : recursion::no,
                                      .bounds = bounds_of(state, c),
                                      .entries_removed = &entries,
                                      .kept = &kept});
  if (!done && done.error().code == error_code::not_a_directory)
    return failure(done.error(), path, "use deleteFile for files and links");
  if (!done) return not_deleted(state, done.error(), path, entries, kept);
  return object_result().path("path", state, done->path).take();
}

} // namespace paddock::mcp
