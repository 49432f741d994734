// SPDX-License-Identifier: MIT
#pragma once

// A file of a page as it is in the program; embed.py makes a page's table of them.

#include <string_view>

namespace paddock::page {

struct asset {
  std::string_view name; ///< the file's name
  std::string_view content_type;
  std::string_view bytes;
};

} // namespace paddock::page
