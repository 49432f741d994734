// SPDX-License-Identifier: MIT

// paddock changes and paddock diff: what was changed in a workspace, and who did it.

#include "cli/search/search_cli.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/shown_diff.hpp"
#include "common/terminal.hpp"
#include "undo_cli.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::size_t who_width = 61; // of a command; --json has all of it
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

struct shown_options : undo_options {
  std::size_t limit = 1'000;
  bool is_raw = false;
};

style style_of(history::change_kind kind) {
  if (kind == history::change_kind::created) return style::good;
  return kind == history::change_kind::deleted ? style::bad : style::bold;
}

std::string name_of_change(const open_history_result& opened, const history::change& each) {
  std::string name = without_controls(from_current(opened, each.path));
  if (each.entry == entry_kind::directory) name += '/';
  if (!each.from.empty()) name = without_controls(from_current(opened, each.from)) + " -> " + name;
  if (is_told_as_one(each)) name += " (" + count_of(each.files, "file", "files") + ")";
  return name;
}

/// "3 changes since checkpoint 4 (before the merge, 2026-03-01 12:30:05)".
std::string summary(const history::change_list& found, history::store& store) {
  std::string text =
      count_of(found.total, "change", "changes") + " since " + checkpoint_text(store, found.since);
  if (found.truncated) text += "; the first " + std::to_string(found.changes.size()) + " are shown";
  return text;
}

void print_changes(const history::change_list& found, const open_history_result& opened) {
  for (const history::change& each : found.changes) {
    const std::string lost = each.restorable == history::holding::held
                                 ? ""
                                 : "; cannot be undone: " + std::string(reason_of(each.restorable));
    const std::string who = fit(who_changed(each), who_width);
    print_words("%s %s  %s\n", styled(column(name_of(each.kind), 8), style_of(each.kind)).c_str(),
                name_of_change(opened, each).c_str(),
                styled("by " + who + ", " + local_time(each.time_ms) + lost, style::dim).c_str());
  }
  for (const history::not_covered& each : found.left_out) {
    if (std::ranges::find(found.changes, each.path, &history::change::path) != found.changes.end())
      continue; // told above
    print_words(
        "%s %s  %s\n", styled(column("lost", 8), style::bad).c_str(),
        without_controls(from_current(opened, each.path)).c_str(),
        styled("cannot be undone: " + std::string(reason_of(each.reason)), style::dim).c_str());
  }
  print_words("%s\n", styled(summary(found, *opened.store), style::bold).c_str());
  if (!found.running.empty())
    print_words("still running: %s\n", running_text(found.running).c_str());
  if (const auto trouble = opened.store->state().trouble; !trouble.empty())
    print_words("the list may be incomplete: %s\n", without_controls(trouble).c_str());
}

void print_json(const history::change_list& found) {
  mcp::json_writer out;
  out.begin_object().key("since").unsigned_integer(found.since).key("changes").begin_array();
  for (const history::change& each : found.changes)
    mcp::write_change(out, each, mcp::change_detail::full);
  out.end_array();
  mcp::write_not_covered(out, found);
  mcp::write_running(out, found.running);
  out.key("unknown").begin_array();
  for (const std::string& path : found.unknown)
    out.string(encode_name(path));
  out.end_array().key("total").unsigned_integer(found.total);
  out.key("truncated").boolean(found.truncated).end_object();
  print_json_line(out.str());
}

int run_changes(const shown_options& options) {
  constexpr std::string_view program = "paddock changes";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const auto paths = paths_in_history(program, opened, options);
  if (!paths) return usage;
  const bool is_within_git = std::ranges::any_of(
      *paths, [](const std::string& path) { return !history::git_around(path).empty(); });
  const auto found = opened.store->changes({.since = opened.since,
                                            .paths = *paths,
                                            .limit = options.limit,
                                            .git_as_one = !is_within_git,
                                            .by = history::author::other});
  if (!found) return complain_of_history(program, *opened.store, options, found.error());
  if (options.json)
    print_json(*found);
  else
    print_changes(*found, opened);
  if (!options.json && found->total == 0)
    if (const auto earlier = earlier_changes(opened, options, "paddock changes --since");
        !earlier.empty())
      print_words("%s\n", earlier.c_str());
  complain_of_unknown(program, opened, found->unknown);
  return found->unknown.empty() ? success : usage;
}

// --- diff ---

int run_diff(const shown_options& options) {
  constexpr std::string_view program = "paddock diff";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const auto paths = paths_in_history(program, opened, options);
  if (!paths) return usage;
  const bool is_git_asked = std::ranges::any_of(*paths, history::is_of_git);
  const auto found = opened.store->changes({.since = opened.since,
                                            .paths = *paths,
                                            .limit = everything,
                                            .collapse = false,
                                            .git_as_one = !is_git_asked,
                                            .by = history::author::other});
  if (!found) return complain_of_history(program, *opened.store, options, found.error());
  mcp::json_writer out;
  out.begin_object().key("since").unsigned_integer(found->since).key("files").begin_array();
  bool is_exact = true;
  for (const history::change& each : found->changes) {
    const bool is_within_git = !history::git_around(each.path).empty();
    const bool is_directory = each.entry == entry_kind::directory;
    const bool is_git = is_directory && !is_within_git && history::is_of_git(each.path);
    // Of a repository is told that it has changed, and not its objects and the like.
    if (is_git_asked ? is_directory : is_within_git || (is_directory && !is_git)) continue;
    const auto diff = is_git ? std::nullopt : mcp::diff_of_change(*opened.store, each);
    if (options.json) {
      out.begin_object().member("path", encode_name(each.path)).member("kind", name_of(each.kind));
      if (diff) out.member("diff", diff->text);
      out.end_object();
    } else if (diff && options.is_raw) {
      pass_on(diff->text);
    } else if (diff) {
      is_exact = print_diff(diff->text) && is_exact;
    } else if (is_git) {
      print_words("%s: %s, shown as one entry; name it to see its contents\n",
                  name_on_output(each.path).c_str(), std::string(name_of(each.kind)).c_str());
    } else {
      print_words("Binary files differ, or are not held: %s\n", name_on_output(each.path).c_str());
    }
  }
  if (options.json) print_json_line(out.end_array().end_object().str());
  if (!is_exact)
    complain(program, "control characters are shown as ?; --raw gives each byte, for git apply");
  complain_of_unknown(program, opened, found->unknown);
  return found->unknown.empty() ? success : usage;
}

void add_shared(CLI::App& parser, shown_options& options) {
  parser.add_option("path", options.paths, "Files and directories (default: everything)")
      ->type_name("PATH");
  add_checkpoint_option(
      parser, options, "--since",
      "Compare with this checkpoint, a number or label (default: the last start of a server)");
  add_place_options(parser, options);
}

} // namespace

subcommand add_changes(CLI::App& app) {
  const auto options = std::make_shared<shown_options>();
  CLI::App* parser = app.add_subcommand("changes", "List what changed, and who changed it");
  parser->footer("paddock history list shows the checkpoints. Exit codes: 0 done, 1 the history "
                 "cannot be read, 2 unusable options, paths (nothing is or was there) or "
                 "workspace, or there is no history.");
  add_shared(*parser, *options);
  parser->add_option("-m,--limit", options->limit, "Show at most this many changes (default: 1000)")
      ->type_name("N")
      ->check(whole_number(everything, 1));
  return {parser, [options] { return run_changes(*options); }};
}

subcommand add_diff(CLI::App& app) {
  const auto options = std::make_shared<shown_options>();
  CLI::App* parser = app.add_subcommand("diff", "Show the changed lines of files");
  parser->footer("Exit codes: 0 done, 1 the history cannot be read, 2 unusable options, paths "
                 "(nothing is or was there) or workspace, or there is no history.");
  add_shared(*parser, *options);
  parser->add_flag(
      "--raw", options->is_raw,
      "Print each byte as it is, for git apply: a terminal may obey what is in a file");
  return {parser, [options] { return run_diff(*options); }};
}

} // namespace paddock::cli
