// SPDX-License-Identifier: MIT
#pragma once

// What a command writes beside its workspace, where the directories on the way to it are no real
// ones but scratch: it seems to succeed, and nobody ever sees it.

#include "exec/helper/root/visible_paths.hpp"

#include <cstdint>

namespace paddock::exec {

class stray_writes {
public:
  /// Looks at the directories that lead to the workspace, an absolute path, in a private root.
  stray_writes(const visible_paths& visible, const char* workspace);

  /// The length of the path of the outermost that has changed; 0: none has.
  [[nodiscard]] std::uint32_t found() const;

private:
  static constexpr unsigned levels_max = 32;
  struct level {
    std::uint32_t bytes; ///< of the path
    std::int64_t changed_ns;
  };
  [[nodiscard]] std::int64_t changed_ns(std::uint32_t bytes) const;

  const char* workspace_;
  unsigned size_ = 0;
  level levels_[levels_max];
};

} // namespace paddock::exec
