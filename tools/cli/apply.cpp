// SPDX-License-Identifier: MIT

// paddock apply: a patch for several files, made as a whole or not at all, for people.

#include "common/mistakes.hpp"
#include "common/terminal.hpp"
#include "input.hpp"
#include "subcommands.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/text/near_miss.hpp>
#include <paddock/text/patch.hpp>
#include <paddock/text/unified_diff.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <span>

namespace paddock::cli {
namespace {

constexpr std::string_view program = "paddock apply";
constexpr std::size_t refusals_max = 100;

struct command_options {
  std::string workspace = ".";
  std::string patch;
  bool dry_run = false, json = false;
};

/// Why a file of the patch stays as it is; lines count from 1.
struct refusal {
  std::string path;
  error why{};
  std::string detail{};
  std::size_t hunk = 0; ///< its number, from 1; 0: it is about the file
  std::size_t line_of_patch = 0;
  std::vector<std::uint64_t> lines{}; ///< where an ambiguous one could belong
  std::optional<near_miss> nearest{};
  bool is_told_what_helps = false; ///< by the detail
};

/// What becomes of one file.
struct planned_file {
  patch_action action = patch_action::edit;
  std::string path, from;
  std::string before, after;           ///< as text for people: empty where there is no file
  std::optional<bool> is_executable{}; ///< where that changes
  unified_diff_text diff{};
};

struct plan {
  std::vector<file_change> changes;
  std::vector<planned_file> files; ///< one for each change
  std::vector<refusal> refused;
  change_extent made = change_extent::none; ///< in spite of a refusal
};

/// What was done to a file, and what a dry run says of it.
struct deed {
  const char* done;
  const char* would;
};

deed deed_on(const planned_file& file) {
  switch (file.action) {
  case patch_action::create:
  case patch_action::copy:
    return {"created", "would create"};
  case patch_action::remove:
    return {"deleted", "would delete"};
  case patch_action::move:
    return {"moved", "would move"};
  case patch_action::edit:
    break;
  }
  if (file.before == file.after && !file.is_executable) return {"unchanged", "would not change"};
  return {"edited", "would edit"};
}

/// The content with all hunks; those that have no place are told of, each of them.
std::optional<std::string> patched(const file_patch& file, std::string_view content, plan& to) {
  std::vector<patch_hunk> hunks = file.hunks;
  std::vector<std::size_t> numbers(hunks.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i + 1;
  const std::size_t before = to.refused.size();
  for (;;) {
    auto made = apply_hunks(content, hunks);
    if (made && to.refused.size() == before) return *std::move(made);
    if (made || to.refused.size() - before == refusals_max) return std::nullopt;
    const auto at = static_cast<std::ptrdiff_t>(made.error().hunk);
    const patch_hunk& hunk = hunks[made.error().hunk];
    const hunk_texts texts = texts_of(hunk);
    refusal one{.path = file.path,
                .why = made.error(),
                .hunk = numbers[made.error().hunk],
                .line_of_patch = hunk.line_of_patch + 1};
    for (const std::uint64_t line : made.error().lines)
      one.lines.push_back(line + 1);
    if (made.error().code == error_code::no_match && !texts.before.empty() &&
        content.find(texts.before) == content.npos)
      one.nearest = nearest(content, texts.before, texts.after);
    const bool is_last = made.error().code == error_code::too_large;
    to.refused.push_back(std::move(one));
    if (is_last) return std::nullopt;
    hunks.erase(hunks.begin() + at);
    numbers.erase(numbers.begin() + at);
  }
}

void plan_file(const root& workspace, const file_patch& file, plan& to) {
  planned_file planned{.action = file.action, .path = file.path, .from = file.from};
  file_change change{.path = file.path};
  bool was_executable = false;
  if (file.action != patch_action::create) {
    const std::string& old = file.from.empty() ? file.path : file.from;
    auto content = read_file(workspace, old, {.bytes_max = limits{}.edit_file_bytes_max});
    if (!content) {
      to.refused.push_back({.path = old, .why = content.error()});
      return;
    }
    planned.before = std::move(content->bytes);
    was_executable = (content->status.mode & 0100U) != 0;
  }
  auto after = patched(file, planned.before, to);
  if (!after) return;
  if (file.action == patch_action::remove && !file.hunks.empty() && !after->empty()) {
    to.refused.push_back({.path = file.path,
                          .why = {error_code::stale, 0, "patch"},
                          .detail = "the file has more than the patch deletes"});
    return;
  }
  planned.after = file.action == patch_action::remove ? std::string() : *after;
  change.before = planned.before;
  change.is_executable = file.is_executable;
  switch (file.action) {
  case patch_action::create:
  case patch_action::copy:
    change.action = change_action::create;
    change.before.reset();
    change.is_executable = file.is_executable.value_or(was_executable);
    change.bytes = *std::move(after);
    break;
  case patch_action::remove:
    change.action = change_action::remove;
    change.is_executable.reset();
    break;
  case patch_action::move:
    change.action = change_action::move;
    change.from = file.from;
    if (!file.hunks.empty() || file.is_executable) change.bytes = *std::move(after);
    break;
  case patch_action::edit:
    change.action = change_action::replace;
    change.bytes = *std::move(after);
    break;
  }
  if (change.is_executable.value_or(was_executable) != was_executable ||
      (change.action == change_action::create && change.is_executable == true))
    planned.is_executable = change.is_executable;
  planned.diff = unified_diff(planned.before, planned.after,
                              {.before_name = planned.from.empty() ? planned.path : planned.from,
                               .after_name = planned.path});
  to.files.push_back(std::move(planned));
  to.changes.push_back(std::move(change));
}

std::string reason_of(const refusal& one) {
  const bool is_hunk = one.hunk > 0;
  std::string told = one.detail.empty() ? std::string(text(one.why.code)) : one.detail;
  if (is_hunk && one.why.code == error_code::no_match) told = "its lines do not stand in the file";
  if (is_hunk && one.why.code == error_code::ambiguous) told = "its lines stand in several places";
  for (std::size_t i = 0; i < one.lines.size(); ++i)
    told += (i == 0 ? ": line " : ", ") + std::to_string(one.lines[i]);
  if (one.nearest) {
    const near_miss& near = *one.nearest;
    told += "; nearest is line " + std::to_string(near.line + 1);
    if (near.kind == near_miss_kind::already_applied)
      told += ", where the change is made already";
    else if (near.kind == near_miss_kind::white_space)
      told += ", which differs in white space alone";
    else if (!near.wanted.empty())
      told += ", where '" + without_controls(near.wanted) + "' is missing";
  }
  if (!is_hunk && !one.is_told_what_helps) told.append("; ").append(advice(one.why.code));
  return told;
}

void complain_of(const refusal& one) {
  std::string where = without_controls(one.path);
  if (one.hunk > 0)
    where += ": hunk " + std::to_string(one.hunk) + " (line " + std::to_string(one.line_of_patch) +
             " of the patch)";
  complain(program, where + ": " + reason_of(one));
}

const char* word_of(near_miss_kind kind) {
  if (kind == near_miss_kind::white_space) return "white_space";
  return kind == near_miss_kind::similar ? "similar" : "already_applied";
}

void write_refusal(mcp::json_writer& out, const refusal& one) {
  out.begin_object().member("path", encode_name(one.path));
  out.member("error", wire_name(one.why.code)).member("message", reason_of(one));
  if (one.hunk > 0) {
    out.key("hunk").unsigned_integer(one.hunk);
    out.key("lineOfPatch").unsigned_integer(one.line_of_patch);
  }
  if (one.nearest) {
    out.key("nearest").begin_object();
    out.key("line").unsigned_integer(one.nearest->line + 1);
    out.member("kind", word_of(one.nearest->kind)).end_object();
  }
  out.end_object();
}

void print_json(const plan& made, bool is_applied) {
  mcp::json_writer out;
  out.begin_object().key("applied").boolean(is_applied).key("files").begin_array();
  for (const planned_file& file : made.files) {
    out.begin_object().member("path", encode_name(file.path)).member("action", deed_on(file).done);
    if (!file.from.empty()) out.member("from", encode_name(file.from));
    out.key("added").unsigned_integer(file.diff.added);
    out.key("removed").unsigned_integer(file.diff.removed);
    if (file.is_executable) out.key("executable").boolean(*file.is_executable);
    out.end_object();
  }
  out.end_array();
  if (!made.refused.empty()) {
    out.key("refused").begin_array();
    for (const refusal& one : made.refused)
      write_refusal(out, one);
    out.end_array();
  }
  std::printf("%s\n", out.end_object().str().c_str());
}

/// On a terminal the differences, elsewhere a line for each file.
void print_files(const plan& made, bool dry_run) {
  for (const planned_file& file : made.files) {
    const auto [done, would] = deed_on(file);
    std::string counts =
        " +" + std::to_string(file.diff.added) + " -" + std::to_string(file.diff.removed);
    if (file.is_executable) counts += *file.is_executable ? ", executable" : ", not executable";
    const std::string from = file.from.empty() ? "" : " from " + name_on_output(file.from);
    std::printf("%s\n",
                styled((dry_run ? would : done) + (" " + name_on_output(file.path)) + from + counts,
                       style::bold)
                    .c_str());
    if (!output_has_colours()) continue;
    for (std::string_view rest = file.diff.text; !rest.empty();) {
      const auto end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      const style how = line.starts_with('+')   ? style::good
                        : line.starts_with('-') ? style::bad
                        : line.starts_with('@') ? style::dim
                                                : style::plain;
      std::printf("%s\n", styled(without_controls(line), how).c_str());
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
  }
}

std::optional<std::string> read_patch(const std::string& name) {
  std::string problem;
  auto patch = read_input(name, problem);
  if (!patch)
    complain(program,
             "the patch " + name + " " + problem + "; name a file, or - for standard input");
  return patch;
}

void apply(const root& workspace, const command_options& options, plan& made) {
  const auto effect = options.dry_run ? change_effect::check : change_effect::apply;
  const auto done =
      apply_changes(workspace, made.changes, {.effect = effect, .durability = durability::data});
  if (done) return;
  const change_failure& why = done.error();
  const bool is_about_record = why.change == change_failure::no_change && !why.path.empty();
  made.made = why.made;
  made.refused.push_back(
      {.path = why.path.empty() ? options.workspace : why.path,
       .why = why,
       .detail = why.detail,
       .is_told_what_helps = is_about_record || why.made != change_extent::none});
}

int run_apply(const command_options& options) {
  const auto workspace = open_workspace(program, options.workspace);
  if (!workspace) return usage;
  const auto patch = read_patch(options.patch);
  if (!patch) return usage;
  const auto files = parse_patch(*patch);
  if (!files) {
    const patch_fault& fault = files.error();
    const std::string what = fault.code == error_code::unsupported_type
                                 ? std::string(fault.operation) + "; leave this file out"
                                 : fault.operation;
    complain(program, "line " + std::to_string(fault.line + 1) + " of the patch: " + what);
    return failed;
  }
  plan made;
  for (const file_patch& file : *files)
    plan_file(*workspace, file, made);
  if (made.refused.empty()) apply(*workspace, options, made);
  const bool is_fine = made.refused.empty();
  if (options.json) print_json(made, is_fine && !options.dry_run);
  if (is_fine && !options.json) print_files(made, options.dry_run);
  for (const refusal& one : made.refused)
    complain_of(one);
  if (!is_fine && made.made == change_extent::none) complain(program, "nothing was changed");
  if (made.made == change_extent::some) complain(program, "some of it is changed");
  return is_fine ? success : failed;
}

} // namespace

subcommand add_apply(CLI::App& app) {
  const auto options = std::make_shared<command_options>();
  CLI::App* parser =
      app.add_subcommand("apply", "Make the changes of a patch, in all of its files or in none");
  parser->footer("A unified diff, git's for new, deleted and renamed files too, or the format that "
                 "begins with *** Begin Patch.\nExit codes: 0 done, 1 refused, and nothing is "
                 "changed, 2 unusable options, patch file or workspace.");
  parser->add_option("patch", options->patch, "The patch; - reads it from standard input")
      ->required()
      ->type_name("PATCH");
  parser
      ->add_option("-w,--workspace", options->workspace, "The workspace (default: this directory)")
      ->type_name("DIRECTORY");
  parser->add_flag("-n,--dry-run,--check", options->dry_run,
                   "Say what would change, and change nothing");
  parser->add_flag("--json", options->json, "One JSON object");
  return {parser, [options] { return run_apply(*options); }};
}

} // namespace paddock::cli
