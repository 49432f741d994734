// SPDX-License-Identifier: MIT
#pragma once

// What an open store holds, and what its operations share.

#include "history/announced_paths.hpp"
#include "history/content_packs.hpp"
#include "history/directory_watch.hpp"
#include "history/file_index.hpp"
#include "history/journal.hpp"
#include "history/kept_rules.hpp"
#include "history/path_tops.hpp"
#include "history/scan.hpp"
#include "history/store_directory.hpp"
#include "history/work_marks.hpp"

#include <paddock/history/history.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::history {

/// A checkpoint and where the journal goes on behind it.
struct placed_checkpoint {
  checkpoint what;
  std::uint64_t offset = 0;
};

struct restore_plan;
class watched_changes;

/// Decides which changes, found after the agent's work, others made meanwhile.
class others_changes {
public:
  [[nodiscard]] virtual bool has(const transition& step) const = 0;

protected:
  ~others_changes() = default;
};

/// A moment before something is read. What was changed later than that, or in the same tick of a
/// clock, may change again and look the same.
struct read_time {
  read_time();
  [[nodiscard]] bool is_fresh(const known_state& state) const noexcept {
    return state.changed_ns >= tick_ns || state.changed_ns >= now_ns;
  }

private:
  std::int64_t tick_ns, now_ns;
};

[[nodiscard]] inline cause cause_of(const journal_record& work) {
  return {.by = work.by, .tool = work.tool, .command = work.command, .server = work.server};
}
/// A record for transitions of that cause.
[[nodiscard]] inline journal_record operation_of(const cause& by, std::int64_t time_ms) {
  return {.kind = record_kind::operation,
          .time_ms = time_ms,
          .by = by.by,
          .tool = by.tool,
          .command = by.command,
          .server = by.server};
}
/// Whether work under way may have changed anything, beside a tool whose paths say what.
[[nodiscard]] inline bool is_command(const journal_record& work) {
  return work.by == author::exec;
}
/// Where work is done; "" is everywhere.
[[nodiscard]] inline std::vector<std::string> paths_of(const journal_record& work) {
  std::vector<std::string> paths;
  if (work.transitions.empty()) paths.emplace_back();
  for (const transition& each : work.transitions)
    paths.push_back(each.path);
  return paths;
}

/// What the agent has under way: a command, or a call of a tool.
struct agents_work {
  cause by{};
  std::int64_t began_ns = 0;        ///< of the clock of file times
  std::vector<std::string> paths{}; ///< of a tool; a command may change anything
  [[nodiscard]] bool is_command() const noexcept { return by.by == author::exec; }
};

/// A command behind which not everything was looked at. What it changed unheard all the same is its
/// own by the time of change.
struct ended_command {
  cause by{};
  std::int64_t began_ns = 0, ended_ns = 0; ///< of the clock of file times
};
/// So many cost together about as much as one whole scan of a large workspace.
inline constexpr std::size_t looks_between_whole_ones = 256;

/// What somebody has changed or removed that is not held, and no move has taken elsewhere.
struct not_kept {
  std::uint64_t files = 0;
  std::string first{};
  holding why = holding::held; ///< of the first
  /// As a clause; empty: nothing.
  [[nodiscard]] std::string words() const;
};

/// A file or link that the first reading has not met yet.
struct unread_file {
  std::string path;
  known_state state;
};

struct store::impl {
  impl(ruled_workspace r, options o, store_directory d, session s);

  const std::shared_ptr<const root> workspace;
  const options how;
  const session purpose;

  std::mutex mutex; // of all below; the store's lock is taken in it
  store_directory directory;
  const std::vector<protected_name> shown_anew; ///< as ruled_workspace has them
  content_packs packs;
  journal log;
  file_index index;
  std::vector<placed_checkpoint> checkpoints;
  std::uint64_t last_number = 0;
  std::map<std::uint64_t, journal_record> lost; ///< what must have been in a gap of the journal, by
                                                ///< the offset of what contradicts it
  std::uint64_t start = 0;                      ///< 0: not started
  bool is_started = false;
  bool lacks_start = false;      ///< the disk was full when it was to be recorded
  bool has_lost_past = false;    ///< the journal was cut or removed, and no call has said so yet
  std::uint64_t store_bytes = 0; ///< what the files of the store have together
  std::string trouble;           ///< the last failure of the store, as a sentence
  bool has_complained = false;   ///< in this operation
  std::string short_of;          ///< a restore that could not be completed
  std::function<std::string()> after_moves;
  bool owes_look = false;          ///< entries were moved, and `after_moves` was not called since
  bool is_full = false;            ///< something found no room
  std::int64_t next_sweep_ms = 0;  ///< of the monotonic clock
  std::list<agents_work> running;  ///< of this object
  work_marks marks;                ///< and of all, for others
  work_marks::state others;        ///< as `catch_up` has found them
  std::vector<std::string> closed; ///< what the last scan could not look into
  std::map<std::string, std::uint16_t, std::less<>>
      closed_modes;                         ///< for the time of a restore, and the modes they have
  index_place reading_from;                 ///< where the first reading goes on
  bool reads_large = false;                 ///< the small files have been read
  bool has_read_through = false;            ///< and it was at its end
  std::atomic<std::size_t> reading_now = 0; ///< batches, without the mutex
  std::atomic<bool> has_read = false;       ///< one, and not all since
  not_kept unkept;                          ///< of the last look
  directory_watch heard;
  std::vector<ended_command> ended; ///< since the last whole scan, the first to begin first

  std::mutex told_mutex; // of what follows; nobody holds it for long
  store_state told_now;
  /// When the commands began that run and before which there was no time for a look. They are in no
  /// list of what is under way, which is only changed between looks.
  std::multiset<std::int64_t> unlooked;
  /// What `state` tells from now on.
  void publish();

  /// Whether a name on the path is hidden now. The journal may have it from an earlier server.
  [[nodiscard]] bool hides(std::string_view path) const;

  /// Holds the mutex and the store's lock, and knows what others have added.
  class guard;
  /// Waits for the mutex. Errors: cancelled, timed_out.
  [[nodiscard]] result<void> hold_mutex(std::unique_lock<std::mutex>& held,
                                        const work_bounds& bounds);
  /// What `guard` begins with. Errors: those of the store.
  enum class use : std::uint8_t { work, reading };
  [[nodiscard]] result<void> catch_up(use why = use::work, const work_bounds& bounds = {});
  /// Takes down what of a record shows that another one before it is lost.
  void note_lost(const journal_record& record, std::uint64_t offset);
  /// The first look of this object: what has changed since the last one, and a start.
  [[nodiscard]] result<void> begin(const work_bounds& bounds);

  [[nodiscard]] result<void> make_start();
  /// After the journal was cut or removed, once: what a call cannot take back, as a clause.
  [[nodiscard]] std::string lost_past(std::string_view what);
  /// Drops checkpoints until what has changed since the last look finds room.
  [[nodiscard]] result<void> begin_when_full(const work_bounds& bounds);
  [[nodiscard]] result<void> take_as_known(std::vector<met_entry>&& met, const work_bounds& bounds);

  [[nodiscard]] scan_options scanning(const work_bounds& bounds = {}) const;
  /// Takes in what a scan has met, and puts it down: what somebody has announced to them, who may
  /// be at it at this very moment, and the rest to a cause; or all to that cause. Errors: those of
  /// writing the journal; what was written is known then.
  enum class whose : std::uint8_t { announced, as_said };
  /// Files that were changed before `since_ns`, of the clock of file times, were changed by others.
  [[nodiscard]] result<void> absorb(scan_outcome&& found, const cause& by,
                                    const work_bounds& bounds = {}, whose all = whose::announced,
                                    std::int64_t since_ns = 0,
                                    const others_changes* theirs = nullptr);
  /// Scans everything, or these paths, and takes in what is met. Errors: those of scanning, and of
  /// `absorb`.
  [[nodiscard]] result<void> look_through(const cause& by, const work_bounds& bounds = {},
                                          std::int64_t since_ns = 0,
                                          const others_changes* theirs = nullptr);
  /// As `look_through`, or only where something was heard of since the last look: before a command,
  /// and behind one that could do nothing unheard.
  [[nodiscard]] result<void> look_where_heard(const work_bounds& bounds,
                                              const ended_command* behind = nullptr,
                                              const others_changes* theirs = nullptr,
                                              new_links links = new_links::possible);
  /// Who was at work then, of those that no whole scan has come after; null: none of them.
  [[nodiscard]] const cause* ended_then(std::int64_t changed_ns) const;
  /// Everything has been looked at and taken in: a failure of before is over, if nothing is lost.
  void be_content();
  /// `watched` attributes changes of files and links to others.
  [[nodiscard]] result<void> look_at(std::span<const std::string> paths, const cause& by,
                                     watched_changes* watched = nullptr);
  /// Says of directories that could not be looked into that it is so, and what was met in others
  /// that nobody has seen before.
  [[nodiscard]] path_tops take_closed(scan_outcome& found, const cause& by);
  /// Says to others, and to who comes after a kill, what is under way; without paths, anywhere.
  [[nodiscard]] result<work_marks::mark> put_mark(const cause& by,
                                                  std::span<const std::string> paths);
  /// Puts what was cut short, with its process, down to those who did it.
  [[nodiscard]] result<void> settle(const work_bounds& bounds = {});
  /// That has been done.
  void forget_cut_short();
  /// What the function of `after_moves` says; without one, it is owed.
  std::string end_moves();
  /// Where tools are at work, or were when they were cut short.
  [[nodiscard]] announced_paths announced() const;
  /// Since when a command has been running; nothing: none does.
  [[nodiscard]] std::optional<std::int64_t> running_since_ns();
  /// The commands that do, the first to begin first.
  [[nodiscard]] std::vector<running_command> commands_under_way() const;
  /// The number of this server's start; 0: a person's look.
  [[nodiscard]] std::uint64_t own_server() const noexcept {
    return purpose == session::serve ? start : 0;
  }
  /// Where the journal goes on behind `start`; 0: that is gone.
  [[nodiscard]] std::uint64_t offset_of_start() const;
  /// Whom differences are put down to that no tool has announced.
  [[nodiscard]] cause unannounced() const;
  /// What an entry holds, read and not yet kept. `asked`: also in ignored directories.
  enum class reach : std::uint8_t { covered, asked };
  struct fetched {
    known_state state{};
    std::optional<named_content> content{};
  };
  struct place {
    const std::string& path;
    int directory = -1; ///< the one that it lies in, where that is open
  };
  /// Without any lock.
  [[nodiscard]] fetched fetch(const place& where, const known_state& known, const read_time& when,
                              reach of) const;
  [[nodiscard]] known_state keep(fetched&& from);
  /// Both.
  void take_in(const std::string& path, known_state& state, const read_time& when,
               reach of = reach::covered);
  /// A batch of the first reading; false: there is none left. Takes the locks itself. Errors: those
  /// of the store, cancelled, timed_out.
  [[nodiscard]] result<bool> read_some(const work_bounds& bounds);
  [[nodiscard]] std::vector<unread_file> next_unread();
  /// Errors: cancelled, timed_out.
  [[nodiscard]] result<bool> has_unread(const work_bounds& bounds);
  /// The first reading, as long as that may take. Errors: as `read_some`.
  [[nodiscard]] result<void> read_for(std::uint64_t wait_ms, const work_bounds& bounds);
  /// Reads those of the paths that are not held yet.
  [[nodiscard]] result<void> hold(std::span<const std::string> paths);
  /// What of these the store had no room for, or has lost, as a clause; empty: nothing.
  [[nodiscard]] std::string not_held(std::span<const std::string> paths) const;
  [[nodiscard]] result<void> write(journal_record&& record, const work_bounds& bounds = {});
  [[nodiscard]] result<checkpoint> mark(std::string_view label, bool is_start);
  /// What the retention asks for; with `all`, also what nothing needs any more. Errors: those of
  /// the store, which is as it was then.
  enum class sweep : std::uint8_t { if_needed, all };
  [[nodiscard]] result<gc_outcome> sweep_out(sweep how_much, const work_bounds& bounds = {});
  /// All from that checkpoint on. After cancelled and timed_out what is known has gaps: nothing is
  /// done before the next `catch_up`.
  /// Which contents stay: all that is told of, without those that the agent has written over since,
  /// or those of others alone. What goes is told as what the store had no room for.
  enum class keeping : std::uint8_t { all, without_agents_past, others };
  [[nodiscard]] result<void> sweep_from(std::size_t first, const work_bounds& bounds = {},
                                        keeping what = keeping::all);
  /// The place of the oldest checkpoint that stays by age and number, and of the one that has to.
  [[nodiscard]] std::size_t first_kept() const;
  [[nodiscard]] std::size_t last_to_keep() const;
  /// Whether the files take more than they should, and dropping checkpoints may help.
  [[nodiscard]] bool is_too_long() const;
  [[nodiscard]] bool is_too_large() const;
  /// Completes a killed restore, if there is one. What cannot be is told as trouble, and
  /// not tried again. Errors: those of reading what is left of it, and of looking afterwards.
  [[nodiscard]] result<void> recover();
  /// What a restore has brought about is put down to it, and nothing else is.
  [[nodiscard]] result<void> absorb_restored(const restore_plan& plan, const cause& by);
  /// All of a plan, or none of it; `kept` says where others' work is that it met.
  [[nodiscard]] result<void, detailed_error>
  carry_out(const restore_plan& plan, const work_bounds& bounds, std::string& kept);
  /// The files of the store, and what is on the way to them.
  [[nodiscard]] std::uint64_t bytes_now() const noexcept;
  [[nodiscard]] std::uint64_t room() const noexcept;
  [[nodiscard]] std::uint64_t all_room() const noexcept;
  /// Some of it is for checkpoints alone.
  enum class kept_for : std::uint8_t { all, checkpoints };
  [[nodiscard]] std::uint64_t journal_room(kept_for whom) const noexcept;
  /// After something found no room: now and then, the oldest checkpoints go.
  [[nodiscard]] result<void> make_room(const work_bounds& bounds = {});
  void complain(const error& e);
  [[nodiscard]] result<void> unless_full(const result<void>& done);

  [[nodiscard]] result<const placed_checkpoint*> find(std::optional<std::uint64_t> number) const;
  [[nodiscard]] entry_state told(const known_state& state) const;

  /// Names what an index of git stages: two that stage the same have the same name. Nothing where
  /// that cannot be told.
  [[nodiscard]] std::optional<content_id> staged_by(const content_id& index_file) const;
  mutable std::unordered_map<content_id, std::optional<content_id>, content_id_hash> staged;
};

class store::impl::guard {
public:
  /// For reading alone nothing is begun, mended or swept.
  explicit guard(impl& of, use why = use::work, const work_bounds& bounds = {});
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard();
  /// Whether the store can be used now.
  [[nodiscard]] const result<void>& ready() const noexcept { return ready_; }

private:
  [[nodiscard]] result<void> take(const work_bounds& bounds);

  impl& of_;
  std::unique_lock<std::mutex> held_;
  bool is_locked_ = false;
  result<void> ready_;
};

/// What is told after damage, until garbage is collected.
inline constexpr const char* damage_notice =
    "the journal of the history was damaged, and what was in the damaged part is lost (`paddock "
    "history gc` ends this notice)";

/// Whether it lies in a directory that programs make anew, as node_modules: nobody misses it.
[[nodiscard]] bool is_in_cache(std::string_view path);
/// Whether a file in an ignored directory is not held: it is large, or programs make it anew.
[[nodiscard]] bool is_left_out(std::string_view path, const known_state& state);
[[nodiscard]] std::int64_t now_ms() noexcept;
/// Whether nobody waits any more: no failure of the store.
[[nodiscard]] inline bool is_ended(const error& e) noexcept {
  return e.code == error_code::cancelled || e.code == error_code::timed_out;
}
/// Whether the store may not grow; else, of a lack of space, the disk is full.
[[nodiscard]] inline bool is_over_budget(const error& e) noexcept {
  return e.code == error_code::no_space && std::string_view(e.operation) == budget_operation;
}
/// Whose a restore is, by who asks for it, through which server.
[[nodiscard]] cause cause_of_restore(author by, std::uint64_t server);
/// What the store's failure means, as a clause.
[[nodiscard]] std::string explain_failure(const error& e);

} // namespace paddock::history
