// SPDX-License-Identifier: MIT
#include "exec/helper/root/mounts.hpp"

#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

// The same numbers on every architecture.
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

namespace paddock::exec {
namespace {

// From linux/mount.h, which cannot be included together with sys/mount.h everywhere.
constexpr unsigned open_tree_clone = 1;
constexpr unsigned open_tree_cloexec = O_CLOEXEC;
constexpr unsigned at_recursive = 0x8000;
constexpr unsigned at_empty_path = 0x1000;
constexpr unsigned move_from_descriptor = 0x4;
constexpr unsigned move_to_descriptor = 0x40;
constexpr unsigned cloexec = 1; // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
constexpr unsigned set_flag = 0;
constexpr unsigned set_string = 1;
constexpr unsigned create = 6;

struct mount_attributes { // struct mount_attr
  std::uint64_t set;
  std::uint64_t clear;
  std::uint64_t propagation;
  std::uint64_t user_namespace;
};

int change_mount(int mount, const mount_attributes& wanted, depth how_deep) {
  const unsigned recursive = how_deep == depth::with_submounts ? at_recursive : 0;
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, mount, "", at_empty_path | recursive, &wanted, sizeof wanted));
}

bool set(int context, const char* key, const char* value) {
  return ::syscall(SYS_fsconfig, context, set_string, key, value, 0) == 0;
}

/// What a context that is ready becomes; it is closed.
int finish(int context, bool is_ready, std::uint64_t attributes) {
  int mount = -1;
  if (is_ready && ::syscall(SYS_fsconfig, context, create, nullptr, nullptr, 0) == 0)
    mount = static_cast<int>(::syscall(SYS_fsmount, context, cloexec, attributes));
  const int failed = errno;
  ::close(context);
  errno = failed;
  return mount;
}

/// For a list of directories, where a colon would begin another one.
template <std::size_t capacity> bool escape(const char* path, char (&into)[capacity]) {
  std::size_t size = 0;
  for (; *path != '\0'; ++path) {
    if (size + 3 > capacity) return false;
    if (*path == ':' || *path == '\\') into[size++] = '\\';
    into[size++] = *path;
  }
  into[size] = '\0';
  return true;
}

/// The directories that lead to `path`, without its last component.
int make_parents(const char* path) {
  char parent[PATH_MAX];
  text_writer(parent).add(path);
  for (char* slash = std::strchr(parent + 1, '/'); slash != nullptr;
       slash = std::strchr(slash + 1, '/')) {
    *slash = '\0';
    if (::mkdir(parent, 0755) != 0 && errno != EEXIST && ::access(parent, F_OK) != 0) return errno;
    *slash = '/';
  }
  return 0;
}

} // namespace

int copy_mount(const char* path, depth how_deep) {
  const unsigned recursive = how_deep == depth::with_submounts ? at_recursive : 0;
  return static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, path, open_tree_clone | open_tree_cloexec | recursive));
}

int copy_mount(int directory, const char* name) {
  return static_cast<int>(
      ::syscall(SYS_open_tree, directory, name, open_tree_clone | open_tree_cloexec));
}

int copy_mount_of(int entry, depth how_deep) {
  const unsigned recursive = how_deep == depth::with_submounts ? at_recursive : 0;
  return static_cast<int>(::syscall(
      SYS_open_tree, entry, "", open_tree_clone | open_tree_cloexec | at_empty_path | recursive));
}

bool can_set_mount_attributes() {
  return ::syscall(SYS_mount_setattr, -1, "", 0, nullptr, 0) == 0 || errno != ENOSYS;
}

int set_mount_attributes(int mount, std::uint64_t attributes, depth how_deep) {
  return change_mount(mount, {attributes, 0, 0, 0}, how_deep);
}

int make_private(int mount) {
  return change_mount(mount, {0, 0, MS_PRIVATE, 0}, depth::with_submounts);
}

int new_file_system(const char* type, const char* mode, std::uint64_t attributes) {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, type, cloexec));
  if (context < 0) return -1;
  return finish(context, mode == nullptr || set(context, "mode", mode), attributes);
}

int new_terminals() {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "devpts", cloexec));
  if (context < 0) return -1;
  return finish(context, set(context, "mode", "0620") && set(context, "ptmxmode", "0666"),
                mount_no_setuid | mount_no_programs);
}

int new_overlay(const overlay_places& places) {
  char below[256]; // the kernel takes no longer value
  if (!escape(places.below, below)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "overlay", cloexec));
  if (context < 0) return -1;
  // In attributes that an ordinary user may set it notes what was removed, and it follows none that
  // lead from one place to another.
  const bool is_ready = set(context, "lowerdir", below) &&
                        set(context, "upperdir", places.changed) &&
                        set(context, "workdir", places.work) &&
                        ::syscall(SYS_fsconfig, context, set_flag, "userxattr", nullptr, 0) == 0;
  return finish(context, is_ready, mount_no_setuid | mount_no_devices);
}

int make_place(const char* path, bool directory) {
  const auto make = [&] {
    return (directory ? ::mkdir(path, 0755) : ::mknod(path, S_IFREG | 0644, 0)) == 0 ? 0 : errno;
  };
  int failed = make();
  if (failed == ENOENT) {
    failed = make_parents(path);
    if (failed == 0) failed = make();
  }
  return failed == EEXIST ? 0 : failed;
}

int attach_mount(int mount, const char* path) {
  return static_cast<int>(
      ::syscall(SYS_move_mount, mount, "", AT_FDCWD, path, move_from_descriptor));
}

int attach_mount_to(int mount, int place) {
  return static_cast<int>(
      ::syscall(SYS_move_mount, mount, "", place, "", move_from_descriptor | move_to_descriptor));
}

} // namespace paddock::exec
