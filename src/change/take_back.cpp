// SPDX-License-Identifier: MIT

// A change that has failed is taken back. Nothing is removed that the change has not put there
// itself.

#include "change/change_run.hpp"
#include "file/change_observer.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <cstddef>

namespace paddock {
namespace {

error somebody_elses() {
  return {error_code::conflict, 0, "change"};
}

/// Whether somebody else was at it: then it is theirs.
bool is_somebody_elses(const error& e) {
  return e.code == error_code::conflict || e.code == error_code::already_exists ||
         e.code == error_code::not_found;
}

} // namespace

result<void> change_run::make() {
  auto made = log_ != nullptr ? log_->begin(plan_) : result<void>();
  if (made) made = stage_all();
  if (made && log_ != nullptr) {
    may_be_staged_ = true;
    made = log_->add_staged(staged_);
  }
  if (made) made = all_steps();
  if (made) {
    failed_of_ = {};
    failed_at_.clear();
    made = give_directories();
  }
  if (!made) return give_up(made.error());
  if (plan_.how.is_beside && is_observed()) report_all();
  is_clear_ = clear();
  // The next change removes what could not be removed.
  if (is_clear_ && log_ != nullptr) (void)log_->end().has_value();
  return {};
}

void report_plan(const change_plan& plan) {
  for (const change_step& step : plan.steps)
    report_unknown_change(step.path);
  for (const change_move& move : plan.moves) {
    report_unknown_change(move.now);
    report_unknown_change(move.home);
  }
}

/// Called before `clear` removes the displaced entries.
void change_run::report_all() {
  std::map<std::string_view, location> old; // by path
  for (const done& each : done_) {
    const bool is_aside = each.what == deed::set_aside;
    if (!is_aside && each.what != deed::exchanged) continue;
    auto at = place_aside_of(is_aside ? rest::aside : rest::staged, each.number);
    if (at) old[plan_.steps[each.number].path] = *std::move(at);
  }
  const auto report = [](const std::string& path, const location* before,
                         const entry_stamp& after) {
    std::optional<file_status> now;
    if (after.exists())
      now = file_status{.kind = *after.kind,
                        .mode = after.mode,
                        .size = after.size,
                        .device = after.device,
                        .inode = after.inode,
                        .modified_ns = after.modified_ns};
    report_change(path,
                  before == nullptr ? displaced_entry()
                                    : displaced_entry{before->directory, before->name.c_str()},
                  now);
  };
  for (const done& each : done_) {
    if (each.what != deed::moved) continue;
    const change_move& move = plan_.moves[each.number];
    const auto found = old.find(move.home);
    const auto in = held_.descriptor(each.in);
    const location there{in ? *in : -1, std::string(file_name(move.home))};
    report(move.now, found != old.end() ? &found->second : &there, {});
    report(move.home, nullptr, move.object);
  }
  for (const done& each : done_) {
    const bool is_content =
        each.what == deed::placed || each.what == deed::exchanged || each.what == deed::set_aside;
    if (!is_content) continue;
    const change_step& step = plan_.steps[each.number];
    if (each.what == deed::set_aside && step.brings_content())
      continue; // reported when it is placed
    const auto found = old.find(step.path);
    report(step.path, found != old.end() ? &found->second : nullptr,
           step.brings_content() ? staged_[each.number] : entry_stamp());
  }
}

error change_run::give_up(const error& why) {
  if (has_begun_) {
    take_back();
    finish_directories();
    if (const auto synced = sync_touched(); !synced && !torn_by_) torn_by_ = synced.error();
  }
  // A kill while clearing up must not have the rest completed.
  const bool is_marked = log_ == nullptr || !may_be_staged_ || log_->add_way_back().has_value();
  is_clear_ = clear();
  if (torn_by_) report_plan(plan_);
  if (torn_by_) return why;
  const bool is_ended = is_clear_ && (log_ == nullptr || log_->end().has_value());
  if (!is_marked && !is_ended) torn_by_ = why;
  return why;
}

void change_run::take_back() {
  for (auto each = done_.rbegin(); each != done_.rend(); ++each)
    take_back(*each);
}

void change_run::take_back(const done& each) {
  const std::size_t number = each.number;
  switch (each.what) {
  case deed::moved_out:
    return give_back(each, rest::moved, plan_.moves[number].now);
  case deed::moved_in:
    withdraw(each, rest::moved, plan_.moves[number].home, plan_.moves[number].object);
    return held_.follow(plan_.moves[number].home, plan_.moves[number].now);
  case deed::moved:
    return move_back(each);
  case deed::set_aside:
    return give_back(each, rest::aside, plan_.steps[number].path);
  case deed::placed:
    return withdraw(each, rest::staged, plan_.steps[number].path, staged_[number]);
  case deed::exchanged:
    return exchange_back(each);
  case deed::made:
  case deed::removed:
    return take_directory_back(each);
  case deed::attributes:
    return take_attributes_back(each);
  }
}

/// Works in the directory where the deed was done, wherever that is now.
void change_run::back(const done& each, const std::string& path, const in_directory& work) {
  const std::string name(file_name(path));
  for (;;) {
    const auto in = held_.descriptor(each.in);
    worked_in_ = each.in;
    if (!in) {
      astray_.push_back(path);
      if (!torn_by_) torn_by_ = in.error();
      return;
    }
    const auto worked = work(*in, name.c_str());
    if (worked || is_somebody_elses(worked.error())) return;
    if (worked.error().code == error_code::permission_denied && widen(each.in)) continue;
    if (!torn_by_) torn_by_ = worked.error();
    return;
  }
}

/// Whether what was set aside within reach is as it came there.
bool change_run::is_untouched(rest kind, std::size_t number) {
  if (plan_.how.is_beside || staging_.is_out_of_reach()) return true;
  const auto then = aside_.find({kind, number});
  return then != aside_.end() && is_as(kind, number, then->second);
}

/// Whether the directory is where it was, or at a place where the step would be allowed, too. The
/// rules are asked about a move in any case.
bool change_run::may_return(const done& each, rest kind, const std::string& path) {
  if (kind == rest::moved)
    return rules_
        .check_coming(each.in, file_name(path), *plan_.moves[each.number].object.kind,
                      staging_.descriptor(), rest_name(kind, each.number))
        .has_value();
  const auto lies_at = held_.place_of(each.in);
  return !lies_at || *lies_at == held_.path(each.in) ||
         rules_.check_step(each.in, file_name(path), plan_.steps[each.number]);
}

/// To where it was, if nobody else has put something there.
void change_run::give_back(const done& each, rest kind, const std::string& path) {
  bool is_given = false;
  const auto copy = kind == rest::aside ? copies_.find(each.number) : copies_.end();
  back(each, path, [&](int in, const char* there) -> result<void> {
    if (copy != copies_.end()) {
      PADDOCK_CHECK(sys::link_nameless(copy->second.get(), in, there));
      is_given = true;
      return sys::set_modified(in, there, plan_.steps[each.number].present.modified_ns);
    }
    if (!is_untouched(kind, each.number) || !may_return(each, kind, path)) return somebody_elses();
    PADDOCK_TRY(const location from, place_aside_of(kind, each.number));
    auto moved = move_to_unused(from.directory, from.name.c_str(), in, there);
    // In two steps it has got a second name, and has the first one still.
    const auto is_second_name = [&] {
      const auto now = sys::status_at(in, there, AT_SYMLINK_NOFOLLOW);
      const auto aside = sys::status_at(from.directory, from.name.c_str(), AT_SYMLINK_NOFOLLOW);
      return now && aside && now->same_object(*aside);
    };
    if (!moved && moved.error().code == error_code::already_exists && is_second_name())
      moved = sys::unlinkat(from.directory, from.name.c_str(), 0);
    is_given = moved.has_value();
    return moved;
  });
  if (is_given) {
    resting_.erase({kind, each.number});
    return;
  }
  if (copy != copies_.end())
    (void)sys::link_nameless(copy->second.get(), staging_.descriptor(),
                             rest_name(kind, each.number).c_str());
  keep(kind, each.number, path);
}

/// A file set aside within reach may be gone by now: then it counts as astray, not as kept.
void change_run::keep(rest kind, std::size_t number, const std::string& path) {
  const auto at = place_aside_of(kind, number);
  const auto there = at ? sys::status_at(at->directory, at->name.c_str(), AT_SYMLINK_NOFOLLOW)
                        : result<file_status>(at.error());
  if (!there && there.error().code == error_code::not_found) return astray_.push_back(path);
  wanted_[rest_name(kind, number)] = path;
}

/// Takes away what this run has put there, and nothing else.
void change_run::withdraw(const done& each, rest kind, const std::string& path,
                          const entry_stamp& own) {
  back(each, path, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_there(in, there, own));
    PADDOCK_TRY(const location to, place_aside_of(kind, each.number));
    PADDOCK_CHECK(move_to_unused(in, there, to.directory, to.name.c_str()));
    resting_.emplace(kind, each.number);
    if (check_there(to.directory, to.name.c_str(), own)) return {};
    if (!move_to_unused(to.directory, to.name.c_str(), in, there))
      keep(kind, each.number, path); // somebody's, and somebody else's is there by now
    return {};
  });
}

/// What was there comes back, unless somebody has saved there meanwhile: then it is kept.
void change_run::exchange_back(const done& each) {
  const std::size_t number = each.number;
  const std::string& path = plan_.steps[number].path;
  bool is_back = false, is_gone = false;
  back(each, path, [&](int in, const char* there) -> result<void> {
    if (const auto is_own = check_there(in, there, staged_[number]); !is_own) {
      is_gone = is_own.error().code == error_code::not_found;
      return is_own;
    }
    if (!is_untouched(rest::staged, number) || !may_return(each, rest::staged, path))
      return somebody_elses();
    PADDOCK_TRY(const location old, place_aside_of(rest::staged, number));
    const auto exchange = [&] {
      return sys::renameat2(old.directory, old.name.c_str(), in, there, RENAME_EXCHANGE);
    };
    PADDOCK_CHECK(exchange());
    is_back = check_there(old.directory, old.name.c_str(), staged_[number]).has_value();
    if (is_back) return {};
    (void)exchange();
    return somebody_elses();
  });
  if (is_gone) return give_back(each, rest::staged, path);
  if (!is_back) keep(rest::staged, number, path);
}

void change_run::move_back(const done& each) {
  const change_move& move = plan_.moves[each.number];
  const std::string name(file_name(move.now));
  back(each, move.home, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_there(in, there, move.object));
    PADDOCK_CHECK(rules_.check_coming(each.from, name, *move.object.kind, in, there));
    PADDOCK_TRY(const int from, held_.descriptor(each.from));
    if (!held_.is_held(each.in)) return error{error_code::too_many, 0, held_operation};
    auto moved = move_to_unused(in, there, from, name.c_str());
    if (moved || moved.error().code != error_code::already_exists) return moved;
    PADDOCK_CHECK(check_there(from, name.c_str(), move.object));
    const auto now = sys::status_at(in, there, AT_SYMLINK_NOFOLLOW);
    if (now && now->links > 1) return sys::unlinkat(in, there, 0);
    return sys::renameat2(in, there, from, name.c_str(), 0);
  });
}

void change_run::take_directory_back(const done& each) {
  const change_step& step = plan_.steps[each.number];
  back(each, step.path, [&](int in, const char* name) -> result<void> {
    if (each.what == deed::made) {
      const bool is_known = std::ranges::count(made_, step.path, &known_directory::path) > 0;
      const auto now = sys::status_at(in, name, AT_SYMLINK_NOFOLLOW);
      if (is_known && !(now && is_own(each.number, *now))) return somebody_elses();
      (void)sys::unlinkat(in, name, AT_REMOVEDIR).has_value(); // others may have filled it
      return {};
    }
    PADDOCK_CHECK(sys::mkdirat(in, name, owner_all));
    PADDOCK_TRY(const auto id, held_.renew(step.path));
    touched_[id] = {
        .mode = step.present.mode, .modified_ns = step.present.modified_ns, .widened = true};
    return {};
  });
}

void change_run::take_attributes_back(const done& each) {
  const change_step& step = plan_.steps[each.number];
  entry_stamp given = each.before;
  given.modified_ns = step.wanted.modified_ns;
  back(each, step.path, [&](int in, const char* name) -> result<void> {
    // What somebody has saved has times of its own.
    if (!check_there(in, name, each.before)) PADDOCK_CHECK(check_there(in, name, given));
    if (step.wanted.kind != entry_kind::symlink) {
      PADDOCK_TRY(const auto fd, sys::openat(in, name, O_PATH | O_NOFOLLOW));
      PADDOCK_TRY(const auto opened, sys::status_at(fd.get(), ""));
      if (!each.before.same_object(stamp_of(opened))) return somebody_elses();
      PADDOCK_CHECK(sys::chmod_opened(fd.get(), each.before.mode));
    }
    return sys::set_modified(in, name, each.before.modified_ns);
  });
}

} // namespace paddock
