// SPDX-License-Identifier: MIT

// paddock undo, paddock checkpoint and paddock history.

#include "common/git_worktree.hpp"
#include "common/interruption.hpp"
#include "common/output.hpp"
#include "common/restored.hpp"
#include "common/terminal.hpp"
#include "undo_cli.hpp"

#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

namespace paddock::cli {
namespace {

struct restore_options : undo_options {
  bool dry_run = false, force = false;
};

void print_json(const history::restore_outcome& done, history::store& store, bool is_trial,
                const std::optional<left_commits>& commits) {
  mcp::json_writer out;
  write_restored(out.begin_object(), done, commits);
  out.key("applied").boolean(!is_trial && done.restored > 0);
  write_trouble(out, store);
  print_json_line(out.end_object().str());
}

const char* word_of(history::restored_as what, bool is_trial) {
  switch (what) {
  case history::restored_as::removed:
    return is_trial ? "would remove" : "removed";
  case history::restored_as::restored:
    return is_trial ? "would restore" : "restored";
  case history::restored_as::moved_back:
    return is_trial ? "would move back" : "moved back";
  case history::restored_as::reverted:
    break;
  }
  return is_trial ? "would revert" : "reverted";
}

void print_restored(const open_history_result& opened, const history::restore_outcome& done,
                    bool is_trial) {
  for (std::size_t i = 0; i < done.paths.size(); ++i) {
    const std::string& path = done.paths[i];
    const auto folded = std::ranges::find(done.folded, path, &history::folded_directory::path);
    print_words("%s %s%s\n", styled(word_of(done.as[i], is_trial), style::good).c_str(),
                without_controls(from_current(opened.current, path)).c_str(),
                folded == done.folded.end()
                    ? ""
                    : ("/ (" + count_of(folded->files, "file", "files") + ")").c_str());
  }
  if (done.paths_total > done.paths.size())
    print_words("and %s more\n", std::to_string(done.paths_total - done.paths.size()).c_str());
  if (done.restored == 0 && done.conflicts.empty())
    print_words("%s\n", styled(done.others == 0 ? "Nothing to undo."
                                                : "Nothing to undo: no change is by an agent. "
                                                  "To undo the others, name their paths.",
                               style::bold)
                            .c_str());
  else if (done.before != 0)
    print_words("%s\n", styled(count_of(done.restored, "entry", "entries") +
                                   " restored. To take this back: paddock undo --to " +
                                   std::to_string(done.before),
                               style::bold)
                            .c_str());
}

/// What is said besides the list of what was restored.
void complain_of_rest(std::string_view program, const open_history_result& opened,
                      const history::restore_outcome& done, bool is_forced) {
  if (done.lost != 0)
    complain(program, count_of(done.lost, "entry", "entries") +
                          " in ignored directories cannot be restored once removed");
  for (const std::string& said : {done.kept, done.notice})
    if (!said.empty()) complain(program, without_controls(said));
  for (const history::restore_conflict& each : done.conflicts)
    complain(program,
             without_controls(from_current(opened.current, each.path)) + ": " + each.reason);
  if (done.conflicts_total > done.conflicts.size())
    complain(program, "and " + std::to_string(done.conflicts_total - done.conflicts.size()) +
                          " more conflicts");
  for (const history::restore_conflict& each : done.left)
    complain(program,
             without_controls(from_current(opened.current, each.path)) + ": " + each.reason);
  if (!done.running.empty())
    complain(program, "an agent's command is still running and may change it again: " +
                          running_text(done.running) + "; undo again when it has ended");
  if (done.conflicts.empty() || is_forced) return;
  const std::uint64_t stay = done.conflicts_total - done.conflicts_of_others;
  const std::string others = "give --force to overwrite those changes";
  if (done.conflicts_of_others == 0)
    complain(program, "nothing was undone; name other paths, or give --force to undo the rest and "
                      "leave these as they are");
  else
    complain(program, "nothing was undone; name other paths, or " + others +
                          (stay == 0 ? ""
                                     : "; " + std::to_string(stay) +
                                           (stay == 1 ? " of these stays" : " of these stay") +
                                           " even then"));
}

int run_undo(const restore_options& options) {
  constexpr std::string_view program = "paddock undo";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const auto paths = paths_in_history(program, opened, options);
  if (!paths) return usage;
  const auto effect =
      options.dry_run ? history::restore_effect::check : history::restore_effect::apply;
  history::restore_request request{.to = opened.since,
                                   .paths = *paths,
                                   .effect = history::restore_effect::check,
                                   .force = options.force,
                                   .by = history::author::other};
  if (!paths->empty()) { // all or nothing: a path that is mistyped keeps the others as they are
    const auto trial = opened.store->restore(request);
    if (!trial) return complain_of_history(program, *opened.store, options, trial.error());
    if (!trial->unknown.empty()) {
      complain_of_unknown(program, opened, trial->unknown);
      complain(program, "nothing was undone");
      return usage;
    }
  }
  request.effect = effect;
  auto done = opened.store->restore(request);
  if (!done) return complain_of_history(program, *opened.store, options, done.error());
  const auto commits =
      paths->empty() ? commits_left(*opened.store, opened.since) : std::optional<left_commits>();
  if (options.json)
    print_json(*done, *opened.store, options.dry_run, commits);
  else
    print_restored(opened, *done, options.dry_run);
  if (!options.json && done->restored == 0 && done->conflicts.empty())
    print_earlier_changes(opened, options, "paddock undo --dry-run --to");
  complain_of_rest(program, opened, *done, options.force);
  if (commits) complain(program, without_controls(text(commits)));
  warn_of_trouble(program, *opened.store);
  return done->conflicts.empty() && opened.store->state().trouble.empty() ? success : failed;
}

/// Another checkpoint with the label, which the new one hides.
std::optional<std::uint64_t> hidden_by(history::store& store, const history::checkpoint& made) {
  if (made.label.empty()) return std::nullopt;
  std::optional<std::uint64_t> last;
  for (const history::checkpoint& each : store.checkpoints())
    if (each.label == made.label && each.number != made.number) last = each.number;
  return last;
}

int run_checkpoint(const undo_options& options, const std::string& label) {
  constexpr std::string_view program = "paddock checkpoint";
  const auto opened = open_store(program, options, beginning::of_repository);
  if (opened.store == nullptr) return usage;
  (void)opened.store->read_in().has_value(); // so that commands that follow can be undone
  const auto made = opened.store->make_checkpoint(label);
  if (!made) return complain_of_history(program, *opened.store, options, made.error());
  if (options.json) {
    mcp::json_writer out;
    out.begin_object().key("checkpoint").unsigned_integer(made->number);
    out.key("files").unsigned_integer(made->files);
    if (opened.is_begun) out.key("begun").boolean(true);
    write_trouble(out, *opened.store);
    print_json_line(out.end_object().str());
  } else {
    print_words("Checkpoint %s (%s).\n", styled(std::to_string(made->number), style::bold).c_str(),
                count_of(made->files, "file", "files").c_str());
    if (const auto other = hidden_by(*opened.store, *made))
      print_words("The label %s was that of checkpoint %s, which --to finds by its number only.\n",
                  without_controls(made->label).c_str(), std::to_string(*other).c_str());
    if (opened.is_begun)
      print_words("This starts the history of %s.\n",
                  name_on_output(opened.workspace->path()).c_str());
  }
  warn_of_trouble(program, *opened.store);
  return success;
}

int run_list(const undo_options& options) {
  constexpr std::string_view program = "paddock history list";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const auto all = opened.store->checkpoints();
  mcp::json_writer out;
  out.begin_object().key("checkpoints").begin_array();
  for (const history::checkpoint& each : all) {
    if (!options.json) {
      print_words("%s  %s  %s  %s\n", column(std::to_string(each.number), 6, align::right).c_str(),
                  local_time(each.time_ms).c_str(),
                  column(count_of(each.files, "file", "files"), 14, align::right).c_str(),
                  styled(without_controls(each.label), style::bold).c_str());
      continue;
    }
    out.begin_object().key("checkpoint").unsigned_integer(each.number);
    out.member("label", each.label).key("time").integer(each.time_ms);
    out.key("files").unsigned_integer(each.files).key("start").boolean(each.is_start).end_object();
  }
  write_trouble(out.end_array(), *opened.store);
  if (options.json) print_json_line(out.end_object().str());
  if (all.empty() && !options.json) print_words("No checkpoints.\n");
  warn_of_trouble(program, *opened.store);
  return success;
}

/// "46.4 MB", "6 kB", "512 bytes".
std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t step = 1000;
  if (bytes < step) return count_of(bytes, "byte", "bytes");
  constexpr std::array units{"kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes) / step;
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit)
    value /= step;
  std::array<char, 32> out{};
  (void)std::snprintf(out.data(), out.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value,
                      units.at(unit));
  return out.data();
}

int run_gc(const undo_options& options) {
  constexpr std::string_view program = "paddock history gc";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const interruption ends;
  const auto done = opened.store->collect_garbage({.cancelled = &ends.is_asked()});
  if (!done && ends.signal()) {
    complain(program, "interrupted; the history is intact, and the next run does the rest");
    return ended_by_signal + *ends.signal();
  }
  if (!done && done.error().code == error_code::no_space) {
    complain(program, explain(done.error()) +
                          "; a shorter journal is written beside the old one: make some room on "
                          "the disk of the history, and run it again");
    return failed;
  }
  if (!done) return complain_of_history(program, *opened.store, options, done.error());
  if (options.json) {
    mcp::json_writer out;
    out.begin_object().key("bytesBefore").unsigned_integer(done->bytes_before);
    out.key("bytesAfter").unsigned_integer(done->bytes_after);
    out.key("checkpointsDropped").unsigned_integer(done->checkpoints_dropped).end_object();
    print_json_line(out.str());
  } else {
    const std::uint64_t freed =
        done->bytes_before - std::min(done->bytes_before, done->bytes_after);
    const std::string dropped =
        done->checkpoints_dropped == 0
            ? ""
            : "; " + count_of(done->checkpoints_dropped, "checkpoint", "checkpoints") + " dropped";
    print_words("Freed %s; %s in use%s\n", size_text(freed).c_str(),
                size_text(done->bytes_after).c_str(), dropped.c_str());
  }
  return success;
}

int run_verify(const undo_options& options) {
  constexpr std::string_view program = "paddock history verify";
  const auto opened = open_store(program, options);
  if (opened.store == nullptr) return usage;
  const auto done = opened.store->verify();
  if (!done) return complain_of_history(program, *opened.store, options, done.error());
  if (options.json) {
    mcp::json_writer out;
    out.begin_object().key("contents").unsigned_integer(done->contents);
    out.key("bytes").unsigned_integer(done->bytes);
    out.key("operations").unsigned_integer(done->operations).key("damaged").begin_array();
    for (const std::string& each : done->damaged)
      out.string(each);
    print_json_line(out.end_array().end_object().str());
  } else {
    print_words("%s (%s, %s)\n",
                done->damaged.empty() ? styled("No damage found", style::good).c_str()
                                      : styled("Damage found", style::bad).c_str(),
                count_of(done->contents, "object", "objects").c_str(),
                size_text(done->bytes).c_str());
  }
  for (const std::string& each : done->damaged)
    complain(program, without_controls(each));
  return done->damaged.empty() ? success : failed;
}

} // namespace

subcommand add_undo(CLI::App& app) {
  const auto options = std::make_shared<restore_options>();
  CLI::App* parser = app.add_subcommand("undo", "Undo an agent's changes");
  parser->footer("Changes that are not by an agent stay, unless they are named. Exit codes: 0 "
                 "done, 1 conflicts (without --force nothing is changed then), or the history has "
                 "gaps, 2 unusable options, paths (nothing is or was there) or workspace, or no "
                 "history.");
  parser->add_option("path", options->paths, "Files and directories (default: everything)")
      ->type_name("PATH");
  add_checkpoint_option(
      *parser, *options, "--to",
      "Go back to this checkpoint, a number or label (default: the last start of a server)");
  parser->add_flag("-n,--dry-run", options->dry_run,
                   "Show what would be undone, and change nothing");
  parser->add_flag("-f,--force", options->force,
                   "Overwrite later changes that are not by an agent, too");
  add_place_options(*parser, *options);
  return {parser, [options] { return run_undo(*options); }};
}

subcommand add_checkpoint(CLI::App& app) {
  const auto options = std::make_shared<undo_options>();
  const auto label = std::make_shared<std::string>();
  CLI::App* parser = app.add_subcommand("checkpoint", "Save a checkpoint to return to");
  parser->footer("To return to checkpoint N, run paddock undo --to N. Exit codes: 0 done, 1 the "
                 "history cannot be written, 2 unusable options or workspace.");
  parser->add_option("label", *label, "A name for the checkpoint")->type_name("LABEL");
  add_place_options(*parser, *options);
  return {parser, [options, label] { return run_checkpoint(*options, *label); }};
}

subcommand add_history(CLI::App& app) {
  CLI::App* parser = app.add_subcommand(
      "history", "List the checkpoints of a workspace, and maintain its history");
  parser->require_subcommand(1);
  const auto options = std::make_shared<undo_options>();
  CLI::App* list = parser->add_subcommand("list", "List the checkpoints of a workspace");
  CLI::App* gc = parser->add_subcommand("gc", "Remove old checkpoints, and data that none needs");
  CLI::App* verify = parser->add_subcommand("verify", "Check the history for damage");
  verify->footer("Exit codes: 0 whole, 1 damaged, 2 unusable options or workspace.");
  for (CLI::App* each : {list, gc, verify})
    add_place_options(*each, *options);
  return {parser, [=] {
            if (gc->parsed()) return run_gc(*options);
            return verify->parsed() ? run_verify(*options) : run_list(*options);
          }};
}

} // namespace paddock::cli
