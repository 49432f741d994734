// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mime/mime.hpp>

#include <algorithm>
#include <string>

namespace paddock::mcp {
namespace {

std::optional<std::int64_t> integer_argument(const call& c, std::string_view name) {
  return c.arguments()[name].integer();
}

/// Where text that is not UTF-8 begins to be so, and what it may be instead.
tool_result not_text(std::string_view path, const line_slice& slice, std::size_t at) {
  const auto line =
      slice.from +
      std::count(slice.text.begin(), slice.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  std::string message = shown(path) + ": not valid UTF-8 at byte offset " +
                        std::to_string(slice.offset + at) + " (line " + std::to_string(line) +
                        ", counted from 0)";
  if (slice.offset == 0 &&
      (slice.text.starts_with("\xFF\xFE") || slice.text.starts_with("\xFE\xFF")))
    message += "; the file looks like UTF-16, convert it with exec (iconv) first";
  else
    message += "; it is a binary file or uses another encoding, do not read it as text";
  return tool_result::failure(error_code::not_text, message);
}

tool_result read_too_large(std::string_view path, const root& root, std::uint64_t bytes_max) {
  std::string size;
  if (const auto info = inspect(root, path)) size = " (" + human_size(info->status.size) + ")";
  return tool_result::failure(error_code::too_large,
                              shown(path) + size + ": the text exceeds " + human_size(bytes_max) +
                                  " per call; read a part of it with from and to (line numbers), "
                                  "or where one line is longer "
                                  "than that, with exec (head -c, cut -c)");
}

/// A file whose content says that it is of an accepted type and not too large: {"path", "mimeType",
/// "size"}.
tool_result media(workspace_state& state, const call& c, bool (*accepts)(std::string_view),
                  std::string_view expected, std::uint64_t bytes_max) {
  const std::string path = path_argument(c, "path");
  const auto file = read_prefix(*state.root, path, mime::sniff_bytes);
  if (!file) return failure(file.error(), path);
  const auto found = mime::sniff(file->bytes);
  if (!accepts(found.type)) {
    const bool unknown = found.evidence == mime::evidence::none;
    const std::string_view type = unknown ? "unknown binary data" : found.type;
    return tool_result::failure(
        error_code::unsupported_type,
        shown(path) + ": the content is " + std::string(file->bytes.empty() ? "empty" : type) +
            ", not " + std::string(expected) + "; use a tool that fits this type of file");
  }
  if (file->status.size > bytes_max)
    return tool_result::failure(error_code::too_large,
                                shown(path) + ": the file has " + human_size(file->status.size) +
                                    " and the limit is " + human_size(bytes_max) +
                                    "; use a smaller file");
  return object_result()
      .path("path", *state.root, file->path)
      .text("mimeType", found.type)
      .number("size", static_cast<std::int64_t>(file->status.size))
      .take();
}

} // namespace

tool_result read_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const std::uint64_t bytes_max = state.options.limits.read_bytes_max;
  const line_range range{integer_argument(c, "from"), integer_argument(c, "to")};
  const auto slice =
      read_lines(*state.root, path, range, {.bytes_max = bytes_max, .bounds = bounds_of(state, c)});
  if (!slice && slice.error().code == error_code::too_large && !is_out_of_memory(slice.error()))
    return read_too_large(path, *state.root, bytes_max);
  if (!slice)
    return failure(slice.error(), path,
                   stopped_hint(slice.error(), "read lines near the front with from and to, which "
                                               "must not be negative, or use exec (tail, grep)"));
  const std::size_t bad = detail::first_invalid_utf8(slice->text);
  if (bad < slice->text.size()) return not_text(path, *slice, bad);
  object_result out;
  out.writer().reserve(slice->text.size() + slice->text.size() / 8 + 256);
  out.text("path", text_argument(c, "path")).text("content", slice->text);
  out.number("from", slice->from).number("to", slice->to);
  if (slice->total_lines) out.number("totalLines", *slice->total_lines);
  return out.take();
}

tool_result read_image_file(workspace_state& state, call& c) {
  return media(state, c, mime::is_image_for_model, "a PNG, JPEG, GIF or WebP image",
               state.options.limits.image_bytes_max);
}

tool_result read_pdf_file(workspace_state& state, call& c) {
  constexpr auto is_pdf = [](std::string_view type) { return type == "application/pdf"; };
  return media(state, c, is_pdf, "a PDF document", state.options.limits.pdf_bytes_max);
}

tool_result write_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto text = text_argument(c, "text");
  const auto done =
      write_file(*state.root, path, text,
                 {.durability = state.options.durability, .bounds = bounds_of(state, c)});
  if (!done) return failure(done.error(), path);
  return object_result().path("path", *state.root, *done).text("text", text).take();
}

tool_result append_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto text = text_argument(c, "text");
  const auto done =
      append_file(*state.root, path, text,
                  {.durability = state.options.durability, .bounds = bounds_of(state, c)});
  if (!done && done.error().code == error_code::not_found)
    return failure(done.error(), path,
                   "create the file with writeTextFile first, or correct the path");
  if (!done) return failure(done.error(), path);
  return object_result().path("path", *state.root, *done).text("text", text).take();
}

tool_result edit_text_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const text_edit edit{text_argument(c, "oldText"), text_argument(c, "newText")};
  const auto done = edit_file(*state.root, path, edit,
                              {.durability = state.options.durability,
                               .file_bytes_max = state.options.limits.edit_file_bytes_max,
                               .bounds = bounds_of(state, c)});
  if (!done)
    return failure(done.error(), path,
                   stopped_hint(done.error(), "the file is unchanged; call again when less is "
                                              "going on, or edit a smaller file"));
  return object_result()
      .path("path", *state.root, done->path)
      .text("oldText", edit.old_text)
      .text("newText", edit.new_text)
      .number("occurrences", static_cast<std::int64_t>(done->occurrences))
      .take();
}

tool_result move_file(workspace_state& state, call& c) {
  const std::string source = path_argument(c, "source");
  const std::string destination = path_argument(c, "destination");
  const auto done =
      move_entry(*state.root, source, destination,
                 {.durability = state.options.durability, .bounds = bounds_of(state, c)});
  constexpr std::size_t half = echo_characters_max / 2 - 4;
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
    return failure(done.error(), subject);
  }
  return object_result()
      .path("source", *state.root, done->source)
      .path("destination", *state.root, done->destination)
      .take();
}

tool_result delete_file(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto done = remove_file(*state.root, path, bounds_of(state, c));
  if (!done && done.error().code == error_code::is_a_directory)
    return failure(done.error(), path, "use deleteDirectory for directories");
  if (!done) return failure(done.error(), path);
  return object_result().path("path", *state.root, *done).take();
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

} // namespace

tool_result get_file_info(workspace_state& state, call& c) {
  const std::string path = path_argument(c, "path");
  const auto info = inspect(*state.root, path);
  if (!info) return failure(info.error(), path);
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
    out.member("extension", encode_name(extension(absolute)));
  out.member("type", type_name(info->status.kind));
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
