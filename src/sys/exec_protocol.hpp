// SPDX-License-Identifier: MIT
#pragma once

// What the library and paddock-exec-helper say to each other, over one SOCK_SEQPACKET pair. Both
// are built from this header; the two are installed together and no other version is ever spoken
// to.
//
// The library starts the helper with
//   paddock-exec-helper CHANNEL OUT ERR DIRECTORY GRACE_MS PROGRAM [ARGUMENT]...
// where the first four are descriptor numbers above 2, and with the command's environment as its
// own. To the helper it sends `terminate_request`, at most once; closing its end means "kill
// everything now". This header is included by a program without the C++ library: no std:: beyond
// <cstdint>.

#include <cstdint>

namespace paddock::sys {

enum class exec_event : std::uint32_t {
  started, ///< first: process ID and process group of the command, before its program runs
  failed,  ///< first: exec_stage, second: errno; the program was never run
  ended,   ///< first: wait status, second: 1 when the command's parent had been killed before
  done,    ///< first: tree_remains, second: 1 when processes beside the command were killed
};

enum class exec_stage : std::int32_t { helper, working_directory, execve, interpreter };

/// What is left of the process tree when the helper goes.
enum class tree_remains : std::int32_t {
  nothing,        ///< and nothing had to be killed
  nothing_killed, ///< because it was killed
  unknown,        ///< processes that could not be found, or that the kernel had not ended yet
};

struct exec_message {
  exec_event event;
  std::int32_t first;
  std::int32_t second;
};

inline constexpr char terminate_request = 't';

/// How long the helper tries to end the tree before it reports `unknown`.
inline constexpr std::int64_t tree_end_ms_max = 10'000;

} // namespace paddock::sys
