// SPDX-License-Identifier: MIT
#pragma once

// Digests, secrets and base64, all by libsodium. Thread-safe.

#include <optional>
#include <string>
#include <string_view>

namespace paddock {

/// Lower-case hexadecimal digits, two for each byte.
[[nodiscard]] std::string hex(std::string_view bytes);

/// SHA-256 (FIPS 180-4), in 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// RFC 2104 with SHA-256 and a key of any length, in hexadecimal digits.
[[nodiscard]] std::string hmac_sha256_hex(std::string_view key, std::string_view message);

/// How long this takes says nothing about where they differ; it does tell whether their sizes do.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view wanted);

/// RFC 4648 with padding, as MCP sends binary content and headers that are not plain.
[[nodiscard]] std::string base64(std::string_view bytes);

/// Nothing for what `base64` does not make: other characters, wrong padding, spare bits that are
/// set.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

} // namespace paddock
