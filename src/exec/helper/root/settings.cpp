// SPDX-License-Identifier: MIT

// Copies of settings that a command can change. Git replaces a configuration by a rename, which
// nothing that is mounted in its place allows; but it follows a link to where the file is. So a
// link is mounted there, to a copy in a directory that is the command's own.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/protection.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace paddock::exec {
namespace {

struct copy_names {
  explicit copy_names(std::uint32_t index) {
    text_writer(directory)
        .add(sys::settings_directory)
        .add("/")
        .add(static_cast<unsigned long>(index));
    text_writer(file).add(directory).add("/config");
    text_writer(link).add(directory).add("-link");
  }
  char directory[64];
  char file[80];
  char link[80];
};

std::int64_t changed_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// 0 or an errno; EFBIG: it is longer than settings are.
int copy_content(int from, int to) {
  char block[4096];
  unsigned long total = 0;
  for (;;) {
    const ssize_t size = ::read(from, block, sizeof block);
    if (size <= 0) return size < 0 ? errno : 0;
    total += static_cast<unsigned long>(size);
    if (total > sys::settings_bytes_max) return EFBIG;
    if (::write(to, block, static_cast<unsigned long>(size)) != size) return ENOSPC;
  }
}

} // namespace

/// 0 or an errno: then it is to be read-only.
int protection::give_copy(const resolved_entry& at, std::uint32_t index) {
  const copy_names names(index);
  struct stat status{};
  if (::mkdir(names.directory, 0700) != 0) return ENOTSUP;
  const int original =
      ::openat(at.parent(), at.name(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const int copy = ::open(names.file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool is_same = original >= 0 && copy >= 0 && ::fstat(original, &status) == 0 &&
                       S_ISREG(status.st_mode) && status.st_ino == at.inode();
  int failed = is_same ? copy_content(original, copy) : ESTALE;
  if (failed == 0 && (::fchmod(copy, status.st_mode & 0666U) != 0 || ::fstat(copy, &status) != 0))
    failed = errno;
  for (const int fd : {original, copy})
    if (fd >= 0) ::close(fd);
  if (failed == 0 && ::symlink(names.file, names.link) != 0) failed = errno;
  if (failed != 0) return failed;
  const int link = ::open(names.link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  const int mount = link < 0 ? -1 : copy_mount_of(link, depth::only_this);
  if (mount < 0 || attach_mount_to(mount, at.entry()) != 0) failed = errno;
  for (const int fd : {link, mount})
    if (fd >= 0) ::close(fd);
  if (failed != 0) return failed;
  notes_[index].copy_inode = status.st_ino;
  notes_[index].copy_changed_ns = changed_ns(status);
  return 0;
}

void protection::hand_over(int channel) const {
  if (wanted_.fixed->settings == 0 || notes_ == nullptr) return;
  const int top = ::open(sys::settings_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  (void)for_each([&](const char* entry, std::uint32_t i) {
    if (kind_of(entry) != sys::exec_entry::settings || notes_[i].copy_inode == 0) return 0;
    const copy_names names(i);
    // The command may have a link there.
    const resolved_entry at(top, names.file + sizeof sys::settings_directory);
    struct stat status{};
    const int copy =
        at.found() && at.whole()
            ? ::openat(at.parent(), at.name(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            : -1;
    const bool is_changed =
        copy >= 0 && ::fstat(copy, &status) == 0 && S_ISREG(status.st_mode) &&
        (status.st_ino != notes_[i].copy_inode || changed_ns(status) != notes_[i].copy_changed_ns);
    if (is_changed) {
      const sys::exec_message told{sys::exec_event::settings, static_cast<std::int32_t>(i), 0};
      (void)send_with_descriptor(channel, &told, sizeof told, copy);
    }
    if (copy >= 0) ::close(copy);
    return 0;
  });
  if (top >= 0) ::close(top);
}

} // namespace paddock::exec
