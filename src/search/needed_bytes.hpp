// SPDX-License-Identifier: MIT
#pragma once

// Bytes that every match of an expression has side by side, where it has no literal to look for:
// of `[a-z]{3,}_[A-Z]` a lower case letter, a line and an upper case one.

#include <bitset>
#include <string_view>
#include <vector>

namespace paddock {

/// The bytes that may be in one place.
using byte_class = std::bitset<256>;

/// The rarest of such bytes in source code, at most `places_max` of them; empty: there are none
/// that are rare enough, or nothing is known, as of groups and alternatives. Precondition: the
/// expression is one of RE2 that minds the case of letters.
[[nodiscard]] std::vector<byte_class> needed_bytes(std::string_view expression,
                                                   std::size_t places_max);

} // namespace paddock
