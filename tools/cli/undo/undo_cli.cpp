// SPDX-License-Identifier: MIT
#include "undo_cli.hpp"

#include "cli/search/search_cli.hpp"
#include "common/mistakes.hpp"
#include "common/terminal.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <utility>

namespace paddock::cli {

void add_place_options(CLI::App& parser, undo_options& target) {
  add_workspace_option(parser, target.workspace);
  add_history_option(parser, target.history);
  parser.add_flag("--json", target.json, "One JSON object");
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

/// Where there is a history instead, and what to give for it; empty: nowhere near.
std::string history_nearby(const std::string& workspace, const history::known_histories& known) {
  constexpr std::size_t told_max = 5;
  if (!known.above.empty()) {
    const std::string nearest = without_controls(known.above.front());
    return workspace + " has no history of its own, but lies in " + nearest +
           ", which has one: give --workspace " + nearest;
  }
  if (known.below.empty()) return {};
  std::string all;
  for (std::size_t i = 0; i < std::min(known.below.size(), told_max); ++i)
    all.append(i == 0 ? "" : ", ").append(without_controls(known.below[i]));
  if (known.below.size() > told_max) all += ", …";
  return workspace + " has no history of its own, but these directories in it have one: " + all +
         "; give --workspace " + without_controls(known.below.front());
}

/// Complains where there is no history that the command could be about.
bool may_open(std::string_view program, const undo_options& options, const root& workspace,
              const history::known_histories& known, beginning may_begin) {
  if (known.has_own) return true;
  const std::string here = without_controls(workspace.path());
  const std::string nearby = history_nearby(here, known);
  // Who gives no directory means the workspace around this one.
  const bool is_named = options.workspace != undo_options().workspace;
  if (may_begin == beginning::allowed && (known.above.empty() || is_named)) return true;
  if (may_begin == beginning::allowed)
    complain(program, nearby + ", or --workspace " + here + " to begin another one here");
  else if (!nearby.empty())
    complain(program, nearby);
  else
    complain(program, "there is no history of " + here +
                          " yet; a server with --tools coding keeps one of what an agent does, and "
                          "`paddock checkpoint` begins one. Where the server was given --history "
                          "DIR, give it here, too");
  return false;
}

} // namespace

open_history_result open_store(std::string_view program, const undo_options& options,
                               beginning may_begin) {
  auto opened = open_workspace(program, options.workspace);
  if (!opened) return {};
  auto workspace = std::make_shared<const root>(*std::move(opened));
  const std::string directory = history_directory(program, options.history);
  if (directory.empty()) return {};
  const auto known = history::find_histories(*workspace, directory);
  if (!may_open(program, options, *workspace, known, may_begin)) return {};
  auto store = open_history(program, workspace, options.history);
  if (store == nullptr) return {};
  // Who asks for no other one waits for no look at everything here.
  const auto since = options.since == undo_options().since
                         ? history::named_checkpoint{.is_known = true}
                         : history::checkpoint_named(options.since, store->checkpoints());
  if (!since.is_known) {
    complain_of_checkpoint(program, *store, options.since);
    return {};
  }
  return {std::move(workspace), std::move(store), since.number, !known.has_own};
}

std::optional<std::vector<std::string>>
paths_in_history(std::string_view program, const root& workspace, const undo_options& options) {
  std::vector<std::string> paths;
  for (const std::string& given : options.paths) {
    std::string path = normalize_lexically(given);
    if (path.starts_with('/')) {
      const auto inside = strip_root_prefix(path, workspace.path());
      if (!inside)
        path = "..";
      else
        path = *inside;
    }
    if (path == ".." || path.starts_with("../")) {
      complain(program, name_on_output(given) + " does not lie in the workspace; name paths of it, "
                                                "also of what is gone");
      return std::nullopt;
    }
    if (path.empty() || path == ".") return std::vector<std::string>();
    paths.push_back(std::move(path));
  }
  return paths;
}

int complain_of_history(std::string_view program, history::store& store,
                        const undo_options& options, const detailed_error& e) {
  if (e.code == error_code::not_found && e.detail.empty() && options.since != "start") {
    complain_of_checkpoint(program, store, options.since);
    return usage;
  }
  const bool is_full = e.code == error_code::no_space;
  complain(program,
           explain(e) + "; " +
               (is_full ? "`paddock history gc` makes room" : std::string(advice(e.code))));
  return failed;
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

void write_running(mcp::json_writer& out, const std::vector<history::running_command>& running) {
  out.key("running").begin_array();
  for (const history::running_command& each : running) {
    out.begin_object().member("tool", each.tool).member("command", each.command);
    out.key("began").integer(each.began_ms).end_object();
  }
  out.end_array();
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
  if (each.by == history::author::tool) return "the tool " + each.tool;
  if (each.by == history::author::exec) return each.command.empty() ? each.tool : each.command;
  if (each.tool == history::persons_undo) return "a person, with undo";
  return "somebody else";
}

} // namespace paddock::cli
