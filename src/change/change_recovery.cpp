// SPDX-License-Identifier: MIT
#include "change/change_recovery.hpp"

#include "file/durable.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// Whether it may go another time: then the record has to stay.
bool may_pass(const error& e) {
  using enum error_code;
  constexpr std::array passing{io, no_space, too_many, conflict, timed_out, cancelled, root_gone};
  return std::ranges::find(passing, e.code) != passing.end();
}

/// Of a record that was found, an error only where it may pass: else there is nothing that can be
/// done, and whoever wrote it shall not stand in the way for ever.
result<void> as_far_as_possible(const change_ground& ground, result<void> done) {
  if (!done && done.error().code == error_code::not_found) return {};
  if (!done && (ground.is_of_this_operation() || may_pass(done.error()))) return done;
  return {};
}

result<std::optional<file_status>> look(const place& where, const component& name) {
  const auto status = sys::status_at(where.parent.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (status) return std::optional(*status);
  if (status.error().code == error_code::not_found) return std::optional<file_status>();
  return status.error();
}

bool is_file_or_link(const file_status& status) {
  return status.kind == entry_kind::file || status.kind == entry_kind::symlink;
}

/// Of a record that was found: whether what has a temporary name is what was left there. Of this
/// operation's own it is known by the object.
result<bool> is_as_left(const change_ground& ground, const place& where, const component& name,
                        const content_mark& mark) {
  if (ground.is_of_this_operation()) return true;
  return has_mark(where.parent.get(), name, mark, ground.bounds());
}

bool is_changeable(const place& where) {
  const bool is_entry = where.existing && where.existing->kind != entry_kind::directory;
  return is_entry && check_writable(where).has_value();
}

result<void> undo_create(const change_ground& ground, const change_step& step, const place& where) {
  PADDOCK_TRY(const auto temporary, component::from(step.temporary));
  PADDOCK_TRY(const auto staged, look(where, temporary));
  if (!is_changeable(where)) return {};
  if (staged) {
    // A rename in two steps that was broken off between them.
    if (staged->kind != entry_kind::file || !staged->same_object(*where.existing)) return {};
    return sys::unlinkat(where.parent.get(), where.name.c_str(), 0);
  }
  PADDOCK_TRY(const bool is_ours,
              has_mark(where.parent.get(), where.name, step.fresh, ground.bounds()));
  if (!is_ours) return {};
  return move_to_unused(where.parent.get(), where.name, where.parent.get(), temporary);
}

/// What was put aside comes back, unless somebody else has changed what took its place.
result<void> undo_in_two_steps(const change_ground& ground, const change_step& step,
                               const place& where) {
  PADDOCK_TRY(const auto aside, component::from(step.aside));
  PADDOCK_TRY(const auto old, look(where, aside));
  if (!old || !is_file_or_link(*old)) return {};
  PADDOCK_TRY(const bool is_theirs, is_as_left(ground, where, aside, step.old));
  if (!is_theirs) return {};
  const int parent = where.parent.get();
  if (where.existing) {
    if (old->same_object(*where.existing)) return {}; // a second name, no more
    if (!is_changeable(where)) return {};
    PADDOCK_TRY(const bool is_ours, has_mark(parent, where.name, step.fresh, ground.bounds()));
    if (!is_ours) return {};
  }
  return sys::renameat2(parent, aside.c_str(), parent, where.name.c_str(), 0);
}

result<void> undo_replace(const change_ground& ground, const change_step& step,
                          const place& where) {
  if (!step.aside.empty()) {
    PADDOCK_TRY(const auto aside, component::from(step.aside));
    PADDOCK_TRY(const auto old, look(where, aside));
    if (old) return undo_in_two_steps(ground, step, where);
  }
  const int parent = where.parent.get();
  PADDOCK_TRY(const auto temporary, component::from(step.temporary));
  PADDOCK_TRY(const auto there, look(where, temporary));
  if (!there || there->kind != entry_kind::file || !is_changeable(where)) return {};
  if (step.fresh == step.old) {
    if (there->mode != step.old_mode) return {}; // not exchanged
  } else {
    PADDOCK_TRY(const bool is_fresh, has_mark(parent, temporary, step.fresh, ground.bounds()));
    if (is_fresh) return {};
  }
  PADDOCK_TRY(const bool is_theirs, is_as_left(ground, where, temporary, step.old));
  PADDOCK_TRY(const bool is_ours, has_mark(parent, where.name, step.fresh, ground.bounds()));
  if (!is_theirs || !is_ours) return {};
  return sys::renameat2(parent, temporary.c_str(), parent, where.name.c_str(), RENAME_EXCHANGE);
}

result<void> undo_remove(const change_ground& ground, const change_step& step, const place& where) {
  PADDOCK_TRY(const auto temporary, component::from(step.temporary));
  PADDOCK_TRY(const auto old, look(where, temporary));
  if (!old || where.existing || !is_file_or_link(*old)) return {};
  PADDOCK_TRY(const bool is_theirs, is_as_left(ground, where, temporary, step.old));
  if (!is_theirs) return {};
  return move_to_unused(where.parent.get(), temporary, where.parent.get(), where.name);
}

result<void> undo_move(const change_ground& ground, const change_step& step, const place& to) {
  PADDOCK_TRY(const auto from, ground.find(step.from));
  if (!from || !is_changeable(to)) return {};
  if (!is_file_or_link(*to.existing)) return {};
  if (from->existing) {
    // Two spellings of one name, or two links after a move in two steps.
    if (!from->existing->same_object(*to.existing)) return {};
    if (from->existing->links > 1) return sys::unlinkat(to.parent.get(), to.name.c_str(), 0);
    return sys::renameat2(to.parent.get(), to.name.c_str(), from->parent.get(), from->name.c_str(),
                          0);
  }
  PADDOCK_TRY(const bool is_ours, has_mark(to.parent.get(), to.name, step.old, ground.bounds()));
  if (!is_ours) return {};
  return move_to_unused(to.parent.get(), to.name, from->parent.get(), from->name);
}

result<void> undo(const change_ground& ground, const change_step& step) {
  PADDOCK_TRY(const auto where, ground.find(step.path));
  if (!where) return {};
  switch (step.what) {
  case change_step::kind::create:
    return undo_create(ground, step, *where);
  case change_step::kind::replace:
    return undo_replace(ground, step, *where);
  case change_step::kind::remove:
    return undo_remove(ground, step, *where);
  case change_step::kind::move:
    break;
  }
  return undo_move(ground, step, *where);
}

} // namespace

change_ground::change_ground(const root& root, const change_record& record, record_is whose,
                             const work_bounds& bounds)
    : root_(root), whose_(whose), bounds_(bounds),
      held_(root, [this](const std::string& path, int, const file_status& now) {
        const auto seen = places_.find(path);
        return seen == places_.end() || seen->second == std::pair(now.device, now.inode);
      }) {
  for (const change_place& each : record.places)
    places_.emplace(each.path, std::pair(each.device, each.inode));
}

result<std::optional<place>> change_ground::find(std::string_view resolved) const {
  std::optional<place> none;
  // What was allowed to who made the record may be protected by now.
  if (!is_of_this_operation() &&
      (root_.is_protected(resolved) || !root_.check_changeable(resolved)))
    return none;
  const auto id = held_.look(std::string(parent(resolved)));
  const auto held = id ? held_.descriptor(*id) : result<int>(id.error());
  const bool is_other = !held && std::string_view(held.error().operation) == held_operation;
  if (!held && (held.error().code == error_code::not_found ||
                (!is_of_this_operation() && (is_other || !may_pass(held.error())))))
    return none;
  PADDOCK_TRY(const int in, held);
  PADDOCK_TRY(const auto name, component::from(file_name(resolved)));
  PADDOCK_TRY(auto fd, sys::openat(in, ".", O_PATH | O_DIRECTORY));
  place where{.parent = std::move(fd),
              .name = name,
              .path = std::string(resolved),
              .existing = std::nullopt};
  PADDOCK_TRY(where.existing, look(where, name));
  return std::optional(std::move(where));
}

result<void> change_ground::check_place(std::string_view resolved) const {
  PADDOCK_TRY(const auto id, held_.look(std::string(parent(resolved))));
  return held_.check_place(id, file_name(resolved));
}

result<void> change_ground::make(const std::string& resolved) const {
  PADDOCK_CHECK(check_place(resolved));
  PADDOCK_TRY(const auto id, held_.look(std::string(parent(resolved))));
  PADDOCK_TRY(const int in, held_.descriptor(id));
  PADDOCK_TRY(const auto name, component::from(file_name(resolved)));
  const auto made = sys::mkdirat(in, name.c_str(), 0777);
  if (!made && made.error().code != error_code::already_exists) return made;
  // One that somebody else has made by now will do.
  return made ? held_.look_at_new(resolved).transform([](auto) {})
              : held_.look(resolved).transform([](auto) {});
}

result<file_descriptor> change_ground::open_directory(std::string_view resolved) const {
  PADDOCK_TRY(const auto id, held_.look(std::string(resolved)));
  PADDOCK_TRY(const int in, held_.descriptor(id));
  return sys::openat(in, ".", O_RDONLY | O_DIRECTORY);
}

result<void> move_to_unused(int from_directory, const component& from, int to_directory,
                            const component& to) {
  auto done =
      sys::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE);
  if (done || done.error().os_errno != EINVAL) return done;
  // A hard link does not replace anything either.
  PADDOCK_CHECK(sys::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0));
  return sys::unlinkat(from_directory, from.c_str(), 0);
}

result<bool> has_mark(int directory, const component& name, const content_mark& wanted,
                      const work_bounds& bounds) {
  const auto status = sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status && status.error().code != error_code::not_found) return status.error();
  if (!status || status->size != wanted.size) return false;
  if (!wanted.sum) return true;
  if (status->kind != entry_kind::file) return false;
  auto fd = sys::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!fd) return may_pass(fd.error()) ? result<bool>(fd.error()) : false;
  content_mark now{.size = 0, .sum = empty_content_sum};
  std::vector<char> buffer(std::size_t{64} * 1024);
  while (now.size <= wanted.size) {
    PADDOCK_CHECK(bounds.check());
    PADDOCK_TRY(const auto n, sys::read(fd->get(), buffer));
    if (n == 0) break;
    now.size += n;
    now.sum = content_sum({buffer.data(), n}, *now.sum);
  }
  return now == wanted;
}

result<void> undo_steps(const change_ground& ground, const change_record& record) {
  result<void> all;
  for (auto step = record.steps.rbegin(); step != record.steps.rend(); ++step) {
    PADDOCK_CHECK(ground.bounds().check());
    if (auto done = as_far_as_possible(ground, undo(ground, *step)); !done && all)
      all = std::move(done);
  }
  return all;
}

result<void> remove_temporary(const change_ground& ground, const change_record& record) {
  result<void> all;
  const auto remove = [&](const place& where, const change_step& step,
                          const std::string& name) -> result<void> {
    if (name.empty()) return {};
    PADDOCK_TRY(const auto checked, component::from(name));
    // Until all was made ready some is half written; what is something else later is somebody's.
    if (record.stage != change_stage::begun) {
      PADDOCK_TRY(const bool is_old, is_as_left(ground, where, checked, step.old));
      PADDOCK_TRY(const bool is_fresh, is_as_left(ground, where, checked, step.fresh));
      if (!is_old && !is_fresh) return {};
    }
    return as_far_as_possible(ground, sys::unlinkat(where.parent.get(), checked.c_str(), 0));
  };
  for (const change_step& step : record.steps) {
    PADDOCK_CHECK(ground.bounds().check());
    const auto where = ground.find(step.path);
    if (!where && all) all = where.error();
    if (!where || !*where) continue;
    for (const std::string* name : {&step.temporary, &step.aside})
      if (auto gone = remove(**where, step, *name); !gone && all) all = std::move(gone);
  }
  return all;
}

result<void> remove_made_directories(const change_ground& ground, const change_record& record) {
  for (auto path = record.directories.rbegin(); path != record.directories.rend(); ++path) {
    PADDOCK_CHECK(ground.bounds().check());
    const auto where = ground.find(*path);
    if (where && *where)
      (void)sys::unlinkat((*where)->parent.get(), (*where)->name.c_str(), AT_REMOVEDIR).has_value();
  }
  return {};
}

result<void> sync_places(const change_ground& ground, const change_record& record) {
  if (!record.is_durable) return {};
  std::set<std::string_view> directories;
  for (const change_step& step : record.steps) {
    directories.insert(parent(step.path));
    if (!step.from.empty()) directories.insert(parent(step.from));
  }
  for (const std::string_view path : directories) {
    PADDOCK_CHECK(ground.bounds().check());
    const auto holder = ground.open_directory(path);
    if (!holder && !may_pass(holder.error())) continue; // it has gone, and so has the file
    if (!holder && !ground.is_of_this_operation() && holder.error().code == error_code::conflict)
      continue; // another directory has its place
    if (!holder) return holder.error();
    PADDOCK_CHECK(sys::fsync(holder->get()));
  }
  return {};
}

} // namespace paddock
