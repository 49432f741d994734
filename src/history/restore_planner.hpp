// SPDX-License-Identifier: MIT
#pragma once

// One try to plan a restore, with the moves that it is given. Thread-safety: one thread at a time.

#include "history/restore_plan.hpp"
#include "history/restore_rules.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace paddock::history {

class restore_planner {
public:
  restore_planner(const store::impl& of, const path_changes& all, const moves_by_place& moves,
                  const restore_request& request, const path_tops& closed);

  restore_plan run();
  /// Moves, by where they have led, that cannot be made backwards: their place is taken by what
  /// comes back, too, or is to have no directory.
  [[nodiscard]] const std::set<std::string>& misfits() const noexcept { return misfits_; }

private:
  /// What the agent has moved is asked for by the place where it is now, too: it goes back to where
  /// it was, and does not only go.
  void mean_both_places();

  void take_moves_back();

  /// Removes the subtree and returns it by paths relative to its top.
  placed_changes lift(const std::string& top);
  void lay(const placed_changes& lifted, const restore_move& move);

  [[nodiscard]] bool has_home(const restore_move& move) const;

  /// Why what is there now could not be had back once it is gone.
  [[nodiscard]] holding loss(const std::string& path, const placed_change& each) const;

  /// Whether renames lead from the directory at the top, where all is made ready, to the path.
  bool is_on_top(const std::string& path);

  /// To remove what the agent itself has made is what a restore is for, also where nothing is held.
  [[nodiscard]] static bool is_own(const placed_change& each, holding why);

  [[nodiscard]] bool is_persons() const noexcept { return request_.by == author::other; }

  void conflict(const std::string& path, std::string reason);
  /// Without force; `hindered` is what would be in the way with it.
  void conflict_with_others(const std::string& path, std::string reason,
                            const std::string& hindered);
  void leave(const std::string& path, std::string reason);

  /// What does not come back as it was, although the entry does.
  void tell_what_is_short(const std::string& path, const placed_change& each);

  void find_unknown();

  /// Where others have worked in a repository since, what they have made may lead to objects that
  /// the agent has made. Those do no harm where nothing leads to them, so they stay.
  void spare_git_objects();
  /// A pack and its index are of no use to git without each other.
  void keep_packs_whole();
  /// While something moves directories about, one object is seen at two places. Where it is to stay
  /// at one of them it is not taken away at the other: there is nothing else of it.
  void keep_what_is_seen_twice();
  [[nodiscard]] bool is_wholly_meant(std::string_view git) const;
  /// What is committed around a submodule may need its objects, too.
  bool others_worked_around(std::string_view git);
  bool others_worked_in(std::string_view git);

  /// Whether git notes something there by itself, in a repository that was there before, and others
  /// have worked in it since: it stays, so that what they have made is still found by it.
  [[nodiscard]] bool is_note_of_others(const std::string& path, const placed_change& each) const;

  /// Why a path cannot become what it was, with force neither; empty: nothing keeps it.
  [[nodiscard]] std::string hindrance(const std::string& path, const placed_change& each);

  /// What a process of ours was writing when the file was looked at.
  [[nodiscard]] static bool is_temporary(const std::string& path, const placed_change& each);
  [[nodiscard]] bool is_worked_beside(const std::string& path) const;

  void choose(const std::string& path, const placed_change& each);

  /// What nobody holds of what a restore has removed or replaced, so that the way forward is for
  /// the rest, or of what programs build in ignored directories, so that they keep nothing else
  /// back.
  void lose(const std::string& path, const placed_change& each, holding why);
  /// A directory of which nothing else is left does not come back empty.
  void give_up_lost();
  struct lost_entry {
    std::uint64_t entries = 0;
    holding why = holding::ignored;
  };
  static std::string lost_clause(const lost_entry& each);

  /// The directory above that is none then; empty: each is one, or somebody else's something.
  [[nodiscard]] std::string gone_above(const std::string& path) const;
  /// Directories that what is chosen was in.
  void add_missing_parents();

  /// Where what is to lie at a path is now.
  [[nodiscard]] std::string place_now(const std::string& path) const;
  [[nodiscard]] bool holds_hidden(const std::string& path) const;

  /// A directory stays where a hidden name is in it, which the history does not look at.
  void keep_what_nobody_sees();

  /// A directory stays where something in it does that is not restored, or comes back: of several
  /// the innermost says so. That is a conflict where something else is to have its place.
  void keep_what_others_made();

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

} // namespace paddock::history
