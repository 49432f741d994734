// SPDX-License-Identifier: MIT
#pragma once

// How much the processes of this PID namespace have written to disks.

#include <cstdint>

namespace paddock::exec {

/// Counts as the kernel does: what a process has written counts with it, and with whoever has
/// waited for its end. So what nobody waits for is forgotten when it ends, and to an ordinary user
/// what a process hides (`PR_SET_DUMPABLE`) is not told.
class disk_writes {
public:
  /// `bytes_max` may be 0: there is no bound.
  explicit disk_writes(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool is_bounded() const { return bytes_max_ != 0; }
  /// For the init of the namespace: whether it can be seen, and the kernel counts. 0 or an errno.
  [[nodiscard]] static int probe();
  /// For the init: looks, and says whether it is too much.
  [[nodiscard]] bool exceed() const;

private:
  std::uint64_t bytes_max_;
};

} // namespace paddock::exec
