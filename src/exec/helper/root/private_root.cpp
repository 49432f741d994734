// SPDX-License-Identifier: MIT
#include "exec/helper/root/private_root.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/proc.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace paddock::exec {
namespace {

constexpr unsigned nobody = 65534;

constexpr int absent = -1;
constexpr int is_link = -2; ///< a link at the top ("/bin"): made again when its turn comes

// One file system holds the root directory, the scratch directories and what covers hidden
// entries, side by side and each mounted by itself: making a file system costs more than making a
// directory.
constexpr const char* root_name = "root";
constexpr const char* cover_name = "cover";

/// A mount of a new directory in the file system that is mounted at `own`.
int make_directory(int own, const char* name, mode_t mode) {
  const mode_t mask = ::umask(0);
  const bool made = ::mkdirat(own, name, mode) == 0;
  ::umask(mask);
  return made ? copy_mount(own, name) : -1;
}

std::uint64_t attributes_of(use as) {
  switch (as) {
  case use::read:
  case use::cache: // one that is no overlay
    return mount_read_only | mount_no_setuid | mount_no_devices;
  case use::device:
    return mount_no_setuid | mount_no_programs;
  case use::scratch:
  case use::write:
  case use::workspace:
    break;
  }
  return mount_no_setuid | mount_no_devices;
}

bool is_link_at_the_top(const char* path) {
  struct stat status{};
  return std::strrchr(path, '/') == path && ::lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

bool is_user_name(const char* name) {
  if (name == nullptr || std::strlen(name) > 32) return false;
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return name[0] >= 'a' && name[0] <= 'z' && name[std::strspn(name, letters)] == '\0';
}

bool is_host_name(const char* name) {
  constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  return name[0] != '\0' && name[std::strspn(name, letters)] == '\0';
}

/// The names of the loopback. Programs look for the name of the machine they run on, too.
int make_hosts() {
  struct utsname machine{};
  const bool named = ::syscall(SYS_uname, &machine) == 0 && is_host_name(machine.nodename) &&
                     std::strcmp(machine.nodename, "localhost") != 0;
  char hosts[256];
  text_writer names(hosts);
  names.add("127.0.0.1 localhost");
  if (named) names.add(" ").add(machine.nodename);
  names.add("\n::1 localhost ip6-localhost ip6-loopback\n");
  return write_new_file("/etc/hosts", hosts);
}

} // namespace

int write_new_file(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return errno == EEXIST ? 0 : errno;
  const auto size = static_cast<ssize_t>(std::strlen(text));
  const int failed = ::write(fd, text, std::strlen(text)) == size ? 0 : errno;
  ::close(fd);
  return failed;
}

int private_root::copy(const visible_path& entry, int& mount) const {
  mount = is_link;
  if (entry.as == use::read && is_link_at_the_top(entry.path)) return 0;
  mount = copy_mount(entry.path, depth::with_submounts);
  if (mount < 0) {
    mount = absent;
    return !entry.named && (errno == ENOENT || errno == ENOTDIR || errno == EACCES) ? 0 : errno;
  }
  return set_mount_attributes(mount, attributes_of(entry.as), depth::with_submounts) == 0 ? 0
                                                                                          : errno;
}

int private_root::prepare() {
  int* mount = mounts_;
  for (const visible_path& entry : visible_) {
    *mount = absent;
    if (entry.as != use::scratch && entry.as != use::cache)
      if (const int failed = copy(entry, *mount); failed != 0) return failed;
    ++mount;
  }
  if (visible_.terminals() != need::none) terminals_ = new_terminals();
  if (visible_.terminals() == need::required && terminals_ < 0) return errno;
  return take_proc() ? make_own_file_system() : errno;
}

/// Where a container covers parts of /proc, the kernel makes no new one.
bool private_root::take_proc() {
  proc_ = new_file_system("proc", nullptr, proc_attributes);
  if (proc_ >= 0 || errno != EPERM || fallback_ == old_proc::refused) return proc_ >= 0;
  proc_ = copy_mount("/proc", depth::with_submounts);
  has_foreign_proc_ = proc_ >= 0;
  return has_foreign_proc_ &&
         set_mount_attributes(proc_, proc_attributes, depth::with_submounts) == 0;
}

/// Any directory will do to attach it for the moment; this one is there, because a mount of proc
/// was possible.
int private_root::make_own_file_system() {
  const int own = new_file_system("tmpfs", "0755", mount_no_setuid | mount_no_devices);
  if (own < 0 || attach_mount(own, "/proc") != 0) return errno;
  root_ = make_directory(own, root_name, 0755);
  cover_ = make_directory(own, cover_name, 0555);
  if (has_settings_) settings_ = make_directory(own, "settings", 0700);
  bool made = root_ >= 0 && cover_ >= 0 && (!has_settings_ || settings_ >= 0);
  int* mount = mounts_;
  unsigned long number = 0;
  unsigned long number_of_cache = 0;
  for (const visible_path& entry : visible_) {
    if (made && entry.as == use::scratch) {
      char name[24];
      text_writer(name).add(number);
      *mount = number < session_copies::capacity ? session_.mounts[number] : -1;
      if (*mount < 0)
        *mount = make_directory(own, name, std::strcmp(entry.path, "/tmp") == 0 ? 01777 : 0700);
      made = *mount >= 0;
      ++number;
    } else if (made && entry.as == use::cache) {
      made = make_cache(entry, own, ++number_of_cache, *mount) == 0;
    }
    ++mount;
  }
  const int failed = errno;
  ::close(own);
  if (!made) ::umount2("/proc", MNT_DETACH);
  return made ? 0 : failed;
}

/// While the file system is at /proc, where the overlay takes what is changed from by its path.
int private_root::make_cache(const visible_path& entry, int own, unsigned long number,
                             int& mount) const {
  char changed[64];
  char work[64];
  text_writer(changed).add("/proc/changed-").add(number);
  text_writer(work).add("/proc/work-").add(number);
  const bool has_places = ::mkdirat(own, std::strrchr(changed, '/') + 1, 0700) == 0 &&
                          ::mkdirat(own, std::strrchr(work, '/') + 1, 0700) == 0;
  mount = has_places ? new_overlay({entry.path, changed, work}) : -1;
  return mount >= 0 ? 0 : copy({entry.path, use::read, false}, mount);
}

int private_root::leave_old_root() {
  if (attach_mount(root_, "/proc") != 0 || ::fchdir(root_) != 0) return errno;
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) return errno;
  return 0;
}

int private_root::put(const visible_path& entry, int mount) {
  if (mount == absent || mount == is_link) return 0;
  struct stat status{};
  if (::fstat(mount, &status) != 0) return errno;
  int failed = make_place(entry.path, S_ISDIR(status.st_mode));
  if (failed == 0 && attach_mount(mount, entry.path) != 0) failed = errno;
  ::close(mount);
  const bool optional = entry.as == use::scratch || entry.as == use::read || entry.as == use::cache;
  return optional && !entry.named && (failed == EROFS || failed == EACCES) ? 0 : failed;
}

int private_root::make_devices() {
  if (::mkdir("/proc", 0555) != 0 || attach_mount(proc_, "/proc") != 0) return errno;
  const struct {
    const char* target;
    const char* name;
  } links[] = {{"/proc/self/fd", "/dev/fd"},
               {"/proc/self/fd/0", "/dev/stdin"},
               {"/proc/self/fd/1", "/dev/stdout"},
               {"/proc/self/fd/2", "/dev/stderr"}};
  if (::mkdir("/dev", 0755) != 0 && errno != EEXIST) return errno;
  for (const auto& link : links)
    if (::symlink(link.target, link.name) != 0) return errno;
  return terminals_ < 0 ? 0 : make_terminals();
}

/// None of the terminals of this machine is among them.
int private_root::make_terminals() const {
  if (::mkdir("/dev/pts", 0755) != 0 || attach_mount(terminals_, "/dev/pts") != 0 ||
      ::symlink("pts/ptmx", "/dev/ptmx") != 0)
    return errno;
  ::close(terminals_);
  return 0;
}

/// Who the command is, for programs that ask for a name, and nobody else.
int private_root::make_identity() const {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  const char* home = visible_.home() == nullptr ? "/" : visible_.home();
  const char* name = std::getenv("USER");
  if (user == 0 || !is_user_name(name)) name = user == 0 ? "root" : "user";
  char passwd[PATH_MAX + 256];
  char groups[256];
  text_writer people(passwd);
  people.add(name).add(":x:").add(user).add(":").add(group).add("::").add(home).add(":/bin/sh\n");
  text_writer teams(groups);
  teams.add(name).add(":x:").add(group).add(":\n");
  if (user != 0) people.add("root:x:0:0:root:/:/bin/false\n");
  if (group != 0) teams.add("root:x:0:\n");
  if (user != nobody) people.add("nobody:x:65534:65534:nobody:/:/bin/false\n");
  if (group != nobody) teams.add("nogroup:x:65534:\n");
  if (::mkdir("/etc", 0755) != 0 && errno != EEXIST) return errno;
  int failed = write_new_file("/etc/passwd", passwd);
  if (failed == 0) failed = write_new_file("/etc/group", groups);
  if (failed == 0) failed = make_hosts();
  // Where programs ask without one; some read it all the same.
  if (failed == 0) failed = write_new_file("/etc/resolv.conf", "nameserver 127.0.0.1\n");
  // Where the operator shows this machine's /etc, its own configuration is there.
  if (failed == 0 && *git_configuration_ != '\0' && !visible_.is_shown("/etc"))
    failed = write_new_file("/etc/gitconfig", git_configuration_);
  return failed;
}

int private_root::enter() {
  const char* targets[capacity]; // of the links at the top, while the old root is there
  std::size_t i = 0;
  for (const visible_path& entry : visible_) {
    if (mounts_[i++] != is_link) continue;
    char target[PATH_MAX];
    const ssize_t size = ::readlink(entry.path, target, sizeof target - 1);
    if (size < 0) return errno;
    target[size] = '\0';
    if ((targets[i - 1] = ::strdup(target)) == nullptr) return ENOMEM;
  }
  if (const int failed = leave_old_root(); failed != 0) return failed;
  const mode_t mask = ::umask(0);
  i = 0;
  for (const visible_path& entry : visible_) {
    const int mount = mounts_[i++];
    if (mount == is_link && ::symlink(targets[i - 1], entry.path) != 0) return errno;
    if (const int failed = put(entry, mount); failed != 0) return failed;
  }
  int failed = make_devices();
  if (failed == 0) failed = make_identity();
  if (failed == 0 && has_settings_) failed = put_settings();
  ::umask(mask);
  if (failed != 0) return failed;
  const int here = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (here < 0 || set_mount_attributes(here, mount_read_only, depth::only_this) != 0) return errno;
  ::close(here);
  return 0;
}

int private_root::put_settings() const {
  constexpr std::uint64_t attributes = mount_no_setuid | mount_no_devices | mount_no_programs;
  const int placed = make_place(sys::settings_directory, true);
  if (placed != 0) return placed;
  if (set_mount_attributes(settings_, attributes, depth::only_this) != 0 ||
      attach_mount(settings_, sys::settings_directory) != 0)
    return errno;
  ::close(settings_);
  return 0;
}

int isolate_mounts() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
}

} // namespace paddock::exec
