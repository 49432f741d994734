// SPDX-License-Identifier: MIT
#pragma once

// What the processes of paddock-exec-helper share.

#include "exec/protocol/enforcement.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <limits.h>
#include <sys/types.h>

namespace paddock::exec {

struct options {
  int channel;
  int in;
  int out;
  int err;
  int directory;
  int workspace;
  int policy;
  int user_namespace;    ///< that the next one belongs to; 0: the one of this process
  int network_namespace; ///< with a loopback; 0: there is none
  int scratch_user;      ///< that the next one belongs to; 0: the one of this process
  int scratch_mounts;    ///< with the scratch directories of the session; 0: there are none
  int lock;              ///< only kept open until everything of the command has ended; 0: none
  long grace_ms;
  char** argv;
};

/// Detached mounts of what is the session's, in the order of the scratch directories that the
/// command sees.
struct session_copies {
  static constexpr unsigned capacity = 8;
  int mounts[capacity]; ///< -1: a directory of the command's own
  void clear() {
    for (int& mount : mounts)
      mount = -1;
  }
};

/// Memory that supervisor, parent and command share, until the program runs.
struct shared_state {
  volatile pid_t command; ///< 0 until it leads its own process group; as its parent sees it
  volatile int status;
  volatile bool ended;     ///< `status` is valid
  volatile bool leftovers; ///< in a PID namespace: the command was not the last one
  volatile bool killed;    ///< in a PID namespace: the command had to be killed
  confine::enforcement taken;
  char group[PATH_MAX];   ///< a control group to be removed at the end; empty: none
  char scratch[PATH_MAX]; ///< a directory to be removed at the end; empty: none
  bool scratch_lasts;     ///< it belongs to the session: it is not to be removed
  session_copies session;
  bool has_foreign_proc; ///< /proc lists processes of other PID namespaces
};

/// The program, as `main` would be.
int run_helper(int argc, char** argv);

void send_event(int channel, sys::exec_event event, int first, int second);
/// A message of at most a few hundred bytes that carries a descriptor. 0 or an errno.
int send_with_descriptor(int channel, const void* told, unsigned long size, int fd);
/// Sends what comes with a descriptor, and closes that. Ends the command where it cannot.
void hand_over(int channel, const sys::exec_message& event, int fd);
/// Makes /dev/null the standard streams of this process.
bool open_null_streams();
/// Closes the descriptors first..last.
void close_descriptors(unsigned first, unsigned last);
[[noreturn]] void fail(int channel, sys::exec_stage stage, int os_errno);

} // namespace paddock::exec
