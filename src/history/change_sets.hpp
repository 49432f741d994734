// SPDX-License-Identifier: MIT
#pragma once

// What became of each path since a checkpoint, from the transitions of the journal.

#include "history/git_keeping.hpp"
#include "history/journal_records.hpp"
#include "history/store_impl.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// What a person's undo has taken from the agent: the agent's again if the person takes it back.
struct taken_back {
  known_state before{}, after{};
  cause last{};
  bool by_tool = false, by_work = false, is_theirs = false;
};

struct path_change {
  known_state at_checkpoint{};
  known_state before{}; ///< of what the agent changed, before it did that first; else as above
  known_state after{};
  cause last{};
  std::int64_t time_ms = 0;
  bool by_agent = false, by_other = false;
  bool by_tool = false;       ///< by a tool, among others of the agent; a restore is none
  bool by_work = false;       ///< of the agent, beside restores; also if it was taken back
  bool is_of_restore = false; ///< its last step was one of a restore
  bool other_since = false;   ///< somebody else has changed it after the agent
  cause by_server{};          ///< the last of those others, if that was another server's agent
  bool is_theirs = false; ///< the agent has moved something here in which others have had a hand
  std::shared_ptr<const taken_back> taken{}; ///< until something else happens there
};
using path_changes = std::map<std::string, path_change, std::less<>>;

/// Who asks, and how long that may take. To a person what people have undone is like what a tool
/// has restored: it can be taken back. To an agent it is somebody else's, and so is what the agent
/// of another server has done since its own server started. To a person both are agents.
struct asked_by {
  author who = author::tool;
  work_bounds bounds{};
};
/// All paths that have a transition since, those that are as they were then, too. Errors: io,
/// cancelled, timed_out.
[[nodiscard]] result<path_changes> changes_since(const store::impl& of, std::uint64_t offset,
                                                 const asked_by& asked = {});
/// Whether git has only looked at its files once more, as `git status` does: nobody calls that a
/// change. What the agent's git has noted goes back with the rest all the same.
[[nodiscard]] bool is_refresh(const store::impl& of, const path_changes& all,
                              const std::string& path, const known_state& before,
                              const known_state& after);
/// Whether a restore has made it, a person's or another one.
[[nodiscard]] bool is_of_restore(author by, std::string_view tool);

/// Whether the two may be one object, given that they have one inode.
[[nodiscard]] bool is_same_object(const known_state& before, const known_state& after);

/// Where what is new was before, as far as that is sure: an object that is gone there and is here.
/// Of several names of a file the one that went with its directory.
/// In the order of the new paths, so directories before what is in them.
using moves_by_place = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] moves_by_place moves_in(const path_changes& all);

/// Whether what was before can be brought back.
[[nodiscard]] holding restorable(const store::impl& of, const path_change& each);
/// And whether what is there now does not keep it away, because nobody would have it then.
[[nodiscard]] holding replaceable(const store::impl& of, const path_change& each);

/// Whether something is at a path, or was since; it refers to both.
[[nodiscard]] was_there known_in(const store::impl& of, const path_changes& all);

/// Of paths that were asked for, those at which nothing is or was.
[[nodiscard]] std::vector<std::string> unknown_among(const store::impl& of, const path_changes& all,
                                                     const std::vector<std::string>& paths);

} // namespace paddock::history
