// SPDX-License-Identifier: MIT
#include "history/change_sets.hpp"
#include "history/path_tops.hpp"

#include <paddock/history/naming.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::size_t left_out_max = 200;
constexpr std::size_t event_paths_max = 100;

change_kind kind_of(const path_change& each) {
  if (!each.before.exists()) return change_kind::created;
  if (!each.after.exists()) return change_kind::deleted;
  return each.before.same_content(each.after) ? change_kind::mode : change_kind::modified;
}

/// Whether anybody would call it a change: a time alone is none, and directories have new ones
/// whenever what is in them changes.
bool is_told(const store::impl& of, const path_changes& all, const std::string& path,
             const path_change& each) {
  return !each.before.same_but_for_time(each.after) &&
         !is_refresh(of, all, path, each.before, each.after);
}

/// What is told of one path, or of all in a directory: little, for there may be a million of them.
struct told_change {
  const path_changes::value_type* first = nullptr; ///< of a `.git`, what was met first in it
  const path_changes::value_type* last = nullptr;  ///< of a `.git`, what was changed last in it
  change_kind kind = change_kind::modified;
  bool also_other = false;
  holding restorable = holding::held; ///< of what is told with it
  std::uint64_t files = 1;
  std::string_view git{}; ///< the path of a `.git` that is told as one
};

class teller {
public:
  teller(const store::impl& of, const path_changes& all, const path_tops& asked)
      : of_(of), all_(all), asked_(asked) {}

  /// In the order of their paths. They refer to `all`. Errors: those of the bounds.
  [[nodiscard]] result<std::vector<told_change>> tell(const change_query& query) {
    const bool collapse = query.collapse;
    moved_from_ = moves_in(all_);
    for (const auto& [to, from] : moved_from_)
      moved_away_.insert(from);
    std::vector<told_change> out;
    for (const auto& entry : all_) {
      PADDOCK_CHECK(query.bounds.check());
      const auto& [path, each] = entry;
      if (!is_told(of_, all_, path, each) || moved_away_.contains(path)) continue;
      if (query.moves_as_one && is_moved_along(path)) continue;
      if (const auto git = query.git_as_one ? git_around(path) : std::string_view(); is_old(git)) {
        add_to_git(out, git, entry);
        continue;
      }
      // What came from elsewhere is told, also where the directory around it is new.
      if (collapse && !moved_from_.contains(path))
        if (told_change* whole = find_whole(out, path, each)) {
          if (!is_directory(each)) ++whole->files;
          if (whole->restorable == holding::held) whole->restorable = replaceable(of_, each);
          continue;
        }
      const bool is_moved = moved_from_.contains(path);
      out.push_back(
          {.first = &entry, .last = &entry, .kind = is_moved ? change_kind::moved : kind_of(each)});
      if (!collapse || !is_directory(each) || !is_whole(out.back().kind)) continue;
      if (asked_.has_beneath(path)) continue; // what lies in it is asked for by itself
      out.back().files = 0;
      whole_[path] = out.size() - 1;
    }
    return out;
  }

  [[nodiscard]] bool is_meant(const told_change& told) const {
    const std::string_view path = told.git.empty() ? told.first->first : told.git;
    if (asked_.mean(path)) return true;
    return told.kind == change_kind::moved &&
           asked_.cover(moved_from_.find(told.first->first)->second);
  }

  [[nodiscard]] change make(const told_change& told) const {
    change out = make(told.first->first, told.first->second);
    out.files = told.files;
    if (out.restorable == holding::held) out.restorable = told.restorable;
    if (told.git.empty()) return out;
    out.path = told.git;
    out.kind = change_kind::modified;
    out.entry = entry_kind::directory;
    out.from.clear();
    out.before = out.after = of_.told(of_.index.find(out.path));
    out.also_other = told.also_other;
    out.restorable = told.restorable;
    const path_change& last = told.last->second;
    out.by = last.last.by;
    out.tool = last.last.tool;
    out.command = last.last.command;
    out.time_ms = last.time_ms;
    return out;
  }

private:
  /// Whether it was there and is: what is wholly new or gone is one change by itself.
  [[nodiscard]] bool is_old(std::string_view git) const {
    if (git.empty()) return false;
    const auto found = all_.find(git);
    if (found == all_.end()) return of_.index.find(git).exists();
    return found->second.before.exists() && found->second.after.exists();
  }
  void add_to_git(std::vector<told_change>& out, std::string_view git,
                  const path_changes::value_type& entry) {
    const path_change& each = entry.second;
    const auto [at, is_first] = in_git_.try_emplace({git, each.last.by}, out.size());
    if (is_first) {
      const change first = make(entry.first, each);
      out.push_back({.first = &entry,
                     .last = &entry,
                     .also_other = first.also_other,
                     .restorable = first.restorable,
                     .files = 0,
                     .git = git});
    }
    told_change& whole = out[at->second];
    if (!is_directory(each)) ++whole.files;
    whole.also_other = whole.also_other || each.other_since;
    if (whole.restorable == holding::held) whole.restorable = restorable(of_, each);
    if (each.time_ms >= whole.last->second.time_ms) whole.last = &entry;
  }

  static bool is_directory(const path_change& each) {
    return (each.after.exists() ? each.after.kind : each.before.kind) == known_kind::directory;
  }
  static bool is_whole(change_kind kind) {
    return kind == change_kind::created || kind == change_kind::deleted;
  }
  /// The directory above that is wholly new or gone as well, by the same author.
  told_change* find_whole(std::vector<told_change>& out, std::string_view path,
                          const path_change& each) {
    for (std::string_view above = parent_of(path); !above.empty(); above = parent_of(above)) {
      const auto found = whole_.find(above);
      if (found == whole_.end()) continue;
      told_change& whole = out[found->second];
      const bool is_same =
          whole.kind == kind_of(each) && whole.first->second.last.by == each.last.by;
      return is_same ? &whole : nullptr;
    }
    return nullptr;
  }

  /// The directory above it stands for it.
  [[nodiscard]] bool is_moved_along(const std::string& path) const {
    const auto found = moved_from_.find(path);
    if (found == moved_from_.end()) return false;
    const auto above = moved_from_.find(parent_of(path));
    return above != moved_from_.end() && last_of(path) == last_of(found->second) &&
           parent_of(found->second) == above->second && !asked_.has_beneath(above->first) &&
           !asked_.has_beneath(above->second);
  }

  change make(const std::string& path, const path_change& each) const {
    change out;
    out.path = path;
    out.kind = kind_of(each);
    out.entry = entry_kind_of(each.after.exists() ? each.after.kind : each.before.kind);
    out.by = each.last.by;
    out.tool = each.last.tool;
    out.command = each.last.command;
    out.time_ms = each.time_ms;
    out.also_other = each.other_since;
    out.restorable = replaceable(of_, each);
    out.before = of_.told(each.before);
    out.after = of_.told(each.after);
    if (const auto from = moved_from_.find(path); from != moved_from_.end()) {
      out.kind = change_kind::moved;
      out.from = from->second;
      const path_change& old = all_.find(from->second)->second;
      out.restorable = restorable(of_, old);
      out.before = of_.told(old.before);
      out.also_other = out.also_other || old.other_since;
    }
    return out;
  }

  const store::impl& of_;
  const path_changes& all_;
  const path_tops& asked_;
  moves_by_place moved_from_; ///< by where it is now
  std::set<std::string, std::less<>> moved_away_;
  std::map<std::string, std::size_t, std::less<>> whole_; ///< where those directories are told
  std::map<std::pair<std::string_view, author>, std::size_t> in_git_; ///< and what is in a `.git`
};

/// What cannot be restored, an ignored directory as one, and what cannot be looked into.
class left_out_lister {
public:
  left_out_lister(const store::impl& of, const path_tops& asked, change_list& out)
      : of_(of), asked_(asked), out_(out) {}

  void list(const path_changes& all) {
    for (const std::string& path : of_.closed)
      if (asked_.mean(path)) add(path, of_.index.find(path).held);
    for (const auto& [path, each] : all)
      if (is_told(of_, all, path, each) && asked_.mean(path)) add(path, replaceable(of_, each));
  }

private:
  void add(const std::string& path, holding why) {
    if (why == holding::held) return;
    if (why != holding::ignored) return add({path, why, 1});
    if (!ignored_.empty() && is_in(path, ignored_)) {
      if (ignored_at_ < out_.left_out.size()) ++out_.left_out[ignored_at_].entries;
      return;
    }
    ignored_ = path;
    for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above))
      if (of_.index.find(above).is_ignored) ignored_ = above;
    ignored_at_ = out_.left_out.size();
    add({ignored_, why, 1});
  }
  void add(not_covered&& one) {
    ++out_.left_out_total;
    if (out_.left_out.size() < left_out_max) out_.left_out.push_back(std::move(one));
  }

  const store::impl& of_;
  const path_tops& asked_;
  change_list& out_;
  std::string ignored_; ///< the top of what was met last
  std::size_t ignored_at_ = 0;
};

} // namespace

result<change_list> store::changes(const change_query& query) {
  const impl::guard held(*impl_, impl::use::work, query.bounds);
  PADDOCK_CHECK(held.ready());
  if (query.look) {
    const auto looked = impl_->look_through(impl_->unannounced(), query.bounds);
    PADDOCK_CHECK(impl_->unless_full(looked));
  }
  PADDOCK_TRY(const placed_checkpoint* since, impl_->find(query.since));
  PADDOCK_TRY(const path_changes all,
              changes_since(*impl_, since->offset, {.who = query.by, .bounds = query.bounds}));
  change_list out;
  out.since = since->what.number;
  out.running = impl_->commands_under_way();
  const path_tops asked(query.paths);
  teller tells(*impl_, all, asked);
  PADDOCK_TRY(std::vector<told_change> told, tells.tell(query));
  std::erase_if(told, [&](const told_change& each) { return !tells.is_meant(each); });
  out.total = told.size();
  const std::size_t begin = std::min(query.offset, told.size());
  const std::size_t end = begin + std::min(query.limit, told.size() - begin);
  out.truncated = end < told.size();
  for (std::size_t i = begin; i < end; ++i)
    out.changes.push_back(tells.make(told[i]));
  left_out_lister(*impl_, asked, out).list(all);
  out.unknown = unknown_among(*impl_, all, query.paths);
  return out;
}

result<entry_state> store::state_at(std::uint64_t number, std::string_view path) {
  const impl::guard held(*impl_);
  PADDOCK_CHECK(held.ready());
  PADDOCK_TRY(const placed_checkpoint* at, impl_->find(number));
  if (impl_->hides(path)) return impl_->told({});
  known_state state = impl_->index.find(path);
  PADDOCK_CHECK(impl_->log.read_from(at->offset, [&](const journal_record& record, std::uint64_t) {
    if (record.kind != record_kind::operation) return true;
    const auto found = std::ranges::find(record.transitions, path, &transition::path);
    if (found == record.transitions.end()) return true;
    state = found->before;
    return false;
  }));
  return impl_->told(state);
}

result<std::vector<entry_state>> store::states_of(std::string_view path, std::size_t limit) {
  const impl::guard held(*impl_);
  PADDOCK_CHECK(held.ready());
  if (impl_->hides(path)) return std::vector<entry_state>();
  std::vector<known_state> met; // the newest last
  const auto add = [&](const known_state& state) {
    if (!state.exists()) return;
    std::erase_if(met, [&](const known_state& each) { return each.same_content(state); });
    met.push_back(state);
    if (met.size() > limit) met.erase(met.begin());
  };
  const std::uint64_t begin =
      impl_->checkpoints.empty() ? impl_->log.end() : impl_->checkpoints.front().offset;
  PADDOCK_CHECK(impl_->log.read_from(begin, [&](const journal_record& record, std::uint64_t) {
    if (record.kind != record_kind::operation) return true;
    for (const transition& each : record.transitions) {
      if (each.path != path) continue;
      add(each.before);
      add(each.after);
    }
    return true;
  }));
  if (met.empty()) add(impl_->index.find(path));
  std::vector<entry_state> out;
  for (auto each = met.rbegin(); each != met.rend(); ++each)
    out.push_back(impl_->told(*each));
  return out;
}

result<std::optional<std::string>> store::bytes_at(std::uint64_t number, std::string_view path) {
  PADDOCK_TRY(const entry_state state, state_at(number, path));
  if (state.kind != entry_kind::file || state.content.empty()) return std::optional<std::string>();
  PADDOCK_TRY(std::string bytes, content(state.content));
  return std::optional(std::move(bytes));
}

result<std::string> store::content(std::string_view name) {
  const auto id = content_id_of(name);
  if (!id) return error{error_code::not_found, 0, "history content"};
  const impl::guard held(*impl_);
  PADDOCK_CHECK(held.ready());
  return impl_->packs.read(*id);
}

result<std::vector<event>> store::events(std::uint64_t after, std::size_t limit) {
  const impl::guard held(*impl_);
  PADDOCK_CHECK(held.ready());
  std::vector<event> out;
  std::uint64_t offset =
      impl_->checkpoints.empty() ? impl_->log.end() : impl_->checkpoints.front().offset;
  for (const placed_checkpoint& each : impl_->checkpoints)
    if (each.what.number <= after) offset = each.offset;
  PADDOCK_CHECK(impl_->log.read_from(offset, [&](const journal_record& record, std::uint64_t) {
    if (record.kind == record_kind::seen || record.number <= after) return true;
    if (out.size() == limit) return false;
    event& each = out.emplace_back();
    each.number = record.number;
    each.time_ms = record.time_ms;
    each.by = record.by;
    each.tool = record.tool;
    each.command = record.command;
    if (record.kind == record_kind::checkpoint) each.checkpoint = record.number;
    std::set<std::string_view> repositories;
    for (const transition& step : record.transitions) {
      if (impl_->hides(step.path)) continue;
      const bool is_git = is_of_git(step.path);
      const auto git = git_around(step.path);
      const std::string_view told = git.empty() ? std::string_view(step.path) : git;
      if (is_git && !repositories.insert(told).second) continue;
      ++each.entries;
      if (each.paths.size() < event_paths_max) each.paths.emplace_back(told);
    }
    return true;
  }));
  return out;
}

} // namespace paddock::history
