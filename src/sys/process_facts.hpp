// SPDX-License-Identifier: MIT
#pragma once

// What procfs tells of other processes, and signals for them. Same rules as in sys/syscall.hpp.
// A number can be given anew as soon as its process was waited for: hold a descriptor of it.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <span>
#include <vector>

namespace paddock::sys {

struct process_facts {
  int process = 0; ///< the number itself, or that of the thread's process
  int parent = 0;
  int group = 0;
};
/// Of a process, dead ones included, or of a thread. Errors: not_found, ESRCH.
result<process_facts> facts_of(int process_or_thread);
result<std::vector<int>> all_processes();

/// Errors: not_found, ESRCH, also of a thread that is no process.
result<file_descriptor> open_process(int process);
/// Of such a descriptor. Errors: EBADF, it is none; ESRCH, its process was waited for.
result<int> process_of(int pidfd);
/// With `info` as rt_sigqueueinfo(2) takes it; without any, as kill(2) does.
result<void> send_signal(int pidfd, int signal, std::span<const char> info = {});
result<void> send_to_thread(int process, int thread, int signal);

} // namespace paddock::sys
