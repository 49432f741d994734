// SPDX-License-Identifier: MIT
#pragma once

/// What the history of a workspace answers: checkpoints, changes, states of entries, outcomes.
///
/// Times are milliseconds since 1970-01-01 UTC unless their name says otherwise; paths are relative
/// to the root, resolved, and bytes. Thread-safety: plain values.

#include <paddock/base/error.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/work_bounds.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// Who changed something.
enum class author : std::uint8_t {
  tool,  ///< of the agent
  exec,  ///< a command of the agent, or whatever happened while it ran
  other, ///< a person, or a program of theirs
};
enum class change_kind : std::uint8_t {
  created,
  modified, ///< another content, link target or kind of entry
  deleted,
  moved, ///< to `path`; its content may have changed as well
  mode,  ///< permission bits, and perhaps times, alone; times alone are restored and not told
};
/// Whether what an entry holds is in the store, and if not, why.
enum class holding : std::uint8_t {
  held,         ///< or there is nothing to hold
  ignored,      ///< it lies in an ignored directory
  too_large,    ///< larger than `file_bytes_max`
  over_budget,  ///< the store had no room for it
  unreadable,   ///< permissions, or an error of the disk
  special,      ///< FIFO, socket, device
  not_read_yet, ///< it changed before the first reading came to it
  lost,         ///< the store failed, or is damaged
  never_read,   ///< a directory that has kept everybody out since it was first met
  too_deep,     ///< a directory whose path is too long to be followed
};
/// "author::tool" is `tool`, and so on: as the answers of tools spell them.
[[nodiscard]] std::string_view name_of(author by) noexcept;
/// The same for `change_kind::created` and so on.
[[nodiscard]] std::string_view name_of(change_kind kind) noexcept;
/// Why something cannot be restored, as a clause: "it lies in an ignored directory".
[[nodiscard]] std::string_view reason_of(holding why) noexcept;

/// What to do about an error of a store, as a clause.
[[nodiscard]] std::string_view advice_for(const error& e) noexcept;

/// A moment that one can go back to.
struct checkpoint {
  std::uint64_t number = 0; ///< rising, never used again; how it is named
  std::string label{};
  std::int64_t time_ms = 0;
  std::uint64_t files = 0; ///< in the workspace, at that time
  bool is_start = false;   ///< made when a server first served the workspace
  /// Of `make_checkpoint` alone: files whose content had not been read in time. What of them
  /// changes before it is read cannot be brought back.
  std::uint64_t unread = 0;
};

/// What was at a path at some moment.
struct entry_state {
  bool exists = false;
  entry_kind kind = entry_kind::file;
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string content{}; ///< names what the file held; equal contents, equal names; empty: not held
  std::string link_target{}; ///< of a symbolic link
  holding held = holding::held;
};

/// What became of a path since a checkpoint, however many steps that took.
struct change {
  change_kind kind = change_kind::modified;
  std::string path{};
  std::string from{}; ///< of what was moved
  entry_kind entry = entry_kind::file;
  author by = author::other; ///< the last one
  std::string tool{};        ///< of a tool: its name; of a person's undo: `undo`
  std::string command{};     ///< of exec: the command line
  std::int64_t time_ms = 0;  ///< of the last step
  bool also_other = false;   ///< somebody else changed it since: a restore needs `force`
  holding restorable = holding::held;
  std::uint64_t files = 1; ///< of a directory told as one change, what is in it
  entry_state before{};    ///< of what the agent changed: before it did that first
  entry_state after{};
};
/// What the agent has under way that may change anything.
struct running_command {
  std::string tool{};
  std::string command{}; ///< its line
  std::int64_t began_ms = 0;
  bool is_elsewhere = false; ///< another process has it under way, such as another server
};
struct not_covered {
  std::string path{};
  holding reason = holding::ignored;
  std::uint64_t entries = 1; ///< of a directory, what of it changed
};

struct change_query {
  std::optional<std::uint64_t> since{}; ///< a checkpoint; nothing: the start
  std::vector<std::string> paths{};     ///< these and what lies in them; empty: everything
  std::size_t limit = 200;
  std::size_t offset = 0;
  bool collapse = true;     ///< a directory wholly new or gone is one change
  bool moves_as_one = true; ///< and so is a moved one with what came along
  bool git_as_one = false;  ///< and so is what changed in a `.git`
  bool look = true;         ///< scan the workspace first, for what others have done
  author by = author::tool; ///< who asks, as for `restore_request`
  work_bounds bounds{};
};
struct change_list {
  std::uint64_t since = 0;
  std::vector<change> changes{}; ///< in the order of their paths
  std::uint64_t total = 0;
  bool truncated = false;
  /// What changed and cannot be restored, and what cannot be looked into; at most 200.
  std::vector<not_covered> left_out{};
  std::uint64_t left_out_total = 0;
  std::vector<running_command> running{}; ///< the first to begin first
  std::vector<std::string> unknown{};     ///< of `paths`: nothing is or was there
};
/// Whether one change stands for all in a directory, `files` of them.
[[nodiscard]] inline bool is_told_as_one(const change& each) {
  return each.entry == entry_kind::directory &&
         (each.kind == change_kind::created || each.kind == change_kind::modified ||
          each.kind == change_kind::deleted);
}

enum class restore_effect : std::uint8_t { apply, check };
/// Without `paths` that is what the agent changed, to what it was before the agent's first change;
/// a person's own changes stay. With `paths` and `force` it is all that changed in them, by
/// whomever; "" is the whole workspace.
struct restore_request {
  std::optional<std::uint64_t> to{}; ///< a checkpoint; nothing: the start
  std::vector<std::string> paths{};  ///< these and what lies in them; empty: what the agent changed
  restore_effect effect = restore_effect::apply;
  bool force = false; ///< also what somebody else changed since; what cannot be restored is left
  /// `other`: a person, whose it is from then on, and who may take it back as any other restore.
  author by = author::tool;
  work_bounds bounds{};
};
struct restore_conflict {
  std::string path{};
  std::string reason{}; ///< a clause
};
/// A directory that is told as one with what is in it.
struct folded_directory {
  std::string path{};
  std::uint64_t files = 0;
};
/// What a restore does to an entry.
enum class restored_as : std::uint8_t { removed, restored, reverted, moved_back };

struct restore_outcome {
  std::uint64_t restored = 0; ///< entries; with `check`: that would be
  /// The first 50, told as `changes` tells them: times alone are not, and a directory that comes or
  /// goes with all in it is one, as is the `.git` of a repository.
  std::vector<std::string> paths{};
  std::vector<restored_as> as{}; ///< one for each of `paths`
  std::uint64_t paths_total = 0;
  std::vector<folded_directory> folded{}; ///< those among `paths`
  /// The first 200; without `force` nothing is restored if there are any.
  std::vector<restore_conflict> conflicts{};
  std::uint64_t conflicts_total = 0;
  std::uint64_t conflicts_of_others = 0; ///< of these those that `force` is for; the rest stay
  /// What stays in any case, or does not come back whole, and keeps nothing else from being
  /// restored; the first 200.
  std::vector<restore_conflict> left{};
  std::uint64_t left_total = 0;
  std::uint64_t others = 0;           ///< entries that others alone have changed: they stay
  std::vector<std::string> unknown{}; ///< of `paths`: nothing is or was there
  std::uint64_t before = 0;           ///< the checkpoint of the state before; 0: nothing was to do
  /// What the agent had made in ignored directories, and is not held: another restore does not
  /// bring it back.
  std::uint64_t lost = 0;
  std::vector<std::string> lost_paths{}; ///< the first 50 of them
  std::string kept{};   ///< where it is what others saved at just that moment, as a clause
  std::string notice{}; ///< what store::after_moves has moved aside, as clauses
  std::vector<running_command> running{}; ///< these go on and may change it all again
};

/// One operation, as it happened.
struct event {
  std::uint64_t number = 0; ///< rising
  std::int64_t time_ms = 0;
  author by = author::other;
  std::string tool{};
  std::string command{};
  std::vector<std::string> paths{}; ///< the first 100; of what is in a `.git`, the directory
  std::uint64_t entries = 0;        ///< all, those in a `.git` as one
  std::uint64_t checkpoint = 0;     ///< 0: it is none
};

/// The tool of a change by a person's undo, whose author is `other`.
inline constexpr std::string_view persons_undo = "undo";

/// The tool of an event about what a command of the agent reached or was refused.
inline constexpr std::string_view network_events = "network";

struct store_state {
  bool is_reading = false; ///< the first reading is not at its end
  std::uint64_t files_read = 0, files = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t start = 0; ///< the checkpoint that queries without `since` are about
  /// What failed, until everything was recorded after it; damage, until garbage is collected. A
  /// sentence without its full stop; empty: all is well.
  std::string trouble{};
};

struct gc_outcome {
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::uint64_t checkpoints_dropped = 0;
};
struct verify_outcome {
  std::uint64_t contents = 0, bytes = 0, operations = 0;
  std::vector<std::string> damaged{}; ///< what is wrong, for a person; at most 100
};

} // namespace paddock::history
