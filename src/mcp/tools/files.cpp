// SPDX-License-Identifier: MIT
#include "mcp/protocol/iso_time.hpp"
#include "mcp/tools/edits.hpp"
#include "mcp/tools/refusals.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/text/text_edit.hpp>
#include <paddock/text/utf16.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {
namespace {

/// What a brief result of a change says of the file, as it is afterwards.
void write_known(object_result& out, workspace_state& state, const call& c, std::string_view path) {
  if (const auto known = known_of(state, c, path))
    out.number("bytes", static_cast<std::int64_t>(known->bytes)).text("hash", known->hash);
}

bool is_brief(const workspace_state& state) {
  return state.options.results == result_detail::brief;
}

enum class written : std::uint8_t { instead, behind };

/// In the coding set UTF-16 stays it.
utf16_mark mark_in(const workspace_state& state, std::string_view content) {
  return state.options.tools == toolset::coding ? utf16_mark_of(content) : utf16_mark::none;
}
utf16_mark mark_of(const workspace_state& state, const std::string& path) {
  if (state.options.tools != toolset::coding) return utf16_mark::none;
  const auto beginning = read_prefix(*state.root, path, utf16_mark_bytes);
  return beginning ? mark_in(state, beginning->bytes) : utf16_mark::none;
}

/// `content` with `text` in its place or behind it, in UTF-16 if it was.
result<std::string, failed_change> written_to(std::string_view content, std::string_view text,
                                              written where, utf16_mark mark) {
  if (mark == utf16_mark::none || text.empty())
    return std::string(where == written::behind ? content : std::string_view()).append(text);
  if (where == written::behind)
    if (const auto readable = text_of(content); !readable)
      return failed_change(refusal_of_text(readable.error()));
  auto bytes = encode_text(std::string(text), mark);
  if (!bytes) return failed_change(refusal_of_text(bytes.error()));
  if (where == written::behind) bytes->replace(0, utf16_mark_bytes, content);
  return *std::move(bytes);
}

/// What became of a file.
struct new_content {
  std::string path;
  std::string recoded{}; ///< what was written instead of a text that is to be in UTF-16
};

/// Writes `text` in place of the content that `wanted` means, or behind it; whatever is there, if
/// it means none. Why the encoding of the file did not let it, `why` says.
result<new_content> write_if(workspace_state& state, const call& c, const std::string& path,
                             std::string_view text, written where, wanted_hash& wanted,
                             std::optional<refusal>& why) {
  const bool is_behind = where == written::behind;
  const work_bounds bounds = bounds_of(state, c);
  const write_options options{.durability = state.options.durability, .bounds = bounds};
  const utf16_mark beginning = text.empty() ? utf16_mark::none : mark_of(state, path);
  const bool is_utf16 = beginning != utf16_mark::none;
  std::string recoded;
  if (!wanted.is_given() && !(is_utf16 && is_behind)) {
    if (is_utf16) {
      auto bytes = encode_text(std::string(text), beginning);
      if (!bytes) return error(bytes.error());
      text = recoded = *std::move(bytes);
    }
    PADDOCK_TRY(std::string done, is_behind ? append_file(*state.root, path, text, options)
                                            : write_file(*state.root, path, text, options));
    return new_content{std::move(done), std::move(recoded)};
  }
  const auto make = [&](std::string_view content) -> result<std::optional<std::string>> {
    why.reset();
    const utf16_mark mark = mark_in(state, content);
    auto made = written_to(content, text, where, mark);
    if (!made) {
      why = std::move(made.error().why);
      return error(made.error());
    }
    recoded = mark == utf16_mark::none || is_behind ? std::string() : *made;
    return std::optional(*std::move(made));
  };
  PADDOCK_TRY(std::string done, rewrite_file(*state.root, path, make,
                                             {.durability = state.options.durability,
                                              .file_bytes_max = state.limits.edit_file_bytes_max,
                                              .bounds = bounds,
                                              .only_if = wanted.check()}));
  return new_content{std::move(done), std::move(recoded)};
}

/// Makes an edit in the text of a file in UTF-16.
result<edit_outcome> edit_utf16(const root& root, const std::string& path, const text_edit& edit,
                                const edit_options& options, std::optional<refusal>& why) {
  edit_outcome outcome;
  const auto make = [&](std::string_view content) -> result<std::optional<std::string>> {
    why.reset();
    const auto text = text_of(content);
    if (!text) {
      why = refusal_of_text(text.error());
      return error(text.error());
    }
    PADDOCK_CHECK(options.bounds.check());
    PADDOCK_TRY(const edit_plan plan, plan_edit(text->text(), edit));
    outcome.occurrences = plan.occurrences;
    outcome.line_index = plan.line_index;
    auto bytes = encode_text(apply_edit(text->text(), plan), text->mark);
    if (bytes) return std::optional(*std::move(bytes));
    why = refusal_of_text(bytes.error());
    return error(bytes.error());
  };
  PADDOCK_TRY(outcome.path, rewrite_file(root, path, make, options));
  return outcome;
}

} // namespace

tool_result write_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto text = text_argument(c, "text");
  wanted_hash wanted(text_argument(c, "ifHash"));
  std::optional<refusal> why;
  const auto done = write_if(state, c, path, text, written::instead, wanted, why);
  if (!done && why) return refused(*why, text_argument(c, "path"));
  if (!done && wanted.explains(done.error())) return wanted.refuse(done.error(), c, "path");
  if (!done) return failure(done.error(), path);
  const std::string_view bytes = done->recoded.empty() ? text : done->recoded;
  object_result out;
  out.path("path", state, done->path);
  if (is_brief(state))
    out.number("bytes", static_cast<std::int64_t>(bytes.size())).text("hash", hash_of(bytes));
  else
    out.text("text", text);
  return out.take();
}

tool_result append_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto text = text_argument(c, "text");
  wanted_hash wanted(text_argument(c, "ifHash"));
  std::optional<refusal> why;
  const auto done = write_if(state, c, path, text, written::behind, wanted, why);
  if (!done && why) return refused(*why, text_argument(c, "path"));
  if (!done && wanted.explains(done.error())) return wanted.refuse(done.error(), c, "path");
  if (!done && done.error().code == error_code::not_found)
    return failure(done.error(), path,
                   "create the file with writeTextFile first, or correct the path");
  if (!done) return failure(done.error(), path);
  object_result out;
  out.path("path", state, done->path);
  if (is_brief(state))
    write_known(out, state, c, done->path);
  else
    out.text("text", text);
  return out.take();
}

tool_result edit_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const text_edit edit{text_argument(c, "oldText"), text_argument(c, "newText")};
  wanted_hash wanted(text_argument(c, "ifHash"));
  const edit_options options{.durability = state.options.durability,
                             .file_bytes_max = state.limits.edit_file_bytes_max,
                             .bounds = bounds_of(state, c),
                             .only_if = wanted.check()};
  std::optional<refusal> why;
  const auto done = mark_of(state, path) == utf16_mark::none
                        ? paddock::edit_file(*state.root, path, edit, options)
                        : edit_utf16(*state.root, path, edit, options, why);
  if (!done && why) return refused(*why, text_argument(c, "path"));
  if (!done && wanted.explains(done.error())) return wanted.refuse(done.error(), c, "path");
  if (!done)
    return failure(done.error(), path,
                   stopped_hint(done.error(), "the file is unchanged; call again when less is "
                                              "going on, or edit a smaller file"));
  object_result out;
  out.path("path", state, done->path);
  const auto occurrences = static_cast<std::int64_t>(done->occurrences);
  if (is_brief(state)) {
    out.number("line", static_cast<std::int64_t>(done->line_index) + 1);
    out.number("occurrences", occurrences);
    if (const auto known = known_of(state, c, done->path)) out.text("hash", known->hash);
  } else {
    out.text("oldText", edit.old_text).text("newText", edit.new_text);
    out.number("occurrences", occurrences);
  }
  return out.take();
}

namespace {

/// What helps where something has the name that an entry is to get: a directory takes it in, and
/// the entry itself stays. Empty: neither is there.
std::string hint_at_taken(const root& root, std::string_view source, std::string_view destination) {
  const auto from = root.locate(source, final_link::keep);
  const auto to = root.locate(destination, final_link::keep);
  if (!from || !to || !to->existing) return {};
  if (from->path == to->path) return "it is the source itself; name another destination";
  if (to->existing->kind != entry_kind::directory) return {};
  return "to move it into this directory, give the destination " +
         shown(join(to->path, from->name.c_str()));
}

} // namespace

tool_result move_file(workspace_state& state, call& c) {
  const std::string source = path_argument(c, "source");
  const std::string destination = path_argument(c, "destination");
  wanted_hash wanted(text_argument(c, "ifHash"));
  const auto done = move_entry(*state.root, source, destination,
                               {.durability = state.options.durability,
                                .bounds = bounds_of(state, c),
                                .only_if = wanted.check(),
                                .file_bytes_max = state.limits.edit_file_bytes_max});
  constexpr std::size_t half = echo_characters_max / 2 - 4;
  if (!done && wanted.explains(done.error())) return wanted.refuse(done.error(), c, "source");
  if (!done) {
    const std::string subject = shown(source, half) + " -> " + shown(destination, half);
    if (std::string_view(done.error().operation) == "move" &&
        done.error().code == error_code::conflict)
      return tool_result::failure(error_code::conflict,
                                  subject + ": a command that still runs keeps this "
                                            "directory in place, because of what is in it; "
                                            "call again when it has ended");
    if (std::string_view(done.error().operation) == "move into itself")
      return tool_result::failure(done.error().code,
                                  subject + ": a directory cannot be moved into itself; name a "
                                            "destination outside of it");
    const bool is_taken = done.error().code == error_code::already_exists;
    return failure(done.error(), subject,
                   is_taken ? hint_at_taken(*state.root, source, destination) : std::string());
  }
  object_result result;
  result.path("source", state, done->source).path("destination", state, done->destination);
  std::string said;
  end_moves(state.root->descriptor(), {done->destination}, said, state.options.confinement);
  if (!said.empty()) result.text("notice", encode_name(said));
  return result.take();
}

tool_result delete_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  wanted_hash wanted(text_argument(c, "ifHash"));
  const auto done = remove_file(*state.root, path,
                                {.bounds = bounds_of(state, c),
                                 .only_if = wanted.check(),
                                 .file_bytes_max = state.limits.edit_file_bytes_max});
  if (!done && wanted.explains(done.error())) return wanted.refuse(done.error(), c, "path");
  if (!done && done.error().code == error_code::is_a_directory)
    return failure(done.error(), path, "use deleteDirectory for directories");
  if (!done) return failure(*state.root, done.error(), path);
  return object_result().path("path", state, *done).take();
}

namespace {

/// By content where it can be read, else by name; null for directories.
void write_mime_type(json_writer& out, const root& root, const file_information& info) {
  out.key("mimeType");
  if (info.status.kind == entry_kind::directory) {
    out.null();
    return;
  }
  const auto prefix = read_prefix(root, info.path, mime::sniff_bytes);
  const auto type = prefix ? mime::classify(info.path, prefix->bytes).type
                           : mime::from_extension(info.path).value_or(std::string_view());
  out.string(type.empty() ? "application/octet-stream" : type);
}

/// Whether the last name in the path is a link; what leads there may be links, too.
bool is_link(const root& root, std::string_view path, const file_information& found) {
  const std::string_view name = file_name(path);
  if (name.empty() || name == "." || name == "..") return false;
  const std::string_view above = parent(path);
  const auto directory = inspect(root, above.empty() ? "." : above);
  if (!directory) return false;
  const std::string in_place = directory->path.empty() || directory->path == "."
                                   ? std::string(name)
                                   : join(directory->path, name);
  return in_place != found.path;
}

} // namespace

tool_result get_file_info(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto info = inspect(*state.root, path);
  if (!info) return failure(*state.root, info.error(), path);
  const std::string absolute = state.root->absolute(info->path);
  const bool directory = info->status.kind == entry_kind::directory;
  object_result result;
  json_writer& out = result.writer();
  out.key("exists").boolean(true);
  out.member("path", text_argument(c, "path"));
  out.member("absolutePath", encode_name(absolute));
  out.member("name", encode_name(file_name(absolute)));
  out.member("directory", encode_name(parent(absolute)));
  if (directory)
    out.key("extension").null();
  else
    out.member("extension", encode_name(paddock::extension(absolute)));
  out.member("type", type_name(info->status.kind));
  if (state.options.tools == toolset::coding && is_link(*state.root, path, *info))
    out.member("linkTo", encode_name(info->path));
  write_mime_type(out, *state.root, *info);
  out.key("size").unsigned_integer(info->status.size);
  out.member("sizeFormatted", human_size(info->status.size));
  out.member("created", iso8601_ms(info->status.created_ns));
  out.member("modified", iso8601_ms(info->status.modified_ns));
  out.member("accessed", iso8601_ms(info->status.accessed_ns));
  out.key("permissions").begin_object();
  out.key("readable").boolean(info->readable);
  out.key("writable").boolean(info->writable);
  out.key("executable").boolean(info->executable);
  out.end_object();
  return result.take();
}

} // namespace paddock::mcp
