// SPDX-License-Identifier: MIT
#pragma once

// The system calls by which a program that reads hostile bytes gives up what it does not need. Same
// rules as in sys/syscall.hpp.

#include <span>
#include <string>

struct sock_filter; // <linux/filter.h>

namespace paddock::sys {

/// What `ps` shows: a program in memory has no name of its own. At most 15 bytes.
void name_this_process(const char* name) noexcept;

/// Root becomes nobody, if it may; no capabilities, none to be gained, no core, and no other
/// process of this user may trace this one. False when privileges could be gained.
[[nodiscard]] bool drop_privileges() noexcept;

/// Every other file is out of reach, and none can be changed; nor can abstract sockets and
/// processes outside be reached from Linux 6.12 on. False where the kernel has no Landlock.
bool allow_only_reading(std::span<const std::string> paths) noexcept;

/// Applies a filter of system calls to this thread and its future children.
[[nodiscard]] bool filter_system_calls(std::span<sock_filter> program) noexcept;

} // namespace paddock::sys
