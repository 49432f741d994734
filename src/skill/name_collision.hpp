// SPDX-License-Identifier: MIT
#pragma once

// Names that a file system without case or with normalisation takes for one.

#include <string>
#include <string_view>

namespace paddock {

/// Whether folded_name knows all of Unicode. A build without utf8proc folds ASCII alone; other
/// collisions are then found by the file system, when the files are made.
[[nodiscard]] bool folds_unicode() noexcept;

/// The same for all spellings of valid UTF-8 that are one name but for case, composition and
/// characters that cannot be seen: a canonical caseless match (Unicode, definition D145), as ext4,
/// f2fs and APFS compare names. Compatible characters (`²` and `2`) stay two.
[[nodiscard]] std::string folded_name(std::string_view name);

} // namespace paddock
