// SPDX-License-Identifier: MIT
#pragma once

// Names that nobody can guess and that nobody else has.

#include <paddock/base/result.hpp>

#include <cstddef>
#include <string>

namespace paddock::sys {

/// So many random bytes, in two lower-case hexadecimal digits each. Errors: those of `getrandom`.
[[nodiscard]] result<std::string> random_hex(std::size_t bytes);

} // namespace paddock::sys
