// SPDX-License-Identifier: MIT

// What the store keeps, and how long: checkpoints by age and number, bytes by the budget.

#include "history/change_sets.hpp"
#include "history/obeyed_content.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
constexpr std::size_t damaged_max = 100;
/// Who opens the store reads the journal: a longer one makes that slow.
constexpr std::uint64_t journal_bytes_wanted = std::uint64_t{64} << 20U;

using content_set = std::unordered_set<content_id, content_id_hash>;

void add(content_set& to, const known_state& state) {
  if (state.has_content()) to.insert(state.content);
}

/// Which contents somebody else than the agent has made, as a reader of the journal meets them.
class makers {
public:
  /// In the order in which they happened. What was there before an agent's first change is not
  /// the agent's.
  void take(const journal_record& record, content_set& of_others) {
    for (const transition& each : record.transitions) {
      maker& of = paths_[each.path];
      if (!of.is_agents) add(of_others, each.before);
      of.had_others = of.had_others || (!of.is_agents && each.before.exists());
      of.is_agents = record.by != author::other;
    }
  }
  /// What is there now is the agent's, and nothing of others was there, so that nothing of theirs
  /// has to take its place again.
  [[nodiscard]] bool is_agents_alone(std::string_view path) const {
    const auto found = paths_.find(path);
    return found != paths_.end() && found->second.is_agents && !found->second.had_others;
  }

private:
  struct maker {
    bool is_agents = false, had_others = false;
  };
  std::map<std::string, maker, std::less<>> paths_;
};

/// Without what is not kept any more.
void trim(known_state& state, const content_set& live) {
  if (!state.has_content() || live.contains(state.content)) return;
  state.held = holding::over_budget;
  state.content = {};
}

/// What the workspace has, as records that a reader of the journal takes in at once.
result<void> put_index(const file_index& index, const journal::put& put) {
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  result<void> done;
  const auto flush = [&] {
    if (done && !seen.transitions.empty()) done = put(seen);
    seen.transitions.clear();
  };
  index.for_each_beneath("", [&](std::string_view path, const known_state& state) {
    seen.transitions.push_back({.path = std::string(path), .after = state});
    if (seen.transitions.size() == transitions_max) flush();
  });
  flush();
  return done;
}

} // namespace

/// Not beyond the start of this object, or the last start of another one, nor beyond that of any
/// that lives.
std::size_t store::impl::last_to_keep() const {
  std::size_t last = 0;
  for (std::size_t i = 0; i < checkpoints.size(); ++i)
    if (checkpoints[i].what.number == start || (start == 0 && checkpoints[i].what.is_start))
      last = i;
  for (const std::uint64_t living : marks.living_starts()) {
    const auto found = std::ranges::find(
        checkpoints, living, [](const placed_checkpoint& each) { return each.what.number; });
    if (found != checkpoints.end())
      last = std::min(last, static_cast<std::size_t>(found - checkpoints.begin()));
  }
  return last;
}

std::size_t store::impl::first_kept() const {
  const std::size_t last = last_to_keep();
  // A clock that was set ahead makes nothing old: what counts is the newest that was there before
  // this start. Where that one was made with such a clock, no more than half goes at a time.
  const std::int64_t newest_ms =
      last == 0 ? now_ms() : std::min(now_ms(), checkpoints[last - 1].what.time_ms);
  const auto days = static_cast<std::int64_t>(std::min<std::uint64_t>(how.age_days_max, 36'500));
  const std::int64_t oldest_ms = newest_ms - days * day_ms;
  const std::size_t most = std::max<std::size_t>(how.checkpoints_max, 1);
  std::size_t first = 0;
  while (first < (last + 1) / 2 && checkpoints[first].what.time_ms < oldest_ms)
    ++first;
  while (first < last && checkpoints.size() - first > most)
    ++first;
  return first;
}

bool store::impl::is_too_long() const {
  constexpr std::uint64_t entry_bytes = 256; // more than the journal needs to say what is there
  const std::uint64_t most = log.end() + journal_room(kept_for::all);
  return log.end() > most - most / 4 ||
         log.end() > journal_bytes_wanted + entry_bytes * index.size();
}

bool store::impl::is_too_large() const {
  const std::uint64_t wanted = how.store_bytes_max - how.store_bytes_max / 4;
  if (store_bytes <= wanted) return false;
  // What the workspace has now stays, whatever goes.
  content_set now;
  index.for_each_beneath("", [&](std::string_view, const known_state& state) { add(now, state); });
  std::uint64_t staying = 0;
  for (const content_id& each : now)
    staying += packs.size_of(each);
  return store_bytes > staying + how.store_bytes_max / 8;
}

result<gc_outcome> store::impl::sweep_out(sweep how_much, const work_bounds& bounds) {
  gc_outcome out{.bytes_before = store_bytes, .bytes_after = store_bytes};
  const std::size_t first = first_kept();
  const bool is_wanted =
      how_much == sweep::all || first != 0 || log.has_gap() || is_too_long() || is_too_large();
  if (!is_wanted || checkpoints.empty()) return out;
  PADDOCK_CHECK(sweep_from(first, bounds));
  out.checkpoints_dropped = first;
  // What the agent has written over itself goes before anything that others would miss.
  if (is_too_large()) PADDOCK_CHECK(sweep_from(0, bounds, keeping::without_agents_past));
  // Half of what is left goes then: which checkpoint needs how much is not known beforehand.
  if (const std::size_t half = (last_to_keep() + 1) / 2;
      half != 0 && (is_too_long() || is_too_large())) {
    PADDOCK_CHECK(sweep_from(half, bounds));
    out.checkpoints_dropped += half;
  }
  out.bytes_after = store_bytes;
  return out;
}

result<void> store::impl::sweep_from(std::size_t first, const work_bounds& bounds, keeping what) {
  PADDOCK_CHECK(bounds.check());
  PADDOCK_CHECK(packs.sync()); // what the new journal names is on the disk before it
  const std::uint64_t offset = checkpoints[first].offset;
  content_set live;
  makers made;
  const auto add_all = [&](const journal_record& record, std::uint64_t at) {
    if (const auto found = lost.find(at); found != lost.end())
      for (const transition& each : found->second.transitions)
        add(live, each.before);
    if (record.kind == record_kind::seen) return true;
    if (what != keeping::all) {
      made.take(record, live);
      return true;
    }
    for (const transition& each : record.transitions) {
      add(live, each.before);
      add(live, each.after);
    }
    return true;
  };
  PADDOCK_CHECK(log.read_from(offset, add_all, bounds));
  index.for_each_beneath("", [&](std::string_view path, const known_state& state) {
    if (what != keeping::others || !made.is_agents_alone(path)) add(live, state);
  });
  const auto is_live = [&](const content_id& id) { return live.contains(id); };
  PADDOCK_TRY(const journal_record past, past_of_agents(*this, offset, is_live));
  const auto put_all = [&](const journal::put& put_one) -> result<void> {
    if (!past.transitions.empty()) PADDOCK_CHECK(put_one(past));
    const auto put = [&](const journal_record& record) -> result<void> {
      PADDOCK_CHECK(bounds.check());
      if (what == keeping::all) return put_one(record);
      journal_record trimmed = record;
      for (transition& each : trimmed.transitions) {
        trim(each.before, live);
        trim(each.after, live);
      }
      return put_one(trimmed);
    };
    result<void> done;
    PADDOCK_CHECK(log.read_from(offset, [&](const journal_record& record, std::uint64_t at) {
      if (const auto found = lost.find(at); found != lost.end()) done = put(found->second);
      const bool is_said = record.kind == record_kind::seen; // by the index, at the end
      if (done && !is_said) done = put(record);
      return done.has_value();
    }));
    if (done) done = put_index(index, put);
    return done;
  };
  const auto replace = [&] { return log.replace(all_room(), put_all); };
  result<void> done = replace();
  // The new journal is beside the old one for a moment. Without room for both, packs go first.
  if (!done && done.error().code == error_code::no_space) {
    done = packs.rewrite(is_live, 0, bounds);
    store_bytes = directory.bytes();
    if (done) done = replace();
  }
  store_bytes = directory.bytes();
  if (done) done = packs.rewrite(is_live, room(), bounds);
  if (!done && is_ended(done.error())) store_bytes = directory.bytes();
  packs.forget();
  PADDOCK_CHECK(catch_up(use::work, bounds)); // everything is read again, as others do it
  return done;
}

result<void> store::impl::make_room(const work_bounds& bounds) {
  constexpr std::int64_t pause_ms = 60'000;
  const std::int64_t now = sys::monotonic_ms();
  is_full = false;
  if (now < next_sweep_ms) return {};
  result<void> swept;
  if (const auto usual = sweep_out(sweep::if_needed, bounds); !usual) swept = usual.error();
  // What others had must find room, whatever the agent has put there.
  if (swept && room() < how.store_bytes_max / 8 && !checkpoints.empty())
    swept = sweep_from(0, bounds, keeping::others);
  is_full = !swept && is_ended(swept.error());
  if (is_full) return swept.error();
  next_sweep_ms = now + pause_ms;
  if (!swept) complain(swept.error());
  return {};
}

result<gc_outcome> store::collect_garbage(const work_bounds& bounds) {
  const impl::guard held(*impl_, impl::use::work, bounds);
  PADDOCK_CHECK(held.ready());
  PADDOCK_TRY(const gc_outcome done, impl_->sweep_out(impl::sweep::all, bounds));
  impl_->log.forget_damage();
  return done;
}

result<verify_outcome> store::verify() {
  const impl::guard held(*impl_, impl::use::reading);
  PADDOCK_CHECK(held.ready());
  verify_outcome out;
  const auto damaged = [&](std::string text) {
    if (out.damaged.size() < damaged_max) out.damaged.push_back(std::move(text));
  };
  if (impl_->log.was_damaged()) damaged(damage_notice);
  content_set bad;
  for (const located_content& at : impl_->packs.all()) {
    ++out.contents;
    const auto header = impl_->packs.described(at);
    if (header) out.bytes += header->size;
    if (header && impl_->packs.read(at, *header)) continue;
    if (header) bad.insert(header->id);
    damaged(header ? "content " + hex_of(header->id) + " cannot be read"
                   : "a content of pack " + std::to_string(at.pack) + " cannot be read");
  }
  const auto look = [&](const std::string& path, const known_state& state) {
    if (!state.has_content() || bad.contains(state.content)) return;
    if (!impl_->packs.has(state.content)) damaged(path + ": what it held is missing");
  };
  impl_->index.for_each_beneath(
      "", [&](std::string_view path, const known_state& state) { look(std::string(path), state); });
  if (impl_->checkpoints.empty()) return out;
  const auto count = [&](const journal_record& record, std::uint64_t) {
    if (record.kind != record_kind::operation) return true;
    ++out.operations;
    for (const transition& each : record.transitions)
      look(each.path, each.before);
    return true;
  };
  PADDOCK_CHECK(impl_->log.read_from(impl_->checkpoints.front().offset, count));
  return out;
}

} // namespace paddock::history
