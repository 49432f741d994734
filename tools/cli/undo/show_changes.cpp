// SPDX-License-Identifier: MIT

// paddock changes and paddock diff: what was changed in a workspace, and who did it.

#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/shown_diff.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"
#include "undo_cli.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace paddock::cli {
namespace {

constexpr std::size_t who_width = 64; // "by " and a command; --json has all of it
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
  std::string name = without_controls(from_current(opened.current, each.path));
  if (each.entry == entry_kind::directory) name += '/';
  if (!each.from.empty())
    name = without_controls(from_current(opened.current, each.from)) + " -> " + name;
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
                styled(who + ", " + local_time(each.time_ms) + lost, style::dim).c_str());
  }
  for (const history::not_covered& each : found.left_out) {
    if (std::ranges::find(found.changes, each.path, &history::change::path) != found.changes.end())
      continue; // told above
    print_words(
        "%s %s  %s\n", styled(column("lost", 8), style::bad).c_str(),
        without_controls(from_current(opened.current, each.path)).c_str(),
        styled("cannot be undone: " + std::string(reason_of(each.reason)), style::dim).c_str());
  }
  print_words("%s\n", styled(summary(found, *opened.store), style::bold).c_str());
  if (!found.running.empty())
    print_words("still running: %s\n", running_text(found.running).c_str());
}

void print_json(const history::change_list& found, history::store& store) {
  mcp::json_writer out;
  out.begin_object().key("since").unsigned_integer(found.since).key("changes").begin_array();
  for (const history::change& each : found.changes)
    mcp::write_change(out, each, mcp::change_detail::full);
  out.end_array();
  mcp::write_not_covered(out, found);
  mcp::write_running(out, found.running);
  write_names(out, "unknown", found.unknown);
  write_trouble(out, store);
  out.key("total").unsigned_integer(found.total);
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
    print_json(*found, *opened.store);
  else
    print_changes(*found, opened);
  const bool is_by_agent = std::ranges::any_of(found->changes, [](const history::change& each) {
    return each.by != history::author::other;
  });
  if (!options.json && !is_by_agent)
    print_earlier_changes(opened, options, "paddock changes --since", found->total);
  warn_of_trouble(program, *opened.store);
  complain_of_unknown(program, opened, found->unknown);
  return found->unknown.empty() ? success : usage;
}

// --- diff ---

constexpr std::string_view diff_program = "paddock diff";

/// Which of the entries go into a diff: a repository is one line, without its objects and the like.
enum class diffed : std::uint8_t { entry, repository, nothing };

diffed how_diffed(const history::change& each, bool is_git_asked) {
  if (is_git_asked || !history::is_of_git(each.path)) return diffed::entry;
  if (!history::git_around(each.path).empty()) return diffed::nothing;
  return each.entry == entry_kind::directory ? diffed::repository : diffed::entry;
}

bool is_directory(const history::entry_state& state) {
  return state.exists && state.kind == entry_kind::directory;
}

/// What the lines of a file do not say; empty: nothing.
std::string note_of(const history::change& each) {
  const history::entry_state &before = each.before, &after = each.after;
  constexpr std::string_view kinds[] = {"a file", "a directory", "a link", "special"};
  const auto kind_of = [&](const history::entry_state& state) {
    return std::string(kinds[static_cast<std::size_t>(state.kind)]);
  };
  const auto mode_of = [](const history::entry_state& state) {
    char text[8];
    return std::string(text, std::to_chars(text, text + 8, state.mode & 07777U, 8).ptr);
  };
  std::string note;
  const auto say = [&](const std::string& what) { note += (note.empty() ? "" : ", ") + what; };
  if (!each.from.empty()) say("moved from " + name_on_output(each.from));
  if (before.exists && after.exists) {
    if (before.kind != after.kind)
      say(kind_of(before) + " before, " + kind_of(after) + " now");
    else if (mode_of(before) != mode_of(after))
      say("mode " + mode_of(before) + " -> " + mode_of(after));
    return note;
  }
  const history::entry_state& state = before.exists ? before : after;
  const bool is_file = state.kind == entry_kind::file;
  if (is_file ? state.size != 0 && (state.mode & 0111U) == 0 : is_directory(state)) return note;
  say(std::string(name_of(each.kind)) + ", " +
      (!is_file          ? kind_of(state)
       : state.size == 0 ? "empty"
                         : "mode " + mode_of(state)));
  return note;
}

/// False where control characters were left out.
bool print_change(history::store& store, const history::change& each) {
  if (const std::string note = note_of(each); !note.empty())
    print_words("%s: %s\n", name_on_output(each.path).c_str(), note.c_str());
  const auto diff = mcp::diff_of_change(store, each);
  if (diff) return print_diff(diff->text);
  print_words("Binary files differ, or are not held: %s\n", name_on_output(each.path).c_str());
  return true;
}

/// Prints what git takes, and complains of the rest.
class patch_printer {
public:
  explicit patch_printer(history::store& store) : store_(store) {}

  void add(const history::change& each) {
    const history::entry_state &before = each.before, &after = each.after;
    const bool is_moved = !each.from.empty();
    const auto patch = mcp::patch_of_change(store_, each);
    if (patch) {
      pass_on(*patch);
      printed_.insert({each.path, is_moved ? each.from : each.path});
    }
    const bool has_come = is_directory(after) && (is_moved || !is_directory(before));
    const bool has_gone = is_directory(before) && (is_moved || !is_directory(after));
    if (has_come) directories_.push_back(each.path);
    if (has_gone) directories_.push_back(is_moved ? each.from : each.path);
    const unsigned bits = (before.mode ^ after.mode) & 07777U;
    if (before.exists && after.exists && before.kind == after.kind && bits != 0 &&
        (!patch || is_directory(after) || (bits & ~0111U) != 0 || ((bits & 0100U) == 0)))
      leave_out(each.path, "git does not have its permission bits");
    else if (!patch && !has_come && !has_gone)
      leave_out(each.path, reason_for(before, after));
  }
  void leave_out(const std::string& path, std::string_view reason) {
    if (++left_out_ <= named_max)
      complain(diff_program, name_on_output(path) + " is not in the patch: " + std::string(reason));
  }
  /// The exit code.
  [[nodiscard]] int finish() {
    for (const std::string& path : directories_) {
      const auto inner = printed_.lower_bound(path + '/');
      if (inner == printed_.end() || !inner->starts_with(path + '/'))
        leave_out(path, "git has no empty directories");
    }
    if (left_out_ > named_max)
      complain(diff_program, std::to_string(left_out_ - named_max) + " more are not in the patch");
    return left_out_ == 0 ? success : failed;
  }

private:
  static constexpr std::size_t named_max = 100;

  static std::string_view reason_for(const history::entry_state& before,
                                     const history::entry_state& after) {
    for (const history::entry_state* state : {&before, &after})
      if (state->exists && state->held != history::holding::held) return reason_of(state->held);
    return "the history cannot read it; paddock history verify says more";
  }

  history::store& store_;
  std::set<std::string, std::less<>> printed_{}; ///< paths, before and after
  std::vector<std::string> directories_{};       ///< new or gone
  std::size_t left_out_ = 0;
};

int print_patch(history::store& store, const history::change_list& found, bool is_git_asked) {
  patch_printer printer(store);
  for (const history::change& each : found.changes) {
    const diffed how = how_diffed(each, is_git_asked);
    if (how == diffed::nothing) continue;
    if (is_git_asked || !history::is_of_git(each.path))
      printer.add(each);
    else
      complain(diff_program, name_on_output(each.path) + " is left out: git changes no .git");
  }
  return printer.finish();
}

void print_diffs_as_json(history::store& store, const history::change_list& found,
                         bool is_git_asked) {
  mcp::json_writer out;
  out.begin_object().key("since").unsigned_integer(found.since).key("files").begin_array();
  for (const history::change& each : found.changes) {
    const diffed how = how_diffed(each, is_git_asked);
    const bool is_file = each.entry != entry_kind::directory ||
                         (each.before.exists && each.before.kind != entry_kind::directory);
    if (how == diffed::nothing || (how == diffed::entry && !is_file)) continue;
    out.begin_object().member("path", encode_name(each.path)).member("kind", name_of(each.kind));
    const auto diff = how == diffed::entry ? mcp::diff_of_change(store, each) : std::nullopt;
    if (diff) out.member("diff", diff->text);
    out.end_object();
  }
  write_trouble(out.end_array(), store);
  print_json_line(out.end_object().str());
}

void print_for_people(history::store& store, const history::change_list& found, bool is_git_asked) {
  bool is_exact = true;
  for (const history::change& each : found.changes) {
    const diffed how = how_diffed(each, is_git_asked);
    if (how == diffed::entry) is_exact = print_change(store, each) && is_exact;
    if (how == diffed::repository)
      print_words("%s: %s, shown as one entry; name it to see its contents\n",
                  name_on_output(each.path).c_str(), std::string(name_of(each.kind)).c_str());
  }
  if (!is_exact)
    complain(diff_program,
             "control characters are shown as ?; --raw gives each byte, for git apply");
}

int run_diff(const shown_options& options) {
  const auto opened = open_store(diff_program, options);
  if (opened.store == nullptr) return usage;
  const auto paths = paths_in_history(diff_program, opened, options);
  if (!paths) return usage;
  const bool is_git_asked = std::ranges::any_of(*paths, history::is_of_git);
  const auto found = opened.store->changes({.since = opened.since,
                                            .paths = *paths,
                                            .limit = everything,
                                            .collapse = false,
                                            .moves_as_one = options.json || !options.is_raw,
                                            .git_as_one = !is_git_asked,
                                            .by = history::author::other});
  if (!found) return complain_of_history(diff_program, *opened.store, options, found.error());
  int code = success;
  if (options.json)
    print_diffs_as_json(*opened.store, *found, is_git_asked);
  else if (options.is_raw)
    code = print_patch(*opened.store, *found, is_git_asked);
  else
    print_for_people(*opened.store, *found, is_git_asked);
  warn_of_trouble(diff_program, *opened.store);
  complain_of_unknown(diff_program, opened, found->unknown);
  return found->unknown.empty() ? code : usage;
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
  parser->footer(
      "Exit codes: 0 done, 1 the history cannot be read or, with --raw, something is not "
      "in the patch, 2 unusable options, paths (nothing is or was there) or workspace, or "
      "there is no history.");
  add_shared(*parser, *options);
  parser->add_flag(
      "--raw", options->is_raw,
      "Print each byte as it is, for git apply: a terminal may obey what is in a file");
  return {parser, [options] { return run_diff(*options); }};
}

} // namespace paddock::cli
