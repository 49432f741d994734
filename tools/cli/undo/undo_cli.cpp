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

open_history_result open_store(std::string_view program, const undo_options& options) {
  auto opened = open_workspace(program, options.workspace);
  if (!opened) return {};
  auto workspace = std::make_shared<const root>(*std::move(opened));
  auto store = open_history(program, workspace, options.history);
  if (store == nullptr) return {};
  const auto since = history::checkpoint_named(options.since, store->checkpoints());
  if (!since.is_known) {
    complain_of_checkpoint(program, *store, options.since);
    return {};
  }
  return {std::move(workspace), std::move(store), since.number};
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

std::string who_changed(const history::change& each) {
  if (each.by == history::author::tool) return "the tool " + each.tool;
  if (each.by == history::author::exec) return each.command.empty() ? each.tool : each.command;
  return "somebody else";
}

} // namespace paddock::cli
