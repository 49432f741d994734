// SPDX-License-Identifier: MIT
#include "history/directory_watch.hpp"

#include "file/leftover.hpp"
#include "sys/directory_events.hpp"
#include "sys/syscall.hpp"

#include <linux/magic.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace paddock::history {
namespace {

/// More than so many cost as much as a whole scan of a middling workspace.
constexpr std::size_t names_max = 1'000;
/// As much as the kernel's queue holds by default; somebody may fill it as fast as it is read.
constexpr int event_reads_max = 64;
constexpr std::uint32_t heard = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE |
                                IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;

/// Where nobody changes a directory but through this kernel, and by this name of the file system:
/// none on a network, in user space, or in layers.
bool is_local(std::int64_t type) {
  constexpr std::int64_t xfs = 0x58465342;
  return type == EXT4_SUPER_MAGIC || type == xfs || type == BTRFS_SUPER_MAGIC ||
         type == TMPFS_MAGIC || type == F2FS_SUPER_MAGIC;
}

} // namespace

bool directory_watch::can_hear() const {
  const auto type = sys::fstatfs_type(workspace_.descriptor());
  return type && is_local(*type);
}

void directory_watch::begin(std::uint64_t directories) {
  forget();
  if (!std::exchange(is_tried_, true)) {
    // Editors of the same user watch as well: most of what there is stays theirs.
    watches_max_ = std::min(watches_max_, sys::inotify_watches_of_user() / 4);
    if (watches_max_ != 0 && can_hear())
      if (auto made = sys::inotify_init()) events_ = *std::move(made);
  }
  if (directories > watches_max_) give_back();
  if (events_.get() < 0) return;
  (void)take_events(new_links::possible);
  look_again_at({});
  linked_.clear();
  is_everywhere_ = false;
}

void directory_watch::look_again_at(const std::vector<std::string>& met) {
  names_ = {met.begin(), met.end()};
  names_.insert(linked_.begin(), linked_.end());
  appeared_.clear();
  placed_.clear();
  moving_.clear();
  moved_on_.clear();
}

void directory_watch::settle_named(const std::vector<std::string>& met, const scan_outcome& found) {
  const std::lock_guard lock(mutex_);
  linked_.insert(found.linked.begin(), found.linked.end());
  look_again_at(met);
  is_settled_ = names_.size() <= names_max && !is_everywhere_ && found.closed.empty();
}

void directory_watch::entered(const std::string& path, int directory, std::uint64_t inode) {
  const std::lock_guard lock(mutex_);
  if (events_.get() < 0 || is_everywhere_) return;
  place& here = places_[path];
  const auto known = paths_.find(here.watch); // elsewhere, if the directory has moved away and back
  if (here.inode == inode && known != paths_.end() && known->second == path) return;
  const auto watch = paths_.size() < watches_max_
                         ? sys::inotify_add_watch(events_.get(), directory, heard)
                         : result<int>(error{error_code::too_many, 0, "watches"});
  is_everywhere_ = !watch;
  if (!watch) return;
  here = {.inode = inode, .watch = *watch};
  paths_[*watch] = path;
}

void directory_watch::settle(const std::vector<std::string>& met, const scan_outcome& found) {
  const std::lock_guard lock(mutex_);
  if (events_.get() < 0 || is_everywhere_ || !found.closed.empty()) return give_back();
  is_settled_ = met.size() + found.linked.size() <= names_max;
  if (!is_settled_) return;
  linked_.insert(found.linked.begin(), found.linked.end());
  look_again_at(met);
}

/// Watches that help nobody.
void directory_watch::give_back() {
  events_ = {};
  places_.clear();
  paths_.clear();
}

bool directory_watch::take_event(const char* event, std::string_view name, new_links links) {
  inotify_event what{};
  std::memcpy(&what, event, sizeof what);
  if ((what.mask & IN_Q_OVERFLOW) != 0) return false;
  const auto where = paths_.find(what.wd);
  if (where == paths_.end()) return false;
  const bool is_linkless = links == new_links::none;
  // Of a directory that is gone its parent tells, too.
  if ((what.mask & IN_DELETE_SELF) != 0) return is_linkless && !where->second.empty();
  if ((what.mask & IN_IGNORED) != 0) {
    const auto known = places_.find(where->second);
    if (known != places_.end() && known->second.watch == what.wd) places_.erase(known);
    paths_.erase(where);
    return is_linkless;
  }
  if (name.empty() || names_.size() > names_max) return false;
  std::string path =
      where->second.empty() ? std::string(name) : where->second + '/' + std::string(name);
  // Of a directory all that is in it may be other than it was. One that is watched and moves, or
  // changes its mode, tells so itself.
  if ((what.mask & IN_ISDIR) != 0 && !is_linkless) return false;
  const bool is_all = is_linkless || !was_passing(event, path);
  names_.insert(std::move(path));
  return is_all;
}

bool directory_watch::was_passing(const char* event, const std::string& path) {
  inotify_event what{};
  std::memcpy(&what, event, sizeof what);
  const bool is_left = last_of(path).starts_with(temporary_prefix);
  // What a tool puts in place is whole before it has a name. A command may have given that name to
  // a file that has another one.
  if ((what.mask & (IN_CREATE | IN_DELETE | IN_MOVE)) == 0)
    return is_left || placed_.contains(path);
  if (is_left) {
    if ((what.mask & IN_MOVED_FROM) != 0) own_move_ = what.cookie;
    return false;
  }
  // A file that is made beside another one and then takes its place is no second name of anything
  // if in the end it has that name alone.
  if ((what.mask & IN_MOVED_FROM) != 0 && appeared_.erase(path) != 0) {
    moving_[what.cookie] = path;
    return false;
  }
  if (appeared_.contains(path)) return true;
  const bool is_own = (what.mask & IN_MOVED_TO) != 0 && what.cookie == own_move_;
  if ((what.mask & (IN_CREATE | IN_MOVED_TO)) != 0) (is_own ? placed_ : appeared_).insert(path);
  if (const auto moved = moving_.find(what.cookie);
      (what.mask & IN_MOVED_TO) != 0 && moved != moving_.end()) {
    moved_on_.insert(std::move(moved->second));
    moving_.erase(moved);
  }
  return false;
}

bool directory_watch::take_events(new_links links) {
  const std::lock_guard lock(mutex_);
  bool is_all = true;
  alignas(inotify_event) std::array<char, 64UL * 1024> buffer;
  for (int i = 0; i < event_reads_max; ++i) {
    const auto size = sys::read(events_.get(), buffer);
    if (!size) return is_all && size.error().os_errno == EAGAIN;
    if (*size == 0) return false;
    for (std::size_t at = 0; at < *size;) {
      inotify_event what{};
      std::memcpy(&what, buffer.data() + at, sizeof what);
      const char* const name = buffer.data() + at + sizeof what;
      is_all = take_event(buffer.data() + at,
                          what.len == 0 ? std::string_view() : std::string_view(name), links) &&
               is_all;
      at += sizeof what + what.len;
    }
  }
  return false;
}

bool directory_watch::has_other_names(const std::string& path, const file_status& status,
                                      const file_index& index) const {
  if (status.links <= 1 || status.kind == entry_kind::directory) return false;
  return !linked_.contains(path) || index.find(path).inode != status.inode;
}

std::optional<std::vector<std::string>> directory_watch::changed(const file_index& index,
                                                                 new_links links) {
  if (!is_settled_) return std::nullopt;
  const bool is_linkless = links == new_links::none;
  is_settled_ = take_events(links) && (is_linkless || moving_.empty());
  if (!is_settled_) return std::nullopt;
  std::vector<std::string> out;
  for (const std::string& path : names_) {
    const auto status = plain_status(workspace_, path);
    // What came and went may have been a second name of something.
    const bool is_passed = !status && !index.find(path).exists();
    const bool is_left = last_of(path).starts_with(temporary_prefix);
    out.push_back(path); // for its directory, if for nothing else
    // A name in a directory that is not known belongs to one that has moved.
    const std::string_view in = parent_of(path);
    const bool is_in_place = in.empty() || index.find(in).exists();
    if (is_passed && ((is_linkless && is_in_place) || is_left || moved_on_.contains(path)))
      continue;
    is_settled_ = !is_passed && !is_left && (!status || !has_other_names(path, *status, index)) &&
                  (is_linkless || !status || status->kind != entry_kind::directory);
    if (!is_settled_) return std::nullopt;
  }
  return out;
}

} // namespace paddock::history
