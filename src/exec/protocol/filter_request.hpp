// SPDX-License-Identifier: MIT
#pragma once

// What a filter of system calls is to deny. Included by a program without the C++ library.

namespace paddock::confine {

/// Whose system call numbers. A filter lets a process make calls of this one architecture: any
/// other way in (32-bit calls on a 64-bit kernel) ends the process with SIGSYS.
enum class filter_arch {
  x86_64,
  aarch64,
#if defined(__x86_64__) && !defined(__ILP32__)
  native = x86_64,
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
  native = aarch64,
#else
#error "the system call numbers of this architecture are not known"
#endif
};

/// Which sockets can be made; everything else is EACCES. Pairs of connected AF_UNIX stream and
/// seqpacket sockets can always be made: they lead nowhere but to each other.
enum class network_access {
  none,     ///< no socket at all
  internet, ///< TCP, UDP and what shares their types; netlink for routes, as getaddrinfo needs it
  all,      ///< AF_UNIX as well. A path is enough to reach any service of this machine by it, a
            ///< container engine for one: only where another layer decides about those paths
};

/// Which processes the command can name by a number.
enum class process_view {
  all, ///< its limits, priorities and scheduling it may change by the number 0 only. The filter
       ///< cannot tell a thread of the caller from another process: pthread_setaffinity_np() fails
  own, ///< those of its PID namespace, all of them its own: nothing to deny
};

/// Whether the command can trace processes, read and write their memory, and start them without
/// address randomisation, as debuggers do. Which process it would be is left to the kernel: it
/// allows those that the command sees, of its user, with no more rights and dumpable. Calls that a
/// tracer makes a process do pass the filter as its own (since Linux 4.8).
enum class process_tracing {
  none,
  as_permitted,
};

/// Whether mode, owner, times, flags and extended attributes of files can be changed. Which file it
/// would be is behind a pointer or a descriptor, so that there are only these two.
enum class file_attributes {
  as_permitted, ///< but for the set-user-ID and set-group-ID bits, which nobody may set
  fixed,        ///< not at all. Extended attributes are "not supported", which programs that copy
                ///< files take for what it is; everything else is EPERM: no program is told that it
                ///< has done what it has not
  asked_for,    ///< each change waits until somebody at the listener of the filter has answered it
};

/// Whether truncate(2) waits for the same, and open(2) cuts no file that it does not open for
/// writing: Landlock judges neither before Linux 6.2.
enum class truncation { as_permitted, asked_for };

/// Whether each signal waits for the same, and no descriptor sends one (F_SETOWN): Landlock judges
/// them from Linux 6.12.
enum class signals { as_permitted, asked_for };

/// Whether link(2) waits until somebody at the listener of the filter answers.
enum class link_calls { as_permitted, reported };

struct filter_request {
  filter_arch arch = filter_arch::native;
  network_access network = network_access::none;
  process_view processes = process_view::all;
  file_attributes attributes = file_attributes::as_permitted;
  process_tracing tracing = process_tracing::none;
  link_calls links = link_calls::as_permitted;
  truncation truncates = truncation::as_permitted;
  signals sends = signals::as_permitted;

  /// Whether any call waits at a listener.
  [[nodiscard]] constexpr bool listens() const {
    return links == link_calls::reported || attributes == file_attributes::asked_for ||
           truncates == truncation::asked_for || sends == signals::asked_for;
  }
};

} // namespace paddock::confine
