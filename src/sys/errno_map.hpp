// SPDX-License-Identifier: MIT
#pragma once

// What an errno means.

#include <paddock/base/error.hpp>

namespace paddock::sys {

/// The one mapping from errno to a code.
[[nodiscard]] error_code code_of(int os_errno) noexcept;
[[nodiscard]] inline error failure(int os_errno, const char* operation) noexcept {
  return {code_of(os_errno), os_errno, operation};
}

} // namespace paddock::sys
