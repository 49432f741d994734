// SPDX-License-Identifier: MIT
#include "history/content_sum.hpp"

#include <charconv>
#include <cstdio>

#if PADDOCK_HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

namespace paddock::history {

std::string hex_of(const content_id& id) {
  std::array<char, 33> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(id.high), static_cast<unsigned long long>(id.low));
  return digits.data();
}

std::optional<content_id> content_id_of(std::string_view hex) {
  constexpr std::size_t half = 16;
  content_id id;
  const auto read = [](std::string_view digits, std::uint64_t& to) {
    const char* end = digits.data() + digits.size();
    const auto got = std::from_chars(digits.data(), end, to, 16);
    return got.ec == std::errc() && got.ptr == end;
  };
  if (hex.size() != 2 * half || !read(hex.substr(0, half), id.high) ||
      !read(hex.substr(half), id.low))
    return std::nullopt;
  return id;
}

bool have_history() noexcept {
  return PADDOCK_HAVE_XXHASH != 0;
}

#if PADDOCK_HAVE_XXHASH
std::uint64_t sum_of(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

content_id name_of(std::string_view bytes, const content_key& key) noexcept {
  static_assert(sizeof(content_key) >= XXH3_SECRET_SIZE_MIN);
  const XXH128_hash_t sum =
      XXH3_128bits_withSecret(bytes.data(), bytes.size(), key.data(), key.size());
  return {.high = sum.high64, .low = sum.low64};
}
#else
// No store can be opened, so that nothing is ever summed.
std::uint64_t sum_of(std::string_view) noexcept {
  return 0;
}

content_id name_of(std::string_view, const content_key&) noexcept {
  return {};
}
#endif

} // namespace paddock::history
