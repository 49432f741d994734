// SPDX-License-Identifier: MIT
#pragma once

/// The history of a workspace: what changed, who did it, and the way back.
///
/// A store keeps, outside the workspace, what its entries held, and a journal of what became of
/// each path, by whom. Tools say which paths they are about to touch and record those; a command
/// runs between two scans of the whole workspace, the first of which tells what a person did
/// meanwhile. From that follow the changes since any checkpoint, and the way back to it.
///
/// What a file held is in the store before anything changes it, if the first reading of the
/// workspace (`read_in`, in the background) or an earlier scan has met it. What is not held is told
/// by name and reason and never passed over in silence: what lies in directories that ignore files
/// name, where it has more than 1 MiB or programs make it anew, as in node_modules (known by its
/// status alone, but removed again where it is new), files beyond
/// `file_bytes_max` or beyond the store's budget, what cannot be read, and FIFOs, sockets and
/// devices. Hidden names (protected_names.hpp) are neither read nor listed. Extended attributes,
/// owners and hard links are not recorded. Where another process puts an empty directory in the
/// place of one that a restore removes at just that moment, that one is removed.
///
/// A failure of the store fails no tool and no command: the work goes on, and what can no longer be
/// undone is told.
///
/// The store is one directory for each workspace, below `options::directory`, which must lie
/// outside the workspace, belong to the user and be writable by nobody else. Several processes
/// share it: each operation holds its lock and reads first what others have added. Its format is in
/// docs/history-store.md.
///
/// Thread-safety: all members of a store may be called from any
/// number of threads at once; a recording is of one thread.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/history/changes.hpp>
#include <paddock/path/protected_names.hpp>
#include <paddock/path/root.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

struct options {
  std::string directory{}; ///< absolute; of all stores; made if it is not there
  std::uint64_t store_bytes_max = std::uint64_t{2} << 30U; ///< on disk, never exceeded
  std::uint64_t file_bytes_max = std::uint64_t{64} << 20U; ///< larger files are not held
  std::uint64_t entries_max = 2'000'000; ///< of a workspace; with more there is no history
  /// Older checkpoints go, but for the last start, and so do stores of other workspaces in the same
  /// directory that nobody has used for as long, when a server opens one.
  std::uint64_t age_days_max = 30;
  std::size_t checkpoints_max = 1'000;       ///< then the oldest go
  std::uint64_t command_wait_ms = 250;       ///< how long a command waits for the first reading
  std::uint64_t checkpoint_wait_ms = 20'000; ///< and a checkpoint, within its own deadline
  unsigned threads_max = 2;
  /// Of directories, by inotify(7), and never more than a quarter of what this user may have. Where
  /// that is enough for all of them, a command begins with a look at what has changed, not with one
  /// at everything, and a confined one mostly ends so. 0: at everything each time.
  std::size_t watches_max = 60'000;
};

/// Which workspaces have a history below a directory of all stores.
struct known_histories {
  bool has_own = false;             ///< that workspace itself
  std::vector<std::string> above{}; ///< those that it lies in, the nearest first
  std::vector<std::string> below{}; ///< those that lie in it, by their paths
};
/// Makes nothing. What is not there any more, and what is another user's, is passed over.
[[nodiscard]] known_histories find_histories(const root& workspace, std::string_view directory);

/// Whether names count that only servers before the last one protected. Their agents may have
/// written what a person's command carries out; but what an agent changed since can be undone.
enum class past_rules : std::uint8_t { in_force, left_out };
/// The usual protected names and those of servers that have the workspace open, had it open last,
/// or before in the time of `age_days_max`: what a command of a person that uses no history opens
/// it with. Makes nothing. Errors: denied_by_policy (the store is not this user's alone), io (the
/// rules are damaged), those of reading.
[[nodiscard]] result<std::vector<protected_name>, detailed_error>
rules_of(const root& workspace, std::string_view directory, past_rules past = past_rules::in_force);

class store;

/// Where a command could change files, and so where they are looked at behind it.
enum class command_reach : std::uint8_t {
  /// There alone, it could give none of them a second name outside, and nothing of it is left:
  /// where a change was heard of, and everywhere if that could have been at a second name.
  workspace,
  /// The same, and it has made no second name: new directories, and where a change was heard of.
  workspace_without_links,
  anywhere, ///< everywhere
};

/// What is about to change. Its end, or `finish`, records what became of it.
class recording {
public:
  recording() noexcept;
  recording(recording&&) noexcept;
  recording& operator=(recording&&) noexcept;
  ~recording();
  /// What cannot be undone because of a failure, or because what was changed or removed is not
  /// held, as a clause; empty: everything was recorded. `read_only`: command_outcome::read_only;
  /// changes there are attributed to others, if it was there before all commands that still run.
  std::string finish(command_reach reach = command_reach::anywhere,
                     std::span<const std::string> read_only = {});
  /// Of a command, before `finish`: what it reached outside, as an event of the tool
  /// `network_events`, whose command says so with the line of this one behind it.
  void note_network(std::string_view said);
  /// For a tool that changes files only through file.hpp, directory.hpp and change_set.hpp, from
  /// now on in this thread: changes that others make to the same files until `finish` stay theirs.
  void watch();
  /// What of that is known before the end.
  [[nodiscard]] std::string lost() const;
  /// Of a command: what tells others that it is under way, for command::lock; -1: nothing does.
  [[nodiscard]] int lock() const;

private:
  friend class store;
  struct state;
  explicit recording(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

/// Whether this build has xxHash; without it no store can be opened.
[[nodiscard]] bool have_history() noexcept;

/// Whether opening makes a start: a server does, a person's look does not.
enum class session : std::uint8_t { serve, look };

/// One workspace's history. Members that return no result and a recording never fail the caller.
class store : public std::enable_shared_from_this<store> {
public:
  /// Errors: denied_by_policy (the directory lies in the workspace, or others may write it),
  /// not_a_directory, unsupported (of a version to come; no xxHash), permission_denied,
  /// no_space, io; the detail says what to do. A restore that was killed is completed.
  static result<std::shared_ptr<store>, detailed_error>
  open(std::shared_ptr<const root> workspace, options how, session by = session::serve);
  ~store();

  /// Under the rules of names that it was opened with and those of servers that have it open, or
  /// had it open last: for who acts in the workspace for a person. What earlier ones protected is
  /// read-only for a person's look.
  [[nodiscard]] std::shared_ptr<const root> workspace() const;

  /// Sets the look that ends a restore, also one that a killed process has left: at what links lead
  /// to now (end_moves in command.hpp). It returns clauses for a person, and may not use the store.
  /// To be set before the first operation.
  void after_moves(std::function<std::string()> look);

  /// Reads what is not held yet. For a thread in the background; other members may be called.
  /// Errors: cancelled, timed_out, those of the store.
  result<void> read_in(const work_bounds& bounds = {});
  /// As the last operation left it; waits for nothing.
  [[nodiscard]] store_state state() const;

  /// Before a tool changes these paths; of a directory, all in it. Paths need not exist. `other`: a
  /// person does. Bounds as for a command.
  [[nodiscard]] recording before_tool(std::string_view tool, std::span<const std::string> paths,
                                      author by = author::tool, const work_bounds& bounds = {});
  /// Before a command or process of the agent begins; finish when it has ended. What bounds end is
  /// the look before it, the first one of a store, too. Who is cancelled begins nothing. After a
  /// deadline the command may go on: `finish` then says that it cannot be undone, and what it
  /// changes is put down to whoever is met by the next look.
  [[nodiscard]] recording before_command(std::string_view tool, std::string_view command_line,
                                         const work_bounds& bounds = {});
  /// Records what commands that run have done until now.
  void look();

  /// Waits for the first reading. Errors: those of the store, no_space, io, cancelled, timed_out;
  /// nothing is made then.
  result<checkpoint> make_checkpoint(std::string_view label, const work_bounds& bounds = {});
  /// Oldest first; none where the store cannot be read.
  [[nodiscard]] std::vector<checkpoint> checkpoints(const work_bounds& bounds = {});
  /// Errors: not_found (no such checkpoint, or it is gone), cancelled, timed_out, io.
  result<change_list> changes(const change_query& query);
  /// Errors: as `changes`; those of writing files. After an error all is as it was.
  result<restore_outcome, detailed_error> restore(const restore_request& request);
  /// What a path was at a checkpoint. Errors: as `changes`.
  result<entry_state> state_at(std::uint64_t checkpoint, std::string_view path);
  /// What a file held at a checkpoint; nothing where there was no file, or it is not held.
  /// Errors: as `changes`.
  result<std::optional<std::string>> bytes_at(std::uint64_t checkpoint, std::string_view path);
  /// What has been at a path since the oldest checkpoint, the newest first, each content once; at
  /// most `limit`. Errors: as `changes`.
  result<std::vector<entry_state>> states_of(std::string_view path, std::size_t limit = 100);
  /// The bytes that `entry_state::content` names, as long as a checkpoint needs them. Errors:
  /// not_found, io.
  result<std::string> content(std::string_view name);
  /// The operations after that number, oldest first; those since the oldest checkpoint for 0.
  /// Errors: io.
  result<std::vector<event>> events(std::uint64_t after, std::size_t limit = 1'000);

  /// Removes what no checkpoint needs, and checkpoints beyond the options. Errors: those of the
  /// store, cancelled, timed_out; the store is whole then, and the rest is for the next time.
  result<gc_outcome> collect_garbage(const work_bounds& bounds = {});
  /// Reads and checks the whole store; changes nothing. Errors: those of the store.
  result<verify_outcome> verify();

  struct impl;

private:
  friend class recording;
  [[nodiscard]] recording unlooked(std::unique_ptr<recording::state> state, const error& why);
  explicit store(std::unique_ptr<impl> i) noexcept;
  std::unique_ptr<impl> impl_;
};

} // namespace paddock::history
