// SPDX-License-Identifier: MIT
#pragma once

// SHA-256 (FIPS 180-4), for digests that name content. A cryptographic library would cost every
// start of the adapter more than all digests it ever computes.

#include <string>
#include <string_view>

namespace paddock {

/// The digest in 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

} // namespace paddock
