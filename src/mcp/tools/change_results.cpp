// SPDX-License-Identifier: MIT
#include <paddock/exec/command.hpp>
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
  // Contents that are not held are the same if size and time are.
  return has_text(one) && has_text(other) && one.kind == other.kind &&
         one.content == other.content && one.size == other.size &&
         one.link_target == other.link_target &&
         (one.kind == entry_kind::symlink || !one.content.empty() ||
          one.modified_ns == other.modified_ns);
}

/// Nothing: not held.
std::optional<std::string> held_bytes(history::store& store, const history::entry_state& state) {
  if (!has_text(state)) return std::string();
  if (state.kind == entry_kind::symlink) return state.link_target;
  if (state.content.empty()) return std::nullopt;
  auto bytes = store.content(state.content);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

/// Nothing: binary, or not held.
std::optional<std::string> held_text(history::store& store, const history::entry_state& state) {
  auto bytes = held_bytes(store, state);
  if (!bytes || state.kind == entry_kind::symlink) return bytes;
  return text_to_show(*std::move(bytes));
}

/// As git has it; empty: git has nothing there.
std::string_view git_mode(const history::entry_state& state) {
  if (!has_text(state)) return {};
  if (state.kind == entry_kind::symlink) return "120000";
  return (state.mode & 0100U) != 0 ? "100755" : "100644";
}

/// Nothing: not held.
std::optional<std::string> git_patch(history::store& store, const history::change& each,
                                     const history::entry_state& before,
                                     const history::entry_state& after) {
  const git_file old_file{.name = each.from.empty() ? each.path : each.from,
                          .mode = git_mode(before)};
  const git_file new_file{.name = each.path, .mode = git_mode(after)};
  std::string heading = git_heading(old_file, new_file);
  if (is_same(before, after)) return heading;
  const auto old_bytes = held_bytes(store, before), new_bytes = held_bytes(store, after);
  if (!old_bytes || !new_bytes) return std::nullopt;
  const auto name_of_side = [](const char* side, const git_file& file) {
    return file.mode.empty() ? "/dev/null" : side + std::string(file.name);
  };
  return heading + unified_diff(*old_bytes, *new_bytes,
                                {.before_name = name_of_side("a/", old_file),
                                 .after_name = name_of_side("b/", new_file)})
                       .text;
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

std::optional<std::string> patch_of_change(history::store& store, const history::change& each) {
  const history::entry_state &before = each.before, &after = each.after;
  const auto is_special = [](const history::entry_state& state) {
    return state.exists && state.kind == entry_kind::other;
  };
  if (is_special(before) || is_special(after)) return std::nullopt;
  if (git_mode(before).empty() && git_mode(after).empty()) return std::nullopt;
  if (has_text(before) && has_text(after) && before.kind != after.kind) {
    // To git one file is deleted, and another one created.
    auto gone = git_patch(store, each, before, {});
    const auto come = git_patch(store, each, {}, after);
    return gone && come ? std::optional(*std::move(gone) + *come) : std::nullopt;
  }
  const bool is_same_to_git =
      each.from.empty() && git_mode(before) == git_mode(after) && is_same(before, after);
  return is_same_to_git ? std::nullopt : git_patch(store, each, before, after);
}

void end_restores(history::store& store, const confinement_policy& policy) {
  store.after_moves([workspace = store.workspace(), policy] {
    std::string said;
    end_moves(workspace->descriptor(), {""}, said, policy);
    return said;
  });
}

result<interrupted_change>
end_interrupted_change(const root& root, std::string_view state_directory, std::string& said,
                       const confinement_policy& policy, const work_bounds& bounds) {
  const auto found = recover_changes(root, state_directory, bounds);
  if (found && *found == interrupted_change::finished)
    end_moves(root.descriptor(), {""}, said, policy);
  return found;
}

} // namespace paddock::mcp
