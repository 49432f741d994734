// SPDX-License-Identifier: MIT
#pragma once

// The seccomp filter of the commands that Paddock runs: a classic BPF program that the kernel runs
// before every system call of the command and of everything it starts. It is a list of what is
// denied, always with an errno and never by a signal, so that programs see an ordinary failure and
// go on; what is not on the list is the kernel's to answer, calls that do not exist yet included.
//
// It takes away the calls that reach past the other layers (namespaces, Landlock, dropped
// capabilities): sockets, io_uring, other processes, mounts, device files, set-user-ID programs
// that would wait for somebody outside, kernel interfaces that widen the attack surface. It does
// not look at paths or at anything behind a pointer, does not keep a command from signalling other
// processes of its user, and is no confinement by itself.
//
// Pure computation, thread-safe. Included by a program without the C++ library: <cstddef> only.

#include "exec/protocol/filter_request.hpp"

#include <cstddef>

struct sock_filter; // <linux/filter.h>

namespace paddock::confine {

/// Enough room for every request.
inline constexpr std::size_t seccomp_filter_max = 239;

/// Writes the program for prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER) or seccomp(2) to `out` and
/// returns its number of instructions. Returns 0 when `capacity` is too small; `out` has then been
/// written in part and is of no use.
[[nodiscard]] std::size_t build_seccomp_filter(const filter_request& request, sock_filter* out,
                                               std::size_t capacity) noexcept;

} // namespace paddock::confine
