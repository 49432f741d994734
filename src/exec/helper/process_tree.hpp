// SPDX-License-Identifier: MIT
#pragma once

// The processes below this one, found through /proc, and the two things done to them. Used by the
// supervising process of a command, which is a child subreaper: whatever a command starts stays
// below it.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace paddock::exec {

struct process {
  pid_t id;
  pid_t parent;
  char state; ///< as in /proc/PID/stat; of the first thread
  bool descendant;
};

class process_tree {
public:
  /// Stops every descendant, and those they start meanwhile, until nothing new appears. Killing
  /// before that would make room under the process limit for the next generation of a fork bomb.
  /// False when /proc cannot be read.
  bool freeze();

  /// Kills what `freeze` saw last, the youngest first: the death of a parent can make the kernel
  /// wake its stopped children.
  void kill_all() const;

  /// Whether `freeze` last saw a living descendant other than these two.
  [[nodiscard]] bool has_other_than(pid_t first, pid_t second) const;

private:
  /// Looks at all processes of the system and marks our descendants.
  bool scan();
  void mark_descendants();
  [[nodiscard]] process* find(pid_t id);
  bool append(process found);

  process* processes_ = nullptr; ///< in order of their IDs; lives as long as the program
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace paddock::exec
