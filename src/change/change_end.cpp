// SPDX-License-Identifier: MIT

// Ends a change whose process was killed: finds out from the file system what it had done, then
// does the rest or takes it back.

#include "change/change_run.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>

namespace paddock {

bool may_pass(const error& e) {
  using enum error_code;
  constexpr std::array passing{io, no_space, too_many, timed_out, cancelled, root_gone};
  return std::ranges::find(passing, e.code) != passing.end();
}

result<change_run::end> change_run::resume(const change_record& killed) {
  is_end_ = true;
  made_ = killed.made;
  if (log_ != nullptr) log_->take_up(killed);
  if (!plan_.how.is_beside) {
    auto found = private_staging::find(root_, own_, plan_.staging);
    if (!found && found.error().code != error_code::not_found) return found.error();
    if (found) staging_ = *std::move(found);
  }
  if (plan_.how.keeps_directories)
    if (const auto top = sys::status_at(root_.descriptor(), ""))
      touched_[held_directories::top] = {.mode = top->mode, .modified_ns = top->modified_ns};
  if (!killed.is_staged) {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (plan_.steps[i].brings_content()) resting_.emplace(rest::staged, i);
    is_clear_ = clear();
    if (is_clear_ && log_ != nullptr) PADDOCK_CHECK(log_->end());
    return end::undone;
  }
  staged_ = killed.staged;
  has_begun_ = true;
  if (auto examined = examine(); !examined) {
    finish_directories();
    return examined.error();
  }
  bool goes_back = killed.goes_back;
  if (!goes_back) {
    auto done = all_steps();
    if (done) done = give_directories();
    if (!done && tries_again_ && may_pass(done.error())) {
      finish_directories();
      return done.error();
    }
    goes_back = !done;
    if (goes_back && log_ != nullptr)
      if (const auto marked = log_->add_way_back(); !marked && tries_again_) return marked.error();
  }
  if (goes_back) {
    take_back();
    finish_directories();
    if (torn_by_ && tries_again_ && may_pass(*torn_by_)) return *torn_by_;
    if (const auto synced = sync_touched(); !synced && tries_again_) return synced.error();
  }
  is_clear_ = clear();
  if (is_clear_ && log_ != nullptr) PADDOCK_CHECK(log_->end());
  return goes_back ? end::undone : end::finished;
}

bool change_run::is_allowed(const std::string& path, purpose wanted) const {
  return !plan_.how.asks_rules ||
         (!root_.is_protected(path) && root_.check_changeable(path, wanted).has_value());
}

/// Nothing if its directory is gone or has been replaced by another.
result<std::optional<entry_stamp>> change_run::look_at(const std::string& path) {
  std::optional<entry_stamp> none;
  PADDOCK_CHECK(bounds_.check());
  const auto once = [&]() -> result<std::optional<entry_stamp>> {
    PADDOCK_TRY(worked_in_, held_.look(std::string(parent(path))));
    PADDOCK_TRY(const int in, held_.descriptor(worked_in_));
    const auto status =
        sys::status_at(in, std::string(file_name(path)).c_str(), AT_SYMLINK_NOFOLLOW);
    if (status) return std::optional(stamp_of(*status));
    if (status.error().code == error_code::not_found) return std::optional(entry_stamp());
    return status.error();
  };
  auto seen = once();
  while (!seen && seen.error().code == error_code::permission_denied && widen_above(path))
    seen = once();
  is_reached_ = seen.has_value();
  if (seen || may_pass(seen.error())) return seen;
  // It lies in what is still to be made or to come, in the place of something else or of nothing.
  using enum error_code;
  const error_code why = seen.error().code;
  const bool is_absent = why == not_found || why == not_a_directory || why == symlink_loop;
  const bool is_to_come = is_absent && (makes_.contains(parent(path)) || brought_by(parent(path)));
  return is_to_come ? std::optional(entry_stamp()) : none;
}

result<entry_stamp> change_run::look_at(rest kind, std::size_t number) {
  if (!plan_.how.is_beside && !staging_) return entry_stamp();
  const auto at = place_aside_of(kind, number);
  if (!at && may_pass(at.error())) return at.error();
  if (!at) return entry_stamp();
  const auto status = sys::status_at(at->directory, at->name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status && status.error().code != error_code::not_found) return status.error();
  if (!status) return entry_stamp();
  resting_.emplace(kind, number);
  return stamp_of(*status);
}

/// Removes the temporary one of two names left by a rename in two steps.
result<void> change_run::drop(rest kind, std::size_t number) {
  PADDOCK_TRY(const location at, place_aside_of(kind, number));
  resting_.erase({kind, number});
  return sys::unlinkat(at.directory, at.name.c_str(), 0);
}

/// Adds a deed as the killed run would have noted it, and its place in the order of deeds. A deed
/// in a directory that cannot be reached is left out: it is not taken back.
void change_run::note_found(deed what, std::size_t number, held_directories::id in) {
  const bool is_of_move = what == deed::moved_out || what == deed::moved_in || what == deed::moved;
  if (!is_of_move && !is_reached_) return;
  touch(in);
  const auto at = static_cast<std::ptrdiff_t>(number);
  found_order order{3, {}, 2 * at};
  if (is_of_move) {
    order = {what == deed::moved_out ? 0 : 2, plan_.moves[number].home, 0};
  } else if (what == deed::made) {
    order = {2, plan_.steps[number].path, 0};
  } else if (what == deed::set_aside || what == deed::removed) {
    const change_step& step = plan_.steps[number];
    const auto by = brought_by(step.path);
    if (step.present.kind != step.wanted.kind)
      order =
          by ? found_order{2, plan_.moves[*by].home, PTRDIFF_MAX - at} : found_order{1, {}, -at};
    if (plan_.how.is_beside && !step.wanted.exists()) order = {4, {}, at};
  } else {
    ++std::get<2>(order);
  }
  found_.emplace_back(std::move(order), done{.what = what, .number = number, .in = in});
}

result<void> change_run::examine() {
  for (const change_step& each : plan_.steps) // what rests may have another name
    if (each.present.exists() && each.wanted.exists() &&
        (each.keeps_content || each.has_wanted_attributes))
      given_[each.present.inode] = each.wanted.modified_ns;
  for (std::size_t i = 0; i < plan_.moves.size(); ++i)
    PADDOCK_CHECK(examine_move(i));
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    PADDOCK_CHECK(examine_step(i));
  std::ranges::sort(found_, {}, [](const auto& each) { return each.first; });
  for (auto& [order, each] : found_)
    done_.push_back(each);
  found_.clear();
  return {};
}

result<void> change_run::examine_move(std::size_t number) {
  const change_move& move = plan_.moves[number];
  moves_[number] = progress::left;
  if (!is_allowed(move.now, purpose::change) || !is_allowed(move.home, purpose::change)) return {};
  PADDOCK_TRY(const auto now, look_at(move.now));
  const auto from = worked_in_;
  const bool has_from = is_reached_; // else it does not go back
  PADDOCK_TRY(const auto there, look_at(move.home));
  const auto in = worked_in_;
  const bool is_now = now && move.object.same_object(*now);
  const bool is_home = there && move.object.same_object(*there);
  if (is_now && is_home) { // two spellings of one name, or two names of a move in two steps
    PADDOCK_TRY(const int directory, held_.descriptor(from));
    const std::string name(file_name(move.now));
    PADDOCK_TRY(const auto status, sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
    moves_[number] = progress::to_do;
    if (status.links < 2 || move.object.is_directory()) return {};
    PADDOCK_CHECK(sys::unlinkat(directory, name.c_str(), 0));
  }
  if (is_home) {
    moves_[number] = progress::made;
    if (!has_from) return {};
    if (!plan_.how.is_beside) note_found(deed::moved_out, number, from);
    note_found(plan_.how.is_beside ? deed::moved : deed::moved_in, number, in);
    found_.back().second.from = from;
    touch(from);
    return {};
  }
  if (!plan_.how.is_beside) {
    PADDOCK_TRY(const auto out, look_at(rest::moved, number));
    if (move.object.same_object(out)) {
      moves_[number] = progress::to_do;
      aside_[{rest::moved, number}] = out;
      if (has_from) note_found(deed::moved_out, number, from);
      return {};
    }
  }
  if (is_now)
    moves_[number] = progress::to_do;
  else
    missing_.push_back(move.now);
  return {};
}

result<void> change_run::examine_step(std::size_t number) {
  const change_step& step = plan_.steps[number];
  const auto by = brought_by(step.path);
  if (by && moves_[*by] == progress::to_do) return {}; // nothing of it was made
  steps_[number] = progress::left;
  if (by && moves_[*by] == progress::left) return {}; // where that is by now, somebody has taken it
  if (!is_allowed(step.path, step.makes_directory() ? purpose::make_directory : purpose::change))
    return {};
  PADDOCK_TRY(const auto now, look_at(step.path));
  if (!now) return {};
  if (step.brings_content()) return examine_content(number, *now);
  if (step.makes_directory()) return examine_directory(number, *now);
  if (step.wanted.is_directory()) {
    if (step.present.same(*now)) steps_[number] = progress::made; // but for its attributes
    return {};
  }
  if (is_like(step.present, *now)) {
    steps_[number] = progress::to_do;
    PADDOCK_TRY(const auto aside, look_at(rest::aside, number));
    return aside.same_object(*now) ? drop(rest::aside, number) : result<void>();
  }
  if (step.wanted.exists()) return {}; // somebody has changed what was to get attributes
  const auto in = worked_in_;
  PADDOCK_TRY(const auto aside, look_at(rest::aside, number));
  const bool is_aside = is_like(step.present, aside);
  if (is_aside) aside_[{rest::aside, number}] = aside;
  if (is_aside || (step.present.is_directory() && !now->exists())) {
    steps_[number] = progress::made;
    note_found(is_aside ? deed::set_aside : deed::removed, number, in);
  }
  return {};
}

result<void> change_run::examine_directory(std::size_t number, const entry_stamp& now) {
  const change_step& step = plan_.steps[number];
  const auto in = worked_in_;
  if (now.is_directory()) {
    const auto id = held_.look(step.path);
    if (!id && may_pass(id.error())) return id.error();
    if (!id) return {};
    // Beside the files, somebody else's will do: then the record alone says which are its own.
    const file_status& there = held_.status(*id);
    const known_directory seen{step.path, there.device, there.inode};
    if (!plan_.how.is_beside && std::ranges::find(made_, seen) == made_.end())
      made_.push_back(seen);
    steps_[number] = progress::made;
    note_found(deed::made, number, in); // taken back only if it is empty
    return {};
  }
  if (now.exists() && !is_like(step.present, now)) return {};
  steps_[number] = progress::to_do;
  if (now.exists()) return {};
  present_[number] = {};
  PADDOCK_TRY(const auto aside, look_at(rest::aside, number));
  if (!is_like(step.present, aside)) return {};
  aside_[{rest::aside, number}] = aside;
  note_found(deed::set_aside, number, in);
  return {};
}

result<void> change_run::examine_content(std::size_t number, const entry_stamp& now) {
  const change_step& step = plan_.steps[number];
  const auto in = worked_in_;
  PADDOCK_TRY(auto ready, look_at(rest::staged, number));
  PADDOCK_TRY(auto aside, look_at(rest::aside, number));
  nameless_[number] = !staged_[number].exists();
  const bool has_come = nameless_[number]
                            ? step.wanted.kind == now.kind && step.wanted.size == now.size &&
                                  step.wanted.modified_ns == now.modified_ns
                            : is_like(staged_[number], now);
  if (ready.same_object(now)) {
    PADDOCK_CHECK(drop(rest::staged, number));
    ready = {};
  }
  if (aside.same_object(now)) {
    PADDOCK_CHECK(drop(rest::aside, number));
    aside = {};
  }
  const bool is_aside = is_like(step.present, aside);
  const bool is_removed = step.present.is_directory() && !now.is_directory();
  if (is_aside) aside_[{rest::aside, number}] = aside;
  if (is_aside || is_removed) {
    present_[number] = {};
    note_found(is_aside ? deed::set_aside : deed::removed, number, in);
  }
  if (has_come) {
    steps_[number] = progress::made;
    const bool is_exchanged = is_like(step.present, ready);
    if (is_exchanged) aside_[{rest::staged, number}] = ready;
    note_found(is_exchanged ? deed::exchanged : deed::placed, number, in);
    return {};
  }
  const bool can_come = nameless_[number] || is_like(staged_[number], ready);
  const bool is_free = !now.exists() && (!present_[number].exists() || nameless_[number]);
  if (can_come && (is_free || is_like(present_[number], now))) {
    if (is_free) present_[number] = {};
    steps_[number] = progress::to_do;
    return {};
  }
  // Its replacement is lost, so the old entry goes back.
  if (!is_aside || now.exists() || !is_reached_) return {};
  give_back(found_.back().second, rest::aside, step.path);
  found_.pop_back();
  return {};
}

} // namespace paddock
