// SPDX-License-Identifier: MIT
#pragma once

#include <paddock/exec/confinement.hpp>

#include <string>

namespace paddock::confine {

/// A configuration of git that has these values and nothing else; empty: there are none.
[[nodiscard]] std::string git_configuration_of(const git_author& author);

} // namespace paddock::confine
