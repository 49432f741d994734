// SPDX-License-Identifier: MIT

// To whom the steps of the journal count, and what can be brought back of them.

#include "history/change_sets.hpp"

#include "history/content_sum.hpp"
#include "history/git_keeping.hpp"

#include <map>
#include <utility>

namespace paddock::history {
namespace {

bool is_persons_undo(const journal_record& record) {
  return record.by == author::other && record.tool == persons_undo;
}

/// Whether a step is told apart from the agent's, for who asks.
bool is_of_others(const journal_record& record, author who) {
  return record.by == author::other && !(who == author::other && is_persons_undo(record));
}

/// What a person had a hand in stays theirs where an operation of the agent moves it.
void follow_moves(const journal_record& record, path_changes& all) {
  std::map<std::uint64_t, const transition*> gone; // a person's, by inode
  for (const transition& each : record.transitions) {
    const auto at = all.find(each.path);
    if (at != all.end() && each.before.exists() && !each.after.exists() &&
        (at->second.by_other || at->second.is_theirs))
      gone.emplace(each.before.inode, &each);
  }
  if (gone.empty()) return;
  for (const transition& each : record.transitions) {
    const auto from = gone.find(each.after.inode);
    if (!each.after.exists() || each.after.inode == each.before.inode || from == gone.end())
      continue;
    if (const auto to = all.find(each.path);
        to != all.end() && is_same_object(from->second->before, each.after))
      to->second.is_theirs = true;
  }
}

/// Whoever works in a directory gives it a new time: it is theirs no more than it was.
bool is_time_of_directory(const transition& step) {
  return step.before.kind == known_kind::directory && step.before.same_but_for_time(step.after);
}

/// Whether what others change is all theirs: the agent has only worked in a directory that they
/// give a mode, or only looked into a repository.
bool is_theirs_alone(const store::impl& of, const path_changes& all, const known_state& before,
                     const transition& step) {
  constexpr auto directory = known_kind::directory;
  if (step.before.kind == directory && step.after.kind == directory)
    return before.same_but_for_time(step.before) && !is_time_of_directory(step);
  return is_refresh(of, all, step.path, before, step.before);
}

/// Whether others have put a file back themselves: of the agent's work nothing is left there.
bool is_given_back(const path_change& each) {
  return each.other_since && each.after.is_content() && each.before.same_but_for_time(each.after);
}

/// Nothing there counts to the agent any more.
void drop_agents_share(path_change& of) {
  of.by_agent = of.by_tool = false;
  of.before = of.at_checkpoint;
}

/// What could not be read just now may be another content: the one before is still to come back.
bool is_back_at(const known_state& before, const known_state& now) {
  return before.same_as(now) && (now.has_content() || !before.has_content());
}

/// To whom a step counts, and what the agent has met.
void add_step(path_change& to, const transition& step, const journal_record& record,
              bool is_others) {
  const bool is_restore = is_of_restore(record.by, record.tool);
  // With a person's undo the agent's change is gone, whoever asks.
  const bool is_undone =
      is_restore && to.by_agent && !to.other_since && to.before.same_as(step.after);
  if (is_others && !is_undone) {
    // What others have in a directory that the agent has made is told of itself.
    if (to.by_agent && !to.before.exists() && is_time_of_directory(step)) return;
    to.by_other = true;
    to.other_since = to.by_agent;
    to.by_server = record.by != author::other ? cause_of(record) : cause();
    return;
  }
  if (!to.by_agent) to.before = step.before;
  to.by_agent = true;
  to.by_tool = to.by_tool || (record.by == author::tool && !is_restore);
  to.is_theirs = to.is_theirs && step.after.exists();
  // Back at the state before the agent's first change, or restored to the checkpoint: nobody's
  // change any more. A restore that is taken back may lead there, too: that is the agent's.
  const bool is_taken_back = to.by_work && to.is_of_restore;
  to.by_work = to.by_work || !is_restore;
  const bool is_restored = is_restore && !is_taken_back && is_back_at(to.at_checkpoint, step.after);
  if (!is_restored && (to.other_since || !is_back_at(to.before, step.after))) return;
  if (is_restored) {
    to.by_other = to.other_since = to.is_theirs = false;
    to.by_server = {};
  }
  drop_agents_share(to);
  to.last = to.by_server;
}

/// Whether with this step a person's undo is taken back, and all is the agent's as it was before.
bool give_back(path_change& to, const transition& step, const journal_record& record) {
  if (!is_persons_undo(record) || to.taken == nullptr || !step.after.same_as(to.taken->after))
    return false;
  const auto taken = std::move(to.taken);
  to.before = taken->before;
  to.last = taken->last;
  to.by_tool = taken->by_tool;
  to.by_work = taken->by_work;
  to.is_theirs = taken->is_theirs;
  to.by_agent = true;
  return true;
}

/// To whom a step counts, also where it is told of somebody else later.
void take_step(path_change& to, const transition& step, const journal_record& record,
               bool is_others) {
  if (give_back(to, step, record)) return;
  to.taken = nullptr;
  std::shared_ptr<const taken_back> taken;
  if (is_persons_undo(record) && to.by_agent)
    taken = std::make_shared<const taken_back>(taken_back{.before = to.before,
                                                          .after = step.before,
                                                          .last = to.last,
                                                          .by_tool = to.by_tool,
                                                          .by_work = to.by_work,
                                                          .is_theirs = to.is_theirs});
  if (!is_time_of_directory(step) || !(to.by_agent || to.by_other)) to.last = cause_of(record);
  add_step(to, step, record, is_others);
  to.is_of_restore = is_of_restore(record.by, record.tool);
  if (!to.by_agent) to.taken = std::move(taken);
}

} // namespace

bool is_of_restore(author by, std::string_view tool) {
  if (by == author::other) return tool == persons_undo;
  return by == author::tool && tool == "restore";
}

bool is_refresh(const store::impl& of, const path_changes& all, const std::string& path,
                const known_state& before, const known_state& after) {
  if (!before.has_content() || !after.has_content() || before.kind != after.kind ||
      before.mode != after.mode || !git_of_index(path, known_in(of, all)))
    return false;
  if (before.content == after.content) return true;
  const auto staged = of.staged_by(before.content);
  return staged && staged == of.staged_by(after.content);
}

result<path_changes> changes_since(const store::impl& of, std::uint64_t offset,
                                   const asked_by& asked) {
  path_changes all;
  const std::uint64_t own = asked.who == author::other ? 0 : of.own_server();
  const std::uint64_t own_start = of.offset_of_start();
  const auto add = [&](const journal_record& record, std::uint64_t at_offset) {
    if (record.kind != record_kind::operation) return true;
    const bool is_of_server =
        own != 0 && record.server != 0 && record.server != own && at_offset >= own_start;
    const bool is_others = is_of_server || is_of_others(record, asked.who);
    for (const transition& each : record.transitions) {
      if (of.hides(each.path)) continue;
      const auto [at, is_first] = all.try_emplace(each.path);
      path_change& to = at->second;
      if (is_first) to.at_checkpoint = to.before = each.before;
      const bool is_nobodys = is_others && is_refresh(of, all, each.path, each.before, each.after);
      if (is_first || !is_nobodys) to.time_ms = record.time_ms;
      if (is_nobodys) continue;
      if (is_others && to.by_agent && is_theirs_alone(of, all, to.before, each))
        drop_agents_share(to);
      take_step(to, each, record, is_others);
    }
    if (!is_others) follow_moves(record, all);
    return true;
  };
  PADDOCK_CHECK(of.log.read_from(offset, add, asked.bounds));
  // As it is now: what looks other than at its last change, with the same content, is known anew.
  for (auto& [path, each] : all) {
    PADDOCK_CHECK(asked.bounds.check());
    each.after = of.index.find(path);
    if (is_given_back(each)) {
      drop_agents_share(each);
      each.other_since = each.is_theirs = false;
    }
  }
  return all;
}

holding restorable(const store::impl& of, const path_change& each) {
  const known_state& wanted = each.before;
  switch (wanted.kind) {
  case known_kind::absent:
    return holding::held;
  case known_kind::directory:
    return each.after.kind != known_kind::directory && hides_content(wanted) ? wanted.held
                                                                             : holding::held;
  case known_kind::special:
    return each.after.kind == known_kind::special ? holding::held : holding::special;
  case known_kind::file:
  case known_kind::link:
    break;
  }
  if (each.after.kind == wanted.kind && wanted.same_content(each.after)) return holding::held;
  if (wanted.held != holding::held) return wanted.held;
  return of.packs.has(wanted.content) ? holding::held : holding::lost;
}

holding replaceable(const store::impl& of, const path_change& each) {
  if (const holding why = restorable(of, each); why != holding::held) return why;
  const known_state& now = each.after;
  const bool is_beyond = now.held == holding::too_large || now.held == holding::over_budget;
  const bool goes = now.is_content() && !each.before.same_content(now);
  return goes && is_beyond ? now.held : holding::held;
}

was_there known_in(const store::impl& of, const path_changes& all) {
  return
      [&](const std::string& path) { return of.index.find(path).exists() || all.contains(path); };
}

std::vector<std::string> unknown_among(const store::impl& of, const path_changes& all,
                                       const std::vector<std::string>& paths) {
  std::vector<std::string> unknown;
  for (const std::string& path : paths) {
    if (path.empty() || of.index.find(path).exists()) continue;
    const auto inside = all.lower_bound(path + '/');
    const bool was_in = inside != all.end() && is_in(inside->first, path);
    if (!all.contains(path) && !was_in) unknown.push_back(path);
  }
  return unknown;
}

std::optional<content_id> store::impl::staged_by(const content_id& index_file) const {
  const auto known = staged.find(index_file);
  if (known != staged.end()) return known->second;
  const auto bytes = packs.read(index_file);
  if (!bytes) return std::nullopt; // it may be read another time
  const auto said = staged_in(*bytes);
  return staged[index_file] = said ? std::optional(name_of(*said, directory.key())) : std::nullopt;
}

} // namespace paddock::history
