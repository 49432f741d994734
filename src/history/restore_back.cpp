// SPDX-License-Identifier: MIT

// The end of a restore: what has failed is taken back, and what was set aside is cleared away.
// Nothing is removed that the restore has not put there itself.

#include "file/replace.hpp"
#include "history/restore_run.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::history {
namespace {

constexpr char kept_mark = 'k';
constexpr std::string_view kept_prefix = "paddock-kept-";

/// The step or move that a staged name is of.
std::size_t number_in(std::string_view name) {
  std::size_t number = SIZE_MAX;
  if (name.size() > 1) (void)std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

} // namespace

void restore_run::take_back() {
  for (auto each = done_.rbegin(); each != done_.rend(); ++each)
    take_back(*each);
}

void restore_run::take_back(const done& each) {
  const std::size_t number = each.number;
  switch (each.what) {
  case deed::moved_out:
    return give_back(each, staged('m', number), plan_.moves[number].to);
  case deed::moved_in:
    withdraw(each, staged('m', number), plan_.moves[number].from, plan_.moves[number].object);
    return held_.follow(plan_.moves[number].from, plan_.moves[number].to);
  case deed::set_aside:
    return give_back(each, staged('a', number), plan_.steps[number].path);
  case deed::placed:
    return withdraw(each, staged('s', number), plan_.steps[number].path, staged_[number]);
  case deed::exchanged:
    return exchange_back(each);
  case deed::made:
  case deed::removed:
    return take_directory_back(each);
  case deed::attributes:
    return take_attributes_back(each);
  }
}

result<void> restore_run::in_same_parent(const done& each, const std::string& path,
                                         const in_directory& work) {
  const std::string name(last_of(path));
  for (;;) {
    const auto in = held_.descriptor(each.in);
    if (!in) {
      astray_.push_back(path);
      return in.error();
    }
    auto worked = work(*in, name.c_str());
    if (worked || worked.error().code != error_code::permission_denied || !widen(each.in))
      return worked;
  }
}

std::string restore_run::astray_clause() const {
  constexpr std::size_t told_max = 3;
  std::string all;
  for (std::size_t i = 0; i < std::min(astray_.size(), told_max); ++i)
    all.append(all.empty() ? "" : ", ").append(astray_[i]);
  if (astray_.size() > told_max)
    all.append(" and ").append(std::to_string(astray_.size() - told_max)).append(" more");
  return "not all that was restored until then could be taken back, because something moved "
         "directories, or removed them, meanwhile: look at " +
         all + ", and restore them by name when that has ended";
}

/// What came away is what was looked at. From now on it is known by the time of that rename, too,
/// which nobody can give it again.
result<void> restore_run::check_aside(const std::string& name, const known_state& present) {
  PADDOCK_TRY(const auto status,
              sys::status_at(staging_.descriptor(), name.c_str(), AT_SYMLINK_NOFOLLOW));
  aside_[name] = state_of(status);
  return check_present(staging_.descriptor(), name.c_str(), present);
}

/// Whether what was set aside within reach is as it came there.
result<void> restore_run::check_untouched(const std::string& name) const {
  if (staging_.is_out_of_reach()) return {};
  PADDOCK_TRY(const auto status,
              sys::status_at(staging_.descriptor(), name.c_str(), AT_SYMLINK_NOFOLLOW));
  const known_state now = state_of(status);
  const auto then = aside_.find(name);
  const bool is_same = then != aside_.end() && now.inode == then->second.inode &&
                       (now.kind == known_kind::directory || now.looks_like(then->second));
  if (!is_same) return error{error_code::conflict, 0, "history restore"};
  return {};
}

/// Of a file that may not lie where others reach it: what comes back if the restore fails.
result<file_descriptor> restore_run::nameless_copy(int in, const char* name) const {
  PADDOCK_TRY(const auto from, sys::openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  PADDOCK_TRY(const auto status, sys::fstat(from.get()));
  PADDOCK_TRY(auto to, sys::openat(staging_.descriptor(), ".", O_WRONLY | O_TMPFILE, 0600));
  std::vector<char> buffer(std::size_t{64} * 1024);
  for (;;) {
    PADDOCK_TRY(const auto size, sys::read(from.get(), buffer));
    if (size == 0) break;
    PADDOCK_CHECK(write_all(to.get(), {buffer.data(), size}));
  }
  PADDOCK_CHECK(take_over(to.get(), in, name));
  PADDOCK_CHECK(sys::fchmod(to.get(), status.mode & 07777U));
  return to;
}

/// To where it was, if nobody else has put something there.
void restore_run::give_back(const done& each, const std::string& name, const std::string& path) {
  const auto copy = copies_.find(name);
  const auto given = in_same_parent(each, path, [&](int in, const char* there) -> result<void> {
    if (copy != copies_.end()) {
      PADDOCK_CHECK(sys::link_nameless(copy->second.get(), in, there));
      return sys::set_modified(in, there, aside_[name].modified_ns);
    }
    PADDOCK_CHECK(check_untouched(name));
    return sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_NOREPLACE);
  });
  if (given) return;
  if (copy != copies_.end())
    (void)sys::link_nameless(copy->second.get(), staging_.descriptor(), name.c_str());
  keep(name, path);
}

/// Takes away what this run has put there, and nothing else.
void restore_run::withdraw(const done& each, const std::string& name, const std::string& path,
                           const known_state& own) {
  (void)in_same_parent(each, path, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_present(in, there, own));
    PADDOCK_CHECK(sys::renameat2(in, there, staging_.descriptor(), name.c_str(), RENAME_NOREPLACE));
    if (!is_as(name, own) &&
        !sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_NOREPLACE))
      keep(name, path); // somebody's, and somebody else's is there by now
    return {};
  });
}

/// What was there comes back, unless somebody has saved there meanwhile: then it is kept.
void restore_run::exchange_back(const done& each) {
  const std::size_t number = each.number;
  const std::string& path = plan_.steps[number].path;
  const std::string name = staged('s', number);
  const known_state& own = staged_[number];
  const auto back = in_same_parent(each, path, [&](int in, const char* there) -> result<void> {
    PADDOCK_CHECK(check_present(in, there, own));
    PADDOCK_CHECK(check_untouched(name));
    const auto exchange = [&] {
      return sys::renameat2(staging_.descriptor(), name.c_str(), in, there, RENAME_EXCHANGE);
    };
    PADDOCK_CHECK(exchange());
    if (is_as(name, own)) return {};
    (void)exchange();
    return error{error_code::conflict, 0, "history restore"};
  });
  if (!back && back.error().code == error_code::not_found) return give_back(each, name, path);
  if (!back) keep(name, path);
}

void restore_run::take_directory_back(const done& each) {
  const restore_step& step = plan_.steps[each.number];
  (void)in_same_parent(each, step.path, [&](int in, const char* name) -> result<void> {
    if (each.what == deed::made) return sys::unlinkat(in, name, AT_REMOVEDIR);
    PADDOCK_CHECK(sys::mkdirat(in, name, owner_all));
    PADDOCK_TRY(const auto id, held_.renew(step.path));
    touched_[id] = {
        .mode = step.present.mode, .modified_ns = step.present.modified_ns, .widened = true};
    return {};
  });
}

void restore_run::take_attributes_back(const done& each) {
  const restore_step& step = plan_.steps[each.number];
  known_state given = each.before;
  given.modified_ns = step.wanted.modified_ns;
  (void)in_same_parent(each, step.path, [&](int in, const char* name) -> result<void> {
    // What somebody has saved has times of its own.
    if (!check_present(in, name, each.before)) PADDOCK_CHECK(check_present(in, name, given));
    if (step.wanted.kind != known_kind::link) {
      PADDOCK_TRY(const auto fd, sys::openat(in, name, O_PATH | O_NOFOLLOW));
      PADDOCK_CHECK(sys::chmod_opened(fd.get(), each.before.mode));
    }
    return sys::set_modified(in, name, each.before.modified_ns);
  });
}

/// Whether what is staged under a name is the object that it is to be.
bool restore_run::is_as(const std::string& name, const known_state& planned) const {
  return planned.exists() &&
         check_present(staging_.descriptor(), name.c_str(), planned).has_value();
}

/// Whether what is staged under a name is there by the plan, and nobody has written to it since.
bool restore_run::may_go(const restore_plan& plan, const std::string& name) const {
  if (name.starts_with('w')) return true; // it was never anywhere else
  if (wanted_.contains(name)) return false;
  const std::size_t number = number_in(name);
  if (number >= plan.steps.size()) return false;
  const restore_step& step = plan.steps[number];
  if (name == staged('a', number)) return is_as(name, step.present);
  if (name != staged('s', number)) return false;
  if (is_as(name, step.present)) return true;
  if (&plan == &plan_) return is_as(name, staged_[number]);
  // Of a run that was killed: which object it was nobody knows, but it was complete.
  known_state made = step.wanted;
  const auto status = sys::status_at(staging_.descriptor(), name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (status) made.inode = status->inode;
  return status && is_as(name, made);
}

/// What a killed run has left: what it moved is wanted still, and what is somebody's stays.
result<void> restore_run::sort_out() {
  PADDOCK_TRY(const auto names, staging_.names());
  for (const restore_step& each : killed_->steps) // what is staged may have another name
    if (each.present.exists() && each.wanted.exists())
      given_[each.present.inode] = each.wanted.modified_ns;
  for (const std::string& name : names) {
    if (name.starts_with('m') || name.starts_with(kept_mark)) continue;
    if (may_go(*killed_, name)) {
      PADDOCK_CHECK(sys::unlinkat(staging_.descriptor(), name.c_str(), 0));
      continue;
    }
    const std::size_t number = number_in(name);
    const std::string kept = kept_mark + name;
    PADDOCK_CHECK(sys::renameat2(staging_.descriptor(), name.c_str(), staging_.descriptor(),
                                 kept.c_str(), RENAME_NOREPLACE));
    if (number < killed_->steps.size()) keep(kept, killed_->steps[number].path);
  }
  return {};
}

bool restore_run::clear() {
  bool is_gone = false;
  for (int attempt = 0; attempt < 2 && !is_gone; ++attempt)
    is_gone = clear_once();
  if (!is_gone) is_gone = keep_rest();
  if (touched_.contains(held_directories::top))
    set_directory(held_directories::top, touched_[held_directories::top]);
  return is_gone;
}

bool restore_run::clear_once() {
  if (!staging_) {
    auto found = private_staging::find(*of_.workspace, of_.directory.descriptor(), name_);
    if (!found) return found.error().code == error_code::not_found;
    staging_ = *std::move(found);
  }
  const auto names = staging_.names();
  if (!names) return names.error().code == error_code::not_found;
  for (const std::string& name : *names)
    if (may_go(plan_, name)) (void)sys::unlinkat(staging_.descriptor(), name.c_str(), 0);
  return staging_.remove().has_value();
}

/// What is not this run's to remove stays, where it is seen.
bool restore_run::keep_rest() {
  const auto names =
      staging_ ? staging_.names()
               : result<std::vector<std::string>>(error{error_code::not_found, 0, "staging"});
  if (!names) return false;
  std::string first;
  std::size_t count = 0;
  for (const std::string& name : *names) {
    if (may_go(plan_, name)) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return false; // the next one clears it away
  const auto seen = unused_name(kept_prefix);
  const bool is_seen = seen && staging_.show(*seen);
  const std::string where = is_seen ? std::string(seen->view()) : name_;
  const auto wanted = wanted_.find(first);
  kept_ = "what could not go back to ";
  kept_ += wanted != wanted_.end() ? wanted->second : "its place";
  kept_ += " is in " + where + '/' + first;
  if (count > 1) kept_ += ", with " + std::to_string(count - 1) + " more";
  return is_seen;
}

} // namespace paddock::history
