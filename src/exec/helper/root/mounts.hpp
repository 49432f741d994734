// SPDX-License-Identifier: MIT
#pragma once

// The mount calls of Linux 5.2 and 5.12, for C libraries that do not have them. Each returns as the
// system call does.

#include <cstdint>

namespace paddock::exec {

inline constexpr std::uint64_t mount_read_only = 0x1;
inline constexpr std::uint64_t mount_no_setuid = 0x2;
inline constexpr std::uint64_t mount_no_devices = 0x4;
inline constexpr std::uint64_t mount_no_programs = 0x8;

enum class depth : bool { only_this, with_submounts };

/// A detached copy of the mount at a path.
int copy_mount(const char* path, depth how_deep);
/// A detached mount of one entry of an open directory.
int copy_mount(int directory, const char* name);
/// The same of what a descriptor stands for, be it a link.
int copy_mount_of(int entry, depth how_deep);
/// Whether this kernel has set_mount_attributes: since 5.12.
bool can_set_mount_attributes();
int set_mount_attributes(int mount, std::uint64_t attributes, depth how_deep);
/// What is mounted on others spreads to it and its submounts no longer, nor from them.
int make_private(int mount);
/// A detached, empty file system: "tmpfs" or "proc". `mode` (octal digits) may be null.
int new_file_system(const char* type, const char* mode, std::uint64_t attributes);
/// A detached devpts of its own, whose terminals and their maker are for everybody who sees it.
int new_terminals();

struct overlay_places {
  const char* below;   ///< what is there, and stays as it is
  const char* changed; ///< an empty directory for what is made and changed
  const char* work;    ///< another one beside that, which belongs to the kernel then
};
/// A detached mount of a directory of others as the command's own: what it reads is theirs, what it
/// changes is not. Before Linux 5.11 an ordinary user has none.
int new_overlay(const overlay_places& places);

/// Something of the same kind for a mount to cover, with the directories that lead there. 0 or an
/// errno; what is there stays.
int make_place(const char* path, bool directory);
int attach_mount(int mount, const char* path);
/// On what a descriptor stands for, be it a link.
int attach_mount_to(int mount, int place);

} // namespace paddock::exec
