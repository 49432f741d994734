// SPDX-License-Identifier: MIT
#include "json.hpp"

#include "common/restored.hpp"
#include "common/text_forms.hpp"
#include "crypto/crypto.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <ranges>

namespace paddock::review_page {
namespace {

using mcp::json_writer;

constexpr std::size_t line_bytes_max = 2'000; // of a line that is shown

void write_author(json_writer& out, history::author by, std::string_view tool,
                  std::string_view command) {
  out.member("by", history::name_of(by));
  if (!tool.empty()) out.member("tool", tool);
  if (!command.empty()) out.member("command", command);
}

void write_checkpoint(json_writer& out, const history::checkpoint& one) {
  out.begin_object().key("id").unsigned_integer(one.number);
  out.member("label", one.label).key("time").integer(one.time_ms);
  out.key("files").unsigned_integer(one.files).key("start").boolean(one.is_start).end_object();
}

void write_side(json_writer& out, const side& one) {
  out.begin_object().member("form", name_of(one.form));
  out.key("bytes").unsigned_integer(one.bytes.size());
  if (!one.problem.empty()) out.member("problem", one.problem);
  out.end_object();
}

void write_numbers(json_writer& out, const char* name, const std::vector<std::size_t>& numbers) {
  if (numbers.empty()) return;
  out.key(name).begin_array();
  for (const std::size_t each : numbers)
    out.unsigned_integer(each);
  out.end_array();
}

/// Of a run of lines without lines, the one before it is named, as diffs do it.
std::size_t line_number(std::size_t line, std::size_t count) {
  return count == 0 ? line : line + 1;
}

void write_hunk(json_writer& out, const hunk& which, std::size_t number, std::span<const row> rows,
                bool is_first) {
  out.begin_object().key("number").unsigned_integer(number).key("lines").begin_array();
  out.unsigned_integer(line_number(which.before_line, which.before_count))
      .unsigned_integer(which.before_count)
      .unsigned_integer(line_number(which.after_line, which.after_count))
      .unsigned_integer(which.after_count);
  out.end_array().key("first").boolean(is_first).key("rows").begin_array();
  std::vector<std::size_t> cut, open;
  std::string shown;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string_view text = rows[i].text;
    if (text.ends_with('\n'))
      text.remove_suffix(1);
    else
      open.push_back(i);
    if (text.size() > line_bytes_max) {
      cut.push_back(i);
      text = paddock::detail::truncate_to_valid_prefix(text.substr(0, line_bytes_max));
    }
    shown.assign(1, rows[i].sign).append(text);
    out.string(shown);
  }
  out.end_array();
  write_numbers(out, "cut", cut);
  write_numbers(out, "open", open);
  out.end_object();
}

/// The hunks that have rows in the range; returns the row behind it, or 0 when there is none.
std::size_t write_hunks(json_writer& out, const file_diff& diff, row_range range) {
  std::size_t at = 0;
  const std::size_t end = range.from + range.rows_max;
  for (std::size_t i = 0; i < diff.hunks.size(); ++i) {
    if (at >= end) return end;
    // Rows: every line before, and those that have come.
    const hunk& which = diff.hunks[i];
    std::size_t count = which.before_count;
    for (std::size_t j = 0; j < which.changes; ++j)
      count += diff.changes[which.first_change + j].after_count;
    const std::size_t first = std::max(range.from, at);
    const std::size_t last = std::min(end, at + count);
    if (first < last) {
      const std::vector<row> rows = rows_of(diff, which);
      write_hunk(out, which, i, std::span(rows).subspan(first - at, last - first), first == at);
    }
    at += count;
  }
  return at > end ? end : 0;
}

} // namespace

std::string state_json(const reviewed& of, const history::store_state& state) {
  json_writer out;
  out.begin_object().member("workspace", of.workspace->path());
  out.key("since").unsigned_integer(of.since);
  out.key("start").unsigned_integer(state.start);
  if (state.is_reading) {
    out.key("reading").begin_object().key("files").unsigned_integer(state.files_read);
    out.key("of").unsigned_integer(state.files).end_object();
  }
  out.key("storeBytes").unsigned_integer(state.store_bytes);
  if (!state.trouble.empty()) out.member("trouble", state.trouble);
  return out.end_object().take();
}

std::string to_json(const history::checkpoint& one) {
  json_writer out;
  write_checkpoint(out, one);
  return out.take();
}

std::string to_json(std::span<const history::checkpoint> all) {
  json_writer out;
  out.begin_object().key("checkpoints").begin_array();
  for (const history::checkpoint& each : std::views::reverse(all))
    write_checkpoint(out, each);
  return out.end_array().end_object().take();
}

std::string to_json(const history::change_list& list) {
  json_writer out;
  out.begin_object().key("since").unsigned_integer(list.since);
  out.key("total").unsigned_integer(list.total).key("changes").begin_array();
  for (const history::change& each : list.changes)
    mcp::write_change(out, each, mcp::change_detail::states);
  out.end_array();
  mcp::write_not_covered(out, list);
  return out.end_object().take();
}

std::string to_json(std::span<const history::event> events) {
  json_writer out;
  out.begin_object().key("events").begin_array();
  for (const history::event& each : events) {
    out.begin_object().key("number").unsigned_integer(each.number);
    out.key("time").integer(each.time_ms);
    write_author(out, each.by, each.tool, each.command);
    cli::write_names(out, "paths", each.paths);
    out.key("entries").unsigned_integer(each.entries);
    if (each.checkpoint != 0) out.key("checkpoint").unsigned_integer(each.checkpoint);
    out.end_object();
  }
  return out.end_array().end_object().take();
}

std::string to_json(const history::restore_outcome& outcome,
                    const std::optional<cli::left_commits>& commits) {
  json_writer out;
  cli::write_restored(out.begin_object(), outcome, commits);
  return out.end_object().take();
}

std::string seen_token(const two_sides& sides) {
  return sha256_hex(sha256_hex(sides.before.bytes) + sha256_hex(sides.after.bytes));
}

std::string diff_json(const two_sides& sides, const file_diff* diff, row_range range) {
  json_writer out;
  mcp::write_change(out.begin_object().key("change"), sides.change, mcp::change_detail::states);
  write_side(out.key("before"), sides.before);
  write_side(out.key("after"), sides.after);
  if (diff != nullptr) {
    out.member("seen", seen_token(sides));
    out.key("added").unsigned_integer(diff->added).key("removed").unsigned_integer(diff->removed);
    out.key("hunkCount").unsigned_integer(diff->hunks.size()).key("hunks").begin_array();
    const std::size_t next = write_hunks(out, *diff, range);
    out.end_array();
    if (next != 0) out.key("next").unsigned_integer(next);
  }
  return out.end_object().take();
}

std::string to_json(std::span<const line_counts> counts) {
  json_writer out;
  out.begin_object().key("counts").begin_array();
  for (const line_counts& each : counts) {
    out.begin_object().member("path", encode_name(each.path));
    if (each.is_known) {
      out.key("added").unsigned_integer(each.added);
      out.key("removed").unsigned_integer(each.removed);
    }
    out.end_object();
  }
  return out.end_array().end_object().take();
}

} // namespace paddock::review_page
