// SPDX-License-Identifier: MIT
#pragma once

// Options that are in order each by itself and make no sense together.

#include "workspace_cli.hpp"

#include <string>

namespace paddock::cli {

/// The first contradiction among the options, as a sentence that says what to leave out; empty:
/// they fit together. No option is ignored in silence.
[[nodiscard]] std::string contradiction(const workspace_cli& given);

} // namespace paddock::cli
