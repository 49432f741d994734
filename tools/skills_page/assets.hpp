// SPDX-License-Identifier: MIT
#pragma once

// The files of the page as they are in the program; embed.py makes the definition.

#include <span>
#include <string_view>

namespace paddock::skills_page {

struct asset {
  std::string_view name; ///< the file's name
  std::string_view content_type;
  std::string_view bytes;
};

[[nodiscard]] std::span<const asset> assets() noexcept;

} // namespace paddock::skills_page
