// SPDX-License-Identifier: MIT

// What is noted absent before the command, and moved aside where it is there afterwards.

#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/canonical.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/protection.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

namespace paddock::exec {
namespace {

using sys::exec_entry;

bool is_watched(exec_entry kind) {
  return kind == exec_entry::hidden_name || kind == exec_entry::read_only_name ||
         kind == exec_entry::settings || kind == exec_entry::read_only_link ||
         kind == exec_entry::appeared;
}

/// Lets this user into a directory for as long as it lives: the command may have locked it.
class opened_up {
public:
  explicit opened_up(int directory) {
    text_writer(path_).add("/proc/self/fd/").add(static_cast<unsigned long>(directory));
    struct stat status{};
    constexpr mode_t all = S_IRWXU;
    if (::fstat(directory, &status) != 0 || (status.st_mode & all) == all) return;
    before_ = status.st_mode & 07777U;
    changed_ = ::fchmodat(AT_FDCWD, path_, before_ | all, 0) == 0;
  }
  opened_up(const opened_up&) = delete;
  opened_up& operator=(const opened_up&) = delete;
  ~opened_up() {
    if (changed_) ::fchmodat(AT_FDCWD, path_, before_, 0);
  }

private:
  char path_[40];
  mode_t before_ = 0;
  bool changed_ = false;
};

/// Whether a path leads to nothing. What cannot be looked at does not.
bool is_absent(int top, const char* path) {
  if (std::strchr(path, '/') == nullptr) { // mostly: opens nothing
    char target[1];
    return ::syscall(SYS_readlinkat, top, path, target, sizeof target) < 0 && errno == ENOENT;
  }
  const resolved_entry at(top, path);
  if (at.found()) return !at.whole() && !at.is_link(); // a file where a directory would be
  return at.os_errno() == ENOENT;
}

void append_digits(char*& to, std::uint32_t number) {
  for (int shift = 28; shift >= 0; shift -= 4)
    *to++ = "0123456789abcdef"[number >> static_cast<unsigned>(shift) & 15U];
  *to = '\0';
}

bool status_of_target(int directory, const char* path, struct stat& status) {
  const int target = ::openat(directory, path, O_PATH | O_CLOEXEC);
  if (target < 0) return false;
  const bool known = ::fstat(target, &status) == 0;
  ::close(target);
  return known;
}

/// The length of what leads to the last entry of a path.
std::size_t directory_size(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? static_cast<std::size_t>(slash - path) : 0;
}

/// A directory to which no link leads; -1: there is none, or the kernel (before 5.6) cannot say.
int open_directly(int top, const char* path) {
  constexpr std::uint64_t no_links_beneath = 0x04 | 0x08; // RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH
  const struct {                                          // struct open_how
    std::uint64_t flags, mode, resolve;
  } asked{O_PATH | O_DIRECTORY | O_CLOEXEC, 0, no_links_beneath};
  return static_cast<int>(::syscall(SYS_openat2, top, path, &asked, sizeof asked));
}

} // namespace

int protection::share(int workspace) {
  const std::size_t size = (std::size_t{wanted_.fixed->protected_entries} + 1) * sizeof(note);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  notes_ = static_cast<note*>(memory);
  if (::getrlimit(RLIMIT_NOFILE, &open_files_) != 0) return errno;
  open_files_at_first_ = open_files_.rlim_cur;
  return for_each([&](const char* entry, std::uint32_t i) {
    notes_[i].directory = -1;
    if (is_watched(kind_of(entry))) note_absence(workspace, entry, notes_[i]);
    if (kind_of(entry) == exec_entry::read_only_link)
      note_target(workspace, path_of(entry), notes_[i]);
    return 0;
  });
}

/// The one place that says of a name that it was not there, which is what the sweep goes by: it
/// looks at the tree itself, before anything of it is covered.
void protection::note_absence(int workspace, const char* entry, note& about) {
  const char* path = path_of(entry);
  hold_directory(workspace, path, about);
  const bool held = about.directory >= 0;
  if (kind_of(entry) == exec_entry::appeared || // it was not when a command began that still runs
      is_absent(held ? about.directory : workspace, held ? path + about.skipped : path))
    about.now = state::absent;
}

/// The nearest directory that is there. The names of one directory follow each other.
void protection::hold_directory(int workspace, const char* path, note& about) {
  const std::size_t size = directory_size(path);
  if (size == 0) return;
  if (held_path_ == nullptr || directory_size(held_path_) != size ||
      std::memcmp(held_path_, path, size) != 0) {
    held_path_ = path;
    held_.directory = -1;
    char directory[PATH_MAX];
    if (size >= sizeof directory) return;
    std::memcpy(directory, path, size);
    directory[size] = '\0';
    held_.skipped = static_cast<std::uint32_t>(size + 1);
    if (const int whole = open_directly(workspace, directory); whole >= 0) {
      held_.directory = keep_open(whole);
    } else {
      const resolved_entry at(workspace, directory);
      const bool there = at.found() && at.whole() && at.is_directory();
      const int nearest = there ? at.entry() : at.parent();
      if (!there) held_.skipped = static_cast<std::uint32_t>(at.bytes() - std::strlen(at.name()));
      if (nearest != workspace) held_.directory = keep_open(::fcntl(nearest, F_DUPFD_CLOEXEC, 3));
    }
  }
  about.directory = held_.directory;
  about.skipped = held_.skipped;
}

/// The descriptor, or -1 where too few would be left for everything else.
int protection::keep_open(int directory) {
  constexpr rlim_t others = 64;
  if (directory >= 0 && static_cast<rlim_t>(directory) + others >= open_files_.rlim_cur &&
      open_files_.rlim_cur < open_files_.rlim_max) {
    const rlimit raised{open_files_.rlim_max, open_files_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) open_files_.rlim_cur = raised.rlim_cur;
  }
  if (directory >= 0 && static_cast<rlim_t>(directory) + others < open_files_.rlim_cur)
    return directory;
  if (directory >= 0) ::close(directory);
  ++unheld_;
  return -1;
}

void protection::release() const {
  if (notes_ == nullptr) return;
  int last = -1;
  (void)for_each([&](const char*, std::uint32_t i) {
    const int held = notes_[i].directory;
    if (held >= 0 && held != last) ::close(held);
    if (held >= 0) last = held;
    return 0;
  });
  if (open_files_.rlim_cur == open_files_at_first_) return;
  const rlimit before{open_files_at_first_, open_files_.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &before);
}

void protection::sweep(int workspace, int channel) {
  if (notes_ == nullptr) return;
  held_.directory = -1;
  trail way(workspace);
  (void)for_each([&](const char* entry, std::uint32_t i) {
    const note& about = notes_[i];
    if (about.is_link) sweep_target(workspace, path_of(entry), i, channel);
    const bool is_absolute = entry[1] == '/';
    if (about.now == state::unknown && (is_absolute || !about.replaced)) return 0;
    const char* path = path_of(entry);
    if (about.now == state::absent) {
      // The directory may have another name by now, and another directory its name.
      if (about.directory >= 0) {
        trail from_there(about.directory);
        sweep_one({path + about.skipped, i, about.skipped}, from_there, workspace, channel);
      }
      if (!is_in_place(workspace, path, about)) sweep_one({path, i, 0}, way, workspace, channel);
      return 0;
    }
    const resolved_entry at(way, path);
    const bool is_other =
        about.replaced || at.device() != about.device || at.inode() != about.inode;
    // The library compares the text of settings.
    if (at.found() && is_other && about.copy_inode == 0 && told_++ < sys::appeared_events_max) {
      const sys::exec_appeared told{sys::exec_event::appeared, i, at.bytes(), 0, {},
                                    sys::appearance::uncovered};
      (void)!::send(channel, &told, sizeof told, MSG_NOSIGNAL);
    }
    return 0;
  });
}

/// Whether the path still leads to the directory that was kept open.
bool protection::is_in_place(int workspace, const char* path, const note& about) {
  if (about.directory < 0) return false;
  if (about.directory == held_.directory) return held_in_place_;
  held_.directory = about.directory;
  held_in_place_ = false;
  char directory[PATH_MAX];
  if (about.skipped == 0 || about.skipped > sizeof directory) return false;
  std::memcpy(directory, path, about.skipped - 1);
  directory[about.skipped - 1] = '\0';
  const int now = open_directly(workspace, directory);
  if (now < 0) return false;
  struct stat of_path{};
  struct stat of_held{};
  held_in_place_ = ::fstat(now, &of_path) == 0 && ::fstat(about.directory, &of_held) == 0 &&
                   of_path.st_dev == of_held.st_dev && of_path.st_ino == of_held.st_ino;
  ::close(now);
  return held_in_place_;
}

void protection::note_target(int workspace, const char* path, note& about) const {
  char target[1];
  about.is_link = ::syscall(SYS_readlinkat, workspace, path, target, sizeof target) > 0;
  struct stat status{};
  if (!about.is_link || !status_of_target(workspace, path, status)) return;
  about.target_device = status.st_dev;
  about.target_inode = status.st_ino;
}

/// What a link leads to by now is told where it is another thing in the workspace.
void protection::sweep_target(int workspace, const char* path, std::uint32_t index, int channel) {
  const note& about = notes_[index];
  struct stat status{};
  char top[PATH_MAX];
  char name[PATH_MAX];
  const int target = ::openat(workspace, path, O_PATH | O_CLOEXEC);
  if (target < 0) return;
  const bool other = ::fstat(target, &status) == 0 &&
                     (status.st_dev != about.target_device || status.st_ino != about.target_inode);
  const bool inside = other && name_of_descriptor(workspace, top, sizeof top) &&
                      name_of_descriptor(target, name, sizeof name) && is_within(name, top);
  ::close(target);
  if (!inside || told_++ >= sys::appeared_events_max) return;
  const auto bytes = static_cast<std::uint32_t>(std::strlen(path));
  const sys::exec_appeared told{sys::exec_event::appeared,     index, bytes, 0, {},
                                sys::appearance::led_elsewhere};
  (void)!::send(channel, &told, sizeof told, MSG_NOSIGNAL);
}

void protection::sweep_one(const missing& entry, trail& way, int workspace, int channel) {
  const resolved_entry at(way, entry.path);
  if (at.found() && (at.whole() || at.is_link())) move_aside(at, entry, workspace, channel);
  if (at.found() || at.os_errno() != EACCES) return;
  const opened_up parent(at.parent());
  const resolved_entry again(way, entry.path);
  if (again.found() && (again.whole() || again.is_link()))
    move_aside(again, entry, workspace, channel);
}

void protection::move_aside(const resolved_entry& at, const missing& entry, int workspace,
                            int channel) {
  sys::exec_appeared told{sys::exec_event::appeared, entry.index, entry.skipped + at.bytes(), 0, {},
                          sys::appearance::moved};
  char name[NAME_MAX + 1];
  char digits[17];
  char* to = digits;
  (void)!::syscall(SYS_getrandom, told.suffix, sizeof told.suffix, 0);
  for (const std::uint32_t part : told.suffix)
    append_digits(to, part);
  if (!text_writer(name).add(at.name()).add(sys::moved_aside_mark).add(digits).complete())
    told.os_errno = ENAMETOOLONG;
  const auto rename = [&](unsigned flags) {
    const bool done =
        ::syscall(SYS_renameat2, at.parent(), at.name(), at.parent(), name, flags) == 0;
    return done ? 0 : errno;
  };
  if (told.os_errno == 0) {
    told.os_errno = rename(RENAME_NOREPLACE);
    if (told.os_errno == EINVAL) told.os_errno = rename(0); // a file system that does not know it
    if (told.os_errno == EACCES) {
      const opened_up parent(at.parent());
      told.os_errno = rename(RENAME_NOREPLACE);
    }
  }
  if (told_++ < sys::appeared_events_max) tell(told, at, entry, workspace, channel);
}

/// By the path that leads there now.
void protection::tell(const sys::exec_appeared& told, const resolved_entry& at,
                      const missing& entry, int workspace, int channel) {
  char top[PATH_MAX];
  char directory[PATH_MAX];
  sys::exec_appeared_elsewhere now{told, {}};
  const char* expected = entry.path - entry.skipped;
  if (entry.skipped != 0 && name_of_descriptor(workspace, top, sizeof top) &&
      name_of_descriptor(at.parent(), directory, sizeof directory) && is_within(directory, top)) {
    const std::size_t size = std::strlen(top);
    const char* below = directory + (size == 1 ? 0 : size);
    (void)text_writer(now.path)
        .add(*below == '/' ? below + 1 : below)
        .add(*below != '\0' ? "/" : "")
        .add(at.name());
    if (std::strlen(now.path) != told.bytes || std::memcmp(now.path, expected, told.bytes) != 0) {
      (void)!::send(channel, &now, sizeof now, MSG_NOSIGNAL);
      return;
    }
  }
  (void)!::send(channel, &told, sizeof told, MSG_NOSIGNAL);
}

} // namespace paddock::exec
