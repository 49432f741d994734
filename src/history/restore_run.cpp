// SPDX-License-Identifier: MIT
#include "history/restore_run.hpp"

#include "file/attributes.hpp"
#include "file/directory_stream.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

namespace paddock::history {
namespace {

constexpr unsigned owner_all = 0700;

/// What a file gets of a mode that was recorded.
unsigned mode_of(const known_state& wanted) {
  return wanted.kind == known_kind::directory ? wanted.mode : wanted.mode & ~set_id_bits;
}

} // namespace

restore_run::restore_run(store::impl& of, const restore_plan& plan, const std::string& staging)
    : of_(of), plan_(plan), name_(staging), staged_(plan.steps.size()) {
  for (std::size_t i = 0; i < plan.moves.size(); ++i)
    if (!plan.moves[i].is_left_out) homes_[plan.moves[i].from] = i;
  if (const auto name = component::from(staging)) in_use_.emplace(*name);
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
  if (const auto by = brought_by(path)) {
    const restore_move& move = plan_.moves[*by];
    if (!is_home(move)) path = move.to + path.substr(move.from.size());
  }
  const auto status = plain_status(*of_.workspace, path);
  return !status || status->links < 2;
}

result<void> restore_run::stage() {
  const int top = of_.workspace->descriptor();
  touch("", top);
  const auto made = sys::mkdirat(top, name_.c_str(), owner_all);
  if (!made && made.error().code != error_code::already_exists) return made;
  PADDOCK_TRY(staging_, open_plain(*of_.workspace, name_, O_RDONLY | O_DIRECTORY));
  if (killed_ != nullptr) PADDOCK_CHECK(sort_out());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (plan_.steps[i].wanted.is_content() && !stays(plan_.steps[i])) PADDOCK_CHECK(stage_one(i));
  return name_staged();
}

/// On the disk before it takes the place of anything, and before it is said to be whole: a power
/// cut is not to leave what was never written, nor what was moved in a directory that is not there.
result<void> restore_run::name_staged() {
  if (is_small()) {
    PADDOCK_TRY(const auto top, open_plain(*of_.workspace, "", O_RDONLY | O_DIRECTORY));
    PADDOCK_CHECK(sys::fsync(top.get()));
    PADDOCK_CHECK(sys::fsync(staging_.get()));
  } else {
    PADDOCK_CHECK(sys::syncfs(staging_.get()));
  }
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (staged_[i].exists())
      PADDOCK_CHECK(sys::renameat2(staging_.get(), staged('w', i).c_str(), staging_.get(),
                                   staged('s', i).c_str(), RENAME_NOREPLACE));
  return sys::fsync(staging_.get());
}

bool restore_run::is_small() const noexcept {
  constexpr std::size_t entries_max = 16; // as many waits for the disk take as long as one for all
  return plan_.steps.size() + plan_.moves.size() <= entries_max;
}

/// Before what was set aside goes, and the intent with it. A failure changes nothing any more.
void restore_run::sync_directories() {
  if (!is_small() || has_unsynced_) {
    (void)sys::syncfs(staging_.get());
    return;
  }
  for (const auto& [path, times] : touched_)
    if (const auto fd = open_plain(*of_.workspace, path, O_RDONLY | O_DIRECTORY))
      (void)sys::fsync(fd->get());
}

result<void> restore_run::stage_one(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  // Under a name of its own until all is complete: what lies under the other one is whole.
  const std::string fresh = staged('w', number);
  PADDOCK_TRY(const std::string bytes, of_.packs.read(step.wanted.content));
  file_descriptor file;
  if (step.wanted.kind == known_kind::link) {
    PADDOCK_CHECK(sys::symlinkat(bytes.c_str(), staging_.get(), fresh.c_str()));
  } else {
    PADDOCK_TRY(file, sys::openat(staging_.get(), fresh.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    PADDOCK_CHECK(write_all(file.get(), bytes));
    if (step.present.kind == known_kind::file) {
      const auto old = of_.workspace->locate(step.path, final_link::keep);
      if (old && old->existing) PADDOCK_CHECK(take_over_attributes(file.get(), *old));
    }
    PADDOCK_CHECK(sys::fchmod(file.get(), mode_of(step.wanted)));
  }
  PADDOCK_CHECK(sys::set_modified(staging_.get(), fresh.c_str(), step.wanted.modified_ns));
  if (file && is_small()) PADDOCK_CHECK(sys::fsync(file.get())); // its mode and time, too
  PADDOCK_TRY(const auto made, sys::status_at(staging_.get(), fresh.c_str(), AT_SYMLINK_NOFOLLOW));
  staged_[number] = state_of(made);
  return {};
}

void restore_run::note(deed what, std::size_t number, const known_state& before) {
  done_.push_back({.what = what, .number = number, .in = worked_in_, .before = before});
}

void restore_run::touch(const std::string& directory, int fd) {
  if (touched_.contains(directory)) return;
  if (const auto status = sys::status_at(fd, ""))
    touched_[directory] = {.mode = status->mode, .modified_ns = status->modified_ns};
}

result<file_descriptor> restore_run::parent(const std::string& path) {
  const std::string directory(parent_of(path));
  PADDOCK_TRY(file_descriptor fd, open_plain(*of_.workspace, directory, O_PATH | O_DIRECTORY));
  touch(directory, fd.get());
  return fd;
}

/// Lets the owner into a directory that has no permission for that, until the end.
bool restore_run::widen(const std::string& directory) {
  const auto fd = open_plain(*of_.workspace, directory, O_PATH | O_DIRECTORY);
  if (!fd) return false;
  touch(directory, fd->get());
  known_times& known = touched_[directory];
  if ((known.mode & owner_all) == owner_all || known.widened) return false;
  known.widened = sys::chmod_opened(fd->get(), known.mode | owner_all).has_value();
  return known.widened;
}

result<void> restore_run::in_parent(const std::string& path, const in_directory& work) {
  failed_at_ = path;
  for (;;) {
    auto fd = parent(path);
    const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
    worked_in_ = status ? status->inode : 0;
    const result<void> worked =
        fd ? work(fd->get(), std::string(last_of(path)).c_str()) : result<void>(fd.error());
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
    if (move.is_left_out || is_home(move) || sys::entry_status_at(staging_.get(), name.c_str()))
      continue;
    PADDOCK_CHECK(in_parent(move.to, [&](int in, const char* now) -> result<void> {
      PADDOCK_CHECK(check_present(in, now, move.object));
      return sys::renameat2(in, now, staging_.get(), name.c_str(), RENAME_NOREPLACE);
    }));
    note(deed::moved_out, i);
    // Somebody may have put something else there in the very moment.
    PADDOCK_CHECK(check_present(staging_.get(), name.c_str(), move.object));
  }
  return plan_.moves.empty() ? result<void>() : sys::fsync(staging_.get());
}

result<void> restore_run::move_in(std::size_t number) {
  const restore_move& move = plan_.moves[number];
  if (is_home(move)) return {};
  const std::string name = staged('m', number);
  PADDOCK_CHECK(in_parent(move.from, [&](int in, const char* there) {
    return sys::renameat2(staging_.get(), name.c_str(), in, there, RENAME_NOREPLACE);
  }));
  note(deed::moved_in, number);
  // Before anything in it goes: a power cut is not to leave it here without that.
  return is_small() ? sys::fsync(staging_.get()) : result<void>();
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
  PADDOCK_CHECK(take_away(goes.back()));
  auto next = homes_.begin();
  const auto move_in_before = [&](const std::string* path) -> result<void> {
    for (; next != homes_.end() && (path == nullptr || next->first < *path); ++next) {
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
  }
  return move_in_before(nullptr);
}

result<void> restore_run::take_away(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  const bool is_directory = step.present.kind == known_kind::directory;
  const std::string name = staged('a', number);
  PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_present(in, there, step.present));
    if (is_directory) return sys::unlinkat(in, there, AT_REMOVEDIR);
    return sys::renameat2(in, there, staging_.get(), name.c_str(), RENAME_NOREPLACE);
  }));
  note(is_directory ? deed::removed : deed::set_aside, number);
  return is_directory ? result<void>() : check_present(staging_.get(), name.c_str(), step.present);
}

result<void> restore_run::put(std::size_t number) {
  const restore_step& step = plan_.steps[number];
  const std::string name = staged('s', number);
  const bool replaces = step.present.kind == step.wanted.kind;
  if (replaces) {
    bool is_exchanged = false;
    PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) -> result<void> {
      PADDOCK_CHECK(check_present(in, there, step.present));
      const auto swapped = sys::renameat2(staging_.get(), name.c_str(), in, there, RENAME_EXCHANGE);
      is_exchanged = swapped.has_value();
      return !swapped && swapped.error().os_errno == EINVAL ? result<void>() : swapped;
    }));
    if (is_exchanged) {
      note(deed::exchanged, number);
      return check_present(staging_.get(), name.c_str(), step.present);
    }
    PADDOCK_CHECK(take_away(number));
  }
  PADDOCK_CHECK(in_parent(step.path, [&](int in, const char* there) {
    return sys::renameat2(staging_.get(), name.c_str(), in, there, RENAME_NOREPLACE);
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
  PADDOCK_CHECK(move_out());
  PADDOCK_CHECK(build());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (staged_[i].exists()) PADDOCK_CHECK(put(i));
  // At last: what a file is given shows at its other names, where it is no longer as planned.
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (plan_.steps[i].wanted.is_content() && !staged_[i].exists())
      PADDOCK_CHECK(give_attributes(i));
  return {};
}

result<void, detailed_error> restore_run::run() {
  const auto ran = all_steps();
  if (!ran) {
    const std::string failed = failed_at_ + ": " + std::string(text(ran.error().code));
    take_back();
    follow_back();
    finish_directories();
    return detailed_error(ran.error(), failed + (astray_.empty() ? "; nothing was restored"
                                                                 : "; " + astray_clause()));
  }
  for (const restore_step& step : plan_.steps)
    if (step.wanted.kind == known_kind::directory)
      touched_[step.path] = {
          .mode = mode_of(step.wanted), .modified_ns = step.wanted.modified_ns, .widened = true};
  finish_directories();
  sync_directories();
  return {};
}

/// Directories that were touched where a move had brought them are where they came from again.
void restore_run::follow_back() {
  std::set<std::size_t> brought;
  for (const done& each : done_)
    if (each.what == deed::moved_in) brought.insert(each.number);
  const auto touched = touched_;
  for (const auto& [path, times] : touched) {
    const auto by = brought_by(path);
    if (!by || !brought.contains(*by)) continue;
    const restore_move& move = plan_.moves[*by];
    touched_.emplace(move.to + path.substr(move.from.size()), times);
    touched_.erase(path);
  }
}

/// Modes and times of directories, the deepest first.
void restore_run::finish_directories() {
  std::vector<std::string> paths;
  for (const auto& [path, times] : touched_)
    paths.push_back(path);
  std::ranges::sort(paths, [](const std::string& a, const std::string& b) {
    const auto depth = [](const std::string& path) { return std::ranges::count(path, '/'); };
    if (a.empty() || b.empty()) return b.empty() && !a.empty(); // the root at last
    return depth(a) != depth(b) ? depth(a) > depth(b) : a < b;
  });
  const auto known = touched_;
  for (const std::string& path : paths)
    set_directory(path, known.find(path)->second);
}

/// What fails is tried once more; what fails then is told as a change by the next scan.
void restore_run::set_directory(const std::string& path, const known_times& times) {
  const auto once = [&]() -> result<void> {
    PADDOCK_TRY(const auto fd, open_plain(*of_.workspace, path, O_PATH | O_DIRECTORY));
    if (times.widened) PADDOCK_CHECK(sys::chmod_opened(fd.get(), times.mode));
    if (path.empty()) return sys::set_modified(fd.get(), ".", times.modified_ns);
    PADDOCK_TRY(const auto in,
                open_plain(*of_.workspace, std::string(parent_of(path)), O_PATH | O_DIRECTORY));
    return sys::set_modified(in.get(), std::string(last_of(path)).c_str(), times.modified_ns);
  };
  const auto set = once();
  if (!set && set.error().code != error_code::not_found) (void)once();
}

} // namespace paddock::history
