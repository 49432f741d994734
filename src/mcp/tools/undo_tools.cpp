// SPDX-License-Identifier: MIT

// The tools checkpoint, listChanges and restore.

#include "mcp/tools/recorded_call.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/history/history.hpp>
#include <paddock/history/naming.hpp>
#include <paddock/mcp/change_results.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

constexpr std::size_t undo_diffs_bytes_max = std::size_t{16} * 1024; ///< of all files
constexpr std::size_t diffed_max = 1'000;                            ///< files looked at for that
constexpr std::uint64_t compared_bytes_max = std::uint64_t{32} * 1024 * 1024; ///< of a file
constexpr std::size_t label_characters_max = 200;
constexpr std::size_t told_checkpoints_max = 10;
constexpr std::size_t told_conflicts_max = 50;

tool_result refuse_without_history(const workspace_state& state) {
  return tool_result::failure(error_code::unsupported,
                              "nothing can be undone here: " +
                                  (state.options.no_history.empty() ? "this server keeps no history"
                                                                    : state.options.no_history) +
                                  "; where there is git, use exec with git instead");
}

/// "start, 4 (before the merge), 9": what can be named.
std::string known_checkpoints(history::store& store, const work_bounds& bounds) {
  std::string text = "start";
  const auto all = store.checkpoints(bounds);
  const std::size_t left_out = all.size() - std::min(all.size(), told_checkpoints_max);
  if (left_out > 0) text += ", …";
  for (std::size_t i = left_out; i < all.size(); ++i) {
    text.append(", ").append(std::to_string(all[i].number));
    if (!all[i].label.empty()) text.append(" (").append(shown(all[i].label, 40)).append(")");
  }
  return text;
}

tool_result no_such_checkpoint(history::store& store, const call& c, std::string_view name,
                               const work_bounds& bounds) {
  // Where nobody waits any more, what is known was not asked for.
  if (const auto going_on = bounds.check(); !going_on)
    return tool_result::failure(going_on.error().code, "the history was not looked at");
  return tool_result::failure(error_code::not_found,
                              "there is no checkpoint " +
                                  shown(std::string(text_argument(c, name)), 40) +
                                  "; there are: " + known_checkpoints(store, bounds));
}

history::named_checkpoint checkpoint_argument(history::store& store, const call& c,
                                              std::string_view name, const work_bounds& bounds) {
  const std::string_view given = text_argument(c, name);
  if (given == "start") return {.is_known = true};
  return history::checkpoint_named(given, store.checkpoints(bounds));
}

/// The paths of a call; what is none of the workspace is told of.
struct named_paths {
  std::vector<std::string> paths; ///< empty: everything
  std::optional<std::string> wrong{};
};
named_paths paths_argument(const root& workspace, const call& c) {
  named_paths out;
  bool is_everything = false;
  c.arguments()["paths"].for_each_element([&](json_view each) {
    const std::string given = decode_name(each.string().value_or(""));
    auto path = path_in_history(workspace, given, final_link::keep);
    if (!path && given == ".") path.emplace();
    if (!path) out.wrong = given;
    if (path && path->empty()) is_everything = true;
    if (path) out.paths.push_back(*std::move(path));
  });
  if (is_everything) out.paths.clear();
  return out;
}

tool_result refuse_path(const std::string& path) {
  return tool_result::failure(error_code::invalid_argument,
                              shown(path) + " is no path in the workspace; name paths as the tools "
                                            "for files take them, also of what is gone");
}

tool_result failed_history(history::store& store, const call& c, const detailed_error& e,
                           std::string_view checkpoint_name, const work_bounds& bounds) {
  const bool is_named = !checkpoint_name.empty() && text_argument(c, checkpoint_name) != "start";
  if (is_named && e.code == error_code::not_found && e.detail.empty())
    return no_such_checkpoint(store, c, checkpoint_name, bounds);
  return tool_result::failure(e.code, "the history: " + explain(e) + "; " +
                                          std::string(history::advice_for(e)));
}

/// Adds what has room; false when that is not all.
bool add_diff(std::string& text, history::store& store, const history::change& each,
              std::size_t bytes_max) {
  const auto diff = diff_of_change(store, each, bytes_max - text.size());
  const std::string more =
      diff ? diff->text : "Binary files differ, or are not held: " + encode_name(each.path) + "\n";
  if (more.size() > bytes_max - text.size()) return false;
  text += more;
  return !diff || diff->hunks_left_out == 0;
}

/// The diffs of all files, those in directories that are wholly new or gone, too.
result<void> write_diffs(json_writer& out, history::store& store, history::change_query query,
                         std::size_t bytes_max) {
  query.collapse = query.look = query.git_as_one = false;
  const bool is_git_asked = std::ranges::any_of(query.paths, history::is_of_git);
  query.limit = diffed_max;
  PADDOCK_TRY(const history::change_list all, store.changes(query));
  std::string text;
  bool is_full = false;
  for (const history::change& each : all.changes) {
    PADDOCK_CHECK(query.bounds.check());
    if (is_full) break;
    if (history::is_of_git(each.path) && !is_git_asked)
      continue; // objects and the like, for no reader
    is_full = std::max(each.before.size, each.after.size) > compared_bytes_max ||
              !add_diff(text, store, each, bytes_max);
  }
  out.member("diff", text);
  if (is_full || all.truncated) out.key("diffTruncated").boolean(true);
  return {};
}

/// Those that can be gone back to, besides the start, the newest last.
void write_checkpoints(json_writer& out, history::store& store, const work_bounds& bounds) {
  auto all = store.checkpoints(bounds);
  std::erase_if(all,
                [start = store.state().start](const auto& each) { return each.number <= start; });
  if (all.empty()) return;
  out.key("checkpoints").begin_array();
  for (std::size_t i = all.size() - std::min(all.size(), told_checkpoints_max); i < all.size();
       ++i) {
    out.begin_object().member("checkpoint", std::to_string(all[i].number));
    if (!all[i].label.empty()) out.member("label", all[i].label);
    out.end_object();
  }
  out.end_array();
}

std::string first_notice_of(const history::restore_outcome& done, bool is_trial, bool is_forced) {
  if (!done.conflicts.empty() && !is_forced) {
    return std::string(is_trial ? "nothing would be restored" : "nothing was restored") +
           ", because of the conflicts; give paths without them, or set force to " +
           (done.conflicts_of_others != 0 ? "overwrite those changes"
                                          : "restore the rest and leave these as they are");
  }
  if (done.restored == 0)
    return done.others == 0 ? "there was nothing to restore"
                            : "there was nothing of yours to restore; to take back changes that "
                              "are not yours, name their paths";
  if (is_trial) return "nothing was changed; this is what would be restored";
  return done.conflicts.empty() ? "" : "what is among the conflicts was left as it is";
}

/// Clauses, and at last that the history has failed, if it has.
class notice_text {
public:
  void add(const std::string& more) {
    if (!more.empty()) text_.append(text_.empty() ? "" : "; ") += more;
  }
  void write(json_writer& out, const history::store& store) {
    const std::string trouble = store.state().trouble;
    if (!trouble.empty()) add("this may be incomplete: " + encode_name(trouble));
    if (!text_.empty()) out.member("notice", text_);
  }

private:
  std::string text_;
};

/// "startProcess npm run dev": and who can end it, with what.
std::string running_notice(const std::vector<history::running_command>& running) {
  constexpr std::size_t told_max = 3;
  std::string text;
  bool is_process = false, is_elsewhere = false;
  for (const history::running_command& each : running) {
    is_elsewhere = is_elsewhere || each.is_elsewhere;
    is_process = is_process || (!each.is_elsewhere && each.tool == "startProcess");
  }
  for (std::size_t i = 0; i < std::min(running.size(), told_max); ++i) {
    text.append(i == 0 ? "" : ", ").append(running[i].is_elsewhere ? "another server's " : "");
    text.append(running[i].tool);
    text.append(" ").append(shown(running[i].command, 200));
  }
  if (running.size() > told_max)
    text += " and " + std::to_string(running.size() - told_max) + " more";
  return text + (running.size() == 1 ? " is" : " are") +
         " still running and may change it again: " +
         (is_process ? "end it with stopProcess (listProcesses names it)" : "let it end") +
         (is_elsewhere ? " (a person ends another server's with `paddock stop`)" : "") +
         ", then restore again";
}

notice_text notice_of(const history::restore_outcome& done, bool is_trial, bool is_forced,
                      const std::string& left_outside) {
  notice_text notice;
  notice.add(first_notice_of(done, is_trial, is_forced));
  if (done.lost != 0)
    notice.add(std::to_string(done.lost) +
               " of these entries are in ignored directories and cannot be restored once removed");
  for (const std::string& path : done.unknown)
    notice.add("nothing is or was at " + shown(path, 200));
  if (done.left_total != 0)
    notice.add(
        is_trial ? "left lists what would not be restored whole, would stay, or is known only once "
                   "opened"
                 : "left lists what was not restored whole, or stays");
  notice.add(encode_name(done.kept));
  notice.add(encode_name(done.notice));
  notice.add(encode_name(left_outside));
  if (!done.running.empty()) notice.add(running_notice(done.running));
  return notice;
}

} // namespace

tool_result checkpoint(workspace_state& state, call& c) {
  history::store* const store = state.options.history.get();
  if (store == nullptr) return refuse_without_history(state);
  const std::string_view label = text_argument(c, "label");
  if (detail::count_code_points(label) > label_characters_max)
    return tool_result::failure(error_code::invalid_argument,
                                "label has more than " + std::to_string(label_characters_max) +
                                    " characters; say it in fewer");
  if (label == "start") // restore would go further back than meant
    return tool_result::failure(error_code::invalid_argument,
                                "start names the beginning of this session; give another label");
  c.may_block();
  const work_bounds bounds = bounds_of(state, c);
  const auto made = store->make_checkpoint(label, bounds);
  if (!made) return failed_history(*store, c, made.error(), "", bounds);
  object_result out;
  out.text("checkpoint", std::to_string(made->number));
  if (!label.empty()) out.text("label", label);
  out.writer().key("files").unsigned_integer(made->files);
  notice_text notice;
  if (made->unread != 0)
    notice.add(std::to_string(made->unread) +
               " files are not read yet, and changes to them before then cannot be undone; "
               "healthCheck says how many have been read");
  notice.write(out.writer(), *store);
  return out.take();
}

tool_result list_changes(workspace_state& state, call& c) {
  history::store* const store = state.options.history.get();
  if (store == nullptr) return refuse_without_history(state);
  c.may_block();
  const work_bounds bounds = bounds_of(state, c);
  const history::named_checkpoint since = checkpoint_argument(*store, c, "since", bounds);
  if (!since.is_known) return no_such_checkpoint(*store, c, "since", bounds);
  named_paths paths = paths_argument(*state.root, c);
  if (paths.wrong) return refuse_path(*paths.wrong);
  const bool is_within_git = std::ranges::any_of(
      paths.paths, [](const auto& path) { return !history::git_around(path).empty(); });
  const history::change_query query{.since = since.number,
                                    .paths = std::move(paths.paths),
                                    .limit = count_argument(c, "limit", 200),
                                    .git_as_one = !is_within_git,
                                    .bounds = bounds};
  const auto found = store->changes(query);
  if (!found) return failed_history(*store, c, found.error(), "since", bounds);
  object_result result;
  result.text("since", text_argument(c, "since"));
  json_writer& out = result.writer();
  out.key("changes").begin_array();
  for (const history::change& each : found->changes)
    write_change(out, each, change_detail::brief);
  out.end_array();
  write_not_covered(out, *found);
  write_checkpoints(out, *store, bounds);
  if (c.arguments()["diff"].boolean().value_or(false)) {
    const std::size_t room = std::min(undo_diffs_bytes_max, result_bytes_max(c) / 4);
    const auto written = write_diffs(out, *store, query, room);
    if (!written) return failed_history(*store, c, written.error(), "since", bounds);
  }
  out.key("truncated").boolean(found->truncated);
  if (found->truncated) out.key("total").unsigned_integer(found->total);
  notice_text notice;
  for (const std::string& path : found->unknown)
    notice.add("nothing is or was at " + shown(path, 200));
  notice.write(out, *store);
  return result.take();
}

tool_result restore(workspace_state& state, call& c) {
  history::store* const store = state.options.history.get();
  if (store == nullptr) return refuse_without_history(state);
  c.may_block();
  const work_bounds bounds = bounds_of(state, c);
  const history::named_checkpoint to = checkpoint_argument(*store, c, "to", bounds);
  if (!to.is_known) return no_such_checkpoint(*store, c, "to", bounds);
  named_paths paths = paths_argument(*state.root, c);
  if (paths.wrong) return refuse_path(*paths.wrong);
  const bool is_trial = c.arguments()["dryRun"].boolean().value_or(false);
  const bool is_forced = c.arguments()["force"].boolean().value_or(false);
  const bool asks_all = paths.paths.empty();
  auto done = store->restore(
      {.to = to.number,
       .paths = std::move(paths.paths),
       .effect = is_trial ? history::restore_effect::check : history::restore_effect::apply,
       .force = is_forced,
       .bounds = bounds});
  if (!done) return failed_history(*store, c, done.error(), "to", bounds);
  object_result result;
  json_writer& out = result.writer();
  out.key("restored").unsigned_integer(done->restored);
  out.key("paths").begin_array();
  for (const std::string& path : done->paths)
    out.string(encode_name(path));
  out.end_array();
  if (done->paths_total > done->paths.size())
    out.key("pathsTotal").unsigned_integer(done->paths_total);
  if (!done->folded.empty()) out.key("folded").begin_array();
  for (const history::folded_directory& each : done->folded)
    out.begin_object()
        .member("path", encode_name(each.path))
        .key("files")
        .unsigned_integer(each.files)
        .end_object();
  if (!done->folded.empty()) out.end_array();
  write_reasons(out, "conflicts", done->conflicts, done->conflicts_total, told_conflicts_max);
  if (!done->left.empty())
    write_reasons(out, "left", done->left, done->left_total, told_conflicts_max);
  if (done->before != 0) out.member("checkpoint", std::to_string(done->before));
  const std::string outside =
      asks_all && state.options.left_outside ? state.options.left_outside(to.number) : "";
  notice_of(*done, is_trial, is_forced, outside).write(out, *store);
  return result.take();
}

} // namespace paddock::mcp
