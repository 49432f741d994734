// SPDX-License-Identifier: MIT
#pragma once

// The lock that says that something is in use.

#include <paddock/base/result.hpp>

namespace paddock::sys {

/// As try_flock of syscall.hpp, which it excludes, but any number may have it at once.
result<void> try_shared_flock(int fd);

} // namespace paddock::sys
