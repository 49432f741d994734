// SPDX-License-Identifier: MIT
#pragma once

// Locks that processes share: one that says that something is in use, and many in one file.

#include <paddock/base/result.hpp>

#include <cstdint>

namespace paddock::sys {

/// As try_flock of syscall.hpp, which it excludes, but any number may have it at once.
result<void> try_shared_flock(int fd);

/// An exclusive lock on one byte of a file that is open for writing, which need not be there. It
/// belongs to the open description. Never waits: EAGAIN while another one has it.
result<void> try_lock_byte(int fd, std::uint64_t at);
result<void> unlock_byte(int fd, std::uint64_t at);

} // namespace paddock::sys
