// SPDX-License-Identifier: MIT
#pragma once

// Sums of bytes, all by xxHash behind three functions.

#include "history/known_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::history {

/// A name as answers have it, and back.
[[nodiscard]] std::string hex_of(const content_id& id);
[[nodiscard]] std::optional<content_id> content_id_of(std::string_view hex);

/// Against damage, not against intent.
[[nodiscard]] std::uint64_t sum_of(std::string_view bytes) noexcept;
/// The name of a content: who does not know the key can make no two with the same.
[[nodiscard]] content_id name_of(std::string_view bytes, const content_key& key) noexcept;

} // namespace paddock::history
