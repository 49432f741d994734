// SPDX-License-Identifier: MIT
#pragma once

// Memory that large work leaves to the allocator.

#include <cstdlib> // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace paddock::sys {

/// Gives whole pages that nobody uses back to the system, where the C library can do that. Takes
/// milliseconds.
inline void give_back_spare_memory() noexcept {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

} // namespace paddock::sys
