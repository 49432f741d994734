// SPDX-License-Identifier: MIT
#include <paddock/mcp/change_results.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/text/utf16.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace paddock::mcp {
namespace {

std::string_view word_of(entry_kind kind) {
  constexpr std::string_view words[] = {"file", "directory", "link", "special"};
  return words[static_cast<std::size_t>(kind)];
}

void write_entry_state(json_writer& out, const history::entry_state& state) {
  if (!state.exists) {
    out.null();
    return;
  }
  out.begin_object().member("entry", word_of(state.kind));
  out.key("mode").unsigned_integer(state.mode & 07777U);
  out.key("size").unsigned_integer(state.size);
  if (state.kind == entry_kind::symlink) out.member("target", encode_name(state.link_target));
  out.end_object();
}

void write_total(json_writer& out, std::string_view name, std::uint64_t total, std::size_t listed) {
  if (total > listed) out.key(std::string(name) + "Total").unsigned_integer(total);
}

bool has_text(const history::entry_state& state) {
  return state.exists && (state.kind == entry_kind::file || state.kind == entry_kind::symlink);
}

bool is_same(const history::entry_state& one, const history::entry_state& other) {
  return has_text(one) && has_text(other) && one.kind == other.kind &&
         one.content == other.content && one.size == other.size &&
         one.link_target == other.link_target;
}

/// Nothing: binary, or not held.
std::optional<std::string> held_text(history::store& store, const history::entry_state& state) {
  if (!has_text(state)) return std::string();
  if (state.kind == entry_kind::symlink) return state.link_target;
  if (state.content.empty()) return std::nullopt;
  auto bytes = store.content(state.content);
  if (!bytes) return std::nullopt;
  return text_to_show(*std::move(bytes));
}

} // namespace

void write_change(json_writer& out, const history::change& each, change_detail detail) {
  out.begin_object().member("path", encode_name(each.path)).member("kind", name_of(each.kind));
  out.member("by", name_of(each.by));
  out.key("restorable").boolean(each.restorable == history::holding::held);
  if (!each.from.empty()) out.member("from", encode_name(each.from));
  if (is_told_as_one(each)) out.key("files").unsigned_integer(each.files);
  if (detail != change_detail::brief) {
    out.member("entry", word_of(each.entry)).key("time").integer(each.time_ms);
    if (!each.tool.empty()) out.member("tool", each.tool);
    if (!each.command.empty()) out.member("command", each.command);
    if (each.also_other) out.key("alsoOther").boolean(true);
    if (each.restorable != history::holding::held) out.member("reason", reason_of(each.restorable));
  }
  if (detail == change_detail::states) {
    write_entry_state(out.key("before"), each.before);
    write_entry_state(out.key("after"), each.after);
  }
  out.end_object();
}

void write_not_covered(json_writer& out, const history::change_list& found) {
  out.key("notCovered").begin_array();
  for (const history::not_covered& each : found.left_out) {
    out.begin_object().member("path", encode_name(each.path));
    out.member("reason", reason_of(each.reason));
    if (each.entries != 1) out.key("entries").unsigned_integer(each.entries);
    out.end_object();
  }
  out.end_array();
  write_total(out, "notCovered", found.left_out_total, found.left_out.size());
}

void write_reasons(json_writer& out, std::string_view name,
                   const std::vector<history::restore_conflict>& all, std::uint64_t total,
                   std::size_t count_max) {
  const std::size_t count = std::min(all.size(), count_max);
  out.key(name).begin_array();
  for (const history::restore_conflict& each : std::span(all).first(count))
    out.begin_object()
        .member("path", encode_name(each.path))
        .member("reason", each.reason)
        .end_object();
  out.end_array();
  write_total(out, name, total, count);
}

void write_running(json_writer& out, const std::vector<history::running_command>& running) {
  out.key("running").begin_array();
  for (const history::running_command& each : running) {
    out.begin_object().member("tool", each.tool).member("command", each.command);
    out.key("began").integer(each.began_ms).end_object();
  }
  out.end_array();
}

std::optional<unified_diff_text> diff_of_change(history::store& store, const history::change& each,
                                                std::size_t bytes_max) {
  if (is_same(each.before, each.after)) return unified_diff_text{};
  const auto before = held_text(store, each.before), after = held_text(store, each.after);
  if (!before || !after) return std::nullopt;
  const std::string old_name = has_text(each.before)
                                   ? "a/" + encode_name(each.from.empty() ? each.path : each.from)
                                   : "/dev/null";
  const std::string new_name = has_text(each.after) ? "b/" + encode_name(each.path) : "/dev/null";
  return unified_diff(*before, *after,
                      {.bytes_max = bytes_max, .before_name = old_name, .after_name = new_name});
}

} // namespace paddock::mcp
