// SPDX-License-Identifier: MIT

// The tool applyChanges.

#include "mcp/tools/change_planner.hpp"
#include "mcp/tools/change_words.hpp"
#include "mcp/tools/edits.hpp"
#include "mcp/tools/refusals.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/path/protected_names.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

constexpr std::size_t diffs_bytes_max = std::size_t{16} * 1024; ///< of all files
constexpr unsigned attempts_max = 1000; ///< each time somebody else was faster

std::string_view name_of(change_action action) {
  switch (action) {
  case change_action::create:
    return "created";
  case change_action::replace:
    return "edited";
  case change_action::remove:
    return "deleted";
  case change_action::move:
    break;
  }
  return "moved";
}

/// Plans all that a call asks for; the patch was read before.
result<planned_changes, failed_change> plan_of(workspace_state& state, const call& c,
                                               const std::vector<file_patch>& patch) {
  const auto matching = text_argument(c, "matching") == "whitespace" ? text_matching::white_space
                                                                     : text_matching::exact;
  change_planner planner(*state.root, {.matching = matching,
                                       .file_bytes_max = state.limits.edit_file_bytes_max,
                                       .bounds = bounds_of(state, c)});
  result<void, failed_change> done;
  std::size_t number = 0;
  c.arguments()["changes"].for_each_element([&](json_view change) {
    if (done) done = planner.add(change, number++);
  });
  PADDOCK_CHECK(std::move(done));
  for (const file_patch& file : patch)
    PADDOCK_CHECK(planner.add(file));
  return std::move(planner).take();
}

/// The files of the patch of a call, which views are of; none without one.
result<std::vector<file_patch>, failed_change> patch_of(const call& c) {
  const std::string_view text = text_argument(c, "patch");
  if (text.empty()) return std::vector<file_patch>();
  auto parsed = parse_patch(text);
  if (parsed) return *std::move(parsed);
  const patch_fault& fault = parsed.error();
  refusal why = refusal_of(fault);
  const bool is_in_text =
      fault.line_index <= static_cast<std::size_t>(std::ranges::count(text, '\n'));
  why.words =
      "patch: " +
      (is_in_text ? "line " + std::to_string(fault.line_index + 1) + ": " : std::string()) +
      text_of(fault) +
      (fault.code == error_code::unsupported_type
           ? "; patches change text files of the modes 100644 and 100755; leave this file out, and "
             "change it with exec"
           : "; correct the patch") +
      std::string(unchanged);
  return failed_change(std::move(why));
}

/// Writes the answer.
class change_report {
public:
  change_report(const call& c, bool is_trial, const work_bounds& bounds)
      : wanted_(text_argument(c, "diff")), is_trial_(is_trial), bounds_(bounds),
        room_(std::min(diffs_bytes_max, result_bytes_max(c) / 4)) {
    out_.begin_object().key("applied").boolean(!is_trial).key("files").begin_array();
  }

  void add(const file_change& change, const planned_file& file, const changed_file& done) {
    const std::string path = encode_name(done.path), from = encode_name(done.from);
    const bool is_gone = change.action == change_action::remove;
    const std::optional<std::string>& after =
        change.action == change_action::move && !change.bytes ? change.before : change.bytes;
    out_.begin_object().member("path", path).member("action", name_of(change.action));
    if (!from.empty()) out_.member("from", from);
    const std::optional<std::string>& now = is_trial_ ? change.before : after;
    if (now && (is_trial_ || !is_gone)) out_.member("hash", hash_of(*now));
    if (wanted_ != "none")
      write_diff(change.before.value_or(""), is_gone ? "" : after.value_or(""),
                 change.action == change_action::create ? ""
                 : from.empty()                         ? path
                                                        : from,
                 is_gone ? "" : path);
    if (!file.loose.lines.empty()) write_matched(out_, file.loose);
    out_.end_object();
  }
  [[nodiscard]] tool_result take(interrupted_change earlier, const std::string& said) {
    out_.end_array();
    std::string notice = encode_name(said);
    if (earlier == interrupted_change::undone || earlier == interrupted_change::finished)
      notice.append(notice.empty() ? "" : "; ")
          .append("an earlier change of several files that was interrupted was ")
          .append(earlier == interrupted_change::undone ? "undone" : "finished");
    if (!notice.empty()) out_.member("notice", notice);
    out_.end_object();
    return {.json = out_.take()};
  }

private:
  /// What git says of a file that has another name now; of another one nothing.
  static std::string moved_head(const std::string& old_path, const std::string& new_path) {
    if (old_path.empty() || new_path.empty() || old_path == new_path) return {};
    return git_heading({.name = old_path, .mode = "100644"}, {.name = new_path, .mode = "100644"});
  }

  void write_diff(std::string_view before, std::string_view after, const std::string& old_path,
                  const std::string& new_path) {
    const std::string old_name = old_path.empty() ? "/dev/null" : "a/" + old_path;
    const std::string new_name = new_path.empty() ? "/dev/null" : "b/" + new_path;
    const bool is_full = wanted_ == "full";
    const auto diff =
        diff_of(before, after,
                {.bytes_max = is_full ? room_ : 0, .before_name = old_name, .after_name = new_name},
                bounds_);
    write_counts(out_, diff);
    if (!is_full) return;
    const std::string moved = moved_head(old_path, new_path);
    room_ -= std::min(room_, moved.size() + diff.text.size());
    out_.member("diff", moved + diff.text);
    if (diff.hunks_left_out > 0) out_.key("diffTruncated").boolean(true);
  }

  std::string_view wanted_;
  bool is_trial_;
  work_bounds bounds_;
  std::size_t room_; ///< for diffs
  json_writer out_;
};

} // namespace

tool_result apply_changes(workspace_state& state, call& c) {
  const bool is_trial = c.arguments()["dryRun"].boolean().value_or(false);
  if (!c.arguments()["changes"].exists() && !c.arguments()["patch"].exists())
    return tool_result::failure(error_code::invalid_argument,
                                "nothing to change; give changes, a patch, or both");
  c.may_block();
  const auto patch = patch_of(c);
  if (!patch) return refused(patch.error().why, "");
  change_options options{.effect = is_trial ? change_effect::check : change_effect::apply,
                         .durability = state.options.durability,
                         .bytes_max = state.limits.edit_file_bytes_max,
                         .state_directory = state.options.state_directory,
                         .bounds = bounds_of(state, c)};
  // Before anything is read: a plan for what is half done would not fit what is undone. If that
  // fails, apply_changes says why.
  std::string said; // of links
  const auto earlier = is_trial ? result<interrupted_change>(interrupted_change::none)
                                : end_interrupted_change(*state.root, options.state_directory, said,
                                                         state.options.confinement, options.bounds);
  for (unsigned attempt = 1;; ++attempt) {
    const auto plan = plan_of(state, c, *patch);
    if (!plan) {
      refusal why = plan.error().why;
      say_also(why, "");
      return refused(why, plan.error().path);
    }
    options.bounds.held = plan->memory.bytes();
    const auto done = paddock::apply_changes(*state.root, plan->changes, options);
    // Somebody else was faster: the changes are planned anew for what is there now.
    if (!done && done.error().code == error_code::stale && attempt < attempts_max &&
        options.bounds.check())
      continue;
    if (!done) {
      const failed_change why = refused_plan(done.error(), *plan);
      return refused(why.why, why.path);
    }
    change_report report(c, is_trial, options.bounds);
    std::vector<std::string> moved;
    for (std::size_t i = 0; i < done->size(); ++i) {
      report.add(plan->changes[i], plan->files[i], (*done)[i]);
      if (plan->changes[i].action == change_action::move && !is_trial)
        moved.push_back((*done)[i].path);
    }
    end_moves(state.root->descriptor(), moved, said, state.options.confinement);
    return report.take(earlier ? *earlier : interrupted_change::none, said);
  }
}

} // namespace paddock::mcp
