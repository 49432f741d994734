// SPDX-License-Identifier: MIT
#include <paddock/base/detail/excerpt.hpp>
#include <paddock/mcp/search_results.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

namespace paddock::mcp {
namespace {

/// What comes after the matches is never longer, about.
constexpr std::size_t ending_bytes = 4 * 1024;

bool has_room(const json_writer& out, std::size_t next_bytes, std::size_t json_bytes_max) {
  return out.str().size() + next_bytes + ending_bytes <= json_bytes_max;
}

/// Truncated is also what ended early: it has no next page where nothing more was found.
void write_page(json_writer& out, std::uint64_t offset, std::uint64_t shown, std::uint64_t total,
                const search_coverage& coverage) {
  const bool more = offset + shown < total;
  out.key("truncated").boolean(more || coverage.ended_early.has_value());
  if (more) out.key("nextOffset").unsigned_integer(offset + shown);
}

/// How much was not looked at, by reason, where it is something.
void write_skipped(json_writer& out,
                   std::initializer_list<std::pair<const char*, std::uint64_t>> amounts) {
  const auto is_zero = [](const auto& each) { return each.second == 0; };
  if (std::ranges::all_of(amounts, is_zero)) return;
  out.key("skipped").begin_object();
  for (const auto& [reason, amount] : amounts)
    if (amount > 0) out.key(reason).unsigned_integer(amount);
  out.end_object();
}

/// Why not everything was looked at, and what to do.
std::string_view notice_of(const search_coverage& coverage, bool exact, std::uint64_t no_memory) {
  if (coverage.ended_early == error_code::timed_out)
    return "time was up before everything was looked at; name a path further down, or fewer files";
  if (coverage.ended_early)
    return "there is more than one call looks at; name a path further down, or fewer files";
  if (no_memory > 0)
    return "files were not searched, because the memory for all calls together had no room for "
           "them; call again when others are done, or name fewer files";
  if (!coverage.unread.empty() && !exact)
    return "unreadable names what was not searched, and why; what matches there is not counted";
  return exact ? std::string_view()
               : "long lines were left out, because the pattern is slow on them; make it simpler";
}

constexpr std::string_view no_file_fits =
    "no file matches include, whose globs are matched against paths relative to path; omit "
    "include, or write *.ext or **/name/**";

constexpr std::string_view may_be_ignored =
    "entries ignored by the files in ignoredBy were not searched and may match; set "
    "includeIgnored: true to search them, too";

/// The rules that left something out, where nothing was found, and what could not be read, as far
/// as there is room.
void write_reasons(json_writer& out, const search_coverage& coverage, std::uint64_t total,
                   std::string_view notice, std::size_t json_bytes_max) {
  const auto fits = [&](std::size_t names_bytes) {
    return out.str().size() + 6 * names_bytes + ending_bytes / 8 <= json_bytes_max;
  };
  if (total == 0 && !coverage.ignored_by.empty()) {
    out.key("ignoredBy").begin_array();
    for (const ignoring_rule& each : coverage.ignored_by) {
      const std::string rule = detail::excerpt(each.rule);
      if (!fits(rule.size() + each.file.size())) break;
      out.begin_object()
          .member("rule", rule)
          .member("file", encode_name(each.file))
          .key("line")
          .unsigned_integer(each.line_number)
          .key("entries")
          .unsigned_integer(each.entries)
          .end_object();
    }
    out.end_array();
  }
  if (!coverage.unread.empty()) {
    out.key("unreadable").begin_array();
    for (const unread_entry& each : coverage.unread) {
      if (!fits(each.path.size())) break;
      out.begin_object()
          .member("path", encode_name(each.path))
          .member("why", wire_name(each.why))
          .end_object();
    }
    out.end_array();
  }
  if (coverage.ended_early) out.member("endedBy", wire_name(*coverage.ended_early));
  if (!notice.empty()) out.member("notice", notice);
}

void write_line(json_writer& out, const found_line& line) {
  out.begin_object().key("line").unsigned_integer(line.line_number).member("text", line.text);
  if (line.context) out.key("context").boolean(true);
  if (line.cut) out.key("cut").boolean(true);
  out.end_object();
}

/// Returns how many matching lines were written.
std::uint64_t write_lines(json_writer& out, const text_matches& found, std::size_t json_bytes_max) {
  std::uint64_t shown = 0;
  bool full = false;
  out.key("matches").begin_array();
  for (const file_matches& file : found.files) {
    if (full || (full = !has_room(out, 6 * (file.path.size() + file.lines.front().text.size()),
                                  json_bytes_max)))
      break;
    out.begin_object().member("path", encode_name(file.path)).key("lines").begin_array();
    for (const found_line& line : file.lines) {
      if ((full = !has_room(out, 6 * line.text.size() + 64, json_bytes_max))) break;
      write_line(out, line);
      shown += line.context ? 0 : 1;
    }
    out.end_array().end_object();
  }
  out.end_array();
  return shown;
}

/// Returns how many files were written.
std::uint64_t write_files(json_writer& out, const text_matches& found, search_output output,
                          std::size_t json_bytes_max) {
  std::uint64_t shown = 0;
  out.key(output == search_output::files ? "files" : "counts").begin_array();
  for (const file_matches& file : found.files) {
    if (!has_room(out, 6 * file.path.size() + 64, json_bytes_max)) break;
    if (output == search_output::files)
      out.string(encode_name(file.path));
    else
      out.begin_object()
          .member("path", encode_name(file.path))
          .key("lines")
          .unsigned_integer(file.count)
          .end_object();
    ++shown;
  }
  out.end_array();
  return shown;
}

} // namespace

std::uint64_t write_matches(json_writer& out, const text_matches& found,
                            const search_options& options, std::size_t json_bytes_max) {
  const bool by_line = options.output == search_output::lines;
  out.begin_object();
  const std::uint64_t shown = by_line ? write_lines(out, found, json_bytes_max)
                                      : write_files(out, found, options.output, json_bytes_max);
  out.key("totalMatches").unsigned_integer(found.total_matches);
  out.key("totalFiles").unsigned_integer(found.total_files);
  out.key("exact").boolean(found.exact);
  write_page(out, options.offset, shown, by_line ? found.total_matches : found.total_files,
             found.coverage);
  out.key("searched").unsigned_integer(found.searched);
  write_skipped(out, {{"ignored", found.coverage.ignored},
                      {"binary", found.binary},
                      {"unreadable", found.coverage.unreadable},
                      {"tooLarge", found.too_large}});
  std::string_view notice = notice_of(found);
  const std::uint64_t looked_at = found.searched + found.binary + found.too_large;
  if (notice.empty() && looked_at == 0 && !options.include.empty())
    notice = found.coverage.ignored_by.empty() ? no_file_fits : may_be_ignored;
  write_reasons(out, found.coverage, found.total_matches, notice, json_bytes_max);
  out.end_object();
  return shown;
}

std::string_view notice_of(const text_matches& found) {
  return notice_of(found.coverage, found.exact, found.no_memory);
}

std::uint64_t write_found(json_writer& out, const found_files& found, const find_options& options,
                          std::size_t json_bytes_max) {
  std::uint64_t shown = 0;
  out.begin_object().key("paths").begin_array();
  for (const std::string& path : found.paths) {
    if (!has_room(out, 6 * path.size(), json_bytes_max)) break;
    out.string(encode_name(path));
    ++shown;
  }
  out.end_array();
  out.key("total").unsigned_integer(found.total);
  if (found.coverage.ended_early) out.key("exact").boolean(false);
  write_page(out, options.offset, shown, found.total, found.coverage);
  write_skipped(out,
                {{"ignored", found.coverage.ignored}, {"unreadable", found.coverage.unreadable}});
  std::string_view notice = notice_of(found.coverage, true, 0);
  if (notice.empty() && found.total == 0 && !found.coverage.ignored_by.empty())
    notice = may_be_ignored;
  write_reasons(out, found.coverage, found.total, notice, json_bytes_max);
  out.end_object();
  return shown;
}

void write_map(json_writer& out, const tree_map& map, std::size_t json_bytes_max) {
  std::string tree;
  for (const map_line& line : map.lines)
    (tree += text_of(line)) += '\n';
  out.begin_object().member("tree", tree);
  out.key("files").unsigned_integer(map.amount.files);
  out.key("directories").unsigned_integer(map.amount.directories);
  out.key("bytes").unsigned_integer(map.amount.bytes);
  out.key("truncated").boolean(map.truncated);
  // The map has what is ignored.
  write_reasons(out, map.coverage, map.lines.size(), notice_of(map.coverage, true, 0),
                json_bytes_max);
  out.end_object();
}

} // namespace paddock::mcp
