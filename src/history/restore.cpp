// SPDX-License-Identifier: MIT

// The way back, from the question to the answer, and what a killed restore has left.

#include "change/change_run.hpp"
#include "file/leftover.hpp"
#include "file/replace.hpp"
#include "history/opened_up.hpp"
#include "history/path_tops.hpp"
#include "history/restore_share.hpp"
#include "history/restore_steps.hpp"

#include <paddock/history/naming.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace paddock::history {
namespace {

constexpr std::size_t told_paths_max = 50;
constexpr std::size_t told_conflicts_max = 200;
constexpr std::size_t locks_max = 1'000;
constexpr const char* record_name = "intent";
constexpr const char* failed_record_name = "intent.failed";

/// The directory that a step is told with, which comes or goes with all in it.
class folder {
public:
  folder(const restore_plan& plan, const path_tops& asked) : asked_(asked) {
    for (const restore_step& each : plan.steps)
      if (comes_or_goes(each) &&
          (each.wanted.kind == known_kind::directory || each.present.kind == known_kind::directory))
        whole_[each.path] = each.wanted.exists();
    const auto is_within = [](const auto& path) { return !git_around(path).empty(); };
    is_within_git_ = std::ranges::any_of(asked.all(), is_within);
  }

  [[nodiscard]] std::string_view told_with(const restore_step& each) const {
    const std::string_view git = git_around(each.path);
    if (!git.empty() && !is_within_git_ && !whole_.contains(git)) return git;
    std::string_view top;
    for (std::string_view at = each.path; comes_or_goes(each) && !at.empty(); at = parent_of(at))
      if (const auto found = whole_.find(at); found != whole_.end())
        if (found->second == each.wanted.exists() && !asked_.has_beneath(std::string(at))) top = at;
    return top;
  }

private:
  static bool comes_or_goes(const restore_step& each) {
    return each.wanted.exists() != each.present.exists();
  }

  const path_tops& asked_;
  std::map<std::string_view, bool> whole_; ///< and whether it comes
  bool is_within_git_ = false;
};

restored_as restored_by(const restore_step& step) {
  if (!step.wanted.exists()) return restored_as::removed;
  return step.present.exists() ? restored_as::reverted : restored_as::restored;
}

void tell_paths(const restore_plan& plan, const restore_request& request, restore_outcome& out) {
  const path_tops asked(request.paths);
  const folder folds(plan, asked);
  struct row {
    restored_as as = restored_as::reverted;
    std::uint64_t files = 0; ///< of a folded one
  };
  std::map<std::string_view, row> rows;
  for (const restore_move& each : plan.moves)
    rows.try_emplace(each.from, row{.as = restored_as::moved_back});
  for (const restore_step& each : plan.steps) {
    if (each.wanted.same_but_for_time(each.present)) continue;
    const std::string_view whole = folds.told_with(each);
    const bool is_directory =
        each.wanted.kind == known_kind::directory || each.present.kind == known_kind::directory;
    const std::string_view path = whole.empty() ? std::string_view(each.path) : whole;
    const auto [at, is_new] = rows.try_emplace(path);
    if (path == each.path && (is_new || at->second.as != restored_as::moved_back))
      at->second.as = restored_by(each);
    if (!whole.empty() && !is_directory) ++at->second.files;
  }
  out.paths_total = rows.size();
  for (const auto& [path, row] : rows) {
    if (out.paths.size() == told_paths_max) break;
    if (row.files > 0) out.folded.push_back({std::string(path), row.files});
    out.paths.emplace_back(path);
    out.as.push_back(row.as);
  }
}

restore_outcome outcome_of(const restore_plan& plan, const restore_request& request) {
  restore_outcome out;
  const auto first_of = [](const std::vector<restore_conflict>& all) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(all.size(), told_conflicts_max));
    return std::vector<restore_conflict>(all.begin(), all.begin() + count);
  };
  out.conflicts = first_of(plan.conflicts);
  out.conflicts_total = plan.conflicts.size();
  out.conflicts_of_others = plan.of_others;
  out.others = plan.others;
  out.unknown = plan.unknown;
  if (!plan.conflicts.empty() && !request.force) return out;
  // A time alone is not shown, and so counts only where there is nothing else.
  const auto of_times =
      static_cast<std::size_t>(std::ranges::count_if(plan.steps, [](const restore_step& each) {
        return each.wanted.same_but_for_time(each.present);
      }));
  const std::size_t all = plan.steps.size() + plan.moves.size();
  out.restored = all == of_times ? all : all - of_times;
  out.left = first_of(plan.left);
  out.left_total = plan.left.size();
  out.lost = plan.lost.size();
  for (const std::string& path : plan.lost)
    if (out.lost_paths.size() < told_paths_max) out.lost_paths.push_back(path);
  tell_paths(plan, request, out);
  return out;
}

void tell_left(restore_outcome& out, const std::string& path, std::string reason) {
  ++out.left_total;
  if (out.left.size() < told_conflicts_max) out.left.push_back({path, std::move(reason)});
}

/// What was restored, and is not there as the restore has left it: somebody was faster.
void tell_undone(const file_index& index, const restore_plan& plan, restore_outcome& out) {
  for (const restore_step& each : plan.steps) {
    const known_state now = index.find(each.path);
    const bool is_other =
        now.has_content() && each.wanted.has_content() && now.content != each.wanted.content;
    if (now.kind == each.wanted.kind && !is_other) continue;
    tell_left(out, each.path,
              "it was restored, and something else has changed it since: restore "
              "once more when that has ended");
  }
}

std::vector<std::string> touched_by(const restore_plan& plan) {
  std::vector<std::string> paths;
  for (const restore_move& each : plan.moves) {
    paths.push_back(each.from);
    paths.push_back(each.to);
  }
  for (const restore_step& each : plan.steps)
    paths.push_back(each.path);
  return paths;
}

/// With `paths` and `force` everything is as it was at the checkpoint, whoever changed it.
void widen_to_checkpoint(path_changes& all, const restore_request& request) {
  if (!request.force || request.paths.empty()) return;
  const path_tops asked(request.paths);
  for (auto& [path, each] : all)
    if (asked.cover(path)) each.before = each.at_checkpoint;
}

/// What was not to be read is tried once more; and in ignored directories, reads what a tool has
/// written or somebody else has changed, so that it can be had back when the restore replaces it.
result<void> hold_what_goes(store::impl& in, path_changes& all, const restore_request& request) {
  std::vector<std::string> paths;
  const path_tops asked(request.paths);
  for (const auto& [path, each] : all) {
    const bool is_wanted = each.before.exists() || each.last.by != author::exec;
    const bool has_failed = each.after.held == holding::unreadable ||
                            each.after.held == holding::lost ||
                            each.after.held == holding::not_read_yet;
    if (((each.after.held == holding::ignored && is_wanted) || has_failed) &&
        (each.by_agent || request.force) && !each.before.same_as(each.after) &&
        restorable(in, each) == holding::held && asked.mean(path))
      paths.push_back(path);
  }
  if (paths.empty()) return {};
  PADDOCK_CHECK(in.hold(paths));
  for (const std::string& path : paths)
    all[path].after = in.index.find(path);
  return {};
}

/// Keeps the file tools of this process away from what changes. With very many paths all of them
/// would be kept away, and the check of each entry has to do.
result<std::vector<content_lock>> lock_steps(const root& workspace, const change_plan& plan,
                                             const work_bounds& bounds) {
  std::vector<std::string> paths;
  if (plan.steps.size() > locks_max) return std::vector<content_lock>();
  for (const change_step& each : plan.steps)
    if (!each.wanted.is_directory()) paths.push_back(each.path);
  return lock_contents(workspace, paths, bounds);
}

/// Why a restore could not be made, as a clause.
std::string why_not(const change_run& run, const error& e) {
  const bool is_other =
      e.code == error_code::conflict && std::string_view(e.operation) == held_operation;
  std::string_view clause = text(e.code);
  if (is_other) clause = "its directory is another one by now, or lies elsewhere";
  if (e.code == error_code::not_found)
    clause = run.failed_at().empty()
                 ? "something else moved or removed a prepared file"
                 : "something else moved or removed it, or the file prepared for it";
  return (run.failed_at().empty() ? "" : run.failed_at() + ": ") + std::string(clause);
}

/// What could not be taken back, as a clause.
std::string astray_clause(const std::vector<std::string>& astray) {
  constexpr std::size_t told_max = 3;
  std::string all;
  for (std::size_t i = 0; i < std::min(astray.size(), told_max); ++i)
    all.append(all.empty() ? "" : ", ").append(astray[i]);
  if (astray.size() > told_max)
    all.append(" and ").append(std::to_string(astray.size() - told_max)).append(" more");
  return "not all that was restored until then could be taken back, because something else moved "
         "or removed files or directories meanwhile: look at " +
         all + ", and restore them by name when that has ended";
}

} // namespace

std::string explain_failure(const error& e) {
  if (e.code == error_code::conflict && std::string_view(e.operation) == lock_operation)
    return "another process has been working on it for more than 10 seconds: try again when that "
           "one is done, or end it";
  if (is_over_budget(e))
    return "its store is full, and nothing more is recorded until `paddock history gc` makes room";
  if (e.code == error_code::no_space)
    return "the disk of the history is full, and nothing more is recorded until there is room: "
           "free some space there";
  return std::string(text(e.code));
}

cause cause_of_restore(author by, std::uint64_t server) {
  if (by == author::other) return {.by = by, .tool = std::string(persons_undo)};
  return {.by = author::tool, .tool = "restore", .server = server};
}

result<void> store::impl::absorb_restored(const restore_plan& plan, const cause& by) {
  PADDOCK_TRY(auto found, scan(*workspace, index, scanning()));
  restore_share share = share_of(index, plan, std::move(found));
  PADDOCK_CHECK(absorb(std::move(share.own), by, {}, whose::as_said));
  return absorb(std::move(share.others), unannounced());
}

result<void> store::impl::recover() {
  change_log record(directory.descriptor(), record_name);
  const auto killed = record.read();
  if (!killed && killed.error().code == error_code::unsupported)
    record.put_aside(failed_record_name);
  else if (!killed)
    return killed.error();
  if (!killed || !*killed) return {};
  const change_plan& plan = (*killed)->plan;
  PADDOCK_TRY(const auto locks, lock_steps(*workspace, plan, {}));
  packed_contents contents(packs);
  change_run run({.where = *workspace,
                  .own = directory.descriptor(),
                  .content = &contents,
                  .log = &record,
                  .tries_again = false},
                 plan);
  const auto done = run.resume(**killed);
  const bool is_made = done && (!(*killed)->is_staged || *done == change_run::end::finished);
  std::string why;
  if (!done)
    why = why_not(run, done.error());
  else if (!is_made && !run.failed_at().empty())
    why = run.failed_at() + " could not be restored";
  for (const std::string& path : run.missing())
    if (why.empty()) why = path + " is not there any more";
  if (!run.kept().empty())
    why.append(why.empty() ? "" : "; ").append(run.kept());
  else if (done && !run.is_clear())
    why.append("; what it had set aside is in ").append(plan.staging);
  // What has failed is not tried again and again: the history goes on without it.
  if (!done)
    record.put_aside(failed_record_name);
  else if (!run.is_clear())
    (void)record.end().has_value();
  if (!why.empty()) short_of = "an interrupted restore could not be completed: " + why;
  owes_look = true;
  // Whose it was its mark says. One without is put down to the agent.
  const bool is_persons = std::ranges::any_of(others.cut_short, [](const journal_record& each) {
    return each.by == author::other && each.tool == persons_undo;
  });
  return absorb_restored(restored_by(plan),
                         cause_of_restore(is_persons ? author::other : author::tool, 0));
}

result<void, detailed_error> store::impl::carry_out(const restore_plan& plan,
                                                    const work_bounds& bounds, std::string& kept) {
  PADDOCK_TRY(const component name, unused_name(temporary_prefix));
  const change_plan steps = steps_of(*this, plan, std::string(name.view()));
  PADDOCK_TRY(const auto locks, lock_steps(*workspace, steps, bounds));
  PADDOCK_CHECK(packs.sync());
  PADDOCK_CHECK(log.sync());
  change_log record(directory.descriptor(), record_name, all_room());
  packed_contents contents(packs);
  change_run run(
      {.where = *workspace, .own = directory.descriptor(), .content = &contents, .log = &record},
      steps);
  const auto done = run.make();
  kept = run.kept();
  if (done) return {};
  (void)record.end().has_value(); // what has failed is not to happen later
  error why = done.error();
  if (why.code == error_code::too_many && std::string_view(why.operation) == record_operation)
    return error{error_code::no_space, 0, budget_operation};
  std::string words = why_not(run, why) + "; " +
                      (run.astray().empty() ? "nothing was restored" : astray_clause(run.astray()));
  if (!kept.empty()) words += "; " + kept;
  if (why.code == error_code::not_found) why = {error_code::conflict, 0, "restore"};
  if (why.code == error_code::conflict && run.astray().empty())
    words += "; try again when nothing else changes these files";
  return detailed_error(why, std::move(words));
}

result<restore_outcome, detailed_error> store::restore(const restore_request& request) {
  const impl::guard held(*impl_, impl::use::work, request.bounds);
  if (!held.ready())
    return detailed_error(held.ready().error(), explain_failure(held.ready().error()));
  if (const auto looked = impl_->look_through(impl_->unannounced(), request.bounds); !looked)
    return detailed_error(looked.error(), explain_failure(looked.error()));
  PADDOCK_TRY(const placed_checkpoint* to, impl_->find(request.to));
  const std::uint64_t offset = to->offset;
  const bool is_trial = request.effect == restore_effect::check;
  opened_up opened(*impl_);
  if (!is_trial) PADDOCK_CHECK(opened.open_all(offset, request));
  PADDOCK_TRY(path_changes all,
              changes_since(*impl_, offset, {.who = request.by, .bounds = request.bounds}));
  widen_to_checkpoint(all, request);
  PADDOCK_CHECK(hold_what_goes(*impl_, all, request));
  const auto closed = is_trial ? closed_by_agent(all, request) : std::vector<std::string>();
  const restore_plan plan = plan_restore(*impl_, all, request, path_tops(closed));
  restore_outcome out = outcome_of(plan, request);
  for (const std::string& path : closed)
    tell_left(out, path,
              "it is closed, and opened by the restore alone: what was changed in it, if "
              "anything, is not told before");
  out.running = impl_->commands_under_way();
  if (out.restored == 0 || is_trial) return out;
  PADDOCK_TRY(const checkpoint before, impl_->mark("before restore", false));
  out.before = before.number;
  const cause by = cause_of_restore(request.by, impl_->own_server());
  auto mark = impl_->put_mark(by, touched_by(plan));
  const auto done = impl_->carry_out(plan, request.bounds, out.kept);
  opened.close(done ? plan.steps : std::vector<restore_step>());
  const auto absorbed = impl_->absorb_restored(plan, by);
  out.notice = impl_->end_moves();
  if (!absorbed) impl_->complain(absorbed.error()); // the next look puts it down as the mark says
  if (mark && absorbed)
    impl_->marks.remove(*std::move(mark));
  else if (mark)
    impl_->marks.leave(*std::move(mark));
  if (!done && !out.notice.empty())
    return detailed_error(done.error(), done.error().detail + "; " + out.notice);
  if (!done) return done.error();
  if (absorbed) tell_undone(impl_->index, plan, out);
  return out;
}

} // namespace paddock::history
