// SPDX-License-Identifier: MIT
#include "crypto/crypto.hpp"

#include <gsl/assert>

#include <sodium.h>

#include <array>
#include <cstddef>

namespace paddock {
namespace {

/// At the first use: a start that needs nothing of it does not pay for it.
void have_library() {
  static const bool ready = sodium_init() >= 0;
  Expects(ready);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;
static_assert(crypto_auth_hmacsha256_BYTES == crypto_hash_sha256_BYTES);

std::string hex_of(const digest& made) {
  return hex({reinterpret_cast<const char*>(made.data()), made.size()});
}

} // namespace

std::string hex(std::string_view bytes) {
  std::string digits(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), bytes_of(bytes), bytes.size());
  digits.pop_back(); // the zero at the end
  return digits;
}

std::string sha256_hex(std::string_view bytes) {
  have_library();
  digest made;
  crypto_hash_sha256(made.data(), bytes_of(bytes), bytes.size());
  return hex_of(made);
}

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
  have_library();
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size());
  crypto_auth_hmacsha256_update(&state, bytes_of(message), message.size());
  digest made;
  crypto_auth_hmacsha256_final(&state, made.data());
  sodium_memzero(&state, sizeof state);
  return hex_of(made);
}

bool same_secret(std::string_view given, std::string_view wanted) {
  have_library();
  return given.size() == wanted.size() &&
         sodium_memcmp(given.data(), wanted.data(), given.size()) == 0;
}

std::string base64(std::string_view bytes) {
  have_library();
  constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes_of(bytes), bytes.size(), variant);
  text.pop_back(); // the zero at the end
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  have_library();
  std::string bytes(text.size() / 4 * 3, '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

} // namespace paddock
