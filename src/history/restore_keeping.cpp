// SPDX-License-Identifier: MIT

// What stays in a restore, although the agent has changed it, and what comes along.

#include "file/directory_stream.hpp"
#include "history/restore_planner.hpp"

#include <paddock/history/naming.hpp>

#include <fcntl.h>

#include <map>
#include <set>
#include <vector>

namespace paddock::history {

void restore_planner::spare_git_objects() {
  std::map<std::string, std::uint64_t, std::less<>> spared;
  for (auto at = chosen_.begin(); at != chosen_.end();) {
    const in_repository git = git_of_object(*at, has_);
    const bool is_new = !placed_.at(*at).wanted.exists();
    if (!git || !is_new || is_wholly_meant(*git) || !others_worked_around(*git)) {
      ++at;
      continue;
    }
    ++spared[git->empty() ? "objects" : std::string(*git) + "/objects"];
    left_.add(*at);
    at = chosen_.erase(at);
  }
  for (const auto& [objects, count] : spared)
    out_.left.push_back({objects, std::to_string(count) +
                                      " entries stay, because changes in this repository that "
                                      "are not by an agent can need them"});
}

void restore_planner::keep_packs_whole() {
  constexpr std::string_view begin = "objects/pack/pack-", end = ".pack";
  for (auto at = chosen_.begin(); at != chosen_.end();) {
    const std::string pack = at->substr(0, at->rfind('.')).append(end);
    const auto found = at->find(begin) != at->npos && git_of_object(*at, has_) ? placed_.find(pack)
                                                                               : placed_.end();
    if (found == placed_.end() || chosen_.contains(pack) ||
        found->second.wanted.same_as(found->second.present)) {
      ++at;
      continue;
    }
    leave(*at, "it stays as it is, as its pack does");
    at = chosen_.erase(at);
  }
}

void restore_planner::keep_what_is_seen_twice() {
  std::multimap<std::uint64_t, std::string> going; // by inode
  for (const std::string& path : chosen_)
    if (const placed_change& each = placed_.at(path);
        each.present.is_content() && !each.wanted.same_content(each.present))
      going.emplace(each.present.inode, path);
  if (going.empty()) return;
  path_tops moved;
  for (const restore_move& each : out_.moves)
    moved.add(each.to);
  std::map<std::string, std::string> twice; // and where else it is
  of_.index.for_each_beneath("", [&](std::string_view path, const known_state& state) {
    if (!state.is_content() || chosen_.contains(path)) return;
    const auto [begin, end] = going.equal_range(state.inode);
    for (auto at = begin; at != end; ++at)
      if (state.looks_like(placed_.at(at->second).present) && !moved.cover(path))
        twice.emplace(at->second, path);
  });
  for (const auto& [path, elsewhere] : twice) {
    const auto status = plain_status(*of_.workspace, elsewhere);
    if (status && status->links > 1) continue; // it has two names
    conflict(path, "the same file was seen as " + elsewhere +
                       ", while something moved directories about: restore when that has ended");
    chosen_.erase(path);
  }
}

bool restore_planner::is_wholly_meant(std::string_view git) const {
  return request_.force && !selected_.empty() && selected_.cover(git);
}

bool restore_planner::others_worked_around(std::string_view git) {
  const std::string_view outer = git_around(git);
  return others_worked_in(outer.empty() ? git : outer);
}

bool restore_planner::others_worked_in(std::string_view git) {
  const auto known = others_in_.find(git);
  if (known != others_in_.end()) return known->second;
  bool is = false;
  for (auto at = all_.lower_bound(git); at != all_.end() && at->first.starts_with(git); ++at)
    is = is || (at->second.by_other && at->second.after.kind != known_kind::directory &&
                is_in(at->first, git));
  others_in_.emplace(git, is);
  return is;
}

bool restore_planner::is_note_of_others(const std::string& path, const placed_change& each) const {
  const in_repository git = each.other_since ? git_of_note(path, has_) : std::nullopt;
  if (!git) return false;
  const auto found = placed_.find(*git);
  const bool is_old = found == placed_.end() || found->second.wanted.exists();
  return is_old && !is_wholly_meant(*git);
}

void restore_planner::lose(const std::string& path, const placed_change& each, holding why) {
  std::string top = path;
  if (each.wanted.is_ignored)
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
      const auto found = placed_.find(above);
      const bool is_ignored = found != placed_.end() ? found->second.wanted.is_ignored
                                                     : of_.index.find(above).is_ignored;
      if (is_ignored) top = above;
    }
  lost_entry& there = lost_before_[top];
  ++there.entries;
  there.why = why;
  lost_paths_.insert(path);
}

void restore_planner::give_up_lost() {
  for (const std::string& path : lost_paths_) {
    left_.add(path);
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
      const auto found = chosen_.find(above);
      if (found == chosen_.end() || placed_.at(above).present.exists()) break;
      const auto inside = chosen_.lower_bound(above + '/');
      if (inside != chosen_.end() && is_in(*inside, above)) break;
      chosen_.erase(found);
    }
  }
  for (const auto& [path, each] : lost_before_)
    out_.left.push_back({path, lost_clause(each)});
}

std::string restore_planner::lost_clause(const lost_entry& each) {
  const bool is_one = each.entries == 1;
  return (is_one ? "it is not restored"
                 : std::to_string(each.entries) + " entries of it are not restored") +
         ", because what was there was not held: " + std::string(reason_of(each.why));
}

std::string restore_planner::gone_above(const std::string& path) const {
  for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
    const auto found = placed_.find(above);
    if (found == placed_.end() || found->second.present.kind == known_kind::directory) break;
    if (found->second.present.exists() && !chosen_.contains(above)) break;
    if (found->second.wanted.kind != known_kind::directory) return above;
  }
  return {};
}

void restore_planner::add_missing_parents() {
  std::vector<std::string> coming;
  for (const std::string& path : chosen_)
    if (placed_.at(path).wanted.exists()) coming.push_back(path);
  for (const restore_move& each : out_.moves)
    coming.push_back(each.from);
  for (const std::string& path : coming) {
    if (const std::string gone = gone_above(path); !gone.empty()) {
      leave(path, "it is not restored, because its directory " + gone + " is gone");
      chosen_.erase(path);
      continue;
    }
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
      const auto found = placed_.find(above);
      if (found == placed_.end() || found->second.present.kind == known_kind::directory) break;
      if (rules_.is_above(path)) rules_.add_above(above);
      if (chosen_.contains(above)) continue;
      if (found->second.present.exists()) {
        conflict(path, "its directory " + above + " is something else now: restore that, too");
        chosen_.erase(path);
        break;
      }
      chosen_.insert(above);
    }
  }
}

std::string restore_planner::place_now(const std::string& path) const {
  std::string now = path;
  for (const restore_move& each : out_.moves) // the innermost at last
    if (is_in(path, each.from)) now = each.to + path.substr(each.from.size());
  return now;
}

bool restore_planner::holds_hidden(const std::string& path) const {
  const auto fd = open_plain(*of_.workspace, place_now(path), O_RDONLY | O_DIRECTORY);
  bool is = false;
  if (fd)
    (void)for_each_entry(fd->get(), [&](std::string_view name, unsigned char) {
      is = of_.workspace->is_hidden_name(name);
      return !is;
    });
  return is;
}

void restore_planner::keep_what_nobody_sees() {
  const std::string reason = "it stays, because a hidden name is in it";
  for (auto at = chosen_.begin(); at != chosen_.end();) {
    const std::string path = *at++;
    const placed_change& each = placed_.at(path);
    const bool goes =
        each.present.kind == known_kind::directory && each.wanted.kind != known_kind::directory;
    if (!goes || !holds_hidden(path)) continue;
    chosen_.erase(path);
    if (each.wanted.exists())
      conflict(path, reason);
    else
      leave(path, reason);
  }
}

void restore_planner::keep_what_others_made() {
  std::set<std::string, std::less<>> kept;
  for (const auto& [path, each] : placed_) {
    const bool comes = chosen_.contains(path);
    if (!(comes ? each.wanted : each.present).exists()) continue;
    const bool is_left = left_.has(path);
    bool is_told = is_left;
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
      const auto found = placed_.find(above);
      const bool is_going = found != placed_.end() && chosen_.contains(above) &&
                            found->second.wanted.kind != known_kind::directory;
      if (!is_going) continue;
      if (!kept.insert(above).second) break; // and so are those above it
      const bool is_free = !found->second.wanted.exists();
      if (!is_free && !is_left)
        conflict(above, path + (comes ? " in it comes back" : " in it is not restored with it"));
      else if (!is_free || !is_told)
        leave(above, comes ? "it stays, because " + path + " in it comes back"
                     : each.by_agent
                         ? "it stays, because " + path + " in it stays"
                         : "it stays, because " + path + " in it was not made by an agent");
      is_told = true;
    }
  }
  for (const std::string& path : kept)
    chosen_.erase(path);
}

} // namespace paddock::history
