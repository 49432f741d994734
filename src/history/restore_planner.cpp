// SPDX-License-Identifier: MIT
#include "history/restore_planner.hpp"

#include "file/attributes.hpp"
#include "file/leftover.hpp"
#include "sys/syscall.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock::history {
namespace {

std::string clause_of(const error& e) {
  std::string clause(text(e.code));
  if (e.code == error_code::write_protected && *e.operation != '\0')
    clause.append(" (").append(e.operation).append(")");
  return clause;
}

} // namespace

restore_planner::restore_planner(const store::impl& of, const path_changes& all,
                                 const moves_by_place& moves, const restore_request& request,
                                 const path_tops& closed)
    : of_(of), all_(all), all_moves_(moves), request_(request), closed_(closed),
      selected_(request.paths), meant_(request.paths), has_(known_in(of, all)) {
  mean_both_places();
}

restore_plan restore_planner::run() {
  for (const auto& [path, each] : all_)
    placed_[path] = {.wanted = each.before,
                     .present = each.after,
                     .by_agent = each.by_agent,
                     .by_tool = each.by_tool,
                     .by_other = each.by_other,
                     .other_since = each.other_since,
                     .is_theirs = each.is_theirs,
                     .by_server = each.by_server.by != author::other,
                     .by_restore = is_of_restore(each.last.by, each.last.tool)};
  take_moves_back();
  rules_.find_unfit(has_, [&](const std::string& path) { return meant_.mean(path); });
  for (const auto& [path, each] : placed_)
    choose(path, each);
  spare_git_objects();
  keep_packs_whole();
  keep_what_is_seen_twice();
  give_up_lost();
  add_missing_parents();
  keep_what_nobody_sees();
  keep_what_others_made();
  for (const restore_move& each : out_.moves)
    if (!has_home(each)) misfits_.insert(each.to);
  for (const std::string& path : chosen_) {
    const placed_change& each = placed_.at(path);
    out_.steps.push_back({path, each.wanted, each.present, rules_.is_above(path)});
    if (loss(path, each) != holding::held) out_.lost.push_back(path);
    tell_what_is_short(path, each);
  }
  find_unknown();
  return std::move(out_);
}

void restore_planner::mean_both_places() {
  if (selected_.empty()) return;
  for (const auto& [to, from] : all_moves_)
    if (selected_.cover(to) && all_.find(to)->second.by_agent) meant_.add(from);
  for (const std::string& path : request_.paths)
    for (std::string_view top = path; !top.empty(); top = parent_of(top)) {
      const auto moved = all_moves_.find(std::string(top));
      if (moved == all_moves_.end() || !all_.find(moved->first)->second.by_agent) continue;
      meant_.add(moved->second + path.substr(top.size()));
      break;
    }
}

void restore_planner::take_moves_back() {
  path_tops moved;
  for (const auto& [to, from] : all_moves_) {
    if (moved.cover(to)) continue; // it goes with that one, and is looked at there
    const path_change& now = all_.find(to)->second;
    if (!meant_.mean(from) || !meant_.mean(to) || !now.by_agent) continue;
    const entry_kind kind = entry_kind_of(now.after.kind);
    if (!of_.workspace->check_changeable(from) || !of_.workspace->check_changeable(to) ||
        !of_.workspace->check_movable(to, from, kind) || !is_on_top(to) || !is_on_top(from))
      continue;
    moved.add(to);
    out_.moves.push_back({from, to, now.after});
  }
  std::ranges::sort(out_.moves, {}, &restore_move::from);
  // All at once: the place of one may lie in that of another, on either way.
  std::vector<placed_changes> lifted;
  for (const restore_move& each : out_.moves)
    lifted.push_back(lift(each.to));
  for (std::size_t i = 0; i < lifted.size(); ++i)
    lay(lifted[i], out_.moves[i]);
}

placed_changes restore_planner::lift(const std::string& top) {
  placed_changes out;
  for (auto at = placed_.lower_bound(top); at != placed_.end() && at->first.starts_with(top);
       ++at) {
    if (!is_in(at->first, top)) continue;
    out[at->first.substr(top.size())] = at->second;
    at->second.present = {};
  }
  return out;
}

void restore_planner::lay(const placed_changes& lifted, const restore_move& move) {
  for (const auto& [rest, each] : lifted) {
    placed_change& there = placed_[move.from + rest];
    if (each.present.exists()) {
      if (there.present.exists()) misfits_.insert(move.to);
      there.present = each.present;
    }
    there.by_agent = there.by_agent || each.by_agent;
    there.by_tool = there.by_tool || each.by_tool;
    there.by_other = there.by_other || each.by_other;
    there.other_since = there.other_since || each.other_since;
    there.by_server = there.by_server || each.by_server;
  }
}

bool restore_planner::has_home(const restore_move& move) const {
  for (std::string above(parent_of(move.from)); !above.empty(); above = parent_of(above)) {
    const auto found = placed_.find(above);
    const known_state then = found == placed_.end()    ? of_.index.find(above)
                             : chosen_.contains(above) ? found->second.wanted
                                                       : found->second.present;
    if (then.kind != known_kind::directory) return false;
  }
  return true;
}

holding restore_planner::loss(const std::string& path, const placed_change& each) const {
  const known_state& now = each.present;
  if (!now.is_content() || each.wanted.same_content(now)) return holding::held;
  if (closed_.has(path)) return holding::held; // by then it is
  if (now.held != holding::held) return now.held;
  return of_.packs.has(now.content) ? holding::held : holding::lost;
}

bool restore_planner::is_on_top(const std::string& path) {
  std::string directory(parent_of(path));
  const auto known = on_top_.find(directory);
  if (known != on_top_.end()) return known->second;
  const auto fd = open_plain(*of_.workspace, directory, O_PATH | O_DIRECTORY);
  const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
  const file_status& top = of_.workspace->status();
  // What is not there is made there, so it is where the directory above it is.
  const bool is = status ? status->mount == top.mount && status->device == top.device
                         : directory.empty() || is_on_top(directory);
  on_top_[std::move(directory)] = is;
  return is;
}

bool restore_planner::is_own(const placed_change& each, holding why) {
  return why == holding::ignored && !each.wanted.exists() && !each.by_other && !each.is_theirs;
}

void restore_planner::conflict(const std::string& path, std::string reason) {
  out_.conflicts.push_back({path, std::move(reason)});
}

void restore_planner::conflict_with_others(const std::string& path, std::string reason,
                                           const std::string& hindered) {
  if (hindered.empty()) ++out_.of_others;
  conflict(path, hindered.empty() ? std::move(reason) : reason + "; and " + hindered);
}

void restore_planner::leave(const std::string& path, std::string reason) {
  out_.left.push_back({path, std::move(reason)});
  left_.add(path);
}

void restore_planner::tell_what_is_short(const std::string& path, const placed_change& each) {
  if (each.wanted.kind == known_kind::directory && !each.present.exists() &&
      hides_content(each.wanted))
    out_.left.push_back({path, "it comes back empty: " + std::string(reason_of(each.wanted.held))});
  if (each.wanted.kind == known_kind::file && (each.wanted.mode & set_id_bits) != 0)
    out_.left.push_back({path, "it comes back without its set-user-ID and set-group-ID bits: set "
                               "them with chmod if it is to have them"});
}

void restore_planner::find_unknown() {
  out_.unknown = unknown_among(of_, all_, request_.paths);
  std::erase_if(out_.unknown, [&](const std::string& path) { return closed_.cover(path); });
}

std::string restore_planner::hindrance(const std::string& path, const placed_change& each) {
  if (const holding why = restorable(of_, {.before = each.wanted, .after = each.present});
      why != holding::held && each.wanted.kind != known_kind::directory)
    return "what it was is not held: " + std::string(reason_of(why));
  if (const holding why = loss(path, each); why != holding::held && !is_own(each, why))
    return "what it is now is not held and would be lost: " + std::string(reason_of(why));
  if (const auto refused = rules_.refusal(path, each)) return clause_of(*refused);
  const bool is_renamed = (each.wanted.is_content() || each.present.is_content()) &&
                          !each.wanted.same_content(each.present);
  if (is_renamed && !is_on_top(path))
    return "it lies on another file system, mounted in the workspace, where a restore cannot "
           "reach: take it back by hand";
  return {};
}

bool restore_planner::is_temporary(const std::string& path, const placed_change& each) {
  return !each.wanted.exists() && each.present.kind == known_kind::file &&
         is_temporary_name(last_of(path));
}

bool restore_planner::is_worked_beside(const std::string& path) const {
  const auto is_beside = [&](const std::string& other) {
    return parent_of(other) == parent_of(path);
  };
  return std::ranges::any_of(of_.others.living,
                             [&](const journal_record& work) {
                               return !is_command(work) &&
                                      std::ranges::any_of(paths_of(work), is_beside);
                             }) ||
         std::ranges::any_of(of_.running, [&](const agents_work& work) {
           return std::ranges::any_of(work.paths, is_beside);
         });
}

void restore_planner::choose(const std::string& path, const placed_change& each) {
  if (each.wanted.same_as(each.present) || !meant_.mean(path)) return;
  if (is_temporary(path, each)) { // a killed tool's goes, a working one's stays
    if (is_worked_beside(path)) return;
    if (const holding why = loss(path, each); why != holding::held && !is_own(each, why))
      return leave(path,
                   "it stays, because it could not be had back: " + std::string(reason_of(why)));
    chosen_.insert(path);
    return;
  }
  const bool is_named = selected_.has(path) || (request_.force && !selected_.empty());
  if (!each.by_agent && !is_named) { // a person's own
    out_.others += each.by_other ? 1 : 0;
    return;
  }
  if (rules_.is_unfit(path))
    return leave(path, each.present.exists()
                           ? "it stays as it is, because an agent wrote the old content, and "
                             "programs outside run or obey it"
                           : "it is not restored, because an agent wrote it, and programs "
                             "outside run or obey it");
  const bool stays_directory =
      each.wanted.kind == known_kind::directory && each.present.kind == known_kind::directory;
  if (stays_directory && each.wanted.mode == each.present.mode) {
    const bool is_others = each.by_agent ? each.other_since : each.by_other;
    if (!is_others) chosen_.insert(path); // its time alone, which no rule is about
    return;
  }
  if (is_note_of_others(path, each))
    return leave(path, "it stays: git updates it with each change, and not all changes of this "
                       "repository since are by an agent");
  const std::string hindered = hindrance(path, each);
  if (!each.by_agent && each.by_other && !is_persons() && !request_.force)
    return conflict_with_others(path,
                                each.by_server ? "it was changed by the agent of another server"
                                               : "it was changed, but not by an agent",
                                hindered);
  if (each.other_since && !request_.force)
    return conflict_with_others(path,
                                each.by_server
                                    ? "it was changed since, by the agent of another server"
                                    : "it was changed since, not by an agent",
                                hindered);
  if (each.is_theirs && !each.wanted.exists() && !request_.force)
    return conflict_with_others(path, "it was not made by an agent, which only moved it here",
                                hindered);
  if (each.present.kind == known_kind::directory && !stays_directory &&
      each.present.held != holding::held && !closed_.has(path))
    return leave(path, "it stays, because what is in it cannot be reached: " +
                           std::string(reason_of(each.present.held)));
  if (const holding why = restorable(of_, {.before = each.wanted, .after = each.present});
      why != holding::held && each.wanted.kind != known_kind::directory &&
      (each.by_restore || (why == holding::ignored && !is_named)))
    return lose(path, each, why);
  // What a command was allowed keeps nothing else back, although it stays.
  const bool was_allowed = rules_.is_by_agent(path) || (each.by_agent && !each.by_tool);
  if (!hindered.empty() && was_allowed && rules_.refusal(path, each)) return leave(path, hindered);
  if (!hindered.empty()) return conflict(path, hindered);
  chosen_.insert(path);
}

restore_plan plan_restore(const store::impl& of, const path_changes& all,
                          const restore_request& request, const path_tops& closed) {
  moves_by_place moves = moves_in(all);
  for (;;) {
    restore_planner each(of, all, moves, request, closed);
    restore_plan plan = each.run();
    if (each.misfits().empty()) return plan;
    // Its content comes back instead. What lies in it and was moved, too, may fit by itself.
    for (const std::string& to : each.misfits())
      moves.erase(to);
  }
}

} // namespace paddock::history
