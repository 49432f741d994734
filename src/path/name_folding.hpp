// SPDX-License-Identifier: MIT
#pragma once

// Names that a file system without case or with normalisation takes for one.

#include <string>
#include <string_view>

namespace paddock {

/// The same for all spellings that are the same name but for case or composition, as far as the
/// scripts with case and accents go that people name files in: Latin, Greek, Cyrillic. Other
/// collisions are left to the file system, which refuses them when the files are made.
[[nodiscard]] std::string folded_name(std::string_view name);

} // namespace paddock
