// SPDX-License-Identifier: MIT

// The renames of a change. After each, the entry that came away is checked against the plan.

#include "change/change_run.hpp"
#include "file/attributes.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <cerrno>

namespace paddock {
namespace {

error other_entry() {
  return {error_code::conflict, 0, "change"};
}

bool lacks_exchange(const error& e) {
  return e.os_errno == EINVAL || e.os_errno == ENOSYS;
}

} // namespace

result<void> move_to_unused(int from_directory, const char* from, int to_directory,
                            const char* to) {
  auto done = sys::renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
  if (done || done.error().os_errno != EINVAL) return done;
  // A hard link does not replace anything either.
  PADDOCK_CHECK(sys::linkat(from_directory, from, to_directory, to, 0));
  return sys::unlinkat(from_directory, from, 0);
}

void change_run::note(deed what, std::size_t number, const entry_stamp& before) {
  done_.push_back({.what = what, .number = number, .in = worked_in_, .before = before});
}

/// The time may also be the one this change gave the file under another of its names.
bool change_run::is_like(const entry_stamp& seen, const entry_stamp& now) const {
  if (seen.same(now)) return true;
  const auto given = given_.find(seen.inode);
  return given != given_.end() && given->second == now.modified_ns && seen.same_object(now) &&
         seen.size == now.size;
}

result<void> change_run::check_there(int directory, const char* name,
                                     const entry_stamp& seen) const {
  PADDOCK_TRY(const auto status, sys::status_at(directory, name, AT_SYMLINK_NOFOLLOW));
  return is_like(seen, stamp_of(status)) ? result<void>() : other_entry();
}

/// Whether what rests there is the object that it is to be.
bool change_run::is_as(rest kind, std::size_t number, const entry_stamp& planned) {
  if (!planned.exists()) return false;
  const auto at = place_aside_of(kind, number);
  return at && check_there(at->directory, at->name.c_str(), planned).has_value();
}

/// Checks that the entry that came away is the planned one, and remembers it as it is now.
result<void> change_run::check_aside(rest kind, std::size_t number, const entry_stamp& seen) {
  PADDOCK_TRY(const location at, place_aside_of(kind, number));
  PADDOCK_TRY(const auto status,
              sys::status_at(at.directory, at.name.c_str(), AT_SYMLINK_NOFOLLOW));
  resting_.emplace(kind, number);
  aside_[{kind, number}] = stamp_of(status);
  return check_there(at.directory, at.name.c_str(), seen);
}

result<void> change_run::all_steps() {
  has_begun_ = true;
  const bool moves_directories = std::ranges::any_of(
      plan_.moves, [](const change_move& each) { return each.object.is_directory(); });
  if (moves_directories) {
    PADDOCK_TRY(moving_, directory_move::begin("change"));
  }
  PADDOCK_CHECK(move_out());
  PADDOCK_CHECK(build());
  const auto for_each = [&](const auto& is_meant, const auto& act) -> result<void> {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (steps_[i] == progress::to_do && is_meant(i)) PADDOCK_CHECK(act(i));
    return {};
  };
  PADDOCK_CHECK(
      for_each([&](std::size_t i) { return plan_.steps[i].brings_content() && !nameless_[i]; },
               [&](std::size_t i) { return put(i); }));
  PADDOCK_CHECK(for_each([&](std::size_t i) { return bool{nameless_[i]}; },
                         [&](std::size_t i) { return put_nameless(i); }));
  // Late: attributes show at a file's other names too, which then are no longer as planned.
  PADDOCK_CHECK(for_each([&](std::size_t i) { return plan_.steps[i].keeps_content; },
                         [&](std::size_t i) { return give_attributes(i); }));
  return for_each(
      [&](std::size_t i) { return present_[i].exists() && !plan_.steps[i].wanted.exists(); },
      [&](std::size_t i) { return take_away(i); });
}

result<void> change_run::move_out() {
  bool is_any = false;
  for (std::size_t i = 0; i < plan_.moves.size() && !plan_.how.is_beside; ++i) {
    const change_move& move = plan_.moves[i];
    if (moves_[i] != progress::to_do || resting_.contains({rest::moved, i})) continue;
    at_move(i);
    const std::string name = rest_name(rest::moved, i);
    const auto ask = [&](auto in, auto now) {
      return rules_.check_leaving(in, now, *move.object.kind);
    };
    PADDOCK_CHECK(in_parent(move.now, ask, [&](int in, const char* now) -> result<void> {
      if (moving_) PADDOCK_CHECK(moving_->check(root_.status(), move.now));
      PADDOCK_CHECK(check_there(in, now, move.object));
      const auto out = [&] {
        return sys::renameat2(in, now, staging_.descriptor(), name.c_str(), RENAME_NOREPLACE);
      };
      const auto moved = out();
      if (moved || moved.error().code != error_code::permission_denied ||
          !move.object.is_directory())
        return moved;
      // A directory names the one above it, so it is written to, too.
      const auto id = held_.look(move.now);
      return id && widen(*id) ? out() : moved;
    }));
    note(deed::moved_out, i);
    is_any = true;
    // Another entry may have got the name just before the rename.
    PADDOCK_CHECK(check_aside(rest::moved, i, move.object));
  }
  return is_any && plan_.how.is_durable ? sys::fsync(staging_.descriptor()) : result<void>();
}

result<void> change_run::move_in(std::size_t number) {
  if (moves_[number] != progress::to_do) return {};
  if (plan_.how.is_beside) return move_directly(number);
  at_move(number);
  const change_move& move = plan_.moves[number];
  const std::string name = rest_name(rest::moved, number);
  const auto ask = [&](auto in, auto there) {
    return rules_.check_coming(in, there, *move.object.kind, staging_.descriptor(), name);
  };
  PADDOCK_CHECK(in_parent(move.home, ask, [&](int in, const char* there) -> result<void> {
    PADDOCK_TRY(const auto now,
                sys::status_at(staging_.descriptor(), name.c_str(), AT_SYMLINK_NOFOLLOW));
    if (!move.object.same_object(stamp_of(now))) return other_entry();
    return sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_NOREPLACE);
  }));
  note(deed::moved_in, number);
  moves_[number] = progress::made;
  resting_.erase({rest::moved, number});
  held_.follow(move.now, move.home);
  // On disk before anything in it is removed.
  return plan_.how.is_durable && syncs_each() ? sys::fsync(staging_.descriptor()) : result<void>();
}

/// Moves a file or link in one step, so that it always has a name.
result<void> change_run::move_directly(std::size_t number) {
  at_move(number);
  const change_move& move = plan_.moves[number];
  const std::string name(file_name(move.now));
  PADDOCK_TRY(const auto from, held_.look(std::string(parent(move.now))));
  PADDOCK_CHECK(rules_.check_leaving(from, name, *move.object.kind));
  touch(from);
  const auto ask = [&](auto in, auto there) -> result<void> {
    PADDOCK_TRY(const int now, held_.descriptor(from));
    return rules_.check_coming(in, there, *move.object.kind, now, name);
  };
  PADDOCK_CHECK(in_parent(move.home, ask, [&](int in, const char* there) -> result<void> {
    PADDOCK_TRY(const int now, held_.descriptor(from));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    PADDOCK_CHECK(check_there(now, name.c_str(), move.object));
    auto moved = move_to_unused(now, name.c_str(), in, there);
    if (moved && !check_there(in, there, move.object)) { // somebody else's, exchanged just now
      (void)move_to_unused(in, there, now, name.c_str());
      return other_entry();
    }
    if (moved || moved.error().code != error_code::already_exists) return moved;
    // Another spelling of its name is the same file.
    PADDOCK_CHECK(check_there(in, there, move.object));
    return sys::renameat2(now, name.c_str(), in, there, 0);
  }));
  note(deed::moved, number);
  done_.back().from = from;
  moves_[number] = progress::made;
  PADDOCK_TRY(const int in, held_.descriptor(worked_in_));
  return check_there(in, std::string(file_name(move.home)).c_str(), move.object);
}

/// The steps that remove something, by the move they lie beneath; the last list is for those
/// beneath none. Entries come before the directory they are in.
std::vector<std::vector<std::size_t>> change_run::find_what_goes() const {
  std::vector<std::vector<std::size_t>> out(plan_.moves.size() + 1);
  for (std::size_t i = plan_.steps.size(); i-- > 0;) {
    const change_step& step = plan_.steps[i];
    if (steps_[i] != progress::to_do || !present_[i].exists()) continue;
    if (plan_.how.is_beside && !step.wanted.exists()) continue; // removed last
    if (present_[i].kind != step.wanted.kind)
      out[brought_by(step.path).value_or(plan_.moves.size())].push_back(i);
  }
  return out;
}

result<void> change_run::take_away(const std::vector<std::size_t>& steps) {
  for (const std::size_t each : steps)
    PADDOCK_CHECK(take_away(each));
  return {};
}

/// Finishes moves and makes directories, in the order of their paths, because each may be the
/// parent of the other. After a move, what is to be removed beneath it is removed.
result<void> change_run::build() {
  const auto goes = find_what_goes();
  PADDOCK_CHECK(take_away(goes.back()));
  auto next = homes_.begin();
  std::size_t written = made_.size();
  const auto write_down = [&]() -> result<void> {
    const std::size_t first = std::exchange(written, made_.size());
    return first < written ? write_down_made(first) : result<void>();
  };
  const auto move_in_before = [&](const std::string* path) -> result<void> {
    for (; next != homes_.end() && (path == nullptr || next->first < *path); ++next) {
      PADDOCK_CHECK(write_down());
      PADDOCK_CHECK(move_in(next->second));
      PADDOCK_CHECK(take_away(goes[next->second]));
    }
    return {};
  };
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (!plan_.steps[i].makes_directory() || steps_[i] != progress::to_do) continue;
    PADDOCK_CHECK(move_in_before(&plan_.steps[i].path));
    PADDOCK_CHECK(make_directory(i));
  }
  PADDOCK_CHECK(move_in_before(nullptr));
  return write_down();
}

/// Syncs and records new directories before anything is put into them, or a power cut could lose
/// the directory with its content.
result<void> change_run::write_down_made(std::size_t first) {
  std::set<held_directories::id> above;
  for (std::size_t i = first; i < made_.size(); ++i) {
    PADDOCK_TRY(const auto in, held_.look(std::string(parent(made_[i].path))));
    above.insert(in);
  }
  if (plan_.how.is_durable && !syncs_each()) PADDOCK_CHECK(sync_all());
  if (plan_.how.is_durable && syncs_each())
    for (const held_directories::id each : above)
      PADDOCK_CHECK(sync(each));
  return log_ != nullptr ? log_->add_made(made_) : result<void>();
}

result<void> change_run::make_directory(std::size_t number) {
  at_step(number);
  const change_step& step = plan_.steps[number];
  const unsigned mode = plan_.how.keeps_directories ? owner_all : 0777;
  const auto made =
      in_parent_of(step, [&](int in, const char* name) { return sys::mkdirat(in, name, mode); });
  steps_[number] = progress::made;
  const bool is_there = !made && made.error().code == error_code::already_exists;
  // Another process, or the killed one, has made it meanwhile.
  if (is_there && (plan_.how.is_beside || is_end_)) {
    PADDOCK_CHECK(held_.look(step.path));
    return {};
  }
  PADDOCK_CHECK(made);
  note(deed::made, number);
  PADDOCK_TRY(const auto id, held_.look_at_new(step.path));
  made_.push_back({step.path, held_.status(id).device, held_.status(id).inode});
  return {};
}

result<void> change_run::take_away(std::size_t number) {
  at_step(number);
  const change_step& step = plan_.steps[number];
  const bool is_directory = present_[number].is_directory();
  file_descriptor copy;
  PADDOCK_CHECK(in_parent_of(step, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_there(in, there, present_[number]));
    if (is_directory) return sys::unlinkat(in, there, AT_REMOVEDIR);
    if (present_[number].kind == entry_kind::file && is_exposed(step.path)) {
      PADDOCK_TRY(copy, nameless_copy(in, there, present_[number]));
    }
    PADDOCK_TRY(const location aside, place_aside_of(rest::aside, number));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    return move_to_unused(in, there, aside.directory, aside.name.c_str());
  }));
  note(is_directory ? deed::removed : deed::set_aside, number);
  const entry_stamp was = std::exchange(present_[number], {});
  if (!step.wanted.exists()) steps_[number] = progress::made;
  if (is_directory) return {};
  PADDOCK_CHECK(check_aside(rest::aside, number, was));
  if (!copy) return {};
  copies_.emplace(number, std::move(copy));
  resting_.erase({rest::aside, number});
  return sys::unlinkat(staging_.descriptor(), rest_name(rest::aside, number).c_str(), 0);
}

result<void> change_run::put(std::size_t number) {
  at_step(number);
  const change_step& step = plan_.steps[number];
  {
    // A command may have replaced it if it can reach it.
    PADDOCK_TRY(const location ready, place_aside_of(rest::staged, number));
    PADDOCK_CHECK(check_there(ready.directory, ready.name.c_str(), staged_[number]));
  }
  if (present_[number].exists()) {
    PADDOCK_TRY(const bool is_exchanged, exchange(number));
    if (is_exchanged) return check_aside(rest::staged, number, step.present);
    if (plan_.how.is_beside) return put_over(number);
    PADDOCK_CHECK(take_away(number));
  }
  PADDOCK_CHECK(in_parent_of(step, [&](int in, const char* there) -> result<void> {
    PADDOCK_TRY(const location ready, place_aside_of(rest::staged, number));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    return move_to_unused(ready.directory, ready.name.c_str(), in, there);
  }));
  note(deed::placed, number);
  steps_[number] = progress::made;
  resting_.erase({rest::staged, number});
  return {};
}

/// False if the file system cannot exchange names.
result<bool> change_run::exchange(std::size_t number) {
  const change_step& step = plan_.steps[number];
  bool is_exchanged = false;
  PADDOCK_CHECK(in_parent_of(step, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_there(in, there, present_[number]));
    PADDOCK_TRY(const location ready, place_aside_of(rest::staged, number));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    const auto swapped =
        sys::renameat2(ready.directory, ready.name.c_str(), in, there, RENAME_EXCHANGE);
    is_exchanged = swapped.has_value();
    return !swapped && lacks_exchange(swapped.error()) ? result<void>() : swapped;
  }));
  if (!is_exchanged) return false;
  note(deed::exchanged, number);
  steps_[number] = progress::made;
  return true;
}

/// Replaces in two steps: the old file gets a second name first, so the path always has a file.
result<void> change_run::put_over(std::size_t number) {
  const change_step& step = plan_.steps[number];
  bool is_linked = false;
  PADDOCK_CHECK(in_parent_of(step, [&](int in, const char* there) -> result<void> {
    PADDOCK_TRY(const location aside, place_aside_of(rest::aside, number));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    is_linked = sys::linkat(in, there, aside.directory, aside.name.c_str(), 0).has_value();
    return is_linked ? result<void>()
                     : sys::renameat2(in, there, aside.directory, aside.name.c_str(), 0);
  }));
  note(deed::set_aside, number);
  present_[number] = {};
  PADDOCK_CHECK(check_aside(rest::aside, number, step.present));
  PADDOCK_CHECK(in_parent_of(step, [&](int in, const char* there) -> result<void> {
    PADDOCK_TRY(const location ready, place_aside_of(rest::staged, number));
    if (!held_.is_held(worked_in_)) return error{error_code::too_many, 0, held_operation};
    if (!is_linked) return move_to_unused(ready.directory, ready.name.c_str(), in, there);
    return sys::renameat2(ready.directory, ready.name.c_str(), in, there, 0);
  }));
  note(deed::placed, number);
  steps_[number] = progress::made;
  resting_.erase({rest::staged, number});
  return {};
}

result<void> change_run::give_attributes(std::size_t number) {
  at_step(number);
  const change_step& step = plan_.steps[number];
  return in_parent_of(step, [&](int in, const char* name) -> result<void> {
    PADDOCK_CHECK(check_there(in, name, present_[number]));
    note(deed::attributes, number, present_[number]); // first: a failure may come halfway
    const bool is_link = step.wanted.kind == entry_kind::symlink;
    if (!is_link && step.wanted.mode != present_[number].mode) {
      PADDOCK_TRY(const auto fd, sys::openat(in, name, O_PATH | O_NOFOLLOW));
      PADDOCK_CHECK(check_there(fd.get(), "", present_[number]));
      PADDOCK_CHECK(sys::chmod_opened(fd.get(), step.wanted.mode & ~set_id_bits));
    }
    given_[present_[number].inode] = step.wanted.modified_ns;
    PADDOCK_CHECK(sys::set_modified(in, name, step.wanted.modified_ns));
    if (is_link || !syncs_each() || !plan_.how.is_durable) return {};
    const auto fd = sys::openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    has_unsynced_ = has_unsynced_ || !fd || !sys::fsync(fd->get());
    return {};
  });
}

} // namespace paddock
