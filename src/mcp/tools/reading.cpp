// SPDX-License-Identifier: MIT

// The tools that read files: text, images, documents.

#include "crypto/crypto.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/content.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/text/utf16.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace paddock::mcp {
namespace {

std::optional<std::int64_t> integer_argument(const call& c, std::string_view name) {
  return c.arguments()[name].integer();
}

/// Where text that is not UTF-8 begins to be so, and what it may be instead.
tool_result not_text(toolset tools, std::string_view path, const line_slice& slice,
                     std::size_t at) {
  const bool is_coding = tools == toolset::coding;
  const auto line =
      slice.from +
      std::count(slice.text.begin(), slice.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  std::string message =
      shown(path) + ": not valid UTF-8 at byte offset " + std::to_string(slice.offset + at) +
      " (line " +
      (is_coding ? std::to_string(line + 1) : std::to_string(line) + ", counted from 0") + ")";
  if (slice.offset == 0 &&
      (slice.text.starts_with("\xFF\xFE") || slice.text.starts_with("\xFE\xFF")))
    message += "; the file looks like UTF-16, convert it with exec (iconv) first";
  else
    message +=
        "; it is a binary file or uses another encoding; convert text with exec (iconv), and "
        "do not read the rest as text";
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
                  std::string_view expected, std::uint64_t bytes_max,
                  std::string_view notice = {}) {
  const std::string path = path_argument(c, "path");
  const auto file = read_prefix(*state.root, path, mime::sniff_bytes);
  if (!file) return failure(*state.root, file.error(), path);
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
  object_result out;
  // Absolute, because the runtime loads it.
  out.text("path", encode_name(state.root->absolute(file->path))).text("mimeType", found.type);
  out.number("size", static_cast<std::int64_t>(file->status.size));
  if (!notice.empty()) out.text("notice", notice);
  return out.take();
}

tool_result image_file(workspace_state& state, const call& c, std::string_view notice = {}) {
  return media(state, c, mime::is_image_for_model, "a PNG, JPEG, GIF or WebP image",
               state.limits.image_bytes_max, notice);
}

bool is_numbered(const call& c) {
  return c.arguments()["numbered"].boolean().value_or(false);
}

/// The lines that a call asks for in either way of counting; `wrong` where it does in both.
line_range lines_asked(const call& c, toolset tools, std::optional<tool_result>& wrong) {
  const auto first = integer_argument(c, "firstLine"), last = integer_argument(c, "lastLine");
  line_range range{integer_argument(c, "from"), integer_argument(c, "to")};
  const bool range_is_of_base = range.from || range.to;
  if ((first || last) && (range.from || range.to))
    wrong = tool_result::failure(error_code::invalid_argument,
                                 "firstLine and lastLine count from 1, from and to from 0; give "
                                 "one of the pairs");
  if (first == 0 || last == 0)
    wrong = tool_result::failure(error_code::invalid_argument,
                                 "firstLine and lastLine count from 1, or from the end with -1");
  if (!wrong && first && last && *first > *last && (*first > 0) == (*last > 0))
    wrong = tool_result::failure(error_code::invalid_argument,
                                 "firstLine " + std::to_string(*first) + " is after lastLine " +
                                     std::to_string(*last));
  if (first) range.from = *first > 0 ? *first - 1 : *first;
  if (last && *last > 0) range.to = *last;
  if (last && *last < -1) range.to = *last + 1;
  if (first && last == -1) range.to = std::numeric_limits<std::int64_t>::max();
  const bool counts_as_base = range_is_of_base || tools != toolset::coding;
  if (first || last || is_numbered(c) || !counts_as_base) range.breaks = line_breaks::end;
  return range;
}

tool_result unread(const root& root, const error& e, std::string_view path) {
  return failure(root, e, path,
                 stopped_hint(e, "read lines near the front with from and to, which "
                                 "must not be negative, or use exec (tail, grep)"));
}

enum class shown_part : std::uint8_t { all, whole_lines, part_of_line };
struct shown_lines : line_slice {
  shown_part part = shown_part::all;
};

/// The beginning of lines as a page, up to the end of a line if there is one.
shown_lines first_page(line_slice lines, std::uint64_t bytes_max) {
  shown_lines page{std::move(lines), shown_part::whole_lines};
  page.text.resize(std::min<std::size_t>(page.text.size(), bytes_max + 1));
  if (const std::size_t end = page.text.rfind('\n'); end != std::string::npos) {
    page.text.resize(end);
  } else {
    page.text.resize(std::min<std::size_t>(page.text.size(), bytes_max));
    page.text.resize(detail::truncate_to_valid_prefix(page.text).size());
    page.part = shown_part::part_of_line;
  }
  page.to = page.from + std::ranges::count(page.text, '\n') + 1;
  return page;
}

/// That of a file that is longer than a page.
result<shown_lines> first_page(workspace_state& state, const call& c, const std::string& path,
                               line_breaks breaks) {
  const std::uint64_t bytes_max = state.limits.read_page_bytes_max;
  PADDOCK_TRY(file_content beginning, read_prefix(*state.root, path, bytes_max + 1));
  shown_lines page = first_page({.text = std::move(beginning.bytes)}, bytes_max);
  const auto last =
      read_lines(*state.root, path, {.from = -1, .to = {}, .breaks = breaks},
                 {.bytes_max = state.limits.read_bytes_max, .bounds = bounds_of(state, c)});
  if (last) page.total_lines = last->total_lines;
  return page;
}

/// Each line behind its number and a tab.
std::string with_numbers(const line_slice& slice) {
  std::string out;
  std::string_view rest = slice.text;
  for (std::int64_t number = slice.from; number < slice.to;) {
    const std::size_t end = rest.find('\n');
    out.append(std::to_string(++number)).append("\t").append(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    rest.remove_prefix(end + 1);
  }
  return out;
}

/// Lines of a text as read_lines has those of a file.
line_slice lines_of_text(std::string_view text, const line_range& range) {
  const bool is_short = range.breaks == line_breaks::end && (text.empty() || text.ends_with('\n'));
  const std::int64_t total = std::ranges::count(text, '\n') + (is_short ? 0 : 1);
  const auto from_front = [&](std::int64_t bound) {
    return std::clamp<std::int64_t>(bound >= 0 ? bound : total + bound, 0, total);
  };
  line_slice out{.from = from_front(range.from.value_or(0)), .total_lines = total};
  out.to = std::max(out.from, from_front(range.to.value_or(total)));
  const auto begin_of = [&](std::int64_t line) {
    std::size_t at = 0;
    for (; line > 0; --line)
      at = std::min(text.find('\n', at), text.size()) + 1;
    return at;
  };
  if (out.from == out.to) return out;
  const std::size_t begin = begin_of(out.from);
  out.offset = begin;
  const std::size_t end = is_short && !range.to ? text.size() : begin_of(out.to) - 1;
  out.text = text.substr(begin, end - begin);
  return out;
}

/// That the lines asked for are not there; empty: some are, or all were asked for.
std::string no_lines_notice(const line_range& range, const line_slice& slice) {
  if ((!range.from && !range.to) || slice.from < slice.to) return {};
  if (!slice.total_lines) return "the file has no such lines";
  return "no such lines: the file has " + std::to_string(*slice.total_lines) +
         (slice.total_lines == 1 ? " line" : " lines");
}

/// How to go on behind a page.
std::string way_on(const shown_lines& page, std::string_view path, bool is_decoded,
                   bool is_whole_file) {
  if (page.part != shown_part::part_of_line)
    return "read on with firstLine " + std::to_string(page.to + 1) +
           (is_whole_file ? "" : " and a lastLine");
  const std::string line = std::to_string(page.to), bytes = std::to_string(page.text.size());
  std::string what = "line " + line + " is cut off after " + bytes + " bytes";
  if (page.total_lines && *page.total_lines > page.to)
    what += "; the next line is firstLine " + std::to_string(page.to + 1);
  constexpr std::string_view plain = // for a shell
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";
  if (is_decoded || path.find_first_not_of(plain) != path.npos) return what;
  return what + "; if exec is offered, it shows the rest: sed -n " + line + "p " + shown(path) +
         " | tail -c +" + std::to_string(page.text.size() + 1);
}

tool_result read_answer(const call& c, const shown_lines& slice, std::string_view encoding,
                        std::string_view hash, std::string notice = {}) {
  const bool numbered = is_numbered(c);
  object_result out;
  out.writer().reserve(slice.text.size() + slice.text.size() / 8 + 256);
  out.text("path", text_argument(c, "path"));
  out.text("content", numbered ? std::string_view(with_numbers(slice)) : slice.text);
  out.number("from", slice.from).number("to", slice.to);
  if (slice.total_lines) out.number("totalLines", *slice.total_lines);
  if (!encoding.empty())
    notice += (notice.empty() ? "" : "; ") + std::string("the file is ") + std::string(encoding) +
              ", shown decoded";
  if (slice.part != shown_part::all) {
    out.writer().key("truncated").boolean(true);
    notice += (notice.empty() ? "" : "; ") +
              way_on(slice, path_argument(c, "path"), !encoding.empty(), !hash.empty());
  }
  if (!notice.empty()) out.text("notice", notice);
  if (!hash.empty()) out.text("hash", hash);
  return out.take();
}

/// Whether the answer comes in pages: not for the lines that base counts.
bool is_paged(const workspace_state& state, const call& c) {
  return state.options.tools == toolset::coding && state.limits.read_page_bytes_max > 0 &&
         !integer_argument(c, "from") && !integer_argument(c, "to");
}

/// Lines of a text, or the first page of them.
tool_result lines_answer(workspace_state& state, const call& c, std::string_view text,
                         const line_range& range, std::string_view encoding,
                         std::string_view hash) {
  const limits& bounds = state.limits;
  const std::string path = path_argument(c, "path");
  shown_lines slice{lines_of_text(text, range)};
  if (is_paged(state, c) && slice.text.size() > bounds.read_page_bytes_max)
    slice = first_page(std::move(slice), bounds.read_page_bytes_max);
  if (slice.text.size() > bounds.read_bytes_max)
    return read_too_large(path, *state.root, bounds.read_bytes_max);
  const std::size_t bad = detail::first_invalid_utf8(slice.text);
  if (bad < slice.text.size()) return not_text(state.options.tools, path, slice, bad);
  return read_answer(c, slice, encoding, hash, no_lines_notice(range, slice));
}

/// Lines of a file that was read as a whole, and the hash of just these bytes.
tool_result whole_answer(workspace_state& state, const call& c, file_content file,
                         const line_range& range) {
  const std::string path = path_argument(c, "path");
  const std::string hash = hash_of(file.bytes);
  if (utf16_mark_of(file.bytes) == utf16_mark::none)
    return lines_answer(state, c, file.bytes, range, {}, hash);
  const std::uint64_t decoded_bytes_max = file.bytes.size() / 2 * 3;
  if (const auto room = file.memory.grow(decoded_bytes_max, bounds_of(state, c)); !room)
    return unread(*state.root, room.error(), path);
  const auto decoded = decode_text(std::move(file.bytes));
  if (!decoded)
    return tool_result::failure(error_code::not_text,
                                shown(path) + ": " + decoded.error().operation +
                                    " at byte offset " + std::to_string(decoded.error().offset) +
                                    "; it is damaged or no text, look at it with exec (xxd)");
  return lines_answer(state, c, decoded->text, range,
                      decoded->mark == utf16_mark::big_endian ? "UTF-16 (big endian)"
                                                              : "UTF-16 (little endian)",
                      hash);
}

} // namespace

std::string hash_of(std::string_view bytes) {
  return sha256_hex(bytes).substr(0, hash_digits);
}

std::optional<known_file> known_of(workspace_state& state, const call& c, std::string_view path) {
  const auto file =
      read_file(*state.root, path,
                {.bytes_max = state.limits.edit_file_bytes_max, .bounds = bounds_of(state, c)});
  if (!file) return std::nullopt;
  return known_file{.bytes = file->bytes.size(), .hash = hash_of(file->bytes)};
}

tool_result read_text_file(workspace_state& state, call& c) {
  const limits& bounds = state.limits;
  const bool is_coding = state.options.tools == toolset::coding;
  const std::string path = path_argument(c, "path");
  std::optional<tool_result> wrong;
  const line_range range = lines_asked(c, state.options.tools, wrong);
  if (wrong) return *std::move(wrong);
  if (is_coding) {
    auto whole =
        read_file(*state.root, path,
                  {.bytes_max = bounds.edit_file_bytes_max, .bounds = bounds_of(state, c)});
    if (whole) return whole_answer(state, c, *std::move(whole), range);
    // Otherwise lines alone, without a hash: it is large, or there is no room for it.
  }
  const bool has_pages = is_paged(state, c), is_beginning = has_pages && !range.from && !range.to;
  const std::uint64_t bytes_max = is_beginning ? bounds.read_page_bytes_max : bounds.read_bytes_max;
  auto slice = [&]() -> result<shown_lines> {
    PADDOCK_TRY(line_slice lines,
                read_lines(*state.root, path, range,
                           {.bytes_max = bytes_max, .bounds = bounds_of(state, c)}));
    return shown_lines{std::move(lines)};
  }();
  const bool is_too_large =
      !slice && slice.error().code == error_code::too_large && !is_out_of_memory(slice.error());
  if (is_too_large && !is_beginning) return read_too_large(path, *state.root, bytes_max);
  if (is_too_large)
    slice = first_page(state, c, path, range.breaks);
  else if (slice && has_pages && slice->text.size() > bounds.read_page_bytes_max)
    slice = first_page(*std::move(slice), bounds.read_page_bytes_max);
  if (!slice) return unread(*state.root, slice.error(), path);
  const std::size_t bad = detail::first_invalid_utf8(slice->text);
  if (bad < slice->text.size()) return not_text(state.options.tools, path, *slice, bad);
  return read_answer(c, *slice, {}, {}, is_coding ? no_lines_notice(range, *slice) : std::string());
}

tool_result read_image_file(workspace_state& state, call& c) {
  constexpr std::uint64_t picture_bytes_max = std::uint64_t{5} * 1024 * 1024;
  tool_result done = image_file(state, c);
  if (done.failed() || state.options.images != image_results::picture) return done;
  const std::uint64_t line_max = c.message_bytes_max();
  const std::uint64_t room = line_max > 8192 ? (line_max - 8192) / 4 * 3 : 0; // base64
  const std::string path = path_argument(c, "path");
  const auto file =
      read_file(*state.root, path,
                {.bytes_max = std::min(picture_bytes_max, room), .bounds = bounds_of(state, c)});
  if (!file && file.error().code == error_code::too_large)
    return image_file(state, c,
                      "the picture is too large to be shown; make a smaller one with exec");
  if (!file) return failure(*state.root, file.error(), path);
  const auto found = mime::sniff(std::string_view(file->bytes).substr(0, mime::sniff_bytes));
  if (!mime::is_image_for_model(found.type))
    return failure({error_code::conflict, 0, "image"}, path);
  done.content = content_blocks().text(done.json).image(file->bytes, found.type).take();
  return done;
}

tool_result read_pdf_file(workspace_state& state, call& c) {
  constexpr auto is_pdf = [](std::string_view type) { return type == "application/pdf"; };
  return media(state, c, is_pdf, "a PDF document", state.limits.pdf_bytes_max);
}

} // namespace paddock::mcp
