// SPDX-License-Identifier: MIT
#include "undo_cli.hpp"

#include "common/output.hpp"
#include "common/terminal.hpp"

#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/history/naming.hpp>
#include <paddock/path/lexical_path.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <utility>

namespace paddock::cli {

void add_found_workspace_option(CLI::App& parser, std::string& target) {
  parser
      .add_option("-w,--workspace", target,
                  "Use this workspace (default: the nearest directory with a history, from the "
                  "current one up)")
      ->type_name("DIRECTORY");
}

void add_place_options(CLI::App& parser, undo_options& target) {
  add_found_workspace_option(parser, target.workspace);
  add_history_option(parser, target.history);
  parser.add_flag("--json", target.json, "Print one JSON object");
}

void add_checkpoint_option(CLI::App& parser, undo_options& target, const std::string& name,
                           const std::string& text) {
  parser.add_option(name, target.since, text)->type_name("CHECKPOINT");
}

void complain_of_checkpoint(std::string_view program, history::store& store,
                            const std::string& given) {
  constexpr std::size_t told_max = 10, label_columns_max = 40;
  const auto all = store.checkpoints();
  const std::size_t left_out = all.size() - std::min(all.size(), told_max);
  std::string known = left_out > 0 ? "; the last are: " : "; there are: ";
  for (std::size_t i = left_out; i < all.size(); ++i) {
    known.append(i == left_out ? "" : ", ").append(std::to_string(all[i].number));
    if (!all[i].label.empty())
      known.append(" (").append(fit(all[i].label, label_columns_max)).append(")");
  }
  if (all.empty()) known.clear();
  complain(program, "there is no checkpoint " + without_controls(given) + known);
}

namespace {

/// "; its path there is src/notes.md": paths are of the workspace, and that is another one then.
std::string paths_there(const undo_options& options, const std::string& here,
                        const std::string& there) {
  std::string all;
  for (const std::string& given : options.paths) {
    const auto inside = strip_root_prefix(
        normalize_lexically(given.starts_with('/') ? given : here + '/' + given), there);
    if (!inside) return {};
    all.append(all.empty() ? " " : ", ").append(without_controls(*inside));
  }
  if (all.empty()) return {};
  return (options.paths.size() == 1 ? ", and the path" : ", and the paths") + all;
}

/// Where there is a history instead, and what to give for it; empty: nowhere near.
std::string history_nearby(const root& workspace, const undo_options& options,
                           const history::known_histories& known) {
  constexpr std::size_t told_max = 5;
  const std::string here = without_controls(workspace.path());
  if (!known.above.empty()) {
    const std::string& nearest = known.above.front();
    const auto rest = strip_root_prefix(workspace.path(), nearest);
    const std::string paths = paths_there(options, workspace.path(), nearest);
    return here + " has no history of its own, but lies in " + without_controls(nearest) +
           ", which has one: give --workspace " + without_controls(nearest) +
           (paths.empty() && rest ? " (there this directory is " + without_controls(*rest) + ")"
                                  : paths);
  }
  if (known.below.empty()) return {};
  std::string all;
  for (std::size_t i = 0; i < std::min(known.below.size(), told_max); ++i)
    all.append(i == 0 ? "" : ", ").append(without_controls(known.below[i]));
  if (known.below.size() > told_max) all += ", …";
  return here + " has no history of its own, but these directories in it have one: " + all +
         "; give --workspace " + without_controls(known.below.front()) +
         paths_there(options, workspace.path(), known.below.front());
}

void complain_of_no_history(std::string_view program, const undo_options& options,
                            const root& workspace, const history::known_histories& known) {
  const std::string nearby = history_nearby(workspace, options, known);
  if (!nearby.empty())
    complain(program, nearby);
  else
    complain(program, "there is no history of " + without_controls(workspace.path()) +
                          " yet; a server with --tools coding keeps one, and `paddock checkpoint` "
                          "starts one. If the server has --history DIR, give it here, too");
}

} // namespace

std::optional<found_workspace> find_workspace(std::string_view program, const undo_options& options,
                                              const std::string& directory, beginning may_begin) {
  // What earlier servers hid the history adds where it matters.
  const auto past =
      may_begin == beginning::here ? history::past_rules::in_force : history::past_rules::left_out;
  auto opened = open_persons_workspace(program, options.workspace, options.history, past);
  if (!opened) return std::nullopt;
  const auto known = history::find_histories(*opened, directory);
  found_workspace found{.has_history = known.has_own};
  const bool is_named = options.workspace != undo_options().workspace;
  std::string around;
  if (!known.has_own && !is_named)
    around = !known.above.empty()                    ? known.above.front()
             : may_begin == beginning::of_repository ? repository_around(opened->path())
                                                     : "";
  if (!around.empty()) {
    found.current = strip_root_prefix(opened->path(), around).value_or("");
    opened = open_persons_workspace(program, around, options.history, past);
    if (!opened) return std::nullopt;
    found.has_history = !known.above.empty();
  }
  if (!found.has_history && may_begin == beginning::none) {
    complain_of_no_history(program, options, *opened, known);
    return std::nullopt;
  }
  found.workspace = std::make_shared<const root>(*std::move(opened));
  return found;
}

open_history_result open_store(std::string_view program, const undo_options& options,
                               beginning may_begin) {
  const std::string directory = history_directory(program, options.history);
  if (directory.empty()) return {};
  auto found = find_workspace(program, options, directory, may_begin);
  if (!found) return {};
  auto store = open_history(program, found->workspace, options.history);
  if (store == nullptr) return {};
  // Who asks for no other one waits for no look at everything here.
  const auto since = options.since == undo_options().since
                         ? history::named_checkpoint{.is_known = true}
                         : history::checkpoint_named(options.since, store->checkpoints());
  if (!since.is_known) {
    complain_of_checkpoint(program, *store, options.since);
    return {};
  }
  return {std::move(found->workspace), std::move(store), std::move(found->current), since.number,
          !found->has_history};
}

std::optional<std::vector<std::string>> paths_in_history(std::string_view program,
                                                         const open_history_result& opened,
                                                         const undo_options& options) {
  std::vector<std::string> paths;
  for (const std::string& given : options.paths) {
    std::string path =
        normalize_lexically(given.starts_with('/') || opened.current.empty()
                                ? given
                                : std::string(opened.current).append("/").append(given));
    if (path.starts_with('/'))
      path = strip_root_prefix(path, opened.workspace->path()).value_or("..");
    if (path == ".." || path.starts_with("../")) {
      complain(program, name_on_output(given) + " is outside the workspace; give paths inside it "
                                                "(deleted files, too)");
      return std::nullopt;
    }
    if (path.empty() || path == ".") return std::vector<std::string>();
    paths.push_back(std::move(path));
  }
  return paths;
}

namespace {

constexpr std::size_t compared_max = 20'000;

/// What has changed that the path may have been meant for: of the same name, or nearly so.
std::string near_changes(const open_history_result& opened, const std::string& given,
                         const history::change_list& changed) {
  std::vector<std::string_view> paths, same, last;
  for (const history::change& each : changed.changes) {
    paths.push_back(each.path);
    last.push_back(file_name(each.path));
    if (last.back() == file_name(given) && same.size() < detail::names_suggested_max)
      same.push_back(each.path);
  }
  std::vector<std::string_view> near = same.empty() ? detail::nearest_names(given, paths) : same;
  if (near.empty())
    for (const std::string_view name : detail::nearest_names(file_name(given), last))
      near.push_back(paths[static_cast<std::size_t>(std::ranges::find(last, name) - last.begin())]);
  std::string text;
  for (const std::string_view each : near)
    text.append(text.empty() ? "; did you mean " : " or ")
        .append(without_controls(from_current(opened.current, std::string(each))));
  return text.empty() ? "; `paddock changes` shows what has" : text + "?";
}

} // namespace

void complain_of_unknown(std::string_view program, const open_history_result& opened,
                         const std::vector<std::string>& unknown) {
  if (unknown.empty()) return;
  const auto changed = opened.store->changes({.since = opened.since,
                                              .limit = compared_max,
                                              .collapse = false,
                                              .git_as_one = true,
                                              .look = false,
                                              .by = history::author::other});
  const auto since = changed ? changed->since : opened.store->state().start;
  for (const std::string& path : unknown)
    complain(program, without_controls(from_current(opened.current, path)) +
                          ": nothing is there, and nothing there has changed "
                          "since " +
                          checkpoint_text(*opened.store, since) +
                          near_changes(opened, path, changed ? *changed : history::change_list()));
}

int complain_of_history(std::string_view program, history::store& store,
                        const undo_options& options, const detailed_error& e) {
  if (e.code == error_code::not_found && e.detail.empty() && options.since != "start") {
    complain_of_checkpoint(program, store, options.since);
    return usage;
  }
  complain(program, explain(e) + "; " + std::string(history::advice_for(e)));
  return failed;
}

void warn_of_trouble(std::string_view program, history::store& store) {
  if (const std::string trouble = store.state().trouble; !trouble.empty())
    complain(program, "this may be incomplete: " + without_controls(trouble));
}

void write_trouble(mcp::json_writer& out, history::store& store) {
  if (const std::string trouble = store.state().trouble; !trouble.empty())
    out.member("trouble", encode_name(trouble));
}

std::string local_time(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "?";
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), size};
}

std::string checkpoint_text(history::store& store, std::uint64_t number) {
  std::string text = "checkpoint " + std::to_string(number);
  const auto all = store.checkpoints();
  const auto found = std::ranges::find(all, number, &history::checkpoint::number);
  if (found == all.end()) return text;
  const std::string label = without_controls(found->label);
  return text + " (" + label + (label.empty() ? "" : ", ") + local_time(found->time_ms) + ")";
}

void print_earlier_changes(const open_history_result& opened, const undo_options& options,
                           std::string_view step, std::uint64_t shown) {
  if (options.since != "start" || !options.paths.empty()) return;
  const auto all = opened.store->checkpoints();
  if (all.empty() || all.front().number >= opened.store->state().start) return;
  const auto found = opened.store->changes({.since = all.front().number,
                                            .limit = 1,
                                            .git_as_one = true,
                                            .look = false,
                                            .by = history::author::other});
  if (!found || found->total <= shown) return;
  const std::string text = count_of(found->total, "change", "changes") + " since " +
                           checkpoint_text(*opened.store, found->since) + ": " + std::string(step) +
                           ' ' + std::to_string(found->since);
  print_words("%s\n", text.c_str());
}

std::string running_text(const std::vector<history::running_command>& running) {
  std::string text;
  for (const history::running_command& each : running) {
    text.append(text.empty() ? "" : "; ").append(without_controls(each.tool));
    if (!each.command.empty()) text.append(": ").append(without_controls(each.command));
  }
  return text;
}

std::string who_changed(const history::change& each) {
  if (each.by == history::author::tool) return "by the tool " + each.tool;
  if (each.by == history::author::exec)
    return "by " + (each.command.empty() ? each.tool : each.command);
  if (each.tool == history::persons_undo) return "by a person, with undo";
  return "not by an agent";
}

} // namespace paddock::cli
