// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace paddock {

/// How long this takes says nothing about where they differ; it does tell whether their sizes do.
[[nodiscard]] inline bool same_secret(std::string_view given, std::string_view wanted) noexcept {
  if (given.size() != wanted.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ wanted[i]));
  return difference == 0;
}

} // namespace paddock
