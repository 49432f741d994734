// SPDX-License-Identifier: MIT
#include "exec/helper/root/mounts.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

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
constexpr unsigned set_string = 1;
constexpr unsigned create = 6;

struct mount_attributes { // struct mount_attr
  std::uint64_t set;
  std::uint64_t clear;
  std::uint64_t propagation;
  std::uint64_t user_namespace;
};

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
  const mount_attributes wanted{attributes, 0, 0, 0};
  const unsigned recursive = how_deep == depth::with_submounts ? at_recursive : 0;
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, mount, "", at_empty_path | recursive, &wanted, sizeof wanted));
}

int new_file_system(const char* type, const char* mode, std::uint64_t attributes) {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, type, cloexec));
  if (context < 0) return -1;
  int mount = -1;
  const bool configured =
      mode == nullptr || ::syscall(SYS_fsconfig, context, set_string, "mode", mode, 0) == 0;
  if (configured && ::syscall(SYS_fsconfig, context, create, nullptr, nullptr, 0) == 0)
    mount = static_cast<int>(::syscall(SYS_fsmount, context, cloexec, attributes));
  const int failed = errno;
  ::close(context);
  errno = failed;
  return mount;
}

int new_terminals() {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "devpts", cloexec));
  if (context < 0) return -1;
  int mount = -1;
  if (::syscall(SYS_fsconfig, context, set_string, "mode", "0620", 0) == 0 &&
      ::syscall(SYS_fsconfig, context, set_string, "ptmxmode", "0666", 0) == 0 &&
      ::syscall(SYS_fsconfig, context, create, nullptr, nullptr, 0) == 0)
    mount = static_cast<int>(
        ::syscall(SYS_fsmount, context, cloexec, mount_no_setuid | mount_no_programs));
  const int failed = errno;
  ::close(context);
  errno = failed;
  return mount;
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
