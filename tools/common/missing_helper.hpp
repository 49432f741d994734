// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace paddock::cli {

/// Where paddock-exec-helper was looked for in vain, and what to do about it; a sentence without a
/// full stop.
[[nodiscard]] std::string helper_is_missing();

} // namespace paddock::cli
