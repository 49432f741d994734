// SPDX-License-Identifier: MIT
#include "history/restore_run.hpp"

#include "file/attributes.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/protected_names.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

namespace paddock::history {
namespace {

/// Whether a path leads through a name that is usually protected, wherever that is.
bool has_usual_name(std::string_view path) {
  static const auto names = usual_protected_names();
  const auto leads_through = [&](const protected_name& rule) {
    for (std::size_t at = path.find(rule.name); at != path.npos;
         at = path.find(rule.name, at + 1)) {
      const std::size_t end = at + rule.name.size();
      if ((at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/')) return true;
    }
    return false;
  };
  return std::ranges::any_of(names, leads_through);
}

/// What a file gets of a mode that was recorded.
unsigned mode_of(const known_state& wanted) {
  return wanted.kind == known_kind::directory ? wanted.mode : wanted.mode & ~set_id_bits;
}

} // namespace

restore_run::restore_run(store::impl& of, const restore_plan& plan, const std::string& staging)
    : of_(of), plan_(plan), name_(staging),
      held_(*of.workspace, [this](const std::string& path, int fd,
                                  const file_status& now) { return is_as_seen(path, fd, now); }),
      staged_(plan.steps.size()) {
  for (std::size_t i = 0; i < plan.moves.size(); ++i)
    if (!plan.moves[i].is_left_out) homes_[plan.moves[i].from] = i;
  if (const auto name = component::from(staging)) in_use_.emplace(*name);
}

void restore_run::carries_on(const restore_plan& killed) {
  killed_ = &killed;
  made_by_killed_ = read_made(of_.directory.descriptor());
}

/// Where what comes to lie at a path was when it was looked at.
std::string restore_run::before_moves(const std::string& path) const {
  const auto by = brought_by(path);
  if (!by) return path;
  const restore_move& move = plan_.moves[*by];
  return move.to + path.substr(move.from.size());
}

/// Whether a directory is the one that the last look has met. One that a killed restore has made
/// nobody has looked at: it was written down before anything was put into it.
bool restore_run::is_as_seen(const std::string& directory, int fd, const file_status& now) const {
  for (const std::string& path : {before_moves(directory), directory}) {
    const known_state seen = of_.index.find(path);
    if (seen.kind == known_kind::directory && seen.inode == now.inode) return true;
  }
  if (killed_ == nullptr) return false;
  const bool is_written_down = std::ranges::any_of(made_by_killed_, [&](const auto& each) {
    return each.path == directory && each.inode == now.inode;
  });
  return is_written_down || has_only_directories(fd).value_or(false);
}

std::string restore_run::staged(char kind, std::size_t number) const {
  return kind + std::to_string(number);
}

/// The move that the path is brought back by: the innermost.
std::optional<std::size_t> restore_run::brought_by(std::string_view path) const {
  if (homes_.empty()) return std::nullopt;
  for (; !path.empty(); path = parent_of(path))
    if (const auto found = homes_.find(path); found != homes_.end()) return found->second;
  return std::nullopt;
}

/// Whether the entry stays and its content with it. A file that has come by its name, and has other
/// names, does not: what it is given they would be given, too.
bool restore_run::stays(const restore_step& step) const {
  if (step.present.kind != step.wanted.kind || !step.wanted.same_content(step.present))
    return false;
  if (step.wanted.kind != known_kind::file || step.wanted.inode == step.present.inode ||
      !of_.packs.has(step.wanted.content))
    return true;
  std::string path = step.path;
  if (const auto by = brought_by(path); by && !is_home(plan_.moves[*by])) path = before_moves(path);
  const auto status = plain_status(*of_.workspace, path);
  return !status || status->links < 2;
}

std::string restore_run::why_not(const error& e) const {
  const bool is_other =
      e.code == error_code::conflict && std::string_view(e.operation) == held_operation;
  return (failed_at_.empty() ? "" : failed_at_ + ": ") +
         (is_other ? "its directory is another one by now, or lies elsewhere"
                   : std::string(text(e.code)));
}

result<void, detailed_error> restore_run::stage() {
  const auto staged = stage_all();
  if (!staged)
    return detailed_error(staged.error(), why_not(staged.error()) + "; nothing was restored");
  return {};
}

result<void> restore_run::stage_all() {
  if (const auto top = sys::status_at(of_.workspace->descriptor(), ""))
    touched_[held_directories::top] = {.mode = top->mode, .modified_ns = top->modified_ns};
  PADDOCK_TRY(staging_, private_staging::take(*of_.workspace, of_.directory.descriptor(), name_));
  if (killed_ != nullptr) PADDOCK_CHECK(sort_out());
  nameless_.assign(plan_.steps.size(), false);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (!plan_.steps[i].wanted.is_content() || stays(plan_.steps[i])) continue;
    nameless_[i] = is_nameless(i); // asked once: what is protected follows from the workspace
    if (!nameless_[i]) PADDOCK_CHECK(stage_one(i));
  }
  return name_staged();
}

/// What becomes a protected file, and could be opened by others where all else is made ready: it
/// has no name before it has its own.
bool restore_run::is_nameless(std::size_t number) const {
  const restore_step& step = plan_.steps[number];
  return step.wanted.kind == known_kind::file && !stays(step) && is_exposed(step.path);
}

/// Whether it is protected where it lies, and is not where all else is made ready and set aside.
bool restore_run::is_exposed(const std::string& path) const {
  return !staging_.is_out_of_reach() &&
         (has_usual_name(path) || !of_.workspace->check_changeable(path));
}

/// On the disk before it takes the place of anything, and before it is said to be whole: a power
/// cut is not to leave what was never written, nor what was moved in a directory that is not there.
result<void> restore_run::name_staged() {
  if (is_small()) {
    PADDOCK_TRY(const auto home, sys::openat(staging_.home(), ".", O_RDONLY | O_DIRECTORY));
    PADDOCK_CHECK(sys::fsync(home.get()));
    PADDOCK_CHECK(sys::fsync(staging_.descriptor()));
  } else {
    PADDOCK_CHECK(sys::syncfs(staging_.descriptor()));
  }
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (staged_[i].exists())
      PADDOCK_CHECK(sys::renameat2(staging_.descriptor(), staged('w', i).c_str(),
                                   staging_.descriptor(), staged('s', i).c_str(),
                                   RENAME_NOREPLACE));
  return sys::fsync(staging_.descriptor());
}

bool restore_run::is_small() const noexcept {
  constexpr std::size_t entries_max = 16; // as many waits for the disk take as long as one for all
  return plan_.steps.size() + plan_.moves.size() <= entries_max;
}

/// Before what was set aside goes, and the intent with it. A failure changes nothing any more.
void restore_run::sync_directories() {
  if (!is_small() || has_unsynced_) {
    (void)sys::syncfs(staging_.descriptor());
    return;
  }
  for (const auto& [id, times] : touched_) {
    const auto held = held_.descriptor(id);
    const auto fd = held ? sys::openat(*held, ".", O_RDONLY | O_DIRECTORY)
                         : result<file_descriptor>(held.error());
    if (fd) (void)sys::fsync(fd->get());
  }
}

result<void> restore_run::stage_one(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  failed_at_ = step.path;
  // Under a name of its own until all is complete: what lies under the other one is whole.
  const std::string fresh = staged('w', number);
  PADDOCK_TRY(const std::string bytes, of_.packs.read(step.wanted.content));
  file_descriptor file;
  if (step.wanted.kind == known_kind::link) {
    PADDOCK_CHECK(sys::symlinkat(bytes.c_str(), staging_.descriptor(), fresh.c_str()));
  } else {
    PADDOCK_TRY(file, sys::openat(staging_.descriptor(), fresh.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    PADDOCK_CHECK(fill(file.get(), step, bytes));
  }
  PADDOCK_CHECK(sys::set_modified(staging_.descriptor(), fresh.c_str(), step.wanted.modified_ns));
  if (file && is_small()) PADDOCK_CHECK(sys::fsync(file.get())); // its mode and time, too
  PADDOCK_TRY(const auto made,
              sys::status_at(staging_.descriptor(), fresh.c_str(), AT_SYMLINK_NOFOLLOW));
  staged_[number] = state_of(made);
  return {};
}

/// Content, and what the file takes over from the one that it replaces.
result<void> restore_run::fill(int fd, const restore_step& step, std::string_view bytes) {
  PADDOCK_CHECK(write_all(fd, bytes));
  if (step.present.kind == known_kind::file && !brought_by(step.path)) {
    PADDOCK_TRY(const auto id, held_.look(std::string(parent_of(step.path))));
    PADDOCK_TRY(const int in, held_.descriptor(id));
    PADDOCK_CHECK(take_over(fd, in, last_of(step.path)));
  }
  return sys::fchmod(fd, mode_of(step.wanted));
}

result<void> restore_run::take_over(int fd, int in, std::string_view name) {
  PADDOCK_TRY(const component checked, component::from(name));
  PADDOCK_TRY(auto there, sys::openat(in, ".", O_PATH | O_DIRECTORY));
  place old{.parent = std::move(there), .name = checked, .path = std::string(name)};
  if (const auto status = sys::status_at(in, checked.c_str(), AT_SYMLINK_NOFOLLOW))
    old.existing = *status;
  const bool is_file = old.existing && old.existing->kind == entry_kind::file;
  return is_file ? take_over_attributes(fd, old) : result<void>();
}

void restore_run::note(deed what, std::size_t number, const known_state& before) {
  done_.push_back({.what = what, .number = number, .in = worked_in_, .before = before});
}

void restore_run::touch(held_directories::id directory) {
  const file_status& first = held_.status(directory);
  touched_.try_emplace(directory,
                       known_times{.mode = first.mode, .modified_ns = first.modified_ns});
}

/// Lets the owner into a directory that has no permission for that, until the end.
bool restore_run::widen(const std::string& directory) {
  const auto id = held_.look(directory);
  return id && widen(*id);
}

bool restore_run::widen(held_directories::id directory) {
  const auto fd = held_.descriptor(directory);
  if (!fd) return false;
  touch(directory);
  known_times& known = touched_[directory];
  if ((known.mode & owner_all) == owner_all || known.widened) return false;
  known.widened = sys::chmod_opened(*fd, known.mode | owner_all).has_value();
  return known.widened;
}

result<void> restore_run::in_parent(const std::string& path, const in_directory& work) {
  failed_at_ = path;
  const std::string name(last_of(path));
  const auto once = [&]() -> result<void> {
    PADDOCK_TRY(worked_in_, held_.look(std::string(parent_of(path))));
    PADDOCK_CHECK(held_.check_place(worked_in_, name));
    PADDOCK_TRY(const int in, held_.descriptor(worked_in_));
    touch(worked_in_);
    return work(in, name.c_str());
  };
  for (;;) {
    const auto worked = once();
    if (worked || worked.error().code != error_code::permission_denied) return worked;
    // Perhaps a directory above keeps everybody out.
    bool widened = widen(std::string(parent_of(path)));
    for (std::string above(parent_of(path)); !widened && !above.empty();) {
      above = parent_of(above);
      widened = widen(above);
    }
    if (!widened) return worked;
  }
}

result<void> restore_run::check_present(int directory, const char* name,
                                        const known_state& present) const {
  PADDOCK_TRY(const auto status, sys::status_at(directory, name, AT_SYMLINK_NOFOLLOW));
  const known_state now = state_of(status);
  const bool is_same = now.kind == present.kind && now.inode == present.inode &&
                       (now.kind == known_kind::directory ||
                        (now.size == present.size && is_time_of(present, now.modified_ns)));
  if (!is_same) return error{error_code::conflict, 0, "history restore"};
  return {};
}

/// Whether it is the time that the file had, or that it was given by another of its names.
bool restore_run::is_time_of(const known_state& present, std::int64_t modified_ns) const {
  if (modified_ns == present.modified_ns) return true;
  const auto given = given_.find(present.inode);
  return given != given_.end() && given->second == modified_ns;
}

/// Whether it has gone back already: by a restore that was killed.
bool restore_run::is_home(const restore_move& move) const {
  const auto status = plain_status(*of_.workspace, move.from);
  return status && status->inode == move.object.inode;
}

result<void> restore_run::move_out() {
  for (std::size_t i = 0; i < plan_.moves.size(); ++i) {
    const restore_move& move = plan_.moves[i];
    const std::string name = staged('m', i);
    // Some were made by one that was killed.
    if (move.is_left_out || is_home(move) ||
        sys::entry_status_at(staging_.descriptor(), name.c_str()))
      continue;
    PADDOCK_CHECK(in_parent(move.to, [&](int in, const char* now) -> result<void> {
      if (moving_) PADDOCK_CHECK(moving_->check(of_.workspace->status(), move.to));
      PADDOCK_CHECK(check_present(in, now, move.object));
      return sys::renameat2(in, now, staging_.descriptor(), name.c_str(), RENAME_NOREPLACE);
    }));
    note(deed::moved_out, i);
    // Somebody may have put something else there in the very moment.
    PADDOCK_CHECK(check_aside(name, move.object));
  }
  return plan_.moves.empty() ? result<void>() : sys::fsync(staging_.descriptor());
}

result<void> restore_run::move_in(std::size_t number) {
  const restore_move& move = plan_.moves[number];
  if (is_home(move)) return {};
  const std::string name = staged('m', number);
  PADDOCK_CHECK(in_parent(move.from, [&](int in, const char* there) {
    return sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_NOREPLACE);
  }));
  note(deed::moved_in, number);
  held_.follow(move.to, move.from);
  // Before anything in it goes: a power cut is not to leave it here without that.
  return is_small() ? sys::fsync(staging_.descriptor()) : result<void>();
}

/// What goes: beneath each move, and at last what lies beneath none. What is in a directory before
/// the directory.
std::vector<std::vector<std::size_t>> restore_run::find_what_goes() const {
  std::vector<std::vector<std::size_t>> out(plan_.moves.size() + 1);
  for (std::size_t i = plan_.steps.size(); i-- > 0;) {
    const restore_step& step = plan_.steps[i];
    if (step.present.exists() && step.present.kind != step.wanted.kind)
      out[brought_by(step.path).value_or(plan_.moves.size())].push_back(i);
  }
  return out;
}

result<void> restore_run::take_away(const std::vector<std::size_t>& steps) {
  for (const std::size_t each : steps)
    PADDOCK_CHECK(take_away(each));
  return {};
}

/// What was moved goes back and directories are made, in the order of their paths: one may be the
/// home of the other, either way. As soon as something is back, what is not to be in it goes.
result<void> restore_run::build() {
  const auto goes = find_what_goes();
  std::vector<made_directory> made = made_by_killed_;
  PADDOCK_CHECK(take_away(goes.back()));
  auto next = homes_.begin();
  std::size_t written = made.size();
  const auto write_down = [&]() -> result<void> {
    if (made.size() == std::exchange(written, made.size())) return {};
    return write_made(of_.directory.descriptor(), made);
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
    const restore_step& step = plan_.steps[i];
    if (step.wanted.kind != known_kind::directory || step.present.kind == known_kind::directory)
      continue;
    PADDOCK_CHECK(move_in_before(&step.path));
    PADDOCK_CHECK(in_parent(
        step.path, [](int in, const char* name) { return sys::mkdirat(in, name, owner_all); }));
    note(deed::made, i);
    PADDOCK_TRY(const auto id, held_.look_at_new(step.path));
    made.push_back({step.path, held_.status(id).inode});
  }
  PADDOCK_CHECK(move_in_before(nullptr));
  return write_down();
}

result<void> restore_run::take_away(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  const bool is_directory = step.present.kind == known_kind::directory;
  const std::string name = staged('a', number);
  file_descriptor copy;
  PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_present(in, there, step.present));
    if (is_directory) return sys::unlinkat(in, there, AT_REMOVEDIR);
    if (step.present.kind == known_kind::file && is_exposed(step.path)) {
      PADDOCK_TRY(copy, nameless_copy(in, there));
    }
    return sys::renameat2(in, there, staging_.descriptor(), name.c_str(), RENAME_NOREPLACE);
  }));
  note(is_directory ? deed::removed : deed::set_aside, number);
  if (is_directory) return {};
  PADDOCK_CHECK(check_aside(name, step.present));
  if (!copy) return {};
  copies_.emplace(name, std::move(copy));
  return sys::unlinkat(staging_.descriptor(), name.c_str(), 0);
}

result<void> restore_run::put_nameless(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  PADDOCK_TRY(const std::string bytes, of_.packs.read(step.wanted.content));
  PADDOCK_TRY(const auto file, sys::openat(staging_.descriptor(), ".", O_WRONLY | O_TMPFILE, 0600));
  PADDOCK_CHECK(fill(file.get(), step, bytes));
  PADDOCK_CHECK(sys::fsync(file.get()));
  PADDOCK_TRY(const auto made, sys::fstat(file.get()));
  staged_[number] = state_of(made);
  given_[made.inode] = step.wanted.modified_ns;
  if (step.present.kind == step.wanted.kind) PADDOCK_CHECK(take_away(number));
  PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) {
    return sys::link_nameless(file.get(), in, there);
  }));
  note(deed::placed, number);
  return in_parent(step.path, [&](int in, const char* there) {
    return sys::set_modified(in, there, step.wanted.modified_ns);
  });
}

result<void> restore_run::put(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  const std::string name = staged('s', number);
  // Where it was made ready in reach of commands, another object may have its name by now.
  PADDOCK_CHECK(check_present(staging_.descriptor(), name.c_str(), staged_[number]));
  const bool replaces = step.present.kind == step.wanted.kind;
  if (replaces) {
    bool is_exchanged = false;
    PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) -> result<void> {
      PADDOCK_CHECK(check_present(in, there, step.present));
      const auto swapped =
          sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_EXCHANGE);
      is_exchanged = swapped.has_value();
      return !swapped && swapped.error().os_errno == EINVAL ? result<void>() : swapped;
    }));
    if (is_exchanged) {
      note(deed::exchanged, number);
      return check_aside(name, step.present);
    }
    PADDOCK_CHECK(take_away(number));
  }
  PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) {
    return sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_NOREPLACE);
  }));
  note(deed::placed, number);
  return {};
}

result<void> restore_run::give_attributes(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  return in_parent(step.path, [&](int in, const char* name) -> result<void> {
    PADDOCK_CHECK(check_present(in, name, step.present));
    note(deed::attributes, number, step.present); // what fails may have been done in part
    if (step.wanted.kind != known_kind::link && step.wanted.mode != step.present.mode) {
      PADDOCK_TRY(const auto fd, sys::openat(in, name, O_PATH | O_NOFOLLOW));
      PADDOCK_CHECK(check_present(fd.get(), "", step.present));
      PADDOCK_CHECK(sys::chmod_opened(fd.get(), mode_of(step.wanted)));
    }
    given_[step.present.inode] = step.wanted.modified_ns;
    PADDOCK_CHECK(sys::set_modified(in, name, step.wanted.modified_ns));
    if (step.wanted.kind == known_kind::link || !is_small()) return {};
    const auto fd = sys::openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    has_unsynced_ = has_unsynced_ || !fd || !sys::fsync(fd->get());
    return {};
  });
}

result<void> restore_run::all_steps() {
  const bool moves_directories = std::ranges::any_of(plan_.moves, [](const restore_move& each) {
    return each.object.kind == known_kind::directory;
  });
  if (moves_directories) {
    PADDOCK_TRY(moving_, directory_move::begin("history restore"));
  }
  PADDOCK_CHECK(move_out());
  PADDOCK_CHECK(build());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (staged_[i].exists()) PADDOCK_CHECK(put(i));
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (nameless_[i] && !staged_[i].exists()) PADDOCK_CHECK(put_nameless(i));
  // At last: what a file is given shows at its other names, where it is no longer as planned.
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (plan_.steps[i].wanted.is_content() && !staged_[i].exists())
      PADDOCK_CHECK(give_attributes(i));
  return {};
}

result<void, detailed_error> restore_run::run() {
  const auto ran = all_steps();
  if (!ran) {
    const std::string failed = why_not(ran.error());
    take_back();
    finish_directories();
    return detailed_error(ran.error(), failed + (astray_.empty() ? "; nothing was restored"
                                                                 : "; " + astray_clause()));
  }
  for (const restore_step& step : plan_.steps) {
    if (step.wanted.kind != known_kind::directory) continue;
    // One that is not to be found is told as a change by the next scan.
    if (const auto id = held_.look(step.path))
      touched_[*id] = {
          .mode = mode_of(step.wanted), .modified_ns = step.wanted.modified_ns, .widened = true};
  }
  finish_directories();
  sync_directories();
  return {};
}

/// Modes and times of directories, the deepest first.
void restore_run::finish_directories() {
  std::vector<held_directories::id> ids;
  for (const auto& [id, times] : touched_)
    ids.push_back(id);
  const auto depth = [&](held_directories::id id) {
    const std::string& path = held_.path(id);
    return path.empty() ? -1 : std::ranges::count(path, '/');
  };
  std::ranges::sort(ids, std::ranges::greater(), depth);
  for (const held_directories::id id : ids)
    set_directory(id, touched_[id]);
}

/// What fails is tried once more; what fails then is told as a change by the next scan.
void restore_run::set_directory(held_directories::id directory, const known_times& times) {
  const auto once = [&]() -> result<void> {
    PADDOCK_TRY(const int fd, held_.descriptor(directory));
    auto set = sys::set_modified(fd, ".", times.modified_ns);
    const bool is_closed = !set && set.error().code == error_code::permission_denied;
    if (is_closed && sys::chmod_opened(fd, times.mode | owner_all))
      set = sys::set_modified(fd, ".", times.modified_ns);
    if (times.widened || is_closed) PADDOCK_CHECK(sys::chmod_opened(fd, times.mode));
    return set;
  };
  const auto set = once();
  if (!set && set.error().code != error_code::not_found) (void)once();
}

} // namespace paddock::history
