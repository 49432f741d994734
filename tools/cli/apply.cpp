// SPDX-License-Identifier: MIT

// paddock apply: a patch for several files, made as a whole or not at all, for people.

#include "applied_patch.hpp"
#include "common/history_cli.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/shown_diff.hpp"
#include "common/terminal.hpp"
#include "input.hpp"
#include "mcp/tools/change_planner.hpp"
#include "mcp/tools/change_words.hpp"
#include "mcp/tools/edits.hpp"
#include "subcommands.hpp"
#include "undo/undo_cli.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/text/near_miss.hpp>
#include <paddock/text/patch.hpp>
#include <paddock/text/unified_diff.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::string_view apply_command = "paddock apply";
constexpr std::size_t refusals_max = 100;

struct command_options {
  std::string workspace = ".", history;
  std::string patch;
  text_matching matching = text_matching::exact;
  std::uint64_t file_bytes_max = limits{}.edit_file_bytes_max;
  bool dry_run = false, json = false;
};

/// Why a file of the patch stays as it is.
struct refusal {
  std::string path;
  error_code code{};
  std::string words;
  std::size_t hunk = 0;          ///< its number, from 1; 0: it is about the file
  std::size_t line_of_patch = 0; ///< from 1
  std::optional<near_miss> nearest{};
};

/// What becomes of one file.
struct planned_file {
  change_action action = change_action::replace;
  std::string path, from;
  bool stays = false;                  ///< it is as it is to be
  std::optional<bool> is_executable{}; ///< where that changes
  mcp::loose_lines loose{};
  unified_diff_text diff{};
};

struct outcome {
  std::vector<planned_file> files;
  std::vector<refusal> refused;
  bool was_applied = false;                 ///< before, as a whole
  change_extent made = change_extent::none; ///< in spite of a refusal
  std::string notice;                       ///< of files of git that were moved aside
};

/// What was done to a file, and what a dry run says of it.
struct deed {
  const char* done;
  const char* would;
};

deed deed_on(const planned_file& file) {
  switch (file.action) {
  case change_action::create:
    return {"created", "would create"};
  case change_action::remove:
    return {"deleted", "would delete"};
  case change_action::move:
    return {"moved", "would move"};
  case change_action::replace:
    break;
  }
  if (file.stays && !file.is_executable) return {"unchanged", "would not change"};
  return {"edited", "would edit"};
}

/// That nothing was changed is said once, at the end.
std::string without_end(std::string words) {
  if (words.ends_with(mcp::unchanged)) words.resize(words.size() - mcp::unchanged.size());
  return words;
}

/// For people, who have no option here that lifts a rule: that clause is another, the rest stays.
std::string for_a_person(std::string words) {
  constexpr std::pair<std::string_view, std::string_view> clauses[] = {
      {"a person can allow it with --unprotect ", "apply never changes it; use an editor"},
      {"use git through exec", "use git"}};
  for (const auto& [said, instead] : clauses)
    if (const std::size_t at = words.find(said); at != std::string::npos)
      words.replace(at, std::min(words.find(';', at), words.size()) - at, instead);
  return words;
}

void refuse(const mcp::failed_change& why, const file_patch& file, outcome& to) {
  const auto add = [&](const mcp::refusal& one) {
    refusal out{.path = why.path.empty() ? file.path : decode_name(why.path),
                .code = one.code,
                .words = without_end(one.words),
                .nearest = one.nearest};
    if (one.edit) {
      out.hunk = *one.edit + 1;
      out.line_of_patch = file.hunks[*one.edit].patch_line_index + 1;
    }
    to.refused.push_back(std::move(out));
  };
  add(why.why);
  for (const mcp::refusal& one : why.more)
    add(one);
}

/// What is told of a change that is made, or would be.
planned_file described(const file_change& change, const mcp::planned_file& plan,
                       const changed_file& done) {
  const bool is_new = change.action == change_action::create;
  const bool is_gone = change.action == change_action::remove;
  const std::string before = change.before.value_or("");
  const std::string after = is_gone ? "" : change.bytes.value_or(before);
  planned_file out{.action = change.action,
                   .path = done.path,
                   .from = done.from,
                   .stays = before == after,
                   .loose = plan.loose};
  if (change.is_executable.value_or(plan.was_executable) != plan.was_executable ||
      (is_new && change.is_executable == true))
    out.is_executable = change.is_executable;
  out.diff = mcp::diff_of(
      before, after,
      {.before_name = done.from.empty() ? done.path : done.from, .after_name = done.path});
  return out;
}

void complain_of(const refusal& one) {
  complain(apply_command, without_controls(one.path) + ": " + without_controls(one.words));
}

void write_refusal(mcp::json_writer& out, const refusal& one) {
  out.begin_object().member("path", encode_name(one.path));
  out.member("error", wire_name(one.code)).member("message", one.words);
  if (one.hunk > 0) {
    out.key("hunk").unsigned_integer(one.hunk);
    out.key("lineOfPatch").unsigned_integer(one.line_of_patch);
  }
  if (one.nearest) {
    out.key("nearest").begin_object();
    out.key("line").unsigned_integer(one.nearest->line_index + 1);
    out.member("kind", wire_name(one.nearest->kind)).end_object();
  }
  out.end_object();
}

void print_json(const outcome& made, bool is_applied) {
  mcp::json_writer out;
  out.begin_object().key("applied").boolean(is_applied).key("files").begin_array();
  for (const planned_file& file : made.files) {
    out.begin_object().member("path", encode_name(file.path)).member("action", deed_on(file).done);
    if (!file.from.empty()) out.member("from", encode_name(file.from));
    mcp::write_counts(out, file.diff);
    if (file.is_executable) out.key("executable").boolean(*file.is_executable);
    if (!file.loose.lines.empty()) mcp::write_matched(out, file.loose);
    out.end_object();
  }
  out.end_array();
  if (made.was_applied) out.key("alreadyApplied").boolean(true);
  if (!made.refused.empty()) {
    out.key("refused").begin_array();
    for (const refusal& one : made.refused)
      write_refusal(out, one);
    out.end_array();
  }
  print_json_line(out.end_object().str());
}

/// On a terminal the differences, elsewhere a line for each file.
void print_files(const outcome& made, bool dry_run) {
  if (made.files.empty())
    print_words("Nothing to change: the patch takes back all that it does.\n");
  for (const planned_file& file : made.files) {
    const auto [done, would] = deed_on(file);
    std::string counts;
    if (mcp::is_counted(file.diff))
      counts = " +" + std::to_string(file.diff.added) + " -" + std::to_string(file.diff.removed);
    if (file.is_executable) counts += *file.is_executable ? ", executable" : ", not executable";
    if (!file.loose.lines.empty())
      counts.append(", matched with ").append(mcp::matched_with(file.loose.indentation));
    const std::string from = file.from.empty() ? "" : " from " + name_on_output(file.from);
    print_words("%s\n",
                styled((dry_run ? would : done) + (" " + name_on_output(file.path)) + from + counts,
                       style::bold)
                    .c_str());
    if (output_has_colours()) print_diff(file.diff.text);
  }
}

std::optional<std::string> read_patch(const std::string& name) {
  std::string problem;
  auto patch = read_input(name, problem);
  if (!patch)
    complain(apply_command,
             "the patch " + name + " " + problem + "; name a file, or - for standard input");
  return patch;
}

/// Where a server of these options keeps its record, too.
std::string state_directory(const command_options& options) {
  if (options.history.empty()) return default_history_directory();
  std::error_code failed;
  return std::filesystem::absolute(options.history, failed).string();
}

void apply(const root& workspace, const command_options& options, const mcp::planned_changes& plan,
           outcome& to) {
  const auto effect = options.dry_run ? change_effect::check : change_effect::apply;
  const auto done = apply_changes(workspace, plan.changes,
                                  {.effect = effect,
                                   .durability = durability::data,
                                   .bytes_max = options.file_bytes_max,
                                   .state_directory = state_directory(options)});
  if (!done) {
    const change_failure& why = done.error();
    const mcp::failed_change said = mcp::refused_plan(why, plan);
    to.made = why.made;
    to.refused.push_back({.path = said.path.empty() ? options.workspace : decode_name(said.path),
                          .code = said.code,
                          .words = for_a_person(without_end(said.why.words))});
    return;
  }
  std::vector<std::string> moved;
  for (std::size_t i = 0; i < done->size(); ++i) {
    to.files.push_back(described(plan.changes[i], plan.files[i], (*done)[i]));
    if (plan.changes[i].action == change_action::move && !options.dry_run)
      moved.push_back((*done)[i].path);
  }
  end_moves(workspace.descriptor(), moved, to.notice);
}

int run_apply(const command_options& options) {
  const auto found =
      find_workspace(apply_command, {.workspace = options.workspace, .history = options.history},
                     state_directory(options), beginning::here);
  if (!found) return usage;
  const root* const workspace = found->workspace.get();
  const auto patch = read_patch(options.patch);
  if (!patch) return usage;
  // A plan for what is half done would not fit what is undone. If that fails, apply_changes says
  // why.
  std::string ended;
  if (!options.dry_run)
    (void)mcp::end_interrupted_change(*workspace, state_directory(options), ended);
  if (!ended.empty()) complain(apply_command, without_controls(ended));
  if (has_foreign_record(*workspace)) complain(apply_command, std::string(foreign_record));
  const auto files = parse_patch(*patch);
  if (!files) {
    const patch_fault& fault = files.error();
    const std::string what =
        text_of(fault) +
        (fault.code == error_code::unsupported_type ? "; leave this file out" : "");
    const bool is_none = what.starts_with("there is no patch");
    complain(apply_command,
             is_none ? what
                     : "line " + std::to_string(fault.line_index + 1) + " of the patch: " + what);
    return failed;
  }
  outcome made;
  mcp::change_planner planner(*workspace, {.matching = options.matching,
                                           .file_bytes_max = options.file_bytes_max,
                                           .refusals_max = refusals_max});
  for (const file_patch& file : *files)
    if (const auto planned = planner.add(file); !planned) refuse(planned.error(), file, made);
  const bool is_planned = made.refused.empty();
  if (is_planned) apply(*workspace, options, std::move(planner).take(), made);
  const bool is_fine = made.refused.empty();
  if (!is_fine && made.made == change_extent::none &&
      (!is_planned || made.refused.front().code == error_code::already_exists))
    made.was_applied = is_applied(*workspace, *files, options.file_bytes_max);
  if (options.json) print_json(made, is_fine && !options.dry_run);
  if (is_fine && !options.json) print_files(made, options.dry_run);
  if (!made.notice.empty()) complain(apply_command, without_controls(made.notice));
  if (made.was_applied) {
    complain(apply_command, "the patch is already applied; nothing was changed");
    return failed;
  }
  for (const refusal& one : made.refused)
    complain_of(one);
  if (!is_fine && made.made == change_extent::none) complain(apply_command, "nothing was changed");
  if (made.made == change_extent::some) complain(apply_command, "some of it is changed");
  return is_fine ? success : failed;
}

} // namespace

subcommand add_apply(CLI::App& app) {
  const auto options = std::make_shared<command_options>();
  CLI::App* parser = app.add_subcommand("apply", "Apply a patch to all of its files, or to none");
  parser->footer("The patch is a unified diff, also git's for new, deleted and renamed files, or "
                 "begins with *** Begin Patch.\nExit codes: 0 done, 1 refused, and nothing is "
                 "changed, 2 unusable options, patch file or workspace.");
  parser->add_option("patch", options->patch, "The patch; - reads it from standard input")
      ->required()
      ->type_name("PATCH");
  add_found_workspace_option(*parser, options->workspace);
  add_history_option(*parser, options->history);
  parser->add_flag("-n,--dry-run,--check", options->dry_run,
                   "Show what would change, and change nothing");
  const std::map<std::string, text_matching> matchings{{"exact", text_matching::exact},
                                                       {"whitespace", text_matching::white_space}};
  parser
      ->add_option(
          "--matching", options->matching,
          "Match lines exact (the default), or whitespace: ignoring differences in blanks and tabs")
      ->transform(word_of(matchings))
      ->type_name("HOW");
  parser
      ->add_option("--max-edit-file-bytes", options->file_bytes_max,
                   "Limit the size of a file that is changed (default: 268435456)")
      ->type_name("BYTES")
      ->transform(byte_count(UINT64_MAX, 1));
  parser->add_flag("--json", options->json, "Print one JSON object");
  return {parser, [options] { return run_apply(*options); }};
}

} // namespace paddock::cli
