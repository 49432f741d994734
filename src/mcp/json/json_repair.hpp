// SPDX-License-Identifier: MIT
#pragma once

// JSON can say things that neither UTF-8 nor 64-bit numbers can hold. This rewrites such parts of a
// text, so that one odd value does not make a whole message unreadable.

#include <string>
#include <string_view>

namespace paddock::mcp {

/// A copy of `text` where escapes of lone surrogates are \ufffd, integers beyond 64 bits have an
/// exponent, and numbers beyond double are the largest double. Anything else, valid or not, stays
/// as it is.
[[nodiscard]] std::string repair_unrepresentable(std::string_view text);

} // namespace paddock::mcp
