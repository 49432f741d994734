// SPDX-License-Identifier: MIT
#pragma once

#include "common/subcommand.hpp"

namespace paddock::cli {

/// What this system offers.
[[nodiscard]] subcommand add_doctor(CLI::App& app);

} // namespace paddock::cli
