// SPDX-License-Identifier: MIT
#pragma once

#include <paddock/base/result.hpp>

#include <cstddef>
#include <string>

namespace paddock::http {

/// So many random bytes in hexadecimal: what nobody can guess, as the path of a URL or the value of
/// a header. Errors: those of the system's random numbers.
[[nodiscard]] result<std::string> new_secret(std::size_t bytes);

} // namespace paddock::http
