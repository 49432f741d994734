// SPDX-License-Identifier: MIT
#pragma once

// The central directory of a zip archive as its bytes spell it. Used beside libzip, never instead
// of it: to bound the number of entries before libzip makes an object of each, and to see names
// before libzip translates them and to say more precisely what is wrong with an entry.

#include <paddock/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace paddock::zip {

struct directory_end {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0; ///< of the central directory
  std::uint64_t size = 0;
};

enum class end_state : std::uint8_t {
  found,
  missing,   ///< no archive, or cut off
  ambiguous, ///< bytes after the end, several ends, or one that points outside
  multi_disk,
};

/// Finds the record that has to be the last thing in the archive.
[[nodiscard]] end_state find_end(std::string_view archive, directory_end& out);

/// What the central directory says of one entry.
struct raw_entry {
  std::string_view name;
  /// A Unicode path field, here or in the local header, gives another name.
  bool contradicted = false;
  bool encrypted = false;
  std::uint16_t method = 0;
};

/// All entries, in the directory's order. Empty: the directory is not what its end says.
[[nodiscard]] std::optional<std::vector<raw_entry>> read_entries(std::string_view archive,
                                                                 const directory_end& end);

/// Whether the archive begins as one does.
[[nodiscard]] bool begins_like_an_archive(std::string_view archive);

} // namespace paddock::zip
