// SPDX-License-Identifier: MIT
#pragma once

// How much the processes of this PID namespace have written to disks.

#include <cstdint>

namespace paddock::exec {

class disk_writes {
public:
  /// `bytes_max` may be 0: there is no bound.
  explicit disk_writes(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool is_bounded() const { return bytes_max_ != 0; }
  /// For the init of the namespace: whether it can be seen, and the kernel counts. 0 or an errno.
  [[nodiscard]] static int probe();
  /// Looks, and says whether it is too much.
  [[nodiscard]] bool exceed();

private:
  [[nodiscard]] std::uint64_t look();

  const std::uint64_t bytes_max_;
  std::uint64_t last_ = 0;
  std::uint64_t of_the_gone_ = 0;
};

} // namespace paddock::exec
