// SPDX-License-Identifier: MIT
#include "exec/helper/root/protection.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/canonical.hpp"
#include "exec/helper/root/mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

using sys::exec_entry;

constexpr std::uint64_t cover_attributes =
    mount_read_only | mount_no_setuid | mount_no_devices | mount_no_programs;

bool is_hidden(exec_entry kind) {
  return kind == exec_entry::hidden_name || kind == exec_entry::hidden_entry;
}

enum class place { missing, plain, mount };

place look_at(int directory, const char* path) {
  struct statx status{};
  constexpr std::uint64_t mount_root = 0x2000; // STATX_ATTR_MOUNT_ROOT
  constexpr int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  if (::syscall(SYS_statx, directory, path, flags, 0U, &status) != 0) return place::missing;
  return (status.stx_attributes & mount_root) != 0 ? place::mount : place::plain;
}

bool is_mount(int entry) {
  return look_at(entry, "") == place::mount;
}

} // namespace

int protection::hold(const char* workspace, const visible_paths& visible, int cover) {
  if (!can_set_mount_attributes()) return ENOSYS; // nothing could be made read-only
  visible_ = &visible;
  workspace_ = workspace;
  cover_ = cover;
  root_ = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  top_ = ::open(workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (top_ < 0 || root_ < 0) return errno;
  watch(top_);
  const int failed = hold_all();
  // The command gets copies of these mounts, to which what is mounted later spreads.
  is_held_ = failed == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) == 0;
  return failed;
}

/// The first time until one fails; then what was replaced, each as far as it can be.
int protection::hold_all() {
  trail way(top_);
  return for_each([&](const char* entry, std::uint32_t i) {
    if (!is_held_) return hold_one(entry, i, way);
    if (is_replaced(entry, i))
      (void)hold_one(entry, i, way);
    else if (kind_of(entry) == exec_entry::read_only_link)
      (void)keep_target(path_of(entry));
    return 0;
  });
}

/// Lets SIGIO come whenever an entry of the directory appears. Not inotify: closing that takes the
/// kernel many milliseconds. Without it a replacement is only found at the end.
void protection::watch(int directory) const {
  constexpr int others = 64;
  const int opened = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  const bool is_room = static_cast<rlim_t>(opened) + others < open_files_at_first_;
  if (!is_room || ::fcntl(opened, F_NOTIFY, DN_CREATE | DN_MULTISHOT) != 0) ::close(opened);
}

void protection::hold_again() {
  if (is_held_) (void)hold_all();
}

/// What was not there before is moved aside at the end, and left to the command until then.
bool protection::is_replaced(const char* entry, std::uint32_t index) const {
  const int top = entry[1] == '/' ? root_ : top_;
  return notes_[index].mounted && look_at(top, path_of(entry)) == place::plain;
}

int protection::hold_one(const char* entry, std::uint32_t index, trail& way) {
  const exec_entry kind = kind_of(entry);
  const bool absolute = entry[1] == '/';
  if (absolute && !is_changeable(entry + 1)) return 0;
  if (kind == exec_entry::appeared) return 0;
  if (absolute) {
    way.forget(); // what it leads through may become a mount
    trail from_root(root_);
    return hold_at(resolved_entry(from_root, path_of(entry)), entry, index, from_root);
  }
  return hold_at(resolved_entry(way, path_of(entry)), entry, index, way);
}

int protection::hold_at(const resolved_entry& at, const char* entry, std::uint32_t index,
                        trail& way) {
  note& about = notes_[index];
  const exec_entry kind = kind_of(entry);
  const bool was_seen = kind == exec_entry::repository || kind == exec_entry::hidden_entry;
  if (was_seen && (!at.found() || !at.whole())) return ESTALE;
  if (!at.found()) {
    if (at.os_errno() == EACCES) {
      way.forget(); // what is nearest is covered
      return hide_around(at, way.top(), path_of(entry));
    }
    return at.os_errno() == ENOENT ? 0 : at.os_errno();
  }
  const bool is_to_hide = is_hidden(kind) && at.whole();
  if (!is_to_hide && !at.whole() && !at.is_link()) return 0; // a file where a directory would be
  // The path may lead through a link, to another file than the one that is mounted.
  if (is_held_ && is_mount(at.entry())) return 0;
  about.device = at.device();
  about.inode = at.inode();
  about.mounted = true;
  about.replaced = is_held_;
  if (is_to_hide) {
    about.now = state::held;
    return hide(at);
  }
  const bool is_read_only = kind == exec_entry::read_only_name || kind == exec_entry::settings;
  about.now = is_read_only && at.whole() ? state::held : state::unknown; // made meanwhile
  if (kind == exec_entry::settings && at.whole() && give_copy(at, index) == 0) return 0;
  const bool in_place = kind == exec_entry::in_place || kind == exec_entry::repository;
  // Being mounted keeps a link as it is.
  const bool fixed_only = at.is_link() || (in_place && at.is_directory());
  int mounted = -1;
  const int failed = bind(at.entry(), fixed_only ? 0 : mount_read_only, &mounted);
  if (failed != 0) return failed;
  if (fixed_only && at.is_directory()) watch(mounted);
  // What follows lies in the mount, not beneath it.
  if (!at.is_directory() || !way.enter(mounted, path_of(entry), at.bytes())) ::close(mounted);
  const bool absolute = entry[1] == '/';
  if (!at.is_link() || absolute || in_place) return 0;
  way.forget(); // any of it may become another mount
  return keep_target(path_of(entry));
}

/// Whether the command could change what is at an absolute path.
bool protection::is_changeable(const char* path) const {
  if (visible_->begin() == visible_->end()) return true; // everything is where it was
  for (const visible_path& each : *visible_)
    if (each.as >= use::write && is_within(path, each.path)) return true;
  return is_within(path, workspace_);
}

/// What this process cannot look into is covered as a whole: the command may be able to unlock it.
int protection::hide_around(const resolved_entry& in, int top, const char* path) {
  const std::size_t size = in.bytes() - std::strlen(in.name());
  char directory[PATH_MAX];
  if (size < 2 || size > sizeof directory) return ESTALE;
  std::memcpy(directory, path, size - 1);
  directory[size - 1] = '\0';
  const resolved_entry locked(top, directory);
  return locked.found() && locked.whole() && locked.is_directory() ? hide(locked) : ESTALE;
}

int protection::hide(const resolved_entry& at) {
  int mount = -1;
  if (at.is_directory()) {
    if (cover_ < 0) cover_ = new_file_system("tmpfs", "0555", cover_attributes);
    mount = cover_;
    cover_ = -1;
  } else {
    mount = copy_mount("/dev/null", depth::only_this);
  }
  if (mount < 0) return errno;
  const bool hidden = set_mount_attributes(mount, cover_attributes, depth::only_this) == 0 &&
                      attach_mount_to(mount, at.entry()) == 0;
  const int failed = hidden ? 0 : errno;
  ::close(mount);
  if (failed != 0 || !at.is_directory()) return failed;
  const int place = ::openat(at.parent(), at.name(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (place < 0) return errno;
  cover_ = copy_mount_of(place, depth::only_this); // for the next one
  ::close(place);
  return 0;
}

/// What a protected link leads to, where that is in the workspace, and what leads there: no
/// directory and no link on the way can be exchanged.
int protection::keep_target(const char* path) {
  char link[PATH_MAX];
  if (!text_writer(link).add(workspace_).add("/").add(path).complete()) return ENAMETOOLONG;
  struct way {
    protection* self;
    const char* link;
    int failed;
  } on_the_way{this, link, 0};
  const link_rule keep_each{[](const char*, const void*) { return false; }, &on_the_way,
                            [](const char* entry, const void* context) {
                              auto& at = *static_cast<way*>(const_cast<void*>(context));
                              // What leads to the link itself is an entry of its own.
                              if (is_within(at.link, entry) ||
                                  !is_within(entry, at.self->workspace_))
                                return 0;
                              return at.failed = at.self->keep_in_place(entry);
                            }};
  char target[PATH_MAX];
  if (canonical_name(link, kind_wanted::anything, keep_each, target) != 0) return on_the_way.failed;
  if (std::strcmp(target, workspace_) == 0 || !is_within(target, workspace_)) return 0;
  const int entry = ::open(target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (entry < 0) return errno;
  struct statfs of{};
  const bool is_read_only =
      ::syscall(SYS_fstatfs, entry, &of) == 0 && (of.f_flags & ST_RDONLY) != 0;
  const int failed = is_read_only ? 0 : bind(entry, mount_read_only);
  ::close(entry);
  return failed;
}

int protection::keep_in_place(const char* path) {
  const int entry = ::open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (entry < 0) return errno;
  int failed = 0;
  if (!is_mount(entry)) {
    failed = bind(entry, 0);
    watch(entry);
  }
  ::close(entry);
  return failed;
}

/// Mounts an entry, be it a link, on itself: then it can be neither moved nor replaced. The mount
/// is closed, unless the caller wants it.
int protection::bind(int entry, std::uint64_t attributes, int* mounted) {
  const int mount = copy_mount_of(entry, depth::with_submounts);
  if (mount < 0) return errno;
  // Later mounts on the one that it copies are not for it as well.
  const bool bound = (!is_held_ || make_private(mount) == 0) &&
                     (attributes == 0 ||
                      set_mount_attributes(mount, attributes, depth::with_submounts) == 0) &&
                     attach_mount_to(mount, entry) == 0;
  const int failed = bound ? 0 : errno;
  if (failed == 0 && mounted != nullptr)
    *mounted = mount;
  else
    ::close(mount);
  return failed;
}

} // namespace paddock::exec
