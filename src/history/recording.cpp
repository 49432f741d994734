// SPDX-License-Identifier: MIT

// What becomes of entries, and whom it is put down to.

#include "history/store_impl.hpp"
#include "history/watched_changes.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace paddock::history {

cause store::impl::unannounced() const {
  for (const agents_work& each : std::views::reverse(running))
    if (each.is_command()) return each.by;
  for (const journal_record& each : std::views::reverse(others.living))
    if (is_command(each)) return cause_of(each);
  const journal_record* last = nullptr; // of several the last to begin
  for (const journal_record& each : others.cut_short)
    if (is_command(each) && (last == nullptr || each.time_ms > last->time_ms)) last = &each;
  return last != nullptr ? cause_of(*last) : cause{};
}

announced_paths store::impl::announced() const {
  announced_paths all;
  for (const auto* each_of : {&others.cut_short, &others.living})
    for (const journal_record& each : *each_of)
      if (!is_command(each)) all.add(cause_of(each), paths_of(each));
  for (const agents_work& each : running)
    if (!each.is_command()) all.add(each.by, each.paths);
  return all;
}

std::optional<std::int64_t> store::impl::running_since_ns() {
  std::optional<std::int64_t> since;
  const auto take = [&](std::int64_t began_ns) {
    since = std::min(since.value_or(began_ns), began_ns);
  };
  for (const journal_record& each : others.living)
    if (is_command(each)) take(each.time_ms * 1'000'000);
  for (const agents_work& each : running)
    if (each.is_command()) take(each.began_ns);
  const std::lock_guard lock(told_mutex);
  if (!unlooked.empty()) take(*unlooked.begin());
  return since;
}

std::vector<running_command> store::impl::commands_under_way() const {
  std::vector<running_command> all;
  for (const journal_record& each : others.living)
    if (is_command(each))
      all.push_back({.tool = each.tool,
                     .command = each.command,
                     .began_ms = each.time_ms,
                     .is_elsewhere = true});
  for (const agents_work& each : running)
    if (each.is_command())
      all.push_back({.tool = each.by.tool,
                     .command = each.by.command,
                     .began_ms = each.began_ns / 1'000'000});
  std::ranges::sort(all, {}, &running_command::began_ms);
  return all;
}

result<work_marks::mark> store::impl::put_mark(const cause& by,
                                               std::span<const std::string> paths) {
  journal_record work = operation_of(by, now_ms());
  for (const std::string& path : paths)
    work.transitions.push_back({.path = path});
  return marks.put(work, journal_room(kept_for::checkpoints));
}

path_tops store::impl::take_closed(scan_outcome& found, const cause& by) {
  path_tops unseen;
  for (const std::string& path : found.opened)
    if (index.find(path).held == holding::never_read) unseen.add(path);
  if (found.is_whole) closed = found.closed;
  const auto is_in_list = [](const std::vector<std::string>& sorted, const std::string& path) {
    return std::ranges::binary_search(sorted, path);
  };
  const auto met = static_cast<std::ptrdiff_t>(found.met.size());
  for (const std::string& path : found.closed) { // also such as look as they did
    const auto end = found.met.begin() + met;
    const auto at = std::ranges::lower_bound(found.met.begin(), end, path, {}, &met_entry::path);
    if (at == end || at->path != path) found.met.push_back({path, index.find(path)});
  }
  if (found.met.begin() + met != found.met.end())
    std::ranges::sort(found.met, {}, &met_entry::path);
  for (met_entry& each : found.met) {
    if (each.seen.kind != known_kind::directory) continue;
    const known_state before = index.find(each.path);
    if (is_in_list(found.opened, each.path)) {
      each.seen.held = holding::held;
      each.seen.is_unsure = false;
    } else if (is_in_list(found.closed, each.path)) {
      const bool is_known =
          before.exists() ? before.held != holding::never_read : by.by != author::other;
      each.seen.held = each.path.size() > path_bytes_max ? holding::too_deep
                       : is_known                        ? holding::unreadable
                                                         : holding::never_read;
      each.seen.is_unsure = true;
    }
  }
  return unseen;
}

namespace {

/// Transitions of one look, each in the record of whom it is put down to.
class shared_out {
public:
  shared_out(announced_paths announced, const cause& by, const cause& others,
             const others_changes* theirs, std::int64_t time_ms)
      : announced_(std::move(announced)), rest_(by), others_(others), theirs_(theirs),
        time_ms_(time_ms) {}

  /// What is ignored is missed where it went with all that is ignored around it.
  enum class gone_with : std::uint8_t { itself, all_around };
  /// `earlier`: whose it is if nobody has announced it.
  void add(transition&& step, gone_with what = gone_with::itself, const cause* earlier = nullptr) {
    const known_kind kind = step.after.exists() ? step.after.kind : step.before.kind;
    const cause* const announced = announced_.who(step.path, kind);
    if (theirs_ != nullptr && theirs_->has(step)) earlier = &others_;
    const cause* const who = announced != nullptr ? announced : earlier;
    auto [at, is_new] = places_.try_emplace(who, records_.size());
    if (is_new) {
      records_.push_back(operation_of(who != nullptr ? *who : rest_, time_ms_));
    }
    note_loss(step, who != nullptr ? *who : rest_, what);
    records_[at->second].transitions.push_back(std::move(step));
  }
  [[nodiscard]] std::vector<journal_record> take() && { return std::move(records_); }
  /// What the agent's work has made an end of, where it is not elsewhere now.
  [[nodiscard]] not_kept losses() const {
    not_kept out;
    for (const loss& each : lost_) {
      const auto now = appeared_.find(each.before.inode);
      if (now != appeared_.end() && each.before.same_content(now->second)) continue;
      if (out.files++ == 0) {
        out.first = each.path;
        out.why = each.before.held;
      }
    }
    return out;
  }

private:
  struct loss {
    std::string path;
    known_state before;
  };
  void note_loss(const transition& step, const cause& by, gone_with what) {
    if (step.after.is_content() && step.after.inode != step.before.inode)
      appeared_.try_emplace(step.after.inode, step.after);
    const known_state& before = step.before;
    // Nobody misses what programs make anew, nor what a command has to talk with others. In ignored
    // directories they write over their own, but who removes more than that is asked about it.
    const bool is_asked = what == gone_with::all_around || by.by == author::tool ||
                          (!step.after.exists() && !is_in_cache(step.path));
    const bool is_lost = before.is_content()
                             ? !before.has_content() && !before.same_content(step.after) &&
                                   (before.held != holding::ignored || is_asked)
                             : before.kind == known_kind::special &&
                                   step.after.kind != known_kind::special && by.by == author::tool;
    if (is_lost && by.by != author::other) lost_.push_back({step.path, before});
  }

  announced_paths announced_;
  const cause& rest_;
  const cause& others_;
  const others_changes* theirs_;
  std::int64_t time_ms_;
  std::map<const cause*, std::size_t> places_; ///< in `records_`
  std::vector<journal_record> records_;
  std::vector<loss> lost_;
  std::unordered_map<std::uint64_t, known_state> appeared_; ///< by inode
};

} // namespace

std::string not_kept::words() const {
  if (files == 0) return {};
  std::string text = files == 1 ? "what " : "what " + std::to_string(files) + " files held, as ";
  text += first + (files == 1 ? " held before is not kept: " : " did, is not kept: ");
  return text += reason_of(why);
}

/// An entry that was not known: nobody can say since when it exists.
result<void> store::impl::take_as_known(std::vector<met_entry>&& met, const work_bounds& bounds) {
  for (std::size_t at = 0; at < met.size();) {
    journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
    for (; at < met.size() && seen.transitions.size() < transitions_max; ++at) {
      met_entry& each = met[at];
      if (each.seen.held == holding::not_read_yet && is_left_out(each.path, each.seen))
        each.seen.held = holding::ignored;
      seen.transitions.push_back({.path = std::move(each.path), .after = each.seen});
    }
    PADDOCK_CHECK(write(std::move(seen), bounds));
  }
  return {};
}

result<void> store::impl::absorb(scan_outcome&& found, const cause& by, const work_bounds& bounds,
                                 whose all, std::int64_t since_ns, const others_changes* theirs) {
  const read_time when;
  const cause before_it = unannounced();
  // It was there, and read-only for every other command too.
  const cause not_its_own = by.by == author::exec ? cause() : before_it;
  shared_out changed(all == whose::announced ? announced() : announced_paths(), by, not_its_own,
                     theirs, now_ms());
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  std::unordered_map<std::uint64_t, known_state> gone; // by inode: perhaps it is elsewhere now
  const auto forget = [&](std::string_view top) {
    const auto what = index.find(parent_of(top)).is_ignored ? shared_out::gone_with::itself
                                                            : shared_out::gone_with::all_around;
    index.for_each_beneath(top, [&](std::string_view path, const known_state& before) {
      if (before.has_content() && !before.is_unsure) gone.emplace(before.inode, before);
      changed.add({.path = std::string(path), .before = before}, what);
    });
  };
  const path_tops unseen = take_closed(found, by);
  for (const std::string& path : found.gone)
    forget(path);
  for (met_entry& each : found.met) {
    PADDOCK_CHECK(bounds.check());
    const known_state before = index.find(each.path);
    known_state after = each.seen;
    const auto moved = before.exists() ? gone.end() : gone.find(after.inode);
    if (moved != gone.end() && !after.is_ignored && moved->second.looks_like(after))
      after = moved->second; // with a directory above it: it has not even a new time of change
    else
      take_in(each.path, after, when);
    if (const auto was = closed_modes.find(each.path); was != closed_modes.end())
      after.mode = was->second;
    if (before.kind == known_kind::directory && after.kind != known_kind::directory) {
      forget(each.path);
      changed.add({.path = std::move(each.path), .after = after});
      continue;
    }
    if (before == after) continue;
    // What could not be read now was perhaps changed, and what was held before is.
    const bool is_forgotten = before.has_content() && !after.has_content();
    const bool is_seen = before.exists() ? before.same_as(after) && !is_forgotten
                                         : unseen.cover(parent_of(each.path));
    const cause* earlier = nullptr;
    if (before.is_content() && before.inode == after.inode) {
      earlier = ended_then(after.changed_ns);
      if (earlier == nullptr && after.changed_ns < since_ns) earlier = &before_it;
    }
    transition step{.path = std::move(each.path), .before = before, .after = after};
    if (is_seen)
      seen.transitions.push_back(std::move(step));
    else
      changed.add(std::move(step), shared_out::gone_with::itself, earlier);
  }
  unkept = changed.losses();
  for (journal_record& each : std::move(changed).take())
    PADDOCK_CHECK(write(std::move(each), bounds));
  return write(std::move(seen), bounds);
}

const cause* store::impl::ended_then(std::int64_t changed_ns) const {
  const auto after = std::ranges::upper_bound(ended, changed_ns, {}, &ended_command::began_ns);
  if (after == ended.begin() || changed_ns >= std::prev(after)->ended_ns) return nullptr;
  return &std::prev(after)->by;
}

namespace {

std::vector<std::string> files_in(const std::vector<met_entry>& met) {
  std::vector<std::string> files;
  for (const met_entry& each : met)
    if (each.seen.kind != known_kind::directory) files.push_back(each.path);
  return files;
}

} // namespace

result<void> store::impl::look_through(const cause& by, const work_bounds& bounds,
                                       std::int64_t since_ns, const others_changes* theirs) {
  scan_options how_to = scanning(bounds);
  const bool is_watched = purpose == session::serve;
  if (is_watched) {
    heard.begin(index.size() - index.files());
    how_to.observer = &heard;
  }
  PADDOCK_TRY(auto found, scan(*workspace, index, how_to));
  const auto met = is_watched ? files_in(found.met) : std::vector<std::string>();
  const scan_outcome told{.closed = found.closed, .linked = std::move(found.linked)};
  PADDOCK_CHECK(absorb(std::move(found), by, bounds, whose::announced, since_ns, theirs));
  if (is_watched) heard.settle(met, told);
  ended.clear();
  be_content();
  return {};
}

result<void> store::impl::look_where_heard(const work_bounds& bounds, const ended_command* behind,
                                           const others_changes* theirs, new_links links) {
  const cause by = behind != nullptr ? behind->by : unannounced();
  const std::int64_t since_ns = behind != nullptr ? behind->began_ns : 0;
  const bool is_alone = !running_since_ns() && others.living.empty();
  const bool is_due = ended.size() >= looks_between_whole_ones;
  const auto paths = is_alone && !is_due ? heard.changed(index, links) : std::nullopt;
  if (!paths) return look_through(by, bounds, since_ns, theirs);
  PADDOCK_CHECK(workspace->check_alive());
  scan_options how_to = scanning(bounds);
  how_to.observer = &heard;
  PADDOCK_TRY(auto found, scan_paths(*workspace, index, *paths, how_to));
  const auto met = files_in(found.met);
  const scan_outcome left{.closed = found.closed, .linked = std::move(found.linked)};
  PADDOCK_CHECK(absorb(std::move(found), by, bounds, whose::announced, since_ns, theirs));
  heard.settle_named(met, left);
  if (behind != nullptr) ended.push_back(*behind);
  be_content();
  return {};
}

result<void> store::impl::look_at(std::span<const std::string> paths, const cause& by,
                                  watched_changes* watched) {
  PADDOCK_TRY(auto found, scan_paths(*workspace, index, paths, scanning()));
  if (watched != nullptr) PADDOCK_CHECK(watched->record(*this, by, unannounced(), found));
  return absorb(std::move(found), by, {}, whose::announced, 0, watched);
}

} // namespace paddock::history
