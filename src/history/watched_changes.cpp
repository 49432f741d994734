// SPDX-License-Identifier: MIT
#include "history/watched_changes.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock::history {
namespace {

/// Ignores the status change time, which a rename changes.
bool is_this(const known_state& then, const known_state& now) {
  return then.kind == now.kind &&
         (!then.exists() || (then.inode == now.inode && then.size == now.size &&
                             then.modified_ns == now.modified_ns && then.mode == now.mode));
}

constexpr std::int64_t ns_per_ms = 1'000'000;
/// By which the clock of file times may lag behind that of records.
constexpr std::int64_t tick_ns = 20 * ns_per_ms;

} // namespace

watched_changes::watched_changes(const store::impl& in, std::span<const std::string> paths)
    : in_(in), paths_(paths) {
  for (const std::string& path : paths)
    in.index.for_each_beneath(path, [&](std::string_view inner, const known_state& each) {
      known_.emplace(inner, each);
    });
}

known_state watched_changes::known_of(std::string_view path) const {
  const auto found = known_.find(path);
  return found != known_.end() ? found->second : known_state();
}

store::impl::fetched watched_changes::read(const std::string& path, const displaced_entry& entry,
                                           const known_state& seen) const {
  store::impl::fetched as_seen{.state = seen};
  if (!seen.exists()) return as_seen;
  if (!paths_.has(path) && is_left_out(path, seen)) {
    as_seen.state.held = holding::ignored;
    return as_seen;
  }
  auto read = in_.fetch({.path = entry.name, .directory = entry.directory}, seen, read_time(),
                        store::impl::reach::asked);
  return read.state.inode == seen.inode ? std::move(read) : std::move(as_seen);
}

void watched_changes::changed(const std::string& path, const displaced_entry& before,
                              const std::optional<file_status>& after) {
  if (!paths_.cover(path)) return;
  const known_state left = after ? state_of(*after) : known_state();
  const auto [at, is_first] = changes_.try_emplace(path);
  file_change& made = at->second;
  const known_state last = is_first ? known_of(path) : made.after;
  known_state seen;
  if (before.status != nullptr) {
    seen = state_of(*before.status);
  } else if (before.name != nullptr) {
    const auto status = sys::status_at(before.directory, before.name, AT_SYMLINK_NOFOLLOW);
    if (status) seen = state_of(*status);
  }
  const bool is_as_it_was = is_this(last, seen);
  if (!is_as_it_was || (is_first && last.is_unsure)) {
    seen.is_ignored = last.is_ignored;
    made.before.push_back(read(path, before, seen));
  }
  made.after = left;
}

void watched_changes::moved_directory(const std::string& from, const std::string& to) {
  moved_[to] = from;
  all_.add(from);
  all_.add(to);
}

bool watched_changes::has(const transition& step) const {
  const known_kind kind = step.after.exists() ? step.after.kind : step.before.kind;
  if (kind == known_kind::directory) return false;
  if (const auto found = changes_.find(step.path); found != changes_.end())
    return !is_this(found->second.after, step.after);
  return !all_.cover(step.path);
}

/// Files in a moved directory that the index did not know: others put them there before the move.
void watched_changes::add_moved(store::impl& in, journal_record& before,
                                const scan_outcome& found) const {
  const read_time when;
  for (const auto& [to, from] : moved_)
    for (const met_entry& each : found.met) {
      if (each.path.size() <= to.size() || !is_in(each.path, to)) continue;
      std::string path = from + each.path.substr(to.size());
      const known_state known = known_of(path);
      known_state seen = each.seen;
      const bool is_as_known = seen.kind == known_kind::directory
                                   ? known.kind == seen.kind
                                   : is_this(known, seen) && !known.is_unsure;
      if (is_as_known || !(in.index.find(path) == known)) continue;
      in.take_in(each.path, seen, when);
      if (!known.same_as(seen))
        before.transitions.push_back({.path = std::move(path), .before = known, .after = seen});
    }
}

result<void> watched_changes::record(store::impl& in, const cause& by, const cause& others,
                                     const scan_outcome& found) {
  const std::int64_t now = now_ms();
  journal_record before = operation_of(others, now), own = operation_of(by, now);
  journal_record later = operation_of(others, now);
  const auto add = [](journal_record& to, const std::string& path, const known_state& was,
                      const known_state& is) {
    if (!was.same_as(is)) to.transitions.push_back({.path = path, .before = was, .after = is});
  };
  add_moved(in, before, found);
  for (auto& [path, made] : changes_) {
    const known_state known = known_of(path);
    // If the index changed, another call has recorded it already.
    if (in.workspace->is_protected(path) || !(in.index.find(path) == known)) continue;
    const bool is_ignored =
        known.exists() ? known.is_ignored : in.index.find(parent_of(path)).is_ignored;
    known_state last = known;
    for (store::impl::fetched& each : made.before) {
      each.state.is_ignored = is_ignored;
      const known_state state = in.keep(std::move(each));
      add(before, path, last, state);
      if (!last.same_as(state)) last = state;
    }
    const auto at = std::ranges::lower_bound(found.met, path, {}, &met_entry::path);
    const bool is_met = at != found.met.end() && at->path == path;
    const bool is_gone = known.exists() && std::ranges::any_of(found.gone, [&](const auto& top) {
                           return is_in(path, top);
                         });
    const known_state present = is_met ? at->seen : is_gone ? known_state() : known;
    // Absorbing the scan records it.
    if ((is_met || is_gone) && is_this(made.after, present)) continue;
    made.after.is_ignored = made.after.exists() && is_ignored;
    add(own, path, last, made.after);
    if (!is_met && !is_gone) add(later, path, made.after, known);
  }
  for (journal_record* each : {&before, &own, &later})
    PADDOCK_CHECK(in.write(std::move(*each)));
  return {};
}

read_only_changes::read_only_changes(const store::impl& in, std::span<const std::string> paths,
                                     std::int64_t since_ns)
    : in_(in), since_ns_(since_ns) {
  for (const std::string& path : paths)
    if (in.index.find(path).exists()) paths_.add(path);
}

bool read_only_changes::has(const transition& step) const {
  if (!paths_.cover(step.path)) return false;
  if (!there_) there_ = there_before();
  return there_->cover(step.path);
}

path_tops read_only_changes::there_before() const {
  const placed_checkpoint* from = nullptr;
  for (const placed_checkpoint& each : in_.checkpoints) { // in one tick, the first
    const std::int64_t later_ms = each.what.time_ms - since_ns_ / ns_per_ms;
    if (later_ms < 0 || (later_ms <= tick_ns / ns_per_ms && from == nullptr)) from = &each;
  }
  path_tops there;
  if (from == nullptr) return there;
  auto left = paths_.all();
  const auto drop_made = [&](const journal_record& record, std::uint64_t) {
    const bool is_seen_since = record.time_ms * ns_per_ms > since_ns_ + tick_ns;
    for (const transition& each : record.transitions)
      if (record.kind == record_kind::operation && !each.before.exists() &&
          (is_seen_since || each.after.changed_ns >= since_ns_))
        left.erase(each.path);
    return true;
  };
  if (!in_.log.read_from(from->offset, drop_made)) return there;
  for (const std::string& path : left)
    there.add(path);
  return there;
}

} // namespace paddock::history
