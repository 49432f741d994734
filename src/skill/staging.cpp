// SPDX-License-Identifier: MIT
#include "skill/staging.hpp"

#include "file/directory_stream.hpp"
#include "file/durable.hpp"
#include "file/leftover.hpp"
#include "file/remove_tree.hpp"
#include "file/replace.hpp"
#include "path/directory_moves.hpp"
#include "path/private_directory.hpp"
#include "sys/lock_wait.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

namespace {

constexpr std::size_t record_bytes_max = 256; ///< three lines

/// What tells an object from others: the directory of the hidden name first, then what may stand
/// there.
std::string line_of_object(const file_status& object) {
  return std::to_string(object.device) + ' ' + std::to_string(object.inode) + ' ' +
         std::to_string(object.has_birth_time ? object.created_ns : 0) + '\n';
}

file_descriptor open_staging_state(const root& base, const std::string& directory,
                                   missing_directories missing) {
  if (directory.empty()) return {};
  auto state =
      open_private_directory(base.status(), directory, "the directory of the history", missing);
  return state ? std::move(state->fd) : file_descriptor();
}

/// False: it is locked already, or removed.
bool lock(int file) {
  if (!sys::try_flock(file)) return false;
  const auto status = sys::fstat(file);
  return status && status->links == 1;
}

void remove_record(int state, int user, const component& hidden) {
  const auto there = sys::entry_status_at(user, hidden.c_str());
  if (!there && there.error().code == error_code::not_found)
    (void)sys::unlinkat(state, hidden.c_str(), 0).has_value();
}

void take_up(int state, int user, const component& hidden,
             const std::function<void(own_entry)>& remove) {
  const auto file = sys::openat(state, hidden.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (!file || !lock(file->get())) return; // its change lives
  std::array<char, record_bytes_max> buffer{};
  const auto read = sys::read(file->get(), buffer);
  const auto home = sys::status_at(user, "");
  if (!read || !home) return;
  const std::string_view text(buffer.data(), *read);
  const std::string first = line_of_object(*home);
  if (!text.empty() && !text.starts_with(first)) return; // of other skills
  auto object = sys::openat(user, hidden.c_str(), O_PATH | O_NOFOLLOW);
  const auto status = object ? sys::status_at(object->get(), "") : object.error();
  const bool is_known = status && text.find('\n' + line_of_object(*status)) != text.npos;
  if (is_known) {
    remove({.name = hidden, .made = *std::move(object)});
    return remove_record(state, user, hidden);
  }
  if (text == first) // killed before it could say which one: nothing is in it yet
    (void)sys::unlinkat(user, hidden.c_str(), AT_REMOVEDIR).has_value();
  (void)sys::unlinkat(state, hidden.c_str(), 0).has_value();
}

} // namespace

staging_record::staging_record(const root& base, const std::string& state_directory, int user,
                               const component& hidden)
    : state_(open_staging_state(base, state_directory, missing_directories::make)), user_(user),
      hidden_(hidden) {
  const auto home = sys::status_at(user, "");
  if (!state_ || !home) return;
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
  auto file = sys::openat(state_.get(), hidden.c_str(), flags, 0600);
  if (!file || !lock(file->get())) return; // one that is not locked yet counts as left
  file_ = *std::move(file);
  add(*home);
}

void staging_record::add(const file_status& object) const {
  if (file_) (void)write_all(file_.get(), line_of_object(object)).has_value();
}

staging_record::~staging_record() {
  if (file_) remove_record(state_.get(), user_, hidden_);
}

void remove_abandoned(const root& base, const std::string& state_directory, int user,
                      const std::function<void(own_entry)>& remove) {
  const auto state = open_staging_state(base, state_directory, missing_directories::leave);
  if (!state) return;
  const auto list = sys::openat(state.get(), ".", O_RDONLY | O_DIRECTORY);
  std::vector<component> names;
  const auto add = [&](std::string_view name, unsigned char) {
    if (auto hidden = component::from(name); name.starts_with(staging_prefix) && hidden)
      names.push_back(*hidden);
    return true;
  };
  if (!list || !for_each_entry(list->get(), add)) return;
  for (const component& hidden : names)
    take_up(state.get(), user, hidden, remove);
}

namespace {

constexpr std::uint64_t lock_wait_ms = 5'000;
constexpr unsigned attempts_max = 16;

/// A directory with all in it, or a link; nothing else that may have the name by now.
result<void> remove_entry(int directory, const own_entry& entry) {
  PADDOCK_TRY(const bool is_still, is_there(directory, entry));
  if (!is_still) return {};
  PADDOCK_TRY(const auto known, sys::status_at(entry.made.get(), ""));
  if (known.kind != entry_kind::directory) {
    auto gone = sys::unlinkat(directory, entry.name.c_str(), 0);
    return gone || gone.error().code == error_code::not_found ? result<void>() : gone;
  }
  PADDOCK_TRY(auto parent, sys::openat(directory, ".", O_PATH | O_DIRECTORY));
  const place top{.parent = std::move(parent), .name = entry.name, .existing = known};
  const auto tree = remove_tree(top, {});
  return tree || tree.error().code == error_code::not_found ? result<void>() : tree.error();
}

/// The same; if it fails, this process's next change tries again.
result<void> remove_own(int directory, own_entry entry) {
  auto gone = remove_entry(directory, entry);
  if (!gone) remember(directory, std::move(entry));
  return gone;
}

/// Checks after a rename that the right directories got the names, and undoes it if not, or if
/// they cannot be looked at. Errors: conflict, as of statx.
result<void> check_renamed(int directory, const component& from, const component& to,
                           const file_status& now_to, const file_status* now_from = nullptr) {
  const auto is_at = [&](const component& name, const file_status& wanted) -> result<bool> {
    PADDOCK_TRY(const auto found, sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
    return found.same_object(wanted);
  };
  auto is_right = is_at(to, now_to);
  if (is_right && *is_right && now_from != nullptr) is_right = is_at(from, *now_from);
  if (is_right && *is_right) return {};
  const unsigned how = now_from != nullptr ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  PADDOCK_CHECK(sys::renameat2(directory, to.c_str(), directory, from.c_str(), how));
  return is_right ? error{error_code::conflict, 0, "publish"} : is_right.error();
}

unsigned depth_of(std::string_view resolved) {
  return 1 + static_cast<unsigned>(std::count(resolved.begin(), resolved.end(), '/'));
}

bool is_unsupported(const error& e) {
  return e.os_errno == EINVAL || e.os_errno == EXDEV || e.os_errno == ENOSYS;
}

} // namespace

result<opened> open_for_change(const root& base, const skill_store_options& options) {
  const std::string& path = options.user_directory;
  auto found = base.open_beneath(path, access::directory);
  if (!found && found.error().code == error_code::not_found) {
    const auto made = create_directory(base, path);
    if (!made && made.error().code != error_code::already_exists) return made.error();
    if (made && options.durability == durability::full)
      PADDOCK_CHECK(sync_path(base, *made, depth_of(*made)));
    found = base.open_beneath(path, access::directory);
  }
  if (!found) return found.error();
  const int user = found->fd.get();
  const auto remove = [&](own_entry own) { (void)remove_own(user, std::move(own)).has_value(); };
  for (auto& own : take_remembered(user))
    remove(std::move(own));
  remove_abandoned(base, options.state_directory, user, remove);
  return found;
}

result<change_lock> change_lock::acquire(int directory, const work_bounds& bounds) {
  PADDOCK_TRY(auto fd, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  const auto locked =
      sys::wait_for_lock(lock_wait_ms, "flock", bounds, [&] { return sys::try_flock(fd.get()); });
  const bool has_locks = locked || (locked.error().os_errno != ENOLCK &&
                                    locked.error().code != error_code::unsupported);
  if (!locked && has_locks) return locked.error();
  return change_lock(std::move(fd));
}

result<staging> staging::create(const root& base, const skill_store_options& options,
                                const opened& in) {
  const int user = in.fd.get();
  PADDOCK_TRY(const auto name, unused_name(staging_prefix));
  staging_record record(base, options.state_directory, user, name);
  PADDOCK_CHECK(sys::mkdirat(user, name.c_str(), 0777));
  auto fd = sys::openat(user, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  auto hidden = fd ? sys::openat(fd->get(), ".", O_PATH | O_DIRECTORY) : fd.error();
  if (const auto made = hidden ? sys::status_at(hidden->get(), "") : hidden.error())
    record.add(*made);
  bool is_new = true; // and no other directory that has got the name
  const result<void> looked =
      hidden ? for_each_entry(fd->get(), [&](auto, unsigned char) { return is_new = false; })
             : result<void>(hidden.error());
  if (!looked) {
    (void)sys::unlinkat(user, name.c_str(), AT_REMOVEDIR).has_value();
    return looked.error();
  }
  if (!is_new) return error{error_code::conflict, 0, "staging"};
  return staging(base, in, std::move(record), name, *std::move(fd), *std::move(hidden));
}

staging::staging(staging&& other) noexcept
    : base_(other.base_), path_(other.path_), user_(other.user_), record_(std::move(other.record_)),
      fd_(std::move(other.fd_)), hidden_(std::move(other.hidden_)),
      armed_(std::exchange(other.armed_, false)) {}

staging::~staging() {
  if (armed_) (void)remove_own(user_, std::move(hidden_)).has_value();
}

result<staging::outcome> staging::publish(const component& id, overwrite existing,
                                          durability wanted, const work_bounds& bounds) {
  if (wanted != durability::none) PADDOCK_CHECK(sys::fsync(fd_.get()));
  PADDOCK_TRY(const auto lock, change_lock::acquire(user_, bounds));
  PADDOCK_TRY(const auto alone, directory_move::begin("skill"));
  PADDOCK_CHECK(alone.check(base_->status(), join(path_, hidden_.name.view())));
  PADDOCK_CHECK(alone.check(base_->status(), join(path_, id.view())));
  PADDOCK_TRY(const auto fresh, sys::status_at(hidden_.made.get(), ""));
  for (unsigned attempt = 0; attempt < attempts_max; ++attempt) {
    auto old = sys::openat(user_, id.c_str(), O_PATH | O_NOFOLLOW);
    if (!old && old.error().code != error_code::not_found) return old.error();
    if (!old) {
      auto done = sys::renameat2(user_, hidden_.name.c_str(), user_, id.c_str(), RENAME_NOREPLACE);
      // A directory never takes the place of anything but an empty directory.
      if (!done && done.error().os_errno == EINVAL)
        done = sys::renameat2(user_, hidden_.name.c_str(), user_, id.c_str(), 0);
      if (!done && done.error().code == error_code::already_exists) continue;
      if (!done) return done.error();
      PADDOCK_CHECK(check_renamed(user_, hidden_.name, id, fresh));
      armed_ = false;
      if (wanted == durability::full) PADDOCK_CHECK(sys::fsync(user_));
      return outcome::added;
    }
    if (existing == overwrite::refuse) return error{error_code::already_exists, EEXIST, "id"};
    PADDOCK_TRY(const auto now, sys::status_at(old->get(), ""));
    PADDOCK_TRY(auto parent, sys::openat(user_, ".", O_PATH | O_DIRECTORY));
    PADDOCK_CHECK(check_writable({.parent = std::move(parent), .name = id, .existing = now}));
    record_.add(now);
    const auto done =
        sys::renameat2(user_, hidden_.name.c_str(), user_, id.c_str(), RENAME_EXCHANGE);
    if (!done && done.error().code == error_code::not_found) continue;
    if (!done && is_unsupported(done.error()))
      return error{error_code::unsupported, done.error().os_errno, "RENAME_EXCHANGE"};
    if (!done) return done.error();
    PADDOCK_CHECK(check_renamed(user_, hidden_.name, id, fresh, &now));
    hidden_.made = *std::move(old);
    // The old one is removed soon; it must not be found in its place without its files.
    if (wanted != durability::none) PADDOCK_CHECK(sys::fsync(user_));
    return outcome::replaced; // the entry at the hidden name is the old one now
  }
  return error{error_code::conflict, 0, "publish"};
}

result<void> take_away(const root& base, const skill_store_options& options, const opened& in,
                       const component& id) {
  const int user = in.fd.get();
  PADDOCK_TRY(const auto hidden, unused_name(staging_prefix));
  const staging_record record(base, options.state_directory, user, hidden);
  own_entry old{.name = id, .made = {}};
  {
    PADDOCK_TRY(const auto lock, change_lock::acquire(user, {}));
    PADDOCK_TRY(const auto alone, directory_move::begin("skill"));
    PADDOCK_CHECK(alone.check(base.status(), join(in.path, id.view())));
    PADDOCK_TRY(old.made, sys::openat(user, id.c_str(), O_PATH | O_NOFOLLOW));
    PADDOCK_TRY(const auto now, sys::status_at(old.made.get(), ""));
    if (now.kind != entry_kind::directory && now.kind != entry_kind::symlink)
      return error{error_code::not_a_directory, ENOTDIR, "skill"}; // somebody's file, and no skill
    PADDOCK_TRY(auto parent, sys::openat(user, ".", O_PATH | O_DIRECTORY));
    PADDOCK_CHECK(check_writable({.parent = std::move(parent), .name = id, .existing = now}));
    record.add(now);
    const auto moved = sys::renameat2(user, id.c_str(), user, hidden.c_str(), 0);
    // A layered file system may refuse to rename what lies in a lower layer.
    if (!moved && is_unsupported(moved.error())) return remove_entry(user, old);
    if (!moved) return moved.error();
    PADDOCK_CHECK(check_renamed(user, id, hidden, now));
    old.name = hidden;
    // Before its files go.
    const auto lasts = options.durability == durability::none ? result<void>() : sys::fsync(user);
    if (!lasts) {
      remember(user, std::move(old));
      return lasts;
    }
  }
  return remove_own(user, std::move(old));
}

} // namespace paddock
