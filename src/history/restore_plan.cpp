// SPDX-License-Identifier: MIT
#include "history/restore_plan.hpp"

#include "file/attributes.hpp"
#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "history/restore_rules.hpp"
#include "sys/syscall.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace paddock::history {
namespace {

std::string clause_of(const error& e) {
  std::string clause(text(e.code));
  if (e.code == error_code::write_protected && *e.operation != '\0')
    clause.append(" (").append(e.operation).append(")");
  return clause;
}

class planner {
public:
  planner(const store::impl& of, const path_changes& all, const moves_by_place& moves,
          const restore_request& request, const path_tops& closed)
      : of_(of), all_(all), all_moves_(moves), request_(request), closed_(closed),
        selected_(request.paths), meant_(request.paths), has_(known_in(of, all)) {
    mean_both_places();
  }

  restore_plan run() {
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
  /// Moves, by where they have led, that cannot be made backwards: their place is taken by what
  /// comes back, too, or is to have no directory.
  [[nodiscard]] const std::set<std::string>& misfits() const noexcept { return misfits_; }

private:
  /// What the agent has moved is asked for by the place where it is now, too: it goes back to where
  /// it was, and does not only go.
  void mean_both_places() {
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

  void take_moves_back() {
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

  /// Removes the subtree and returns it by paths relative to its top.
  placed_changes lift(const std::string& top) {
    placed_changes out;
    for (auto at = placed_.lower_bound(top); at != placed_.end() && at->first.starts_with(top);
         ++at) {
      if (!is_in(at->first, top)) continue;
      out[at->first.substr(top.size())] = at->second;
      at->second.present = {};
    }
    return out;
  }
  void lay(const placed_changes& lifted, const restore_move& move) {
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

  [[nodiscard]] bool has_home(const restore_move& move) const {
    for (std::string above(parent_of(move.from)); !above.empty(); above = parent_of(above)) {
      const auto found = placed_.find(above);
      const known_state then = found == placed_.end()    ? of_.index.find(above)
                               : chosen_.contains(above) ? found->second.wanted
                                                         : found->second.present;
      if (then.kind != known_kind::directory) return false;
    }
    return true;
  }

  /// Why what is there now could not be had back once it is gone.
  [[nodiscard]] holding loss(const std::string& path, const placed_change& each) const {
    const known_state& now = each.present;
    if (!now.is_content() || each.wanted.same_content(now)) return holding::held;
    if (closed_.has(path)) return holding::held; // by then it is
    if (now.held != holding::held) return now.held;
    return of_.packs.has(now.content) ? holding::held : holding::lost;
  }

  /// Whether renames lead from the directory at the top, where all is made ready, to the path.
  bool is_on_top(const std::string& path) {
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

  /// To remove what the agent itself has made is what a restore is for, also where nothing is held.
  [[nodiscard]] static bool is_own(const placed_change& each, holding why) {
    return why == holding::ignored && !each.wanted.exists() && !each.by_other && !each.is_theirs;
  }

  [[nodiscard]] bool is_persons() const noexcept { return request_.by == author::other; }

  void conflict(const std::string& path, std::string reason) {
    out_.conflicts.push_back({path, std::move(reason)});
  }
  /// Without force; `hindered` is what would be in the way with it.
  void conflict_with_others(const std::string& path, std::string reason,
                            const std::string& hindered) {
    if (hindered.empty()) ++out_.of_others;
    conflict(path, hindered.empty() ? std::move(reason) : reason + "; and " + hindered);
  }
  void leave(const std::string& path, std::string reason) {
    out_.left.push_back({path, std::move(reason)});
    left_.add(path);
  }

  /// What does not come back as it was, although the entry does.
  void tell_what_is_short(const std::string& path, const placed_change& each) {
    if (each.wanted.kind == known_kind::directory && !each.present.exists() &&
        hides_content(each.wanted))
      out_.left.push_back(
          {path, "it comes back empty: " + std::string(reason_of(each.wanted.held))});
    if (each.wanted.kind == known_kind::file && (each.wanted.mode & set_id_bits) != 0)
      out_.left.push_back({path, "it comes back without its set-user-ID and set-group-ID bits: set "
                                 "them with chmod if it is to have them"});
  }

  void find_unknown() {
    out_.unknown = unknown_among(of_, all_, request_.paths);
    std::erase_if(out_.unknown, [&](const std::string& path) { return closed_.cover(path); });
  }

  /// Where others have worked in a repository since, what they have made may lead to objects that
  /// the agent has made. Those do no harm where nothing leads to them, so they stay.
  void spare_git_objects() {
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
  /// While something moves directories about, one object is seen at two places. Where it is to stay
  /// at one of them it is not taken away at the other: there is nothing else of it.
  void keep_what_is_seen_twice() {
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
  [[nodiscard]] bool is_wholly_meant(std::string_view git) const {
    return request_.force && !selected_.empty() && selected_.cover(git);
  }
  /// What is committed around a submodule may need its objects, too.
  bool others_worked_around(std::string_view git) {
    const std::string_view outer = git_around(git);
    return others_worked_in(outer.empty() ? git : outer);
  }
  bool others_worked_in(std::string_view git) {
    const auto known = others_in_.find(git);
    if (known != others_in_.end()) return known->second;
    bool is = false;
    for (auto at = all_.lower_bound(git); at != all_.end() && at->first.starts_with(git); ++at)
      is = is || (at->second.by_other && at->second.after.kind != known_kind::directory &&
                  is_in(at->first, git));
    others_in_.emplace(git, is);
    return is;
  }

  /// Whether git notes something there by itself, in a repository that was there before, and others
  /// have worked in it since: it stays, so that what they have made is still found by it.
  [[nodiscard]] bool is_note_of_others(const std::string& path, const placed_change& each) const {
    const in_repository git = each.other_since ? git_of_note(path, has_) : std::nullopt;
    if (!git) return false;
    const auto found = placed_.find(*git);
    const bool is_old = found == placed_.end() || found->second.wanted.exists();
    return is_old && !is_wholly_meant(*git);
  }

  /// Why a path cannot become what it was, with force neither; empty: nothing keeps it.
  [[nodiscard]] std::string hindrance(const std::string& path, const placed_change& each) {
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

  /// What a process of ours was writing when the file was looked at.
  [[nodiscard]] static bool is_temporary(const std::string& path, const placed_change& each) {
    return !each.wanted.exists() && each.present.kind == known_kind::file &&
           is_temporary_name(last_of(path));
  }
  [[nodiscard]] bool is_worked_beside(const std::string& path) const {
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

  void choose(const std::string& path, const placed_change& each) {
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
      return leave(path,
                   each.present.exists()
                       ? "it stays as it is, because an agent wrote what it was, and programs "
                         "outside run or obey what is there"
                       : "it does not come back, because an agent wrote it, and programs "
                         "outside run or obey what is there");
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
    if (!hindered.empty() && was_allowed && rules_.refusal(path, each))
      return leave(path, hindered);
    if (!hindered.empty()) return conflict(path, hindered);
    chosen_.insert(path);
  }

  /// What nobody holds of what a restore has removed or replaced, so that the way forward is for
  /// the rest, or of what programs build in ignored directories, so that they keep nothing else
  /// back.
  void lose(const std::string& path, const placed_change& each, holding why) {
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
  /// A directory of which nothing else is left does not come back empty.
  void give_up_lost() {
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
  struct lost_entry {
    std::uint64_t entries = 0;
    holding why = holding::ignored;
  };
  static std::string lost_clause(const lost_entry& each) {
    const bool is_one = each.entries == 1;
    return (is_one ? "it does not come back"
                   : std::to_string(each.entries) + " entries of it do not come back") +
           ", because what was there was not held: " + std::string(reason_of(each.why));
  }

  /// The directory above that is none then; empty: each is one, or somebody else's something.
  [[nodiscard]] std::string gone_above(const std::string& path) const {
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
      const auto found = placed_.find(above);
      if (found == placed_.end() || found->second.present.kind == known_kind::directory) break;
      if (found->second.present.exists() && !chosen_.contains(above)) break;
      if (found->second.wanted.kind != known_kind::directory) return above;
    }
    return {};
  }
  /// Directories that what is chosen was in.
  void add_missing_parents() {
    std::vector<std::string> coming;
    for (const std::string& path : chosen_)
      if (placed_.at(path).wanted.exists()) coming.push_back(path);
    for (const restore_move& each : out_.moves)
      coming.push_back(each.from);
    for (const std::string& path : coming) {
      if (const std::string gone = gone_above(path); !gone.empty()) {
        leave(path, "it does not come back, because its directory " + gone + " is gone");
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

  /// Where what is to lie at a path is now.
  [[nodiscard]] std::string place_now(const std::string& path) const {
    std::string now = path;
    for (const restore_move& each : out_.moves) // the innermost at last
      if (is_in(path, each.from)) now = each.to + path.substr(each.from.size());
    return now;
  }
  [[nodiscard]] bool holds_hidden(const std::string& path) const {
    const auto fd = open_plain(*of_.workspace, place_now(path), O_RDONLY | O_DIRECTORY);
    bool is = false;
    if (fd)
      (void)for_each_entry(fd->get(), [&](std::string_view name, unsigned char) {
        is = of_.workspace->is_hidden_name(name);
        return !is;
      });
    return is;
  }

  /// A directory stays where a hidden name is in it, which the history does not look at.
  void keep_what_nobody_sees() {
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

  /// A directory stays where something in it does that is not restored, or comes back: of several
  /// the innermost says so. That is a conflict where something else is to have its place.
  void keep_what_others_made() {
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

  const store::impl& of_;
  const path_changes& all_;
  const moves_by_place& all_moves_;
  const restore_request& request_;
  const path_tops& closed_;
  path_tops selected_;
  path_tops meant_; ///< these, and where what was moved there comes from
  path_tops left_;
  was_there has_;
  std::map<std::string, bool, std::less<>> others_in_; ///< of repositories
  std::map<std::string, bool, std::less<>> on_top_;    ///< of directories
  placed_changes placed_;
  std::set<std::string, std::less<>> chosen_;
  std::map<std::string, lost_entry, std::less<>> lost_before_; ///< by the top of what is ignored
  std::set<std::string, std::less<>> lost_paths_;
  std::set<std::string> misfits_;
  restore_plan out_;
  restore_rules rules_{of_, request_, placed_,
                       [this](const std::string& path) { return place_now(path); }};
};

} // namespace

restore_plan plan_restore(const store::impl& of, const path_changes& all,
                          const restore_request& request, const path_tops& closed) {
  moves_by_place moves = moves_in(all);
  for (;;) {
    planner each(of, all, moves, request, closed);
    restore_plan plan = each.run();
    if (each.misfits().empty()) return plan;
    // Its content comes back instead. What lies in it and was moved, too, may fit by itself.
    for (const std::string& to : each.misfits())
      moves.erase(to);
  }
}

} // namespace paddock::history
